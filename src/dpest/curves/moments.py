"""Rényi divergences and zero-concentrated differential privacy from the law of the loss."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dpest.curves.convolved import Convolved
from dpest.curves.gaussian import Gaussian
from dpest.curves.law import LossLaw

Array = NDArray[np.float64]
Interval = tuple[Array, Array]
_CLOSE = 1e-12
_EVALUATIONS = 4_000
_NEGLIGIBLE = math.log(1e-16)


def divergences(law: LossLaw, alphas: Array) -> Interval:
    """The Rényi divergence of every order alpha >= 1; order 1 is that of Kullback and Leibler."""
    order = np.asarray(alphas, float) - 1
    if law.infinite > 0:
        return np.full(len(order), math.inf), np.full(len(order), math.inf)
    rates, positive = np.empty(len(order)), order > 0
    rates[~positive] = law.mean()
    rates[positive] = _log_moments(law, order[positive]) / order[positive]
    rates = np.maximum(rates, 0.0)
    with np.errstate(invalid="ignore"):
        cut = law.log_tails(order) - order * rates > _NEGLIGIBLE
    return rates, np.where(cut, np.maximum(law.highest[1], rates), rates)


def _log_moments(law: LossLaw, order: Array) -> Array:
    """log E[e^(order * loss)], accurate where it is close to zero too."""
    excess = law.excess_moments(order)
    small = np.abs(excess) < 0.5
    return np.where(small, np.log1p(np.where(small, excess, 0.0)), law.log_moments(order))


def concentration(law: LossLaw) -> tuple[float, float]:
    """Bounds on sup over alpha > 1 of divergence / alpha.

    `order * divergence` is convex in the order, so chords bound it between any two orders; the
    orders are bisected where the chord allows more than was found.
    """
    if law.infinite > 0:
        return math.inf, math.inf
    if len(law.parts) == 1 and isinstance(law.parts[0], Gaussian):
        return law.parts[0].mu ** 2 / 2, law.parts[0].mu ** 2 / 2
    order = np.concatenate([[0.0], np.geomspace(1e-4, 1e4, 65)])
    low, high = divergences(law, order + 1)
    while len(order) < _EVALUATIONS:
        best = float(np.max(low / (1 + order)))
        most = _chord_maxima(order, high)
        open_ = np.flatnonzero((most > best * (1 + _CLOSE)) & np.isfinite(high[1:]))
        if not len(open_):
            break
        middle = (order[open_] + order[open_ + 1]) / 2
        order = np.insert(order, open_ + 1, middle)
        more = divergences(law, middle + 1)
        low, high = (np.insert(v, open_ + 1, m) for v, m in zip((low, high), more, strict=True))
    shown = float(np.max(low / (1 + order)))
    beyond = law.highest[1] / (1 + order[-1])
    chords = float(np.max(_chord_maxima(order, high)))
    return shown, max(shown, min(max(chords, beyond), _known(law)))


def _known(law: LossLaw) -> float:
    """A bound from a closed form, or from those of independent outcomes."""
    (part, *others) = law.parts
    if others or not isinstance(part, Convolved) or part.offset:
        return law.rho
    return math.fsum(count * concentration(factor)[1] for factor, count in part.factors)


def _chord_maxima(order: Array, value: Array) -> Array:
    """The most that divergence / alpha can be between neighbouring orders."""
    low, high = order[:-1], order[1:]
    with np.errstate(all="ignore"):
        moment = order * value
        slope = np.diff(moment) / np.diff(order)
        cut = np.minimum(moment[1:] - slope * high, 0.0)
        turn = (-cut + np.sqrt(cut * cut - cut * slope)) / slope
        inside = np.clip(np.where(np.isfinite(turn), turn, low), low, high)
        at_turn = (cut + slope * inside) / (inside * (1 + inside))
    at_low = np.where(low == 0, value[1:], value[:-1] / (1 + low))
    ends = np.maximum(at_low, value[1:] / (1 + high))
    return np.where(low == 0, at_low, np.fmax(ends, at_turn))
