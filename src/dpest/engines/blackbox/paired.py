"""Bounds from runs in pairs: the same random numbers on both inputs.

A run on `x` and a run on `x_prime` may share their random numbers: each output keeps its own
distribution, but the two fall in or out of an event together most of the time. What tells `p` from
`exp(eps) * p'` is then mostly the few pairs that disagree, and their noise is far smaller than
that of two independent counts.

The test is a bet. A gambler stakes a share `stake` on `hit - exp(eps) * hit' - delta` being
positive, pair after pair. Under the claim `p <= exp(eps) * p' + delta` the wealth does not grow on
average, so it ever reaches `1 / alpha` with probability at most `alpha`: exact for any number of
pairs, whatever the dependence within a pair, and however often one looks.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

BISECTIONS = 50
STAKES = 120


@dataclass(frozen=True)
class PairCounts:
    """Among `runs` pairs: the event hit on both inputs, on the first only, on the second only."""

    both: int = 0
    first_only: int = 0
    second_only: int = 0
    runs: int = 0

    def __add__(self, other: PairCounts) -> PairCounts:
        return PairCounts(
            self.both + other.both,
            self.first_only + other.first_only,
            self.second_only + other.second_only,
            self.runs + other.runs,
        )

    @property
    def first(self) -> int:
        return self.both + self.first_only

    @property
    def second(self) -> int:
        return self.both + self.second_only

    def forecasts(self, runs: int) -> tuple[PairCounts, PairCounts]:
        """What `runs` fresh pairs may show: at the same rates, and if luck turns (two errors)."""
        factor = runs / self.runs
        parts = np.array([self.both, self.first_only, self.second_only], float)
        errors = 2 * np.sqrt((parts + 1) * factor * (1 + factor))
        unlucky = np.maximum(parts * factor + errors * [0, -1, 1], 0)
        unlucky *= min(1.0, runs / unlucky.sum()) if unlucky.any() else 1.0
        return _whole(parts * factor, runs), _whole(unlucky, runs)


def _whole(parts: npt.NDArray[np.float64], runs: int) -> PairCounts:
    both, first_only, second_only = (int(part) for part in parts)
    return PairCounts(both, first_only, second_only, runs)


def counted(first: npt.NDArray[np.bool_], second: npt.NDArray[np.bool_]) -> PairCounts:
    """Counts from who hit, pair by pair."""
    both = int(np.count_nonzero(first & second))
    hits, hits_prime = int(np.count_nonzero(first)), int(np.count_nonzero(second))
    return PairCounts(both, hits - both, hits_prime - both, len(first))


def paired_lower_bound(
    counts: PairCounts, *, alpha: float, delta: float = 0.0, stake: float
) -> float:
    """Lower confidence bound at `1 - alpha` for `log((p - delta) / p')`, never below 0.

    `stake` in (0, 1 / (1 + delta)) must be fixed before the counts are known.
    """
    bound = _bounds(counts, alpha, delta, np.array([stake]))
    return float(bound[0])


def best_stake(forecasts: Sequence[PairCounts], *, alpha: float, delta: float = 0.0) -> float:
    """The stake whose bounds at the forecast counts are highest on average."""
    stakes = np.geomspace(1e-7, 0.999, STAKES) / (1.0 + delta)
    bounds = sum(_bounds(forecast, alpha, delta, stakes) for forecast in forecasts)
    return float(stakes[np.argmax(bounds)])


def _bounds(
    counts: PairCounts, alpha: float, delta: float, stakes: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """For each stake, the largest loss whose claim the gambler has refuted."""
    low = np.ones_like(stakes)
    high = (1.0 / stakes - delta) * (1.0 - 1e-12)
    refuted = _log_wealth(counts, delta, stakes, low) >= -math.log(alpha)
    for _ in range(BISECTIONS):
        middle = np.sqrt(low * high)
        grown = _log_wealth(counts, delta, stakes, middle) >= -math.log(alpha)
        low, high = np.where(grown, middle, low), np.where(grown, high, middle)
    return np.where(refuted, np.log(low), 0.0)


def _log_wealth(
    counts: PairCounts,
    delta: float,
    stakes: npt.NDArray[np.float64],
    ratio: npt.NDArray[np.float64],
) -> npt.NDArray[np.float64]:
    """Log of the gambler's wealth after all pairs, if the claim is `p <= ratio * p' + delta`."""
    neither = counts.runs - counts.both - counts.first_only - counts.second_only
    outcomes = (
        (counts.first_only, stakes * (1.0 - delta)),
        (counts.second_only, stakes * (-ratio - delta)),
        (counts.both, stakes * (1.0 - ratio - delta)),
        (neither, stakes * -delta),
    )
    wealth = np.zeros_like(stakes)
    for times, gain in outcomes:
        if times:
            wealth += times * np.log1p(gain)
    return wealth
