"""A part of a loss law: several independent outcomes, their losses summed on a grid."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dpest.curves.discretise import common_step, discretised
from dpest.curves.grid import Grid, Rounding, Summed, convolved, either, slack

if TYPE_CHECKING:
    from dpest.curves.law import LossLaw

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Convolved:
    """Outcomes of several laws drawn independently, each a number of times.

    Moments are exact. What needs the law of the sum is rounded to one side.
    """

    factors: tuple[tuple[LossLaw, int], ...]
    rounding: Rounding
    log_p: float = 0.0
    log_q: float = 0.0
    """The probabilities of an independent outcome beside them."""

    @property
    def offset(self) -> float:
        return self.log_p - self.log_q

    @cached_property
    def log_masses(self) -> tuple[float, float]:
        """Log probability under both inputs."""
        p, q = (
            math.fsum(n * law.log_masses[side] for law, n in self.factors) for side in (0, 1)
        )
        return p + self.log_p, q + self.log_q

    @cached_property
    def _grid(self) -> Grid:
        return _grid(self.factors, self.rounding)

    @cached_property
    def missing(self) -> float:
        """How far rounding, and what was too far out to be seen, may move a probability."""
        unseen = math.fsum(n * law.missing for law, n in self.factors)
        return unseen + slack(sum(n for _, n in self.factors))

    @cached_property
    def infinite(self) -> float:
        """The probability of what the other input cannot give."""
        parts = [(law.infinite, math.exp(law.log_masses[0]), n) for law, n in self.factors]
        return either(parts) * math.exp(self.log_p)

    def deltas(self, eps: Array) -> Array:
        """The sum of (p - e^eps q) where that is positive."""
        found = self._grid.deltas(eps - self.offset) * math.exp(self.log_p)
        return found if self.rounding == "high" else np.maximum(found - self.missing, 0.0)

    def above(self, eps: Array) -> tuple[Array, Array]:
        """The mass of losses above eps, under both inputs."""
        p, q = self._grid.above(eps - self.offset)
        with np.errstate(over="ignore", invalid="ignore"):
            return p * math.exp(self.log_p), np.where(q > 0, q * np.exp(self.log_p - eps), 0.0)

    @property
    def reach(self) -> tuple[float, float]:
        """The smallest and largest finite loss on the grid."""
        return self._grid.start + self.offset, self._grid.end + self.offset

    @property
    def highest(self) -> tuple[float, float]:
        """Between what the largest loss lies."""
        low, high = (
            math.fsum(n * law.highest[side] for law, n in self.factors) for side in (0, 1)
        )
        return low + self.offset, high + self.offset

    def log_moments(self, order: Array) -> Array:
        """log of E[e^(order * loss)]."""
        logs = sum(n * law.log_moments(order) for law, n in self.factors)
        return np.asarray(logs + order * self.offset + self.log_p)

    def log_tails(self, order: Array) -> Array:
        """log of what bounds the part of a moment that lies too far out."""
        with np.errstate(invalid="ignore"):
            shares = [
                math.log(n) + law.log_tails(order) - law.log_moments(order)
                for law, n in self.factors
            ]
        return np.asarray(np.logaddexp.reduce(shares, axis=0) + self.log_moments(order))

    def excess_moments(self, order: Array) -> Array:
        """E[e^(order * loss) - 1]."""
        with np.errstate(over="ignore", divide="ignore"):
            logs = sum(
                n * np.log1p(law.excess_moments(order) / math.exp(law.log_masses[0]))
                for law, n in self.factors
            )
            return np.asarray(math.exp(self.log_masses[0]) * np.expm1(logs + order * self.offset))

    def mean(self) -> float:
        loss = math.fsum(n * law.mean() / math.exp(law.log_masses[0]) for law, n in self.factors)
        return math.exp(self.log_masses[0]) * (loss + self.offset)

    def scaled(self, log_p: float, log_q: float) -> Convolved:
        """The part beside an independent outcome of these probabilities."""
        return replace(self, log_p=self.log_p + log_p, log_q=self.log_q + log_q)

    def reversed(self) -> Convolved:
        """The inputs exchanged."""
        factors = tuple((law.reversed(), n) for law, n in self.factors)
        return Convolved(factors, self.rounding, self.log_q, self.log_p)

    def repeated(self, count: int) -> Convolved:
        """Everything drawn that often."""
        factors = tuple((law, n * count) for law, n in self.factors)
        return Convolved(factors, self.rounding, self.log_p * count, self.log_q * count)


@lru_cache(maxsize=64)
def _grid(factors: tuple[tuple[LossLaw, int], ...], rounding: Rounding) -> Grid:
    """The law of the sum, shared by what differs in the probabilities beside it only."""
    step = common_step(factors)
    return convolved([Summed(discretised(law, rounding, step), n) for law, n in factors])
