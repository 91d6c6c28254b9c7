"""Counts per cohort: how many reports there were, and how often each bit was set.

Counts add, so files, processes and machines are merged by adding.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from dpest.rappor.counting.popcount import bit_sums
from dpest.rappor.errors import RapporError
from dpest.rappor.params import Params
from dpest.rappor.reports import Reports
from dpest.rappor.wire.streams import reading


@dataclass(frozen=True, eq=False)
class Counts:
    """`N[j]` reports of cohort j, of which `ones[j, i]` have bit i set."""

    N: np.ndarray
    ones: np.ndarray

    def __post_init__(self) -> None:
        if self.N.ndim != 1 or self.ones.ndim != 2 or len(self.N) != len(self.ones):
            raise RapporError(
                f"counts need one N and one row per cohort, not {self.N.shape} and "
                f"{self.ones.shape}"
            )
        impossible = np.argwhere((self.ones < 0) | (self.ones > self.N[:, None]))
        if len(impossible):
            j, i = impossible[0]
            raise RapporError(
                f"cohort {j} counts bit {i} {self.ones[j, i]} times in {self.N[j]} reports; "
                "a count lies between 0 and the number of reports"
            )

    def __add__(self, other: Counts) -> Counts:
        if self.ones.shape != other.ones.shape:
            raise RapporError(
                f"counts of shape {self.ones.shape} and {other.ones.shape} do not add; "
                "they come from different parameters"
            )
        return Counts(self.N + other.N, self.ones + other.ones)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Counts):
            return NotImplemented
        return np.array_equal(self.N, other.N) and np.array_equal(self.ones, other.ones)

    @property
    def total(self) -> int:
        """The number of reports in all cohorts."""
        return int(self.N.sum())

    @classmethod
    def none(cls, params: Params) -> Counts:
        """The counts of no reports."""
        return cls(np.zeros(params.m, np.int64), np.zeros((params.m, params.k), np.int64))

    @classmethod
    def from_rows(cls, rows: Iterable[Sequence[Any]], params: Params) -> Counts:
        """The counts in rows of cohort, N and k sums, as `counting_sql` selects them."""
        counts = cls.none(params)
        for cohort, reports, *sums in rows:
            counts.N[cohort], counts.ones[cohort] = reports, sums
        return counts

    @classmethod
    def read(cls, source: str | Path | TextIO, params: Params) -> Counts:
        """Read google/rappor's counts.csv: a row per cohort, N and then the sums, bit 0 first.

        `-` is standard input.
        """
        if not isinstance(source, str | Path):
            return cls._parse(source, params)
        try:
            with reading(str(source)) as lines:
                return cls._parse(lines, params)
        except (OSError, UnicodeDecodeError, csv.Error) as error:
            raise RapporError(f"cannot read the counts in {source}: {error}") from None

    @classmethod
    def _parse(cls, lines: TextIO, params: Params) -> Counts:
        rows = [row for row in csv.reader(lines) if row]
        if len(rows) != params.m:
            raise RapporError(f"the counts have {len(rows)} rows; m={params.m} were expected")
        wrong = [i for i, row in enumerate(rows) if len(row) != params.k + 1]
        if wrong:
            raise RapporError(
                f"row {wrong[0] + 1} of the counts has {len(rows[wrong[0]])} numbers; "
                f"k + 1 = {params.k + 1} were expected"
            )
        try:
            table = np.array([[int(field) for field in row] for row in rows], dtype=np.int64)
        except (ValueError, OverflowError) as error:
            raise RapporError(f"the counts must be whole numbers: {error}") from None
        return cls(table[:, 0], table[:, 1:])

    def write(self, target: str | Path | TextIO) -> None:
        """Write counts.csv."""
        if isinstance(target, str | Path):
            with open(target, "w", newline="", encoding="utf-8") as out:
                self.write(out)
        else:
            rows = np.column_stack([self.N, self.ones]).tolist()
            csv.writer(target, lineterminator="\n").writerows(rows)


def count(reports: Reports, params: Params) -> Counts:
    """Count reports that are in memory."""
    if reports.k != params.k:
        raise RapporError(f"reports have {reports.k} bits; k={params.k} were expected")
    cohorts = reports.cohorts
    if len(cohorts) and not 0 <= cohorts.min() <= cohorts.max() < params.m:
        raise RapporError(f"a report has a cohort outside 0..{params.m - 1}")
    sizes, ones = bit_sums(cohorts, reports.packed, params.m)
    return Counts(sizes, ones[:, : params.k])
