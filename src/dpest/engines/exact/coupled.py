"""Several observed numbers that meet in one integral.

Covered: each observed number has a density of its own and bounds the same axis from the same
side, as the released scores of a sparse vector bound the noisy threshold from above. Only the
tightest bound matters, so the supremum is one over that bound, and every other number may lie
anywhere beyond it, where the ratio of a log-concave law is largest at one of the two ends.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpest.engines.exact.batch import Batch
from dpest.engines.exact.density import Cell
from dpest.engines.exact.factors import lines_of
from dpest.engines.exact.plan import Density, Factor, Observed, Step
from dpest.engines.exact.refusal import OutOfReach
from dpest.engines.exact.supremum import Peak, Ratios, extremes
from dpest.noise import Law
from dpest.numbers.rational import ONE, to_float
from dpest.program import Linear

Array = NDArray[Any]
_BOUND = Observed(-1)
_REACH = 80.0


@dataclass(frozen=True)
class _Score:
    """One observed number: its law, where it is centred under P and Q, and the bound it makes."""

    law: Law
    p: Linear
    q: Linear
    bound: Linear
    side: float
    """+1 where the bound is from above, -1 where it is from below."""

    def at_bound(self, symbol: Observed, bound: float) -> float:
        """The number that makes the given bound."""
        return (bound - to_float(self.bound.const)) / to_float(self.bound.terms[symbol])

    def losses(self, symbol: Observed, bound: Array, sign: float) -> Array:
        """log f_P - log f_Q (or its negative) where the number makes exactly this bound."""
        slope, const = to_float(self.bound.terms[symbol]), to_float(self.bound.const)
        return sign * self._ratio(symbol, (bound - const) / slope)

    def beyond(self, symbol: Observed, bound: Array, side: float, sign: float) -> Array:
        """The largest loss where the number's bound is looser than the given one."""
        slope = to_float(self.bound.terms[symbol])
        far = math.copysign(_REACH * self.law.width, side / slope)
        edges = np.array([to_float(line.const / line.terms[symbol]) for line in (self.p, self.q)])
        limit = self._ratio(symbol, np.array([far * 4 + np.sum(np.abs(edges)) * np.sign(far)]))
        if not np.isfinite(limit[0]) or self.law.name == "normal":
            raise OutOfReach(f"released scores with {self.law.name} noise that share a threshold")
        return np.maximum(self.losses(symbol, bound, sign), sign * limit[0])

    def _ratio(self, symbol: Observed, y: Array) -> Array:
        log_p, log_q = (
            self.law.log_density(to_float(line.terms[symbol]) * y + to_float(line.const))
            for line in (self.p, self.q)
        )
        return log_p - log_q


def coupled_extremes(p: Cell, q: Cell) -> list[tuple[Peak, tuple[float, ...]]]:
    """The largest loss of a cell with several observed numbers and where it is, both ways."""
    mine, theirs = _sole_batch(p), _sole_batch(q)
    scores = _matched(mine, theirs, p.observed)
    side = _common_side(scores.values())
    batches = [_integral(batch, p.observed, side) for batch in (mine, theirs)]

    def losses(bound: Array) -> Ratios:
        log_p, log_q = (b.log_values({_BOUND: bound}, len(bound))[0] for b in batches)
        ratios = Ratios.of(log_p, log_q)
        return replace(ratios, losses=ratios.losses + _score_losses(scores, bound, side))

    widest = max(score.law.width for score in scores.values())
    peaks = extremes(losses, _kinks(batches, scores), widest)
    return [
        (peak, tuple(score.at_bound(symbol, peak.y) for symbol, score in scores.items()))
        for peak in peaks
    ]


def _score_losses(scores: dict[Observed, _Score], bound: Array, side: float) -> Array:
    """The largest losses of the scores, given the tightest bound that they make together."""
    both = []
    for sign in (1.0, -1.0):
        exact = np.stack([s.losses(symbol, bound, sign) for symbol, s in scores.items()])
        loose = np.stack([s.beyond(symbol, bound, side, sign) for symbol, s in scores.items()])
        both.append(loose.sum(axis=0) + np.max(exact - loose, axis=0))
    return np.stack(both)


def _sole_batch(cell: Cell) -> Batch:
    (batch, *others) = cell.batches
    if others or len(batch.row) != 1 or len(batch.axes) != 1:
        raise OutOfReach(
            f"{len(cell.observed)} released numbers depend on each other in a way that has no "
            "one-dimensional form"
        )
    return batch


def _kinks(batches: list[Batch], scores: dict[Observed, _Score]) -> Array:
    integral = [
        line.solved_for(_BOUND).const
        for batch in batches
        for line in batch.observed_lines
        if _BOUND in line.terms
    ]
    centres = [
        score.bound.substitute({symbol: line.solved_for(symbol)}).const
        for symbol, score in scores.items()
        for line in (score.p, score.q)
    ]
    return np.array([to_float(kink) for kink in (*integral, *centres)])


def _matched(p: Batch, q: Batch, observed: tuple[Observed, ...]) -> dict[Observed, _Score]:
    """Every observed number as a score: one density, and one bound on the shared axis."""
    (axis,) = p.axes
    scores: dict[Observed, _Score] = {}
    for symbol in observed:
        mine, theirs = _of(p, symbol), _of(q, symbol)
        steps = [f for f in mine if isinstance(f, Step)]
        densities = [f for found in (mine, theirs) for f in found if isinstance(f, Density)]
        plain = len(mine) == len(theirs) == 2 and len(steps) == 1 and steps[0] in theirs
        if not plain or set(densities[0].point.terms) != {symbol}:
            raise OutOfReach(
                f"{len(observed)} released numbers share one noise that is not a common threshold"
            )
        rising = steps[0].gap.terms[axis] > 0
        bound = steps[0].gap.solved_for(axis)
        scores[symbol] = _Score(
            densities[0].law, densities[0].point, densities[1].point, bound, -1.0 if rising else 1.0
        )
    return scores


def _common_side(scores: Iterable[_Score]) -> float:
    sides = {score.side for score in scores}
    if len(sides) != 1:
        raise OutOfReach("released numbers bound a shared draw from both sides")
    return sides.pop()


def _of(batch: Batch, symbol: Observed) -> list[Factor]:
    """The factors that mention an observed number."""
    return [f for f in batch.factors if any(symbol in line.terms for line in lines_of(f))]


def _integral(batch: Batch, observed: tuple[Observed, ...], side: float) -> Batch:
    """The integral alone, cut off at the tightest bound."""
    gone = {f for symbol in observed for f in _of(batch, symbol)}
    axis = Linear.of(batch.axes[0])
    gap = (Linear.of(_BOUND) - axis).scaled(ONE if side > 0 else -ONE)
    kept = [k for k, factor in enumerate(batch.factors) if factor not in gone]
    incidence = np.append(batch.incidence[:, kept], [[1.0]], axis=1)
    factors = [*(batch.factors[k] for k in kept), Step(gap)]
    return Batch(batch.axes, factors, incidence, np.exp(batch.log_scale))
