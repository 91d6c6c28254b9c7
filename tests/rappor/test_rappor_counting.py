"""Counting: right, additive, resumable, on one machine, a cluster or a database."""

import csv
import gzip
import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import duckdb
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpest.rappor import (
    Counts,
    Params,
    RapporError,
    Reports,
    count,
    count_files,
    counting_sql,
    write_reports,
)
from dpest.rappor.counting import files as counting
from dpest.rappor.wire import files as wire
from dpest.rappor.wire import google_csv, packed, parquet

VECTORS = json.loads((Path(__file__).parents[1] / "data/rappor/vectors.json").read_text())
PARAMS = Params(70, 2, 5, 0.5, 0.25, 0.75)
HEADER = "client,cohort,bloom,prr,irr\n"


def _reports(params, number, seed=1):
    rng = np.random.default_rng(seed)
    bits = rng.integers(0, 2, (number, params.k))
    return Reports.from_bits(rng.integers(0, params.m, number).astype(np.int32), bits)


def _slow_count(reports, params):
    counts = Counts.none(params)
    for cohort, bits in zip(reports.cohorts, reports.bits, strict=True):
        counts.N[cohort] += 1
        counts.ones[cohort] += bits
    return counts


@pytest.fixture
def small_chunks(monkeypatch):
    monkeypatch.setattr(google_csv, "_CHUNK_BYTES", 2000)
    monkeypatch.setattr(packed, "_CHUNK_RECORDS", 30)
    monkeypatch.setattr(parquet, "_CHUNK_ROWS", 30)


@pytest.fixture
def files(tmp_path):
    """The same 300 reports three times, in three formats, and their counts."""
    reports = _reports(PARAMS, 300)
    paths = [tmp_path / name for name in ("a.csv", "b.parquet", "c.bin")]
    for path in paths:
        write_reports(path, reports, PARAMS)
    single = _slow_count(reports, PARAMS)
    return paths, single + single + single


@given(st.integers(1, 140), st.integers(1, 9), st.integers(0, 50))
def test_counts_are_sums(k, m, number):
    params = Params(k, 1, m, 0.5, 0.25, 0.75)
    reports = _reports(params, number)
    assert count(reports, params) == _slow_count(reports, params)


def test_counts_of_many_cohorts_are_sums():
    params = Params(3, 1, 70_000, 0.5, 0.25, 0.75)
    reports = _reports(params, 500)
    assert count(reports, params) == _slow_count(reports, params)


def test_counts_of_many_blocks_are_sums(monkeypatch):
    monkeypatch.setattr("dpest.rappor.counting.popcount._BLOCK_BYTES", 640)
    reports = _reports(PARAMS, 1000)
    assert count(reports, PARAMS) == _slow_count(reports, PARAMS)


@pytest.mark.parametrize("value", [0, 1])
def test_counts_of_full_groups_do_not_overflow(value):
    params = Params(64, 2, 2, 0.5, 0.25, 0.75)
    reports = Reports.from_bits(np.zeros(5000, np.int32), np.full((5000, 64), value))
    counts = count(reports, params)
    assert counts.N.tolist() == [5000, 0]
    assert counts.ones.tolist() == [[5000 * value] * 64, [0] * 64]


@given(st.integers(0, 40), st.integers(0, 40))
def test_counts_add(first, second):
    one, other = _reports(PARAMS, first, 1), _reports(PARAMS, second, 2)
    together = count(Reports.concatenate([one, other]), PARAMS)
    assert count(one, PARAMS) + count(other, PARAMS) == together
    assert together.total == first + second


def test_google_sum_bits(tmp_path):
    case = VECTORS["python"]["from_tests"]["sum_bits"]
    params = Params(case["k"], 2, case["m"], 0.5, 0.25, 0.75)
    path = tmp_path / "reports.csv"
    path.write_text(HEADER + "".join(f"c,{j},x,y,{bits}\n" for j, bits in case["reports"]))
    out = io.StringIO()
    count_files([path], params).counts.write(out)
    assert out.getvalue().splitlines() == case["counts_rows"]


