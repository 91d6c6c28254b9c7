"""The commands, run as a user runs them."""

import argparse
import gzip
import json
import os
import subprocess
import sys
import time

import numpy as np
import pytest

from dpest.rappor import Candidates, Counts, Params, count, read_reports
from dpest.rappor.client.permanent import permanent
from dpest.rappor.client.values import Fleet
from dpest.rappor.commands import add_commands
from dpest.rappor.wire import google_csv

PARAMS = Params(32, 2, 8, 0.5, 0.25, 0.75)


def _dpest(*words):
    """What the program does with these words: the exit code of its command."""
    parser = argparse.ArgumentParser("dpest")
    add_commands(parser.add_subparsers(required=True))
    args = parser.parse_args(["rappor", *map(str, words)])
    try:
        return args.run(args)
    except ValueError as error:
        print(f"dpest: {error}", file=sys.stderr)
        return 2


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    PARAMS.write("params.csv")
    return tmp_path


def _simulate_values(reports=2000, *more):
    words = ["--params", "params.csv", "--reports", reports, "--unique", 20, "--seed", 1]
    assert _dpest("simulate", *words, "--output", "values.csv", *more) == 0


def test_params_are_shown_and_written(here, capsys):
    assert (
        _dpest("params", "--params", "params.csv", "--reports", 10, "--scheme", "google-cpp") == 0
    )
    shown = capsys.readouterr().out
    assert "eps_1                     2.0433" in shown
    assert "epsilon after 10 reports  4.39427" in shown
    words = ["--k", 16, "--h", 1, "--m", 4, "--f", 0, "--p", 0.5, "--q", 0.75]
    assert _dpest("params", *words, "--output", "other.json", "--json") == 0
    assert json.loads(capsys.readouterr().out)["eps_infinity"] == "inf"
    assert Params.read("other.json") == Params(16, 1, 4, 0.0, 0.5, 0.75)
    assert _dpest("params", "--params", "other.json", "--f", 0.3, "--scheme", "google-python") == 0
    assert "effective f   0.304688" in capsys.readouterr().out


def test_candidates_are_hashed_from_a_file_or_a_pipe(here, capsys, monkeypatch):
    (here / "words.txt").write_text("apple\nbanana\n\ncarrot, diced\n")
    assert _dpest("candidates", "--params", "params.csv", "words.txt", "-o", "map.csv") == 0
    read = Candidates.read("map.csv", PARAMS)
    assert read.strings == ("apple", "banana", "carrot, diced")
    with open("words.txt") as words:
        monkeypatch.setattr(sys, "stdin", words)
        assert _dpest("candidates", "--params", "params.csv", "-") == 0
    assert capsys.readouterr().out == (here / "map.csv").read_text()


def test_repeated_strings_are_hashed_once_and_told(here, capsys):
    (here / "words.txt").write_text("apple\nbanana\napple\n\napple\n")
    assert _dpest("candidates", "--params", "params.csv", "words.txt", "-o", "map.csv") == 0
    assert Candidates.read("map.csv", PARAMS).strings == ("apple", "banana")
    assert capsys.readouterr().err == "skipped 2 repeated strings\n"


def test_a_byte_order_mark_and_windows_line_ends_change_nothing(here, capsys):
    _simulate_values()
    (here / "words.txt").write_text("v1\nv2\nv3\n")
    common = ["--params", "params.csv"]
    assert _dpest("candidates", *common, "words.txt", "-o", "map.csv") == 0
    assert _dpest("encode", *common, "values.csv", "-o", "reports.csv") == 0
    assert _dpest("count", *common, "reports.csv", "-o", "counts.csv") == 0
    decode = ["decode", *common, "--map", "map.csv", "--counts", "counts.csv"]
    assert _dpest(*decode) == 0
    before, counts = capsys.readouterr().out, (here / "counts.csv").read_text()
    for name in ("params.csv", "words.txt", "map.csv", "reports.csv", "counts.csv", "values.csv"):
        text = (here / name).read_text().replace("\n", "\r\n")
        (here / name).write_text("\ufeff" + text, encoding="utf-8", newline="")
    assert _dpest(*decode) == 0
    assert capsys.readouterr().out == before
    assert _dpest("candidates", *common, "words.txt", "-o", "map.csv") == 0
    assert Candidates.read("map.csv", PARAMS).strings == ("v1", "v2", "v3")
    assert _dpest("count", *common, "reports.csv", "-o", "again.csv") == 0
    assert (here / "again.csv").read_text() == counts
    assert _dpest("encode", *common, "values.csv", "-o", "reports.bin") == 0


