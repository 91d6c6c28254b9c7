"""From a law of the loss to a grid: a worse or a better law that has its losses there."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dpest.curves.atoms import Atoms
from dpest.curves.grid import MOST_POINTS, Grid, Rounding, between, kinks

if TYPE_CHECKING:
    from dpest.curves.law import LossLaw

Array = NDArray[np.float64]
_POINTS = 2**15
"""On how many points laws are laid out, shared among those that are summed."""
_SPREAD = 9.0
"""Sums stay this near their middle, in roots of summed squared spans, but for e^-40 (Hoeffding)."""
_UNSEEN = 1e-18
"""The probability of losses that are too far out to be laid out one by one."""
_ALIGNED = 1e-9
_ROUNDS = 12


@lru_cache(maxsize=256)
def discretised(law: LossLaw, rounding: Rounding, step: float) -> Grid:
    """A law on a grid that is worse ("high") or better ("low") in every respect."""
    low, high = ends(law)
    count = math.ceil((high - low) / step - _ALIGNED) + 1
    eps: Array = low + step * np.arange(count, dtype=float)
    total = math.exp(law.log_masses[0])
    values = law.deltas(eps) if rounding == "high" else _tangents(law, eps)
    return Grid(low, step, kinks(eps, values, total), float(min(values[-1], total)))


def _tangents(law: LossLaw, eps: Array) -> Array:
    """At every point the lower of the tangents in the middle of the cells beside it.

    In the last cell it is the tangent at its end, or delta would come out negative there.
    """
    places = np.concatenate([eps[:1] - 1, (eps[1:] + eps[:-1]) / 2])
    if len(eps) > 1:
        places[-1] = eps[-1] - _ALIGNED * 1e-3 * max(1.0, abs(float(eps[-1])))
    p, q = law.above(places)
    with np.errstate(over="ignore", invalid="ignore"):
        odds = np.exp(eps)
        left, right = (np.where(b > 0, a * b, 0.0) for a, b in ((odds, q), (odds[:-1], q[1:])))
    return np.minimum(p - left, np.append(p[1:] - right, law.infinite))


def common_step(factors: Sequence[tuple[LossLaw, int]]) -> float:
    """A step for the grids of laws that are summed: one that all their losses keep, if there is."""
    spans = [(high - low, count) for low, high, count in ((*ends(f), n) for f, n in factors)]
    widest = max(span for span, _ in spans)
    if widest == 0:
        return 1.0
    fit = _lattice_step([law for law, _ in factors], widest)
    if fit is not None:
        return fit
    spread = _SPREAD * math.sqrt(sum(count * span**2 for span, count in spans))
    whole = min(sum(count * span for span, count in spans), spread)
    step = max(widest * len(factors) / _POINTS, whole / MOST_POINTS)
    if len(factors) > 1:
        return float(2 ** math.ceil(math.log2(step)))
    return widest / math.ceil(widest / step)


def _lattice_step(laws: Sequence[LossLaw], widest: float) -> float | None:
    """The distance between all losses, where they are equally spaced."""
    gaps = []
    for law in laws:
        if not all(isinstance(part, Atoms) for part in law.parts):
            return None
        losses = np.unique(np.concatenate([part.loss for part in law.parts]))  # type: ignore[union-attr]
        gaps.append(np.diff(losses[np.isfinite(losses)]))
    all_gaps = np.concatenate(gaps)
    step = float(all_gaps[all_gaps > _ALIGNED * widest].min())
    off = np.abs(all_gaps / step - np.rint(all_gaps / step))
    return step if widest / step <= MOST_POINTS / 4 and off.max() < _ALIGNED else None


def ends(law: LossLaw) -> tuple[float, float]:
    """Between what the finite losses lie, but for the most unlikely."""
    low, high = law.reach
    if low > high:
        return 0.0, 0.0
    if law.highest[1] == math.inf:
        high = _last(law, low, high, 0)
    mirror = law.reversed()
    if mirror.highest[1] == math.inf:
        low = -_last(mirror, -high, -low, 1)
    return low, high


def _last(law: LossLaw, low: float, high: float, side: int) -> float:
    """From where on the probability (under one of the inputs) of larger losses is negligible."""
    certain = law.above(np.array([math.inf]))[side][0]
    for _ in range(_ROUNDS):
        eps = between(low, high, 33)
        fits = law.above(eps)[side] - certain <= _UNSEEN
        place = int(fits.argmax()) if fits.any() else len(eps) - 1
        low, high = float(eps[max(place - 1, 0)]), float(eps[place])
    return high