@given(st.integers(0, 30))
def test_counts_csv_is_read_as_written(number):
    counts = count(_reports(PARAMS, number), PARAMS)
    out = io.StringIO()
    counts.write(out)
    assert Counts.read(io.StringIO(out.getvalue()), PARAMS) == counts


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1,0\n", "the counts have 1 rows; m=2 were expected"),
        ("1,0\n1,0,0\n", "row 2 of the counts has 3 numbers; k \\+ 1 = 2 were expected"),
        ("1,0\n1,x\n", "must be whole numbers"),
        ("1,0\n1,2\n", "bit 0 2 times in 1 reports"),
        ("1,0\n1,-1\n", "bit 0 -1 times in 1 reports"),
    ],
)
def test_bad_counts_are_refused(tmp_path, text, words):
    path = tmp_path / "counts.csv"
    path.write_text(text)
    with pytest.raises(RapporError, match=words):
        Counts.read(path, Params(1, 1, 2, 0.5, 0.25, 0.75))


def test_counts_of_other_parameters_do_not_mix():
    with pytest.raises(RapporError, match="do not add"):
        Counts.none(PARAMS) + Counts.none(Params(8, 2, 5, 0.5, 0.25, 0.75))
    with pytest.raises(RapporError, match="reports have 70 bits; k=8 were expected"):
        count(_reports(PARAMS, 3), Params(8, 2, 5, 0.5, 0.25, 0.75))
    with pytest.raises(RapporError, match="cohort outside"):
        count(_reports(PARAMS, 100), Params(70, 2, 2, 0.5, 0.25, 0.75))


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.usefixtures("small_chunks")
def test_files_in_all_formats_on_one_and_two_processes(files, jobs):
    paths, expected = files
    steps = []
    tally = count_files(paths, PARAMS, jobs=jobs, progress=lambda *step: steps.append(step))
    assert tally.counts == expected
    assert tally.bad == 0
    assert steps[-1][0] == steps[-1][1] == len(steps) > 30


def test_a_dask_cluster_of_two_workers(files, monkeypatch):
    from distributed import LocalCluster

    monkeypatch.setattr(parquet, "_CHUNK_ROWS", 100)
    paths, expected = files
    settings = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with LocalCluster(**settings, processes=True) as cluster:
        tally = count_files(paths, PARAMS, dask=cluster.scheduler_address)
    assert tally.counts == expected


@pytest.mark.parametrize("k", [3, 64, 70])
def test_one_plain_sql_statement(tmp_path, k):
    params = Params(k, 2, 5, 0.5, 0.25, 0.75)
    reports = _reports(params, 500)
    for part, path in enumerate([tmp_path / "1.parquet", tmp_path / "2.parquet"]):
        write_reports(path, reports[part::2], params)
    query = counting_sql(params, f"read_parquet('{tmp_path}/*.parquet')")
    rows = duckdb.connect().execute(query).fetchall()
    assert Counts.from_rows(rows, params) == count(reports, params)


def _with_bad_lines(path, params):
    reports = _reports(params, 100)
    write_reports(path, reports, params)
    lines = path.read_text().splitlines()
    lines[30] = lines[30][:-4]
    lines[70] = lines[70].replace(",,,", ",,", 1)
    lines.insert(80, "x,99,,," + "0" * params.k)
    path.write_text("\n".join(lines) + "\n")
    return count(reports[np.setdiff1d(np.arange(100), [29, 69])], params)


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.usefixtures("small_chunks")
def test_bad_lines_cost_themselves_and_are_named(tmp_path, jobs):
    path = tmp_path / "reports.csv"
    expected = _with_bad_lines(path, PARAMS)
    tally = count_files([path, path], PARAMS, jobs=jobs)
    assert tally.counts == expected + expected
    assert tally.kinds == {"wrong width": 2, "malformed": 2, "wrong cohort": 2}
    assert tally.named[:3] == [
        f"{path}, line 31: 66 bits where k=70 were expected",
        f"{path}, line 71: 4 fields where 5 were expected",
        f"{path}, line 81: cohort '99' is not between 0 and 4",
    ]
    assert tally.named[3:] == tally.named[:3]


def test_bad_lines_are_refused_by_choice(tmp_path):
    path = tmp_path / "reports.csv"
    _with_bad_lines(path, PARAMS)
    with pytest.raises(RapporError, match=r"3 bad records, the first: .*, line 31: 66 bits"):
        count_files([path], PARAMS, bad="refuse")


