"""Reports on disk: google/rappor's CSV, Parquet and packed bytes, read piece by piece.

A file is cut into chunks that can be read on their own, by any process, in bounded memory. What is
not a report of these parameters is never mixed in: a chunk comes back as the good reports and a
list of what was wrong with the others.

    .csv       client,cohort,bloom,prr,irr; the bits most significant first
    .csv.gz    the same, packed; one chunk, to be read from start to end
    .parquet   cohort, bits0, bits1, ...: bit i of a report is bit i % 64 of column i // 64
    .bin       a line of JSON with the parameters, then cohort (4 bytes) and bits of each report
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from dpest.rappor.errors import RapporError
from dpest.rappor.params import Params
from dpest.rappor.reports import Reports, byte_width

if TYPE_CHECKING:
    from types import ModuleType

_MODULES = {".csv": "google_csv", ".gz": "gzipped", ".parquet": "parquet", ".bin": "packed"}
MOST_NAMED = 20


@dataclass(frozen=True)
class Chunk:
    """A part of a file: bytes of a CSV file, record numbers of the others."""

    path: str
    start: int
    stop: int


@dataclass(frozen=True)
class Bad:
    """A record that is not a report: its number in the chunk, the kind of fault, and the detail."""

    record: int
    kind: str
    detail: str


@dataclass
class Piece:
    """What a chunk held: reports, how many records in all, and the bad ones.

    `kinds` counts all bad records; `named` holds the first of them.
    """

    reports: Reports
    records: int
    kinds: Counter[str] = field(default_factory=Counter)
    named: list[Bad] = field(default_factory=list)

    def reject(self, record: int, kind: str, detail: str) -> None:
        """Count a bad record and remember the first few."""
        self.kinds[kind] += 1
        if len(self.named) < MOST_NAMED:
            self.named.append(Bad(record, kind, detail))


class ReportWriter(Protocol):
    """Writes reports to a file, which appears under its name when it is complete."""

    def write(self, reports: Reports, clients: Sequence[str] | None = None) -> None:
        """Append reports."""

    def close(self) -> None:
        """Finish the file."""

    def discard(self) -> None:
        """Leave no file."""


def chunks(path: str | Path) -> list[Chunk]:
    """Cut a file of reports into chunks."""
    if not os.path.isfile(path):
        raise RapporError(f"there is no file of reports at {path}")
    return _module(path).chunks(str(path))


def load(chunk: Chunk, params: Params) -> Piece:
    """Read the reports of a chunk."""
    return _module(chunk.path).load(chunk, params)


def pieces(chunk: Chunk, params: Params) -> Iterator[Piece]:
    """The reports of a chunk in order; a chunk that is a whole packed file takes several pieces."""
    module = _module(chunk.path)
    if hasattr(module, "pieces"):
        yield from module.pieces(chunk, params)
    else:
        yield module.load(chunk, params)


def write_reports(path: str | Path, parts: Reports | Iterable[Reports], params: Params) -> None:
    """Write reports, or a stream of batches of them, in the format of the file name."""
    writer = open_writer(path, params)
    try:
        for part in [parts] if isinstance(parts, Reports) else parts:
            writer.write(part)
        writer.close()
    finally:
        writer.discard()


def open_writer(path: str | Path, params: Params) -> ReportWriter:
    """A writer in the format of the file name."""
    module = _module(path)
    if not hasattr(module, "Writer"):
        raise RapporError(f"{path} is a format to be read only; leave .gz out and pack the file")
    return module.Writer(Path(path), params)


def read_reports(path: str | Path, params: Params) -> Reports:
    """All reports of a file, in order; a bad record is refused."""
    return Reports.concatenate([empty(params), *iterate_reports(path, params)])


def iterate_reports(path: str | Path, params: Params) -> Iterator[Reports]:
    """The reports of a file batch by batch, in order; a bad record is refused."""
    before = 0
    for piece in file_pieces(path, params):
        if piece.named:
            raise RapporError(describe(str(path), before, piece.named[0]))
        before += piece.records
        yield piece.reports


def file_pieces(path: str | Path, params: Params) -> Iterator[Piece]:
    """The pieces of a file in order; `-` is a CSV file on standard input."""
    if str(path) == "-":
        from dpest.rappor.wire.google_csv import stream

        yield from stream(sys.stdin.buffer, "-", params)
        return
    for chunk in chunks(path):
        yield from pieces(chunk, params)


def describe(path: str, before: int, bad: Bad) -> str:
    """Say where a bad record is, given how many records came before its chunk."""
    unit = "line" if path.endswith((".csv", ".csv.gz")) or path == "-" else "record"
    return f"{path}, {unit} {before + bad.record + 1}: {bad.detail}"


def empty(params: Params) -> Reports:
    """No reports."""
    return Reports(params.k, np.empty(0, np.int32), np.empty((0, byte_width(params.k)), np.uint8))


def sift(
    cohorts: np.ndarray, packed: np.ndarray, params: Params, missing: np.ndarray | None = None
) -> Piece:
    """Keep the complete reports whose cohort exists and that set no bit beyond k.

    `packed` may have more bytes than k needs, and `missing` marks records with a value left out.
    """
    width = byte_width(params.k)
    inside = (cohorts >= 0) & (cohorts < params.m)
    narrow = ~packed[:, width:].any(axis=1)
    if params.k % 8:
        narrow &= packed[:, width - 1] >> params.k % 8 == 0
    complete = np.ones(len(cohorts), dtype=bool) if missing is None else ~missing
    good = inside & narrow & complete
    kept = (cohorts, packed) if good.all() else (cohorts[good], packed[good])
    clean = Reports(params.k, kept[0].astype(np.int32), np.ascontiguousarray(kept[1][:, :width]))
    piece = Piece(clean, len(cohorts))
    for record in np.flatnonzero(~good).tolist():
        if not complete[record]:
            piece.reject(record, "malformed", "a value is missing")
        elif not inside[record]:
            piece.reject(record, "wrong cohort", wrong_cohort(cohorts[record], params))
        else:
            piece.reject(record, "wrong width", f"bits beyond k={params.k} are set")
    return piece


def wrong_cohort(cohort: Any, params: Params) -> str:
    """The sentence for a cohort that does not exist."""
    return f"cohort {cohort} is not between 0 and {params.m - 1}"


def foreign(chunk: Chunk, params: Params, found: Params) -> Piece:
    """A chunk of a file that was written with other parameters: nothing in it is good."""
    piece = Piece(empty(params), chunk.stop - chunk.start)
    piece.reject(0, "wrong parameters", f"written with {found}, expected {params}")
    piece.kinds["wrong parameters"] = piece.records
    return piece


def _module(path: str | Path) -> ModuleType:
    name = _MODULES.get(Path(path).suffix)
    if name is None:
        known = ", ".join(_MODULES).replace(".gz", ".csv.gz")
        raise RapporError(f"{path} has no known format; use a name that ends in {known}")
    return import_module(f"dpest.rappor.wire.{name}")