def test_counts_are_read_from_a_pipe(here, capsys, monkeypatch):
    words = ["--params", "params.csv", "--reports", 5000, "--seed", 3, "--write", "counts"]
    assert _dpest("simulate", *words, "-o", "counts.csv", "--truth", "truth.csv") == 0
    (here / "words.txt").write_text("v1\nv2\n")
    assert _dpest("candidates", "--params", "params.csv", "words.txt", "-o", "map.csv") == 0
    outputs = []
    for source in ("counts.csv", "-"):
        with open("counts.csv") as lines:
            monkeypatch.setattr(sys, "stdin", lines)
            common = ["--params", "params.csv", "--map", "map.csv"]
            assert _dpest("decode", *common, "--counts", source) == 0
        outputs.append(capsys.readouterr().out)
    assert outputs[0] == outputs[1]


def _piped(text, *words):
    """The program in a process of its own, with bytes on standard input and a foreign locale."""
    command = [sys.executable, "-m", "dpest.cli", "rappor", *words]
    env = {**os.environ, "PYTHONIOENCODING": "latin-1"}
    return subprocess.run(command, input=text, capture_output=True, env=env)


def test_pipes_carry_utf8_with_or_without_a_byte_order_mark(here):
    common = ["--params", "params.csv"]
    plain = _piped("日本\n".encode(), "candidates", *common, "-")
    assert plain.stdout.decode().startswith("日本,")
    marked = _piped("日本\r\n".encode("utf-8-sig"), "candidates", *common, "-")
    assert marked.stdout == plain.stdout
    values = _piped("client,value\r\na,日本\r\n".encode("utf-8-sig"), "encode", *common, "-")
    assert values.stdout.startswith(b"client,cohort,bloom,prr,irr\na,")
    broken = _piped(b"client,value\na,\xe9\n", "encode", *common, "-")
    assert (broken.returncode, broken.stderr.count(b"\n")) == (2, 1)
    assert b"not UTF-8" in broken.stderr


def test_reports_and_maps_are_decoded_from_pipes_and_packed_files(here, capsys, monkeypatch):
    _simulate_values()
    common = ["--params", "params.csv"]
    (here / "words.txt").write_text("v1\nv2\nv3\n")
    assert _dpest("candidates", *common, "words.txt", "-o", "map.csv") == 0
    assert _dpest("encode", *common, "values.csv", "-o", "reports.csv") == 0
    for name in ("reports.csv", "values.csv", "map.csv"):
        (here / f"{name}.gz").write_bytes(gzip.compress((here / name).read_bytes()))
    assert _dpest("decode", *common, "--map", "map.csv", "--reports", "reports.csv") == 0
    expected = capsys.readouterr().out
    packed = ["--map", "map.csv.gz", "--reports", "reports.csv.gz"]
    assert _dpest("decode", *common, *packed) == 0
    assert capsys.readouterr().out == expected
    for piped, rest in (("reports.csv", "--map map.csv --reports -"),
                        ("map.csv", "--map - --reports reports.csv")):  # fmt: skip
        with open(piped) as lines:
            monkeypatch.setattr(sys, "stdin", lines)
            assert _dpest("decode", *common, *rest.split()) == 0
        assert capsys.readouterr().out == expected
    assert _dpest("encode", *common, "values.csv.gz", "-o", "again.bin") == 0
    assert _dpest("encode", *common, "values.csv", "-o", "again.csv.gz") == 2
    assert "leave .gz out" in capsys.readouterr().err


def test_decoding_refuses_bad_records_or_leaves_them_out(here, capsys):
    _simulate_values()
    common = ["--params", "params.csv"]
    (here / "words.txt").write_text("v1\nv2\nv3\n")
    assert _dpest("candidates", *common, "words.txt", "-o", "map.csv") == 0
    assert _dpest("encode", *common, "values.csv", "-o", "good.csv") == 0
    lines = (here / "good.csv").read_text().splitlines(keepends=True)
    (here / "bad.csv").write_text("".join([*lines[:9], "x,1,,,0101\n", *lines[9:]]))
    decode = ["decode", *common, "--map", "map.csv", "--reports"]
    assert _dpest(*decode, "good.csv", "good.csv") == 0
    expected = capsys.readouterr().out
    for method in ("reports", "counts"):
        assert _dpest(*decode, "good.csv", "bad.csv", "--method", method) == 2
        assert capsys.readouterr().err.startswith("dpest: bad.csv, line 10: 4 bits where k=32")
    assert _dpest(*decode, "good.csv", "bad.csv", "--bad", "skip") == 0
    told = capsys.readouterr()
    assert told.out == expected
    assert told.err.startswith("bad.csv, line 10: 4 bits where k=32")
    assert "skipped 1 bad record (1 wrong width)" in told.err