_KILLED = """
import os, signal, sys
from dpest.rappor import Params
from dpest.rappor.counting import checkpoint, files as counting
from dpest.rappor.wire import google_csv
google_csv._CHUNK_BYTES, checkpoint._SECONDS_BETWEEN_SAVES = 2000, 0
count_chunk, left = counting._count_chunk, int(sys.argv[3])
def dying(*args):
    global left
    left -= 1
    if left < 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return count_chunk(*args)
counting._count_chunk = dying
params = Params.from_json(sys.argv[4])
counting.count_files([sys.argv[1]], params, jobs=1, checkpoint=sys.argv[2])
"""


def test_a_killed_run_goes_on_where_it_was(tmp_path, monkeypatch):
    monkeypatch.setattr(google_csv, "_CHUNK_BYTES", 2000)
    path, checkpoint = tmp_path / "reports.csv", tmp_path / "checkpoint.json"
    expected = _with_bad_lines(path, PARAMS)
    for chunks in ("1", "2"):
        arguments = [str(path), str(checkpoint), chunks, PARAMS.to_json()]
        killed = subprocess.run([sys.executable, "-c", _KILLED, *arguments], env=_environment())
        assert killed.returncode == -signal.SIGKILL
    seen = []
    original = counting._count_chunk
    monkeypatch.setattr(
        counting,
        "_count_chunk",
        lambda number, *rest: seen.append(number) or original(number, *rest),
    )
    tally = count_files([path], PARAMS, jobs=1, checkpoint=checkpoint)
    assert seen == [3]
    assert tally.counts == expected
    assert [name.split(": ")[0].split(", ")[1] for name in tally.named] == [
        "line 31",
        "line 71",
        "line 81",
    ]
    again = count_files([path], PARAMS, jobs=1, checkpoint=checkpoint)
    assert seen == [3]
    assert again.counts == expected
    assert again.named == tally.named


_KILLED_AT_WORK = """
import os, signal, sys
from dpest.rappor import Params, count_files
params = Params.from_json(sys.argv[2])
def killed(done, chunks):
    os.kill(os.getpid(), signal.SIGKILL)
count_files([sys.argv[1]] * 8, params, jobs=2, progress=killed)
"""


def test_the_workers_of_a_killed_run_let_go_of_its_output(tmp_path):
    """`run` returns when nobody holds the pipes any more."""
    path = tmp_path / "reports.csv"
    _with_bad_lines(path, PARAMS)
    command = [sys.executable, "-c", _KILLED_AT_WORK, str(path), PARAMS.to_json()]
    killed = subprocess.run(command, env=_environment(), capture_output=True, timeout=60)
    assert killed.returncode == -signal.SIGKILL


def _environment():
    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}


def test_a_checkpoint_of_something_else_is_refused(tmp_path):
    path, checkpoint = tmp_path / "reports.csv", tmp_path / "checkpoint.json"
    write_reports(path, _reports(PARAMS, 10), PARAMS)
    count_files([path], PARAMS, checkpoint=checkpoint)
    with pytest.raises(RapporError, match="belongs to other files"):
        count_files([path, path], PARAMS, checkpoint=checkpoint)
    write_reports(path, _reports(PARAMS, 11), PARAMS)
    with pytest.raises(RapporError, match="belongs to other files, other contents"):
        count_files([path], PARAMS, checkpoint=checkpoint)
    checkpoint.write_text("[]")
    with pytest.raises(RapporError, match="is not a checkpoint"):
        count_files([path], PARAMS, checkpoint=checkpoint)


def test_wrong_use_is_told_in_a_sentence(tmp_path):
    with pytest.raises(RapporError, match="there are no files to count"):
        count_files([], PARAMS)
    with pytest.raises(RapporError, match="bad='ignore' must be"):
        count_files([tmp_path / "a.csv"], PARAMS, bad="ignore")
    with pytest.raises(RapporError, match="jobs=0 must be"):
        count_files([tmp_path / "a.csv"], PARAMS, jobs=0)


