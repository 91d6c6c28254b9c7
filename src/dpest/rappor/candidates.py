"""Candidate strings, the bits that each of them sets, and google/rappor's map.csv."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import numpy as np

from dpest.rappor.errors import RapporError
from dpest.rappor.hashing import positions_table
from dpest.rappor.params import Params
from dpest.rappor.reports import byte_width
from dpest.rappor.wire.quoting import quoted
from dpest.rappor.wire.streams import reading

if TYPE_CHECKING:
    from scipy.sparse import csc_matrix

_BLANK = -1
_BATCH = 1024


@dataclass(frozen=True, eq=False)
class Candidates:
    """Strings that may have been reported.

    `positions` has a row per string with the rows of the design matrix that it sets,
    `cohort * k + bit`, in any order; -1 is a blank, and a repeated number is one bit.
    """

    strings: tuple[str, ...]
    positions: np.ndarray

    def __post_init__(self) -> None:
        if self.positions.ndim != 2 or len(self.positions) != len(self.strings):
            raise RapporError(
                f"{len(self.strings)} strings need as many rows of positions, "
                f"not shape {self.positions.shape}"
            )
        if len(set(self.strings)) < len(self.strings):
            repeated = _first_repeated(self.strings)
            raise RapporError(f"candidate {repeated!r} appears twice; list each string once")

    def __len__(self) -> int:
        return len(self.strings)

    @classmethod
    def hashed(
        cls, strings: Iterable[str], params: Params, scheme: str = "dpest", *, salt: str = ""
    ) -> Candidates:
        """Candidates of clients that hash strings by a named scheme."""
        names = tuple(strings)
        return cls(names, _global_rows(names, params, scheme, salt))

    @classmethod
    def fixed(cls, values: Iterable[str], params: Params) -> Candidates:
        """The values of a known set: value number i is bit i, in every cohort.

        With several hashes the bit is repeated for each, so that a map has as many as it must.
        """
        names = tuple(values)
        if len(names) > params.k:
            raise RapporError(f"{len(names)} values do not fit k={params.k} bits; use a larger k")
        cohorts = np.repeat(np.arange(params.m) * params.k, params.h)
        return cls(names, (np.arange(len(names))[:, None] + cohorts).astype(np.int32))

    def subset(self, indices: Sequence[int] | np.ndarray) -> Candidates:
        """The candidates at these indices, in this order."""
        chosen = np.asarray(indices, dtype=np.intp)
        return Candidates(tuple(self.strings[i] for i in chosen), self.positions[chosen])

    def design(self, params: Params) -> csc_matrix:
        """The design matrix: (m * k, M), 1 where a string sets the bit `cohort * k + bit`."""
        from scipy.sparse import csc_matrix

        rows = np.sort(self.positions, axis=1)
        if rows.size and rows.max() >= params.m * params.k:
            raise RapporError(
                f"a candidate sets bit {rows.max() + 1} but m * k = {params.m * params.k}; "
                "the map belongs to other parameters"
            )
        fresh = np.ones(rows.shape, dtype=bool)
        fresh[:, 1:] = rows[:, 1:] != rows[:, :-1]
        fresh &= rows != _BLANK
        starts = np.concatenate([[0], np.cumsum(fresh.sum(axis=1))])
        ones = np.ones(starts[-1], dtype=np.int32)
        return csc_matrix((ones, rows[fresh], starts), shape=(params.m * params.k, len(self)))

    def packed_filters(self, params: Params) -> np.ndarray:
        """The filters of all candidates in all cohorts, packed like reports: (M, m, bytes)."""
        filters = np.zeros((len(self), params.m, byte_width(params.k)), dtype=np.uint8)
        names = np.arange(len(self))
        for column in self.positions.T:
            known = column != _BLANK
            cohort, bit = np.divmod(column[known], params.k)
            filters[names[known], cohort, bit >> 3] |= (1 << (bit & 7)).astype(np.uint8)
        return filters

    @classmethod
    def read(cls, path: str | Path, params: Params) -> Candidates:
        """Read a map.csv: a string, then h * m bits from 1, some of which may be blank.

        `-` is standard input.
        """
        try:
            with reading(str(path)) as lines:
                return cls._parse(lines, params, str(path))
        except (OSError, UnicodeDecodeError, csv.Error) as error:
            raise RapporError(f"cannot read the map in {path}: {error}") from None

    @classmethod
    def _parse(cls, lines: TextIO, params: Params, name: str) -> Candidates:
        strings, blocks = [], []
        reader = csv.reader(lines)
        filled = ((reader.line_num, row) for row in reader if row)
        while rows := list(islice(filled, _BATCH)):
            strings += [row[0] for _, row in rows]
            blocks.append(np.array([_map_row(row, params, name, at) for at, row in rows], np.int32))
        width = params.h * params.m
        return cls(tuple(strings), np.concatenate([np.empty((0, width), np.int32), *blocks]))

    def write(self, target: str | Path | TextIO) -> None:
        """Write a map.csv."""
        if isinstance(target, str | Path):
            with open(target, "w", newline="", encoding="utf-8") as out:
                self.write(out)
        else:
            target.writelines(_csv_lines(self.strings, self.positions))


def write_map(
    strings: Iterable[str],
    params: Params,
    out: TextIO,
    scheme: str = "dpest",
    *,
    salt: str = "",
) -> int:
    """Hash strings into a map.csv as they come, in bounded memory; return how many there were."""
    remaining, written = iter(strings), 0
    while batch := list(islice(remaining, _BATCH)):
        out.writelines(_csv_lines(batch, _global_rows(batch, params, scheme, salt)))
        written += len(batch)
    return written


def _global_rows(strings: Sequence[str], params: Params, scheme: str, salt: str) -> np.ndarray:
    table = positions_table(strings, params, scheme, salt=salt)
    offsets = (np.arange(params.m, dtype=np.int32) * params.k)[:, None]
    return (table + offsets).reshape(len(strings), params.m * params.h)


def _csv_lines(strings: Sequence[str], positions: np.ndarray) -> Iterator[str]:
    for string, row in zip(strings, positions.tolist(), strict=True):
        bits = ("" if bit == _BLANK else str(bit + 1) for bit in row)
        yield ",".join([quoted(string), *bits]) + "\n"


def _map_row(row: list[str], params: Params, name: str, line: int) -> list[int]:
    try:
        bits = [int(field) if field.strip() else None for field in row[1:]]
    except ValueError:
        raise RapporError(f"{name}, line {line}: bits must be whole numbers or blank") from None
    if len(bits) != params.h * params.m:
        wanted = f"h * m = {params.h * params.m}"
        raise RapporError(f"{name}, line {line}: {len(bits)} bits where {wanted} were expected")
    if not all(bit is None or 1 <= bit <= params.m * params.k for bit in bits):
        raise RapporError(f"{name}, line {line}: bits must lie between 1 and {params.m * params.k}")
    return [_BLANK if bit is None else bit - 1 for bit in bits]


def _first_repeated(strings: Sequence[str]) -> str:
    seen: set[str] = set()
    return next(s for s in strings if s in seen or seen.add(s))  # type: ignore[func-returns-value]
