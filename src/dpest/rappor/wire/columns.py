"""CSV files of clients who report several things at once: one column of bits for each."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpest.rappor.errors import RapporError
from dpest.rappor.params import Params
from dpest.rappor.reports import Reports
from dpest.rappor.wire.streams import reading


@dataclass(frozen=True, eq=False)
class Columns:
    """The cohorts and the named columns of a file, as text."""

    path: str
    cohorts: np.ndarray
    text: dict[str, list[str]]

    def reports(self, name: str, params: Params) -> Reports:
        """A column of bit strings, the most significant first, as reports."""
        wrong = [i for i, bits in enumerate(self.text[name]) if not _is_report(bits, params.k)]
        if wrong:
            raise RapporError(
                f"{self.path}, line {wrong[0] + 2}: {name}={self.text[name][wrong[0]]!r} is not "
                f"k={params.k} bits; leave the line out or give the right parameters"
            )
        if len(self.cohorts) and self.cohorts.max() >= params.m:
            raise RapporError(
                f"{self.path}: cohort {self.cohorts.max()} is outside 0..{params.m - 1}"
            )
        joined = np.frombuffer("".join(self.text[name]).encode("ascii"), dtype=np.uint8)
        return Reports.from_bits(self.cohorts, joined.reshape(-1, params.k)[:, ::-1] - ord("0"))

    def numbers(self, name: str) -> np.ndarray:
        """A column of whole numbers from 0."""
        return _whole(self.text[name], self.path, name)


def read_columns(path: str, names: Sequence[str]) -> Columns:
    """Read `client,cohort` and these columns."""
    with reading(path) as lines:
        rows = csv.DictReader(lines)
        missing = [name for name in ("cohort", *names) if name not in (rows.fieldnames or ())]
        if missing:
            raise RapporError(f"{path} has no column {missing[0]!r}; found {rows.fieldnames}")
        table = [[row[name] or "" for name in ("cohort", *names)] for row in rows]
    if not table:
        raise RapporError(f"{path} holds no reports")
    cohorts, *columns = (list(column) for column in zip(*table, strict=True))
    return Columns(path, _whole(cohorts, path, "cohort"), dict(zip(names, columns, strict=True)))


def _whole(fields: Sequence[str], path: str, name: str) -> np.ndarray:
    wrong = [i for i, field in enumerate(fields) if not (field.isascii() and field.isdigit())]
    if wrong:
        raise RapporError(
            f"{path}, line {wrong[0] + 2}: {name}={fields[wrong[0]]!r} is not a whole number"
        )
    return np.array(fields, dtype=np.int64)


def _is_report(bits: str, k: int) -> bool:
    return len(bits) == k and not bits.strip("01")