def test_the_sql_is_plain(tmp_path):
    text = counting_sql(Params(65, 2, 5, 0.5, 0.25, 0.75), "reports")
    assert "WHEN bits0 < 0 OR bits0 > 9223372036854775807 THEN 1 ELSE 0 END) AS bit63" in text
    assert "SUM(CASE WHEN (bits1 & 1) <> 0 THEN 1 ELSE 0 END) AS bit64" in text
    assert len(list(csv.reader([text.splitlines()[0]]))) == 1


@pytest.mark.parametrize("k", [20, 64, 70, 128])
@pytest.mark.parametrize("kind", ["BIGINT", "UBIGINT"])
def test_sql_leaves_out_the_records_that_count_leaves_out(tmp_path, k, kind):
    params = Params(k, 2, 5, 0.5, 0.25, 0.75)
    write_reports(tmp_path / "good.parquet", _reports(params, 400), params)
    names = parquet.columns(k)
    zeros, missing = ", 0" * len(names), ", NULL" * len(names)
    with duckdb.connect() as connection:
        modulus = "CASE WHEN {0} < 0 THEN {0}::HUGEINT + 18446744073709551616 ELSE {0} END"
        chosen = "{0}" if kind == "BIGINT" else modulus
        words = ", ".join(f"({chosen.format(name)})::{kind} AS {name}" for name in names)
        source = f"read_parquet('{tmp_path / 'good.parquet'}')"
        connection.execute(f"CREATE TABLE t AS SELECT cohort, {words} FROM {source}")
        connection.execute(f"INSERT INTO t VALUES (5{zeros}), (-1{zeros}), (NULL{zeros})")
        connection.execute(f"INSERT INTO t VALUES (1{missing}), (2{zeros[3:]}, {1 << 62})")
        connection.execute(f"COPY t TO '{tmp_path / 'mixed.parquet'}' (FORMAT parquet)")
        rows = connection.execute(counting_sql(params, "t")).fetchall()
    tally = count_files([tmp_path / "mixed.parquet"], params)
    assert tally.bad == (5 if k % 64 else 4)
    assert Counts.from_rows(rows, params) == tally.counts


@pytest.mark.parametrize("suffix", [".bin", ".parquet"])
def test_wide_reports_are_cut_into_chunks_that_fit_the_memory(tmp_path, suffix):
    params = Params(1 << 14, 2, 2, 0.5, 0.25, 0.75)
    one = _reports(params, 100)
    write_reports(tmp_path / f"wide{suffix}", (one for _ in range(100)), params)
    parts = wire.chunks(tmp_path / f"wide{suffix}")
    assert [part.stop - part.start for part in parts] == [8192, 1808]
    hundred = count(one, params)
    counts = count_files([tmp_path / f"wide{suffix}"], params, jobs=1).counts
    assert counts == Counts(100 * hundred.N, 100 * hundred.ones)


@pytest.mark.parametrize("size", [100, 1 << 23])
def test_a_packed_file_counts_like_the_file_itself(tmp_path, monkeypatch, size):
    monkeypatch.setattr(google_csv, "_CHUNK_BYTES", size)
    reports, plain = _reports(PARAMS, 500), tmp_path / "reports.csv"
    write_reports(plain, reports, PARAMS)
    lines = plain.read_text().splitlines(keepends=True)
    lines.insert(300, "garbage\n")
    plain.write_text("".join(lines))
    packed_file = tmp_path / "reports.csv.gz"
    packed_file.write_bytes(gzip.compress(plain.read_bytes()))
    tally = count_files([packed_file], PARAMS, checkpoint=tmp_path / "done.json")
    assert tally.counts == count(reports, PARAMS)
    again = count_files([packed_file], PARAMS, checkpoint=tmp_path / "done.json")
    for found in (tally, again):
        assert found.named == [f"{packed_file}, line 301: 1 fields where 5 were expected"]
    packed_file.write_bytes(packed_file.read_bytes()[:-50])
    with pytest.raises(RapporError, match="cannot unpack"):
        count_files([packed_file], PARAMS)
    with pytest.raises(RapporError, match=r"only \.csv files"):
        count_files([packed_file.rename(tmp_path / "reports.bin.gz")], PARAMS)


def test_counts_too_large_for_any_machine_are_refused():
    with pytest.raises(RapporError, match="whole numbers"):
        Counts.read(io.StringIO("99999999999999999999,1\n"), Params(1, 1, 1, 0.5, 0.25, 0.75))
