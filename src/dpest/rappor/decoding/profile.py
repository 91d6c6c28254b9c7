"""Each candidate's likelihood along its own line, where one quadratic for all is too coarse.

The joint expansion stands at the posterior mean, which pulls uncertain shares towards zero. There
a candidate's curvature is that of a smaller share: too sharp. So each is followed on its own from
there, the others giving way as the expansion says, to the share that its reports make likeliest.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from dpest.rappor.decoding.posterior import Posterior

_STEPS = 12
_LEAST_CHANCE = 1e-3
_LEAST_SUPPORT = 8.0

Rows = Iterable[tuple[np.ndarray, np.ndarray]]


def own_quadratics(
    rows: Rows, centre: np.ndarray, posterior: Posterior, dispersion: float
) -> tuple[np.ndarray, np.ndarray] | None:
    """Estimate and variance of each candidate from an expansion at its own likeliest share.

    `rows` are repeats and slopes of some reports at a time: how likely each component makes them,
    over how likely `centre` does. None if a typical candidate's curvature comes from so few
    reports that no sum of theirs is normal, as where there is hardly any noise.
    """
    narrow = posterior.directions.astype(np.float32)
    repeats, slopes = zip(*((times, table @ narrow) for times, table in rows), strict=True)
    line = _Line(np.concatenate(repeats), np.concatenate(slopes), centre, posterior, dispersion)
    share = line.likeliest()
    return line.expanded(share) if np.median(line.support(share)) >= _LEAST_SUPPORT else None


class _Line:
    """The log-likelihoods of all candidates' shares, each along its own line.

    The quadratic that is known already, and what the logarithm adds beyond second order.
    """

    def __init__(
        self,
        repeats: np.ndarray,
        slopes: np.ndarray,
        centre: np.ndarray,
        posterior: Posterior,
        dispersion: float,
    ) -> None:
        self.repeats, self.slopes, self.centre = repeats / np.float32(dispersion), slopes, centre
        self.estimate, self.precision = posterior.estimate, 1 / posterior.variance
        self.first, self.second = self._moments(slopes)

    def _moments(self, slopes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self.repeats @ slopes, self.repeats @ slopes**2

    def _slopes(self, share: np.ndarray) -> np.ndarray:
        chance = 1 + self.slopes * (share - self.centre).astype(np.float32)
        return self.slopes / np.maximum(chance, np.float32(_LEAST_CHANCE))

    def derivatives(self, share: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Slope and curvature (positive) at these shares."""
        first, second = self._moments(self._slopes(share))
        beyond = first - self.first + (share - self.centre) * self.second
        slope = (self.estimate - share) * self.precision + beyond
        return slope, self.precision + second - self.second

    def support(self, share: np.ndarray) -> np.ndarray:
        """How many equally telling reports would give as much curvature."""
        slopes, tiny = self._slopes(share), np.finfo(np.float32).tiny
        squares = (slopes / np.maximum(np.abs(slopes).max(axis=0), tiny)) ** 2
        return (self.repeats @ squares) ** 2 / np.maximum(self.repeats @ squares**2, tiny)

    def likeliest(self) -> np.ndarray:
        """The shares in [0, 1] where the slopes vanish: Newton's method inside a bracket."""
        low, high = np.zeros_like(self.centre), np.ones_like(self.centre)
        share = np.clip(self.centre, low, high)
        for _ in range(_STEPS):
            slope, curvature = self.derivatives(share)
            low, high = np.where(slope > 0, share, low), np.where(slope > 0, high, share)
            wanted = share + slope / curvature
            inside = (curvature > 0) & (wanted >= low) & (wanted <= high)
            share = np.where(inside, wanted, (low + high) / 2)
        return share

    def expanded(self, share: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Estimate and variance of an expansion at these shares."""
        slope, curvature = self.derivatives(share)
        usable = curvature > 0
        curvature = np.where(usable, curvature, self.precision)
        estimate = np.where(usable, share + slope / curvature, self.estimate)
        return estimate, 1 / curvature