def test_a_client_with_a_line_break_in_its_name_costs_no_report(here, capsys):
    (here / "values.csv").write_text(f'client,cohort,value\n"a\n1,2,,,{"1" * 32}\nb",3,x\nc,1,y\n')
    assert _dpest("encode", "--params", "params.csv", "values.csv", "-o", "reports.csv") == 0
    assert _dpest("count", "--params", "params.csv", "reports.csv") == 0
    told = capsys.readouterr()
    assert told.err == ""
    assert [row.split(",")[0] for row in told.out.split()] == list("01010000")


KIND_CASES = [
    ("booleans", 1, ["true", "FALSE", "1", "0"], [1, 0, 1, 0]),
    ("ordinals", 12, ["0", "11", "3"], [1, 1 << 11, 1 << 3]),
    ("bits", 12, ["000000000001", "100000000011"], [1, 0b100000000011]),
]


@pytest.mark.parametrize("scheme", ["dpest", "google-python"])
@pytest.mark.parametrize(("kind", "k", "values", "filters"), KIND_CASES)
def test_values_that_are_not_strings_are_encoded_as_on_a_device(
    here, kind, k, values, filters, scheme
):
    params = Params.one_time(k, 1, 3, 0.5)
    params.write("params.csv")
    rows = "".join(f"c{i},{i % 3},{value}\n" for i, value in enumerate(values))
    (here / "values.csv").write_text("client,cohort,value\n" + rows)
    words = ["encode", "--params", "params.csv", "values.csv", "--kind", kind, "--scheme", scheme]
    assert _dpest(*words, "-o", "reports.csv") == 0
    lines = (here / "reports.csv").read_text().split()[1:]
    fleet = Fleet(params, scheme)
    for i, (line, bloom) in enumerate(zip(lines, filters, strict=True)):
        secret = fleet._secret(f"c{i}")
        expected = permanent(bloom, k, 0.5, secret, scheme)
        assert line == f"c{i},{i % 3},,,{expected:0{k}b}"


@pytest.mark.parametrize(
    ("kind", "k", "value", "told"),
    [
        ("booleans", 1, "yes", "'yes' must be true or false"),
        ("booleans", 2, "true", "k=2 is not the width"),
        ("ordinals", 4, "4", "between 0 and 3"),
        ("ordinals", 4, "-1", "between 0 and 3"),
        ("ordinals", 4, "1e9", "between 0 and 3"),
        ("bits", 4, "0121", "k=4 bits"),
        ("bits", 4, "011", "k=4 bits"),
    ],
)
def test_values_of_another_kind_are_refused(here, capsys, kind, k, value, told):
    Params.one_time(k, 1, 3, 0.5).write("params.csv")
    (here / "values.csv").write_text(f"client,cohort,value\na,0,{value}\n")
    assert _dpest("encode", "--params", "params.csv", "values.csv", "--kind", kind) == 2
    assert told in capsys.readouterr().err


@pytest.mark.parametrize("cohort", ["8", "-1", "9" * 30])
def test_a_cohort_that_does_not_exist_is_told_with_its_client(here, capsys, cohort):
    (here / "values.csv").write_text(f"client,cohort,value\na,0,x\nb,{cohort},x\n")
    assert _dpest("encode", "--params", "params.csv", "values.csv") == 2
    told = f"dpest: client 'b': cohort {cohort} is not between 0 and 7\n"
    assert capsys.readouterr().err == told


def test_more_counters_than_memory_are_told_in_a_line(here, capsys):
    Params(16, 2, 10**14, 0.5, 0.25, 0.75).write("huge.csv")
    (here / "words.txt").write_text("apple\n")
    assert _dpest("candidates", "--params", "huge.csv", "words.txt") == 2
    assert "not enough memory" in capsys.readouterr().err


def test_a_pipe_is_counted_alone(here, capsys):
    assert _dpest("count", "--params", "params.csv", "-", "reports.csv") == 2
    assert "--add" in capsys.readouterr().err


def test_values_are_not_encoded_by_an_empty_map(here, capsys):
    (here / "values.csv").write_text("client,cohort,value\na,3,x\n")
    (here / "map.csv").write_text("")
    words = ["encode", "--params", "params.csv", "values.csv", "--map", "map.csv"]
    assert _dpest(*words) == 2
    assert "value 'x' is not in the map" in capsys.readouterr().err


