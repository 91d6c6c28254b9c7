"""Bits that strings set which nobody listed.

A frequent string that is missing from the candidates raises some bits far and leaves the others
alone, so what the candidates leave unexplained is not normal noise of one size. Its distribution is
learned from the residuals, and bits that were raised are read with that in mind.
"""

from __future__ import annotations

import numpy as np

_ATOMS = 40
_ROUNDS = 30
_TINY = 1e-300


def exceeds_noise(chi2: float, degrees: int, sigmas: float) -> bool:
    """Whether the residuals are so much larger than the known noise makes them."""
    return degrees > 0 and chi2 > degrees + sigmas * np.sqrt(2 * degrees)


def read_residuals(residual: np.ndarray, std_error: np.ndarray) -> tuple[np.ndarray, float]:
    """The part of each residual that is noise, and how much of the information is left.

    The residuals are an unknown non-negative contribution plus normal noise of known size. The
    distribution of the contribution is the most likely one on a grid; what remains after its
    expected value is taken away is as informative as the second number says, at most 1.
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
    noise = residual - members @ atoms
    return noise, float(np.mean((noise / std_error) ** 2))
