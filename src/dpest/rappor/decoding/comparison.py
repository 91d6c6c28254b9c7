"""What a decoder found beside what is true, as in simulations."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from dpest.rappor.errors import RapporError
from dpest.rappor.wire.streams import reading


@dataclass(frozen=True)
class Comparison:
    """How far a set of strings with shares is from the truth.

    `total_variation` is half the sum of all differences of shares, strings that were not found
    counting as zero; `wrong` are the strings that were found and do not occur, `missed` those that
    occur and were not found.
    """

    total_variation: float
    found_share: float
    wrong: tuple[str, ...]
    missed: tuple[str, ...]
    precision: float
    recall: float

    @property
    def metrics(self) -> dict[str, Any]:
        """The same for metrics.json."""
        return asdict(self)

    def __str__(self) -> str:
        right = f"precision {self.precision:.1%}, recall {self.recall:.1%}"
        return f"Beside the truth: {right}, total variation {self.total_variation:.3f}."


def compare(found: Mapping[str, float], truth: Mapping[str, float]) -> Comparison:
    """Compare found shares with true ones; strings whose true share is zero do not occur."""
    occurring = {string: share for string, share in truth.items() if share > 0}
    wrong = tuple(string for string in found if string not in occurring)
    missed = tuple(string for string in occurring if string not in found)
    gaps = (abs(found.get(x, 0.0) - occurring.get(x, 0.0)) for x in {**found, **occurring})
    right = len(found) - len(wrong)
    return Comparison(
        total_variation=sum(gaps) / 2,
        found_share=sum(found.values()),
        wrong=wrong,
        missed=missed,
        precision=right / len(found) if found else 1.0,
        recall=right / len(occurring) if occurring else 1.0,
    )


def read_truth(path: str | Path) -> dict[str, float]:
    """The true shares in a CSV of `string,count` lines, as `dpest rappor simulate` writes it."""
    try:
        with reading(str(path)) as lines:
            rows = [row for row in csv.reader(lines) if row][1:]
        counts = {string: float(count) for string, count in rows}
    except (OSError, ValueError, csv.Error) as error:
        raise RapporError(f"cannot read the truth in {path}: {error}") from None
    total = sum(counts.values())
    if not total > 0 or min(counts.values()) < 0:
        raise RapporError(f"the truth in {path} must be counts that are not all zero")
    return {string: count / total for string, count in counts.items()}