def test_a_missing_folder_is_told_before_the_work(here, capsys):
    words = ["encode", "--params", "params.csv", "values.csv", "--output", "nowhere/reports.csv"]
    assert _dpest(*words) == 2
    told = "dpest: cannot write nowhere/reports.csv: there is no folder nowhere\n"
    assert capsys.readouterr().err == told


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".bin"])
@pytest.mark.parametrize("scheme", ["dpest", "google-python", "google-java"])
def test_values_become_reports_become_counts(here, suffix, scheme):
    _simulate_values(2000, "--truth", "truth.csv")
    name, common = f"reports{suffix}", ["--params", "params.csv"]
    assert _dpest("encode", *common, "values.csv", "--scheme", scheme, "--output", name) == 0
    assert _dpest("count", *common, name, "--output", "counts.csv") == 0
    counts = Counts.read("counts.csv", PARAMS)
    assert counts == count(read_reports(name, PARAMS), PARAMS)
    truth = dict(line.split(",") for line in (here / "truth.csv").read_text().split()[1:])
    assert sum(map(int, truth.values())) == counts.total == 2000
    candidates = Candidates.hashed(truth, PARAMS, scheme)
    effective = PARAMS.effective(scheme)
    share = candidates.design(PARAMS) @ (np.array(list(truth.values()), dtype=float) / 2000)
    rates = effective.p_star + share * (effective.q_star - effective.p_star)
    expected = rates.reshape(8, 32) * counts.N[:, None]
    assert (np.abs(counts.ones - expected) < 6 * np.sqrt(expected)).all()


def test_permanent_responses_are_repeated_from_run_to_run(here):
    Params.one_time(32, 2, 8, 0.5).write("params.csv")
    _simulate_values(100)
    (here / "key").write_text("a secret")
    for name, more in (("a", ()), ("b", ()), ("c", ("--secret-file", "key"))):
        words = ["--params", "params.csv", "values.csv", "--output", f"{name}.csv"]
        assert _dpest("encode", *words, *more) == 0
    texts = [(here / f"{name}.csv").read_text() for name in "abc"]
    assert texts[0] == texts[1] != texts[2]


def test_known_values_are_encoded_by_their_map(here, capsys):
    params = Params(3, 1, 1, 0.0, 0.0, 1.0)
    params.write("params.csv")
    (here / "words.txt").write_text("red\ngreen\nblue\n")
    assert _dpest("candidates", "--params", "params.csv", "words.txt", "--fixed") == 0
    (here / "map.csv").write_text(capsys.readouterr().out)
    (here / "values.csv").write_text("client,value\na,green\nb,blue\nc,green\n")
    words = ["--params", "params.csv", "--map", "map.csv"]
    assert _dpest("encode", *words, "values.csv") == 0
    (here / "reports.csv").write_text(capsys.readouterr().out)
    assert (here / "reports.csv").read_text().splitlines()[1:] == [
        "a,0,,,010",
        "b,0,,,100",
        "c,0,,,010",
    ]
    (here / "values.csv").write_text("client,value\na,pink\n")
    assert _dpest("encode", *words, "values.csv") == 2
    assert "dpest: value 'pink' is not in the map" in capsys.readouterr().err


@pytest.mark.parametrize("what", ["reports", "counts"])
def test_simulated_reports_and_counts(here, what):
    name = "reports.bin" if what == "reports" else "counts.csv"
    words = ["--params", "params.csv", "--reports", 5000, "--seed", 3, "--population", "normal"]
    assert _dpest("simulate", *words, "--write", what, "-o", name, "--truth", "truth.csv") == 0
    if what == "reports":
        assert _dpest("count", "--params", "params.csv", name, "-o", "counts.csv") == 0
    counts = Counts.read("counts.csv", PARAMS)
    assert counts.total == 5000
    assert PARAMS.p_star < counts.ones.sum() / (32 * 5000) < PARAMS.q_star


def test_counts_are_added_and_streams_are_counted(here, capsys, monkeypatch):
    _simulate_values()
    common = ["--params", "params.csv"]
    assert _dpest("encode", *common, "values.csv", "--output", "reports.csv") == 0
    assert _dpest("count", *common, "reports.csv", "--output", "once.csv") == 0
    with open("reports.csv") as reports:
        monkeypatch.setattr(sys, "stdin", reports)
        assert _dpest("count", *common, "-", "--add", "once.csv", "--add", "once.csv") == 0
    (here / "thrice.csv").write_text(capsys.readouterr().out)
    once, thrice = (Counts.read(name, PARAMS) for name in ("once.csv", "thrice.csv"))
    assert thrice == once + once + once


