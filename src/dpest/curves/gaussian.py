"""The loss law of Gaussian noise, in closed form (Balle and Wang 2018)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Gaussian:
    """Two normal laws `mu` standard deviations apart, beside an outcome of given probabilities.

    The loss is normal: of mean mu^2/2 and variance mu^2 under the first input.
    """

    mu: float
    log_p: float = 0.0
    log_q: float = 0.0

    @property
    def offset(self) -> float:
        return self.log_p - self.log_q

    @property
    def log_masses(self) -> tuple[float, float]:
        """Log probability under both inputs."""
        return self.log_p, self.log_q

    infinite = 0.0
    missing = 0.0
    highest = (np.inf, np.inf)

    def deltas(self, eps: Array) -> Array:
        """Phi(mu/2 - eps/mu) - e^eps Phi(-mu/2 - eps/mu)."""
        from scipy.special import log_ndtr

        eps = eps - self.offset
        log_p, log_q = (log_ndtr(side * self.mu / 2 - eps / self.mu) for side in (1, -1))
        with np.errstate(invalid="ignore"):
            share = np.expm1(np.minimum(eps + log_q - log_p, 0))
        return np.where(np.isfinite(eps), -np.exp(self.log_p + log_p) * share, 0.0)

    def above(self, eps: Array) -> tuple[Array, Array]:
        """The mass of losses above eps, under both inputs."""
        from scipy.special import log_ndtr

        eps = eps - self.offset
        return (
            np.exp(self.log_p + log_ndtr(self.mu / 2 - eps / self.mu)),
            np.exp(self.log_q + log_ndtr(-self.mu / 2 - eps / self.mu)),
        )

    def log_moments(self, order: Array) -> Array:
        """log of E[e^(order * loss)]."""
        return self.log_p + order * self.offset + order * (order + 1) * self.mu**2 / 2

    def log_tails(self, order: Array) -> Array:
        """Nothing is left out."""
        return np.full(len(order), -np.inf)

    def excess_moments(self, order: Array) -> Array:
        """E[e^(order * loss) - 1]."""
        exponent = order * self.offset + order * (order + 1) * self.mu**2 / 2
        with np.errstate(over="ignore"):
            return np.asarray(np.exp(self.log_p) * np.expm1(exponent))

    def mean(self) -> float:
        return float(np.exp(self.log_p) * (self.offset + self.mu**2 / 2))

    @property
    def reach(self) -> tuple[float, float]:
        """Losses outside have a mass below 1e-300."""
        middle = self.offset + self.mu**2 / 2
        return middle - 38 * self.mu - self.mu**2, middle + 38 * self.mu

    def scaled(self, log_p: float, log_q: float) -> Gaussian:
        """The part beside an independent outcome of these probabilities."""
        return replace(self, log_p=self.log_p + log_p, log_q=self.log_q + log_q)

    def reversed(self) -> Gaussian:
        """The inputs exchanged."""
        return Gaussian(self.mu, self.log_q, self.log_p)

    def times(self, other: Gaussian) -> Gaussian:
        """Both outcomes, drawn independently."""
        mu = float(np.hypot(self.mu, other.mu))
        return Gaussian(mu, self.log_p + other.log_p, self.log_q + other.log_q)

    def repeated(self, count: int) -> Gaussian:
        """Everything drawn that often."""
        return Gaussian(self.mu * float(np.sqrt(count)), self.log_p * count, self.log_q * count)
