"""Reports on disk: three formats, odd widths, small chunks, and everything that can be wrong."""

import csv
import io
import json

import duckdb
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpest.rappor import (
    Params,
    RapporError,
    Reports,
    read_reports,
    write_reports,
)
from dpest.rappor.wire import files, google_csv, packed, parquet

FORMATS = [".csv", ".parquet", ".bin"]
PARAMS = Params(12, 2, 4, 0.5, 0.25, 0.75)
HEADER = "client,cohort,bloom,prr,irr\n"


def _params(k):
    return Params(k, 1, 70, 0.5, 0.25, 0.75)


def _reports(params, count, seed=1):
    rng = np.random.default_rng(seed)
    bits = rng.integers(0, 2, (count, params.k))
    return Reports.from_bits(rng.integers(0, params.m, count).astype(np.int32), bits)


def _same(one, other):
    return np.array_equal(one.cohorts, other.cohorts) and np.array_equal(one.packed, other.packed)


@pytest.fixture
def small_chunks(monkeypatch):
    monkeypatch.setattr(google_csv, "_CHUNK_BYTES", 100)
    monkeypatch.setattr(packed, "_CHUNK_RECORDS", 7)
    monkeypatch.setattr(parquet, "_CHUNK_ROWS", 7)


@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.parametrize("k", [1, 7, 8, 63, 64, 65, 128, 130])
@pytest.mark.usefixtures("small_chunks")
def test_reports_survive_every_format(tmp_path, suffix, k):
    params, path = _params(k), tmp_path / f"reports{suffix}"
    reports = _reports(params, 50)
    write_reports(path, iter([reports[:20], reports[20:20], reports[20:]]), params)
    assert _same(read_reports(path, params), reports)
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("suffix", FORMATS)
def test_a_file_without_reports(tmp_path, suffix):
    path = tmp_path / f"reports{suffix}"
    write_reports(path, [], PARAMS)
    assert len(read_reports(path, PARAMS)) == 0


@pytest.mark.parametrize("suffix", FORMATS)
def test_a_writer_that_fails_leaves_no_file(tmp_path, suffix):
    def failing():
        yield _reports(PARAMS, 3)
        raise OSError("the disk is full")

    with pytest.raises(OSError, match="full"):
        write_reports(tmp_path / f"reports{suffix}", failing(), PARAMS)
    assert list(tmp_path.iterdir()) == []


def test_csv_is_googles(tmp_path):
    reports = Reports.from_bits([3, 0], [[1, 1, 0, 0], [0, 0, 0, 1]])
    params = Params(4, 1, 4, 0.5, 0.25, 0.75)
    path = tmp_path / "reports.csv"
    writer = google_csv.Writer(path, params)
    writer.write(reports, ["plain", 'with "quotes", and a comma'])
    writer.close()
    assert path.read_text() == (
        f'{HEADER}plain,3,,,0011\n"with ""quotes"", and a comma",0,,,1000\n'
    )
    assert _same(read_reports(path, params), reports)


def _slow_parse(text, params):
    """The oracle: one line after the other through the csv module."""
    good, bad = [], 0
    for line in text.split(b"\n"):
        line = line.removesuffix(b"\r")
        if not line:
            continue
        try:
            (row,) = csv.reader([line.decode()], strict=True)
            cohort, bits = row[1], row[4]
            assert len(row) == 5
            assert cohort.isascii()
            assert cohort.isdigit()
            assert int(cohort) < params.m
            assert len(bits) == params.k
            assert not bits.strip("01")
            good.append((int(cohort), int(bits, 2)))
        except (ValueError, IndexError, AssertionError, csv.Error):
            bad += 1
    return good, bad


fields = st.one_of(
    st.sampled_from(["", "0", "3", "4", "07", "-1", "1e0", "9" * 30, '"x"', "²"]),
    st.text("01", min_size=12, max_size=12),
    st.text('012, "\n\r', max_size=14),
)
good_lines = st.builds(
    "c,{},,,{}".format, st.integers(0, 3), st.text("01", min_size=12, max_size=12)
)
lines = st.one_of(good_lines, st.lists(fields, max_size=6).map(",".join), st.just("\xff\n"))


