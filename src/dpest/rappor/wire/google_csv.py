"""google/rappor's reports.csv, parsed a chunk of bytes at a time.

Lines as google/rappor and this package write them are parsed together in numpy; a line that looks
different in any way goes through the csv module, which says what is wrong with it.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, TextIO

import numpy as np

from dpest.rappor.errors import RapporError
from dpest.rappor.params import Params
from dpest.rappor.reports import Reports, batch_size, byte_width
from dpest.rappor.wire.files import Chunk, Piece, empty, wrong_cohort
from dpest.rappor.wire.quoting import quoted
from dpest.rappor.wire.streams import Replacing

HEADER = "client,cohort,bloom,prr,irr"
_COLUMNS = HEADER.count(",") + 1
_CHUNK_BYTES = 1 << 23
_LONGEST_LINE = 1 << 20
_LONGEST_COHORT = 9
_BATCH = 1 << 14
_ON_ONE_LINE = str.maketrans("\r\n", "  ")
_COMMA, _NEWLINE, _RETURN, _QUOTE, _ZERO = b',\n\r"0'


def chunks(path: str) -> list[Chunk]:
    """Ranges of bytes; a line belongs to the range that holds its first byte."""
    size = os.path.getsize(path)
    with open(path, "rb") as file:
        _check_header(path, file.readline(_LONGEST_LINE))
    starts = range(0, size, _CHUNK_BYTES)
    return [Chunk(path, start, min(start + _CHUNK_BYTES, size)) for start in starts]


def load(chunk: Chunk, params: Params) -> Piece:
    """The reports of the lines that start in the chunk."""
    with open(chunk.path, "rb") as file:
        return parse(_lines(file, chunk), params, has_header=chunk.start == 0)


def stream(file: BinaryIO, name: str, params: Params) -> Iterator[Piece]:
    """The reports of a stream that cannot be cut, such as a pipe."""
    first = file.readline(_LONGEST_LINE)
    _check_header(name, first)
    while block := file.read(_CHUNK_BYTES):
        yield parse(first + block + file.readline(_LONGEST_LINE), params, has_header=bool(first))
        first = b""


def parse(text: bytes, params: Params, *, has_header: bool = False) -> Piece:
    """The reports of some lines; the header counts as a line but not as a bad one."""
    data = np.frombuffer(text, dtype=np.uint8)
    starts, ends = _line_ends(data)
    piece = Piece(empty(params), len(starts))
    plain, fields = _plain_lines(data, starts, ends)
    good, cohorts, packed = _plain_reports(data, fields, params)
    lines = np.flatnonzero(plain)[good]
    odd = np.setdiff1d(np.arange(int(has_header), len(starts)), lines, assume_unique=True)
    odd = odd[ends[odd] > starts[odd]]
    slow = [(line, _odd_line(text[starts[line] : ends[line]], params)) for line in odd.tolist()]
    rescued = [(line, found) for line, found in slow if not isinstance(found[0], str)]
    for line, found in slow:
        if isinstance(found[0], str):
            piece.reject(line, *found)
    piece.reports = _merged(lines, cohorts, packed, rescued, params)
    return piece


def _line_ends(data: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where lines start, and where they end without their line break."""
    ends = np.flatnonzero(data == _NEWLINE)
    if len(data) and data[-1] != _NEWLINE:
        ends = np.append(ends, len(data))
    starts = np.concatenate([[0], ends[:-1] + 1])[: len(ends)]
    returns = (ends > starts) & (data[ends - 1] == _RETURN) if len(ends) else False
    return starts, ends - returns


