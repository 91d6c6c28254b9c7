"""CSV files of clients who report several things at once: one column of bits for each."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpest.rappor.errors import RapporError
from dpest.rappor.params import Params
from dpest.rappor.reports import Reports
from dpest.rappor.wire.files import wrong_cohort
from dpest.rappor.wire.streams import reading

_LONGEST_NUMBER = 10


@dataclass(frozen=True, eq=False)
class Columns:
    """The cohorts and the named columns of a file, as text, and the line that each row ends on."""

    path: str
    lines: list[int]
    cohorts: np.ndarray
    text: dict[str, list[str]]

    def reports(self, name: str, params: Params) -> Reports:
        """A column of bit strings, the most significant first, as reports."""
        wrong = [i for i, bits in enumerate(self.text[name]) if not _is_report(bits, params.k)]
        if wrong:
            line, bits = self.lines[wrong[0]], self.text[name][wrong[0]][:80]
            raise RapporError(
                f"{self.path}, line {line}: {name}={bits!r} is not k={params.k} bits; "
                "leave the line out or give the right parameters"
            )
        if len(self.cohorts) and self.cohorts.max() >= params.m:
            at = int(np.argmax(self.cohorts >= params.m))
            told = wrong_cohort(self.cohorts[at], params)
            raise RapporError(f"{self.path}, line {self.lines[at]}: {told}")
        joined = np.frombuffer("".join(self.text[name]).encode("ascii"), dtype=np.uint8)
        return Reports.from_bits(self.cohorts, joined.reshape(-1, params.k)[:, ::-1] - ord("0"))

    def numbers(self, name: str) -> np.ndarray:
        """A column of whole numbers from 0."""
        return _whole(self.text[name], self.lines, self.path, name)


def read_columns(path: str, names: Sequence[str]) -> Columns:
    """Read `client,cohort` and these columns."""
    with reading(path) as lines:
        rows = csv.DictReader(lines)
        missing = [name for name in ("cohort", *names) if name not in (rows.fieldnames or ())]
        if missing:
            raise RapporError(f"{path} has no column {missing[0]!r}; found {rows.fieldnames}")
        try:
            table = [_fields(row, names, path, rows.line_num) for row in rows]
        except csv.Error as error:
            raise RapporError(f"{path}, line {rows.line_num}: {error}") from None
    if not table:
        raise RapporError(f"{path} holds no reports")
    ends, cohorts, *columns = (list(column) for column in zip(*table, strict=True))
    text = dict(zip(names, columns, strict=True))
    return Columns(path, ends, _whole(cohorts, ends, path, "cohort"), text)


def _fields(row: dict[Any, Any], names: Sequence[str], path: str, line: int) -> list[Any]:
    """The line number, the cohort and the columns of a row as long as the header."""
    if None in row or None in row.values():
        raise RapporError(f"{path}, line {line}: it has more or fewer fields than the header")
    return [line, *(row[name] for name in ("cohort", *names))]


def _whole(fields: Sequence[str], lines: Sequence[int], path: str, name: str) -> np.ndarray:
    for field, line in zip(fields, lines, strict=True):
        if not (field.isascii() and field.isdigit() and len(field) < _LONGEST_NUMBER):
            raise RapporError(f"{path}, line {line}: {name}={field[:80]!r} is not a whole number")
    return np.array(fields, dtype=np.int64)


def _is_report(bits: str, k: int) -> bool:
    return len(bits) == k and not bits.strip("01")