@given(st.lists(lines, max_size=12).map("\n".join), st.booleans())
def test_the_fast_parser_agrees_with_the_slow_one(text, finished):
    data = text.encode("latin-1", "replace") + (b"\n" if finished else b"")
    piece = google_csv.parse(data, PARAMS)
    good, bad = _slow_parse(data, PARAMS)
    found = [int.from_bytes(row.tobytes(), "little") for row in piece.reports.packed]
    assert list(zip(piece.reports.cohorts.tolist(), found, strict=True)) == good
    assert sum(piece.kinds.values()) == bad


@given(st.lists(good_lines, min_size=1, max_size=20), st.integers(1, 60))
def test_lines_belong_to_exactly_one_chunk(tmp_path_factory, some_lines, size):
    path = tmp_path_factory.mktemp("chunks") / "reports.csv"
    text = HEADER + "\n".join(some_lines)
    path.write_text(text)
    starts = range(0, len(text), size)
    pieces = [
        files.load(files.Chunk(str(path), at, min(at + size, len(text))), PARAMS) for at in starts
    ]
    assert sum(piece.records for piece in pieces) == len(some_lines) + 1
    together = Reports.concatenate([piece.reports for piece in pieces])
    assert _same(together, read_reports(path, PARAMS))


@pytest.mark.parametrize(
    ("line", "kind", "words"),
    [
        ("c,9,,,000000000000", "wrong cohort", "cohort '9' is not between 0 and 3"),
        ("c,-1,,,000000000000", "wrong cohort", "cohort '-1' is not"),
        ("c,,,,000000000000", "wrong cohort", "cohort '' is not"),
        ("c,1,,,00000000", "wrong width", "8 bits where k=12 were expected"),
        ("c,1,,,0000000000000000", "wrong width", "16 bits where k=12"),
        ("c,1,,,00000000000x", "malformed", "a bit is neither 0 nor 1"),
        ("c,1,,000000000000", "malformed", "4 fields where 5 were expected"),
        ('"c,1,,,000000000000', "malformed", "not a line of CSV"),
    ],
)
@pytest.mark.usefixtures("small_chunks")
def test_a_bad_line_is_named(tmp_path, line, kind, words):
    path = tmp_path / "reports.csv"
    good = [f"c{number},{number % 4},,,{number:012b}" for number in range(40)]
    path.write_text(HEADER + "\n".join([*good[:30], line, *good[30:]]) + "\n")
    with pytest.raises(RapporError, match=f"reports.csv, line 32: {words}"):
        read_reports(path, PARAMS)
    pieces = [files.load(chunk, PARAMS) for chunk in files.chunks(path)]
    assert sum(len(piece.reports) for piece in pieces) == 40
    assert sum((piece.kinds for piece in pieces), start=type(pieces[0].kinds)()) == {kind: 1}


def test_a_truncated_csv_loses_only_its_last_line(tmp_path):
    path = tmp_path / "reports.csv"
    write_reports(path, _reports(PARAMS, 10), PARAMS)
    path.write_bytes(path.read_bytes()[:-5])
    (chunk,) = files.chunks(path)
    piece = files.load(chunk, PARAMS)
    assert len(piece.reports) == 9
    assert piece.kinds == {"wrong width": 1}


def test_a_file_without_line_breaks_is_read_in_bounded_pieces(tmp_path, monkeypatch):
    monkeypatch.setattr(google_csv, "_CHUNK_BYTES", 1000)
    monkeypatch.setattr(google_csv, "_LONGEST_LINE", 500)
    path = tmp_path / "reports.csv"
    path.write_text(HEADER + "0" * 10_000 + "\nc,1,,,000000000001\n")
    pieces = [files.load(chunk, PARAMS) for chunk in files.chunks(path)]
    assert sum(len(piece.reports) for piece in pieces) == 1
    assert sum(sum(piece.kinds.values()) for piece in pieces) == 1


def test_a_truncated_packed_file_loses_only_its_last_record(tmp_path):
    path = tmp_path / "reports.bin"
    write_reports(path, _reports(PARAMS, 10), PARAMS)
    path.write_bytes(path.read_bytes()[:-1])
    (chunk,) = files.chunks(path)
    piece = files.load(chunk, PARAMS)
    assert (len(piece.reports), piece.records, piece.kinds) == (9, 10, {"malformed": 1})