def _plain_lines(
    data: np.ndarray, starts: np.ndarray, ends: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Which lines have five unquoted fields, and for each: cohort from, to, bits from, to."""
    commas, quotes = np.flatnonzero(data == _COMMA), np.flatnonzero(data == _QUOTE)
    first = np.searchsorted(commas, starts)
    plain = np.searchsorted(commas, ends) - first == _COLUMNS - 1
    plain &= np.searchsorted(quotes, starts) == np.searchsorted(quotes, ends)
    first = first[plain]
    bounds = [commas[first] + 1, commas[first + 1], commas[first + 3] + 1, ends[plain]]
    return plain, np.stack(bounds)


def _plain_reports(
    data: np.ndarray, fields: np.ndarray, params: Params
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Which of the plain lines are reports, their cohorts and their bits."""
    from numpy.lib.stride_tricks import sliding_window_view

    width = byte_width(params.k)
    cohorts = _integers(data, fields[0], fields[1])
    good = (cohorts >= 0) & (cohorts < params.m) & (fields[3] - fields[2] == params.k)
    if not good.any():
        return good, np.empty(0, np.int32), np.empty((0, width), np.uint8)
    digits = sliding_window_view(data, params.k)[fields[2][good]] ^ _ZERO
    binary = digits.max(axis=1) <= 1
    good[good] = binary
    digits = digits if binary.all() else digits[binary]
    return good, cohorts[good], np.packbits(digits[:, ::-1], axis=1, bitorder="little")


def _integers(data: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """The decimal numbers in data[start:end]; -1 where there is none."""
    lengths = ends - starts
    numbers = np.where((lengths > 0) & (lengths <= _LONGEST_COHORT), 0, -1).astype(np.int32)
    for place in range(min(int(lengths.max(initial=0)), _LONGEST_COHORT)):
        digit = data[np.minimum(starts + place, len(data) - 1)] - np.uint8(_ZERO)
        longer = (place < lengths) & (numbers >= 0)
        numbers = np.where(longer, numbers * 10 + digit, numbers)
        numbers[longer & (digit > 9)] = -1
    return numbers


def _odd_line(line: bytes, params: Params) -> tuple[int, int] | tuple[str, str]:
    """The cohort and bits of one line, or the kind of fault and its detail."""
    try:
        rows = list(csv.reader([line.decode("utf-8")], strict=True))
    except (UnicodeDecodeError, csv.Error) as error:
        return "malformed", f"not a line of CSV ({error})"
    if not rows or len(rows[0]) != _COLUMNS:
        return "malformed", f"{len(rows[0]) if rows else 0} fields where {_COLUMNS} were expected"
    cohort, bits = rows[0][1], rows[0][-1]
    if not (cohort.isascii() and cohort.isdigit() and int(cohort[:20]) < params.m):
        return "wrong cohort", wrong_cohort(repr(cohort[:20]), params)
    if len(bits) != params.k:
        return "wrong width", f"{len(bits)} bits where k={params.k} were expected"
    if bits.strip("01"):
        return "malformed", "a bit is neither 0 nor 1"
    return int(cohort), int(bits, 2)


def _merged(
    lines: np.ndarray, cohorts: np.ndarray, packed: np.ndarray, rescued: Sequence, params: Params
) -> Reports:
    """The reports of plain and odd lines in the order of the file."""
    if not rescued:
        return Reports(params.k, cohorts, packed)
    width = byte_width(params.k)
    extra = b"".join(bits.to_bytes(width, "little") for _, (_, bits) in rescued)
    order = np.argsort(np.concatenate([lines, [line for line, _ in rescued]]), kind="stable")
    all_cohorts = np.concatenate([cohorts, [cohort for _, (cohort, _) in rescued]])
    all_packed = np.concatenate([packed, np.frombuffer(extra, np.uint8).reshape(-1, width)])
    return Reports(params.k, all_cohorts[order].astype(np.int32), all_packed[order])


def _lines(file: BinaryIO, chunk: Chunk) -> bytes:
    """The bytes of the lines that start in the chunk; a monstrous line is cut short."""
    if chunk.start:
        file.seek(chunk.start - 1)
        while (skipped := file.readline(_LONGEST_LINE)) and not skipped.endswith(b"\n"):
            continue
    if file.tell() >= chunk.stop:
        return b""
    text = file.read(chunk.stop - file.tell())
    return text if text.endswith(b"\n") else text + file.readline(_LONGEST_LINE)


def _check_header(name: str, line: bytes) -> None:
    found = line.decode("utf-8-sig", "replace").rstrip("\r\n")
    if found != HEADER:
        raise RapporError(f"{name} must start with {HEADER}, not {found[:80]!r}")


class StreamWriter:
    """Writes reports.csv to a stream that someone else opens and closes.

    A report is a line, whatever the clients are called: line breaks in a name become spaces.
    Bloom filter and permanent response stay blank: they are the client's own.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream, self._written = stream, 0
        stream.write(HEADER + "\n")

    def write(self, reports: Reports, clients: Sequence[str] | None = None) -> None:
        """Append reports; without names the clients are numbered."""
        names = clients or range(self._written + 1, self._written + len(reports) + 1)
        step = batch_size(8 * reports.k, _BATCH)
        for at in range(0, len(reports), step):
            self._stream.write(text(reports[at : at + step], names[at : at + step]))
        self._written += len(reports)

    def close(self) -> None:
        """Hand over what is written."""
        self._stream.flush()

    def discard(self) -> None:
        """Nothing can be taken back from a stream."""


class Writer(StreamWriter):
    """Writes reports.csv to a file."""

    def __init__(self, path: Path, params: Params) -> None:
        self._target = Replacing(path)
        file = open(self._target.partial, "w", newline="", encoding="utf-8")  # noqa: SIM115
        super().__init__(file)

    def close(self) -> None:
        """Finish the file."""
        self._stream.close()
        self._target.commit()

    def discard(self) -> None:
        """Leave no file."""
        self._stream.close()
        self._target.discard()


def text(reports: Reports, clients: Sequence) -> str:
    """The lines of reports.csv."""
    k = reports.k
    bits = (reports.bits[:, ::-1] + np.uint8(_ZERO)).tobytes().decode("ascii")
    names = (quoted(client).translate(_ON_ONE_LINE) for client in clients)
    rows = zip(names, reports.cohorts.tolist(), strict=True)
    lines = [
        f"{client},{cohort},,,{bits[row * k : row * k + k]}\n"
        for row, (client, cohort) in enumerate(rows)
    ]
    return "".join(lines)
