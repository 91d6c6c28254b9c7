"""Reports as packed bytes: a line of JSON with the parameters, then records of equal size."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from dpest.rappor.errors import RapporError
from dpest.rappor.params import Params
from dpest.rappor.reports import Reports, batch_size, byte_width
from dpest.rappor.wire.files import Chunk, Piece, foreign, sift
from dpest.rappor.wire.streams import Replacing

_CHUNK_RECORDS = 1 << 18
_LONGEST_HEADER = 1000


def chunks(path: str) -> list[Chunk]:
    """Ranges of record numbers; what is left over of a last record counts as one."""
    found, offset = _header(path)
    size = os.path.getsize(path) - offset
    records = -(-size // _record(found.k).itemsize)
    step = batch_size(found.k, _CHUNK_RECORDS)
    return [Chunk(path, at, min(at + step, records)) for at in range(0, records, step)]


def load(chunk: Chunk, params: Params) -> Piece:
    """The reports of a range of records."""
    found, offset = _header(chunk.path)
    if found != params:
        return foreign(chunk, params, found)
    record, wanted = _record(params.k), chunk.stop - chunk.start
    at = offset + chunk.start * record.itemsize
    array = np.fromfile(chunk.path, dtype=record, count=wanted, offset=at)
    piece = sift(array["cohort"], array["bits"], params)
    if len(array) < wanted:
        piece.reject(len(array), "malformed", "the file ends in the middle of a record")
        piece.records = wanted
    return piece


def _header(path: str) -> tuple[Params, int]:
    with open(path, "rb") as file:
        line = file.readline(_LONGEST_HEADER)
    if not line.startswith(b"{") or not line.endswith(b"\n"):
        raise RapporError(f"{path} does not start with a line of parameters; is it a report file?")
    return Params.from_json(line.decode("utf-8", "replace")), len(line)


def _record(k: int) -> np.dtype:
    return np.dtype([("cohort", "<u4"), ("bits", "u1", (byte_width(k),))])


class Writer:
    """Writes packed reports."""

    def __init__(self, path: Path, params: Params) -> None:
        self._target, self._record = Replacing(path), _record(params.k)
        self._file = open(self._target.partial, "wb")  # noqa: SIM115
        self._file.write(params.to_json().encode() + b"\n")

    def write(self, reports: Reports, clients: Sequence[str] | None = None) -> None:
        """Append reports; this format does not name clients."""
        array = np.empty(len(reports), dtype=self._record)
        array["cohort"], array["bits"] = reports.cohorts, reports.packed
        array.tofile(self._file)

    def close(self) -> None:
        """Finish the file."""
        self._file.close()
        self._target.commit()

    def discard(self) -> None:
        """Leave no file."""
        self._file.close()
        self._target.discard()
