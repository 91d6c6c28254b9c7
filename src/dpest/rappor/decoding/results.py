"""What a decoder found: strings with frequencies and error bars, and how good the fit is."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from dpest.rappor.decoding.comparison import Comparison, compare
from dpest.rappor.decoding.goodness import BitFit

OTHER = "(other)"


class Row(NamedTuple):
    """A string: how many reports hold it, the share of all that is, and its 95 % interval."""

    string: str
    estimate: float
    std_error: float
    proportion: float
    prop_std_error: float
    prop_low_95: float
    prop_high_95: float


@dataclass(frozen=True, eq=False)
class Decoding:
    """Estimates for all candidates, of which `detected` marks those that are reported.

    `probability` is how likely a string is to be present (NaN for methods without a posterior);
    `other` is the row of the strings that no candidate explains, if the method has one; `bits` says
    how well the estimates explain the counted bits.
    """

    strings: tuple[str, ...]
    proportion: np.ndarray
    prop_std_error: np.ndarray
    prop_low_95: np.ndarray
    prop_high_95: np.ndarray
    p_value: np.ndarray
    probability: np.ndarray
    detected: np.ndarray
    sample_size: int
    other: Row | None
    metrics: dict[str, Any]
    bits: BitFit

    @property
    def rows(self) -> list[Row]:
        """The reported strings, the most frequent first."""
        return self._rows(np.flatnonzero(self.detected))

    @property
    def all_rows(self) -> list[Row]:
        """Every candidate, reported or not, and the row of unlisted strings."""
        rows = self._rows(np.arange(len(self.strings)))
        return [*rows, self.other] if self.other else rows

    def __len__(self) -> int:
        return int(self.detected.sum())

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __getitem__(self, string: str) -> Row:
        """The row of a candidate, whether it is reported or not."""
        if string not in self.strings:
            raise KeyError(f"{string!r} is not among the {len(self.strings)} candidates")
        return self._row(self.strings.index(string))

    def compared(self, truth: Mapping[str, float]) -> Comparison:
        """The reported strings beside the true share of each string."""
        return compare({row.string: row.proportion for row in self.rows}, truth)

    def _rows(self, indices: np.ndarray) -> list[Row]:
        order = np.argsort(-self.proportion[indices], kind="stable")
        return [self._row(int(i)) for i in indices[order]]

    def _row(self, i: int) -> Row:
        columns = self.proportion, self.prop_std_error, self.prop_low_95, self.prop_high_95
        share, error, low, high = (float(column[i]) for column in columns)
        return Row(
            self.strings[i], share * self.sample_size, error * self.sample_size,
            share, error, low, high,
        )  # fmt: skip

    def to_csv(self, everything: bool = False) -> str:
        """google/rappor's results.csv: the reported strings, or all candidates and the rest."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(Row._fields)
        writer.writerows(map(_rounded, self.all_rows if everything else self.rows))
        return out.getvalue()

    def to_json(self) -> str:
        """Every candidate with its p-value and probability, the unlisted strings, the metrics."""
        found = {row.string: row._asdict() for row in self._rows(np.arange(len(self.strings)))}
        for i, string in enumerate(self.strings):
            found[string] |= {
                "p_value": float(self.p_value[i]),
                "probability": float(self.probability[i]),
                "detected": bool(self.detected[i]),
            }
        document = {
            "rows": list(found.values()),
            "other": self.other._asdict() if self.other else None,
            "cohorts": [
                {"cohort": int(cohort), "reports": int(size), "chi2": float(chi2)}
                for cohort, size, chi2 in zip(
                    self.bits.cohorts, self.bits.sizes, self.bits.chi2, strict=True
                )
            ],
            "metrics": self.metrics,
        }
        return json.dumps(finite(document), indent=2)

    def to_table(self) -> str:
        """The reported strings and the rest as text, for a person."""
        rows = self.rows + ([self.other] if self.other else [])
        names = [on_one_line(row.string) for row in rows]
        width = max(map(len, ["string", *names]))
        lines = [f"{'string':<{width}}  {'estimate':>12}  {'share':>9}  {'95 % interval':>19}"]
        lines += [
            f"{name:<{width}}  {row.estimate:>12,.0f}  {_percent(row.proportion):>9}  "
            f"{_percent(row.prop_low_95):>8} ..{_percent(row.prop_high_95):>9}"
            for name, row in zip(names, rows, strict=True)
        ]
        return "\n".join([*lines, "", self._summary()]) + "\n"

    def _summary(self) -> str:
        metrics = self.metrics
        text = (
            f"{metrics['num_detected']} of {len(self.strings)} candidates found in "
            f"{self.sample_size:,} reports (method {metrics['method']}, "
            f"alpha {metrics['alpha']:g}, correction {metrics['correction']}); "
            f"they hold {_percent(metrics['allocated_mass'])}."
        )
        if metrics["method"] == "reports" and metrics["refined_by_reports"] == 0:
            text += " Whole reports added nothing that can be relied on; these are the counts'."
        if metrics["dispersion"] is not None and metrics["dispersion"] > 1.2:
            text += (
                f" The noise is {metrics['dispersion']:.1f} times what these candidates allow for: "
                "frequent strings are missing from the list, or the parameters do not fit."
            )
        if metrics["crowded"]:
            text += (
                " So many strings are there, among so many candidates, that the intervals of those "
                "found hold less often than 95 %: use more cohorts, or fewer candidates."
            )
        if metrics["indistinguishable"]:
            text += (
                f" {metrics['indistinguishable']} candidates set the same bits as another one, so "
                "nothing can say which of them is there; keep one of each kind."
            )
        return text


def _rounded(row: Row) -> list[str | float]:
    counts = [f"{x:.1f}" if math.isfinite(x) else "" for x in row[1:3]]
    return [row.string, *counts, *(f"{x:.6g}" if math.isfinite(x) else "" for x in row[3:])]


def _percent(share: float) -> str:
    return f"{share:.3%}" if math.isfinite(share) else "unknown"


def finite(value: Any) -> Any:
    """The same document with words for infinities and null for what is not a number."""
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    if not isinstance(value, float) or math.isfinite(value):
        return value
    return None if math.isnan(value) else str(value)


def on_one_line(string: str) -> str:
    """A string as a table shows it: line breaks and what steers a terminal are spelled out."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in string)