def test_bits_beyond_the_width_and_cohorts_are_seen_in_packed_files(tmp_path):
    path = tmp_path / "reports.bin"
    write_reports(path, _reports(PARAMS, 3), PARAMS)
    data = bytearray(path.read_bytes())
    data[-1] |= 0x80
    data[-6 - 6] = 200
    path.write_bytes(data)
    piece = files.load(files.chunks(path)[0], PARAMS)
    assert len(piece.reports) == 1
    assert piece.kinds == {"wrong width": 1, "wrong cohort": 1}


@pytest.mark.parametrize("suffix", [".parquet", ".bin"])
def test_a_file_of_other_parameters_is_not_mixed_in(tmp_path, suffix):
    path = tmp_path / f"reports{suffix}"
    write_reports(path, _reports(PARAMS, 10), PARAMS)
    other = Params(12, 2, 4, 0.25, 0.25, 0.75)
    (chunk,) = files.chunks(path)
    piece = files.load(chunk, other)
    assert (len(piece.reports), piece.kinds) == (0, {"wrong parameters": 10})
    with pytest.raises(RapporError, match="written with Params"):
        read_reports(path, other)


def _parquet(path, query):
    duckdb.connect().execute(f"COPY ({query}) TO '{path}' (FORMAT parquet)")


def test_parquet_of_another_writer(tmp_path):
    path = tmp_path / "reports.parquet"
    rows = "(0, 5), (3, 4095), (4, 1), (-1, 1), (2, 4096), (2, -1), (NULL, 1), (1, NULL)"
    _parquet(path, f"SELECT * FROM (VALUES {rows}) AS t(cohort, bits0)")
    piece = files.load(files.chunks(path)[0], PARAMS)
    assert piece.reports.cohorts.tolist() == [0, 3]
    assert [int.from_bytes(row.tobytes(), "little") for row in piece.reports.packed] == [5, 4095]
    assert piece.kinds == {"wrong cohort": 2, "wrong width": 2, "malformed": 2}


def test_damaged_parquet_is_refused(tmp_path):
    path = tmp_path / "reports.parquet"
    write_reports(path, _reports(PARAMS, 5000), PARAMS)
    data = bytearray(path.read_bytes())
    data[4:2000] = b"\xff" * 1996
    path.write_bytes(data)
    with pytest.raises(RapporError, match="cannot read"):
        read_reports(path, PARAMS)


@pytest.mark.parametrize("columns", ["1 AS cohort", "1 AS cohort, 'x' AS bits0", "1 AS bits0"])
def test_parquet_without_the_columns_is_refused(tmp_path, columns):
    path = tmp_path / "reports.parquet"
    _parquet(path, f"SELECT {columns}")
    with pytest.raises(RapporError, match="has no integer column"):
        read_reports(path, PARAMS)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("reports.txt", "", "no known format"),
        ("reports.csv", "", "must start with client,cohort,bloom,prr,irr"),
        ("reports.csv", "user,cohort,irr\n", "must start with"),
        ("reports.bin", "no header", "does not start with a line of parameters"),
        ("reports.bin", '{"k": 1}\n', "by name"),
        ("reports.parquet", "no parquet", "cannot read"),
    ],
)
def test_a_file_of_something_else_is_refused(tmp_path, name, content, words):
    path = tmp_path / name
    path.write_text(content)
    with pytest.raises(RapporError, match=words):
        read_reports(path, PARAMS)


def test_an_absent_file_is_refused(tmp_path):
    with pytest.raises(RapporError, match="there is no file of reports at"):
        read_reports(tmp_path / "absent.csv", PARAMS)


def test_the_packed_header_is_the_parameters(tmp_path):
    path = tmp_path / "reports.bin"
    write_reports(path, _reports(PARAMS, 2), PARAMS)
    header, _, records = path.read_bytes().partition(b"\n")
    assert json.loads(header) == json.loads(PARAMS.to_json())
    assert len(records) == 2 * (4 + 2)


def test_a_stream_is_read_without_seeking(monkeypatch):
    monkeypatch.setattr(google_csv, "_CHUNK_BYTES", 64)
    text = HEADER + "".join(f"c,{n % 4},,,{n:012b}\n" for n in range(30))
    pieces = list(google_csv.stream(io.BytesIO(text.encode()), "-", PARAMS))
    assert len(pieces) > 3
    assert sum(len(piece.reports) for piece in pieces) == 30
    assert list(google_csv.stream(io.BytesIO(HEADER.encode()), "-", PARAMS)) == []
