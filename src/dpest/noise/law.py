"""What every law answers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from flint import fmpq
from numpy.typing import NDArray

Array = NDArray[Any]
LOG_HALF = math.log(0.5)
LOWEST = -1e290
"""Stands for logs that overflow where a tail falls off doubly exponentially: never a true zero."""


def log_expm1_neg(width: Array) -> Array:
    """log(1 - exp(-width)) for width >= 0, accurate at both ends."""
    small = width < 0.6931
    return np.where(
        small,
        np.log(-np.expm1(-np.where(small, width, 1.0))),
        np.log1p(-np.exp(-np.where(small, 1.0, width))),
    )


@dataclass(frozen=True)
class Law:
    """A distribution of one noise draw."""

    name: ClassVar[str]
    lattice: ClassVar[bool] = False

    @property
    def support(self) -> tuple[fmpq | None, fmpq | None]:
        """The smallest closed interval that carries all mass; None is infinite."""
        return (None, None)

    @property
    def kinks(self) -> tuple[float, ...]:
        """Where the density is not analytic."""
        return ()

    @property
    def breaks(self) -> tuple[float, ...]:
        """Where a quadrature has to look: the kinks and the centre."""
        return self.kinks or (0.0,)

    @property
    def width(self) -> float:
        """A length over which the density changes by a factor of order e."""
        raise NotImplementedError

    def log_density(self, z: Array) -> Array:
        """Log of the density, or of the mass at an integer."""
        raise NotImplementedError

    def log_interval(self, low: Array, high: Array) -> Array:
        """Log of P(low < Z <= high), or of P(low <= Z <= high) on the integers."""
        raise NotImplementedError

    def shift_loss(self, shift: fmpq) -> float:
        """The supremum of log(f(z) / f(z + shift)) over the z that can be drawn."""
        raise NotImplementedError

    def shift_event(self, shift: fmpq) -> tuple[float, float]:
        """An interval of z on which the ratio of masses is that supremum, or nearly so."""
        return (0.0, math.inf) if shift > 0 else (-math.inf, 0.0)

    def sample(self, rng: np.random.Generator, size: int) -> Array:
        raise NotImplementedError

    def _finite_shift_loss(self, shift: fmpq) -> float:
        """For a law on finitely many integers: the largest ratio."""
        low, high = self.support
        assert low is not None
        assert high is not None
        if shift.q != 1:
            return math.inf
        if shift == 0:
            return 0.0
        z = np.arange(int(low.p), int(high.p) + 1)
        before, after = self.log_density(z), self.log_density(z + int(shift.p))
        drawn = before > -math.inf
        return float(np.max(before[drawn] - after[drawn]))
