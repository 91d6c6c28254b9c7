"""delta(eps), epsilon(delta) and the errors of tests, each between two values.

All come from delta(eps): epsilon by searching its root, tests by their duality with it. Searches
run on grids that close in on the answers, many questions at a time.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpest.curves.grid import between
from dpest.curves.law import LossLaw

Array = NDArray[np.float64]
Interval = tuple[Array, Array]
_POINTS = 9
_ROUNDS = 26
_FARTHEST = 700.0
"""Beyond this the exponential of a loss is zero or infinite in floating point."""
_SAME = 1e-12
"""How far apart, relatively, a sum of probabilities and the number it should be may lie."""


def deltas(law: LossLaw, eps: Array) -> Interval:
    """delta(eps)."""
    value = law.deltas(eps)
    missing = np.where(eps < law.highest[1], law.missing, 0.0)
    return value, np.minimum(value + missing, 1.0)


def epsilons(law: LossLaw, wanted: Array) -> Interval:
    """The least eps >= 0 with delta(eps) <= wanted."""
    least, most = law.highest
    low = np.where(wanted > 0, _crossings(law, wanted), least)
    high = np.where(wanted > law.missing, _crossings(law, wanted - law.missing), most)
    never = law.infinite > wanted * (1 + _SAME)
    return np.where(never, np.inf, low), np.where(never, np.inf, high)


def _crossings(law: LossLaw, wanted: Array) -> Array:
    """Where delta(eps) comes down to what is wanted; the largest loss where it does not."""
    low, high = np.zeros(len(wanted)), np.full(len(wanted), max(law.reach[1], 0.0))
    rows = np.arange(len(wanted))
    for _ in range(_ROUNDS * 3 // 4):
        eps = between(low, high, _POINTS)
        fits = law.deltas(eps.ravel()).reshape(eps.shape) <= wanted[:, None] * (1 + _SAME)
        place = np.where(fits.any(axis=1), fits.argmax(axis=1), _POINTS - 1)
        low, high = eps[rows, np.maximum(place - 1, 0)], eps[rows, place]
    return high


def powers(law: LossLaw, levels: Array) -> Interval:
    """The largest P(E) of any test with Q(E) <= level: the least delta(eps) + e^eps level.

    It is convex in e^eps, so the least on a grid has the least of all beside it.
    """
    low, high = (np.full(len(levels), end) for end in _searched(law))
    best, rows = np.where(levels == 0, law.infinite, np.inf), np.arange(len(levels))
    for _ in range(_ROUNDS):
        eps = between(low, high, _POINTS)
        power = law.deltas(eps.ravel()).reshape(eps.shape) + np.exp(eps) * levels[:, None]
        place = power.argmin(axis=1)
        best = np.minimum(best, power[rows, place])
        low, high = (eps[rows, np.clip(place + side, 0, _POINTS - 1)] for side in (-1, 1))
    best = np.clip(best, levels, 1.0)
    return best, np.minimum(best + law.missing, 1.0)


def _searched(law: LossLaw) -> tuple[float, float]:
    """The losses between which the best tests cut."""
    low, high = law.reach
    if low > high:
        return -_FARTHEST, 0.0
    return max(low - 1, -_FARTHEST), min(high + 1, _FARTHEST)
