"""What others measured for a mechanism, beside what is known about it now."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dpest.evidence import Bound
from dpest.zoo import ENTRIES, Entry

if TYPE_CHECKING:
    from dpest.report.result import Report


_CLOSE = 1e-4
"""Bounds that differ by less, relative to either, give an error the same digits."""


@dataclass(frozen=True)
class Measured:
    """A published estimate of epsilon, and how long it took where that was said."""

    source: str
    short: str
    class_: str
    epsilon: float | None
    seconds: float | None


def figures(entry: Entry) -> tuple[Measured, ...]:
    """What the seed documents print, in the order of their tables."""
    given = entry.figures
    return (
        Measured("dpest, first run", "dpest 1", "first", given.dpest_run1, given.dpest_seconds),
        Measured("dpest, second run", "dpest 2", "second", given.dpest_run2, None),
        Measured("DP-Sniper", "Sniper", "sniper", given.dp_sniper, given.sniper_seconds),
        Measured("StatDP", "StatDP", "statdp", given.statdp, given.statdp_seconds),
    )


def entry_of(report: Report) -> Entry | None:
    """The registered mechanism that a report is on, run as it was published."""
    for entry in ENTRIES:
        same = (entry.inputs, entry.neighbors, entry.params) == (
            report.inputs, report.neighbors, dict(report.params)
        )  # fmt: skip
        if entry.function is report.function and same:
            return entry
    return None


def error(estimate: float | None, bound: Bound) -> str:
    """How far an estimate is from the truth, in per cent of it; infinite ones in words."""
    if estimate is None:
        return ""
    if bound.lower == math.inf:
        return "right" if math.isinf(estimate) else "misses ∞"
    if not bound.upper <= bound.lower * (1 + _CLOSE):
        return _against_interval(estimate, bound)
    if math.isinf(estimate):
        return "is finite"
    if bound.upper == 0:
        return "right" if estimate == 0 else "is 0"
    return _percent(estimate / bound.upper - 1)


def _against_interval(estimate: float, bound: Bound) -> str:
    """The least error that the bounds allow."""
    if bound.lower_status != "none" and estimate < bound.lower:
        return f"at most {_percent(estimate / bound.lower - 1)}"
    if bound.upper_status != "none" and estimate > bound.upper > 0:
        return "is finite" if math.isinf(estimate) else (
            f"at least {_percent(estimate / bound.upper - 1)}"
        )
    return "possible"


def _percent(share: float) -> str:
    text = f"{share:+.0%}" if abs(share) >= 1 else f"{share:+.1%}"
    return "0 %" if float(text[:-1]) == 0 else f"{text[:-1]} %".replace("-", "−")
