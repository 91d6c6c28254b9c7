"""Bits that strings set which nobody listed.

A frequent string that is missing from the candidates raises some bits far and leaves the others
alone, so what the candidates leave unexplained is not normal noise of one size. Its distribution is
learned from the residuals, and bits that were raised are read with that in mind.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

_ATOMS = 40
_ROUNDS = 30
_TINY = 1e-300
_LEAST_SLOPE = 0.01


def exceeds_noise(chi2: float, degrees: int, sigmas: float) -> bool:
    """Whether the residuals are so much larger than the known noise makes them."""
    return degrees > 0 and chi2 > degrees + sigmas * np.sqrt(2 * degrees)


class Residuals(NamedTuple):
    """The part of each residual that is noise, and two measures of it.

    `size` is its variance relative to that of the whole noise, at most 1, and `slope` how much it
    moves if a residual moves by 1. Both would be the share of the information that is left, if the
    distribution learned were the true one; what is left in any case is `left`.
    """

    noise: np.ndarray
    size: float
    slope: float

    @property
    def left(self) -> float:
        """The share of the information that a fit of the noise, scaled to unit slope, has."""
        return self.slope**2 / self.size


def read_residuals(residual: np.ndarray, std_error: np.ndarray) -> Residuals:
    """Take away what unlisted strings are expected to contribute to each residual.

    The residuals are an unknown non-negative contribution plus normal noise of known size. The
    distribution of the contribution is the most likely one on a grid.
    """
    lowest = min(0.0, float(np.quantile(residual, 0.01)))
    atoms = np.linspace(lowest, float(residual.max()), _ATOMS)
    distance = (residual[:, None] - atoms) / std_error[:, None]
    likelihood = np.exp(-0.5 * distance**2) + _TINY
    weights = np.full(_ATOMS, 1 / _ATOMS)
    for _ in range(_ROUNDS):
        members = likelihood * weights
        members /= members.sum(axis=1, keepdims=True)
        weights = members.mean(axis=0)
    expected, variance = members @ atoms, std_error**2
    spread = np.maximum(members @ atoms**2 - expected**2, 0)
    noise = residual - expected
    slope = max(float(np.mean(1 - spread / variance)), _LEAST_SLOPE)
    return Residuals(noise, float(np.mean(noise**2 / variance)), slope)