def test_bad_lines_are_named_or_refused(here, capsys):
    _simulate_values(50)
    common = ["--params", "params.csv"]
    assert _dpest("encode", *common, "values.csv", "--output", "reports.csv") == 0
    lines = (here / "reports.csv").read_text().splitlines()
    lines[20] = lines[20][:-1]
    (here / "reports.csv").write_text("\n".join(lines))
    assert _dpest("count", *common, "reports.csv", "--output", "counts.csv") == 0
    errors = capsys.readouterr().err.splitlines()
    assert errors[0] == "reports.csv, line 21: 31 bits where k=32 were expected"
    assert errors[1] == "skipped 1 bad record (1 wrong width)"
    assert Counts.read("counts.csv", PARAMS).total == 49
    assert _dpest("count", *common, "reports.csv", "--bad", "refuse", "-o", "none.csv") == 2
    assert "1 bad record, the first: reports.csv, line 21" in capsys.readouterr().err
    assert not (here / "none.csv").exists()


def test_counting_goes_on_at_a_checkpoint(here, monkeypatch):
    monkeypatch.setattr(google_csv, "_CHUNK_BYTES", 5000)
    _simulate_values()
    common = ["--params", "params.csv"]
    assert _dpest("encode", *common, "values.csv", "--output", "reports.csv") == 0
    words = [*common, "reports.csv", "--checkpoint", "done.json", "--jobs", 1]
    for name in ("one.csv", "two.csv"):
        assert _dpest("count", *words, "--output", name) == 0
    assert (here / "one.csv").read_text() == (here / "two.csv").read_text()


def test_sql_is_printed(here, capsys):
    assert _dpest("count", "--params", "params.csv", "--sql", "reports") == 0
    assert capsys.readouterr().out.startswith("SELECT cohort,")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["params", "--k", 8], "parameters are missing: give --h, --m, --f, --p, --q"),
        (["params", "--params", "absent.csv"], "cannot read the parameters in absent.csv"),
        (["count", "--params", "params.csv"], "there is nothing to count"),
        (["count", "--params", "params.csv", "absent.csv"], "there is no file of reports"),
        (["count", "--params", "params.csv", "words.txt"], "no known format"),
        (["count", "--params", "params.csv", "x", "--jobs", 0], "jobs=0 must be"),
        (["encode", "--params", "params.csv", "absent.csv"], "cannot use absent.csv: No such file"),
        (["encode", "--params", "params.csv", "words.txt"], "must start with client,cohort,value"),
        (["encode", "--params", "params.csv", "short.csv"], "line 3: 2 fields where 3"),
        (["encode", "--params", "params.csv", "cohort.csv"], "cohort 99 is not between"),
        (["encode", "--params", "params.csv", "number.csv"], "a cohort is not a number"),
        (["candidates", "--params", "params.csv", "absent.txt"], "cannot use absent.txt: No such"),
        (["candidates", "--params", "params.csv", "binary.txt"], "the input is not UTF-8 text"),
        (["simulate", "--params", "params.csv", "--reports", 0], "--reports 0 must be 1 or more"),
        (["simulate", "--params", "params.csv", "--reports", 5, "--population", "x"], "unknown"),
        (["simulate", "--params", "params.csv", "--reports", 5, "--write", "reports"], "--output"),
        (
            ["simulate", "--params", "params.csv", "--reports", 5, "--output", "no/where.csv"],
            "there is no folder no",
        ),
    ],
)
def test_bad_input_gets_one_sentence(here, capsys, words, sentence):
    (here / "words.txt").write_text("apple\n")
    (here / "short.csv").write_text("client,cohort,value\na,1,x\nb,2\n")
    (here / "cohort.csv").write_text("client,cohort,value\na,99,x\n")
    (here / "number.csv").write_text("client,cohort,value\na,one,x\n")
    (here / "binary.txt").write_bytes(b"\xff\xfe\n")
    assert _dpest(*words) == 2
    message = capsys.readouterr().err
    assert message.startswith("dpest: ")
    assert sentence in message
    assert message.count("\n") == 1


def test_building_the_parser_imports_nothing_heavy():
    program = (
        "import argparse, sys; from dpest.rappor.commands import add_commands; "
        "add_commands(argparse.ArgumentParser().add_subparsers()); "
        "print([n for n in ('numpy', 'scipy', 'duckdb', 'joblib', 'mmh3') if n in sys.modules])"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    start = time.perf_counter()
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=environment, check=True
    )
    assert ran.stdout == "[]\n"
    assert time.perf_counter() - start < 3
