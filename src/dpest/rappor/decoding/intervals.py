"""Confidence intervals for a share, which cannot be negative."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

_Z95 = 1.959963984540054


def share_intervals(estimate: np.ndarray, std_error: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """95 % intervals for shares in [0, 1] from unbounded normal estimates.

    Far from zero these are the usual 1.96 standard errors. Near zero the values that fit the
    estimate best, among those a share can take, go in first (Feldman and Cousins), so the coverage
    stays 95 % down to a share of exactly zero and no interval is empty.
    """
    estimate, std_error = np.asarray(estimate, float), np.asarray(std_error, float)
    usable = np.isfinite(std_error) & (std_error > 0)
    scale = np.where(usable, std_error, 1.0)
    low, high = _unit_intervals(estimate / scale)
    low = np.where(usable, np.clip(low * scale, 0, 1), np.where(std_error == 0, estimate, 0.0))
    high = np.where(usable, np.clip(high * scale, 0, 1), np.where(std_error == 0, estimate, 1.0))
    return np.clip(low, 0, 1), np.clip(high, 0, 1)


def _unit_intervals(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    truth, lowest, highest = _acceptance()
    low = np.where(x > highest[-1], x - _Z95, np.interp(x, highest, truth, left=0.0))
    high = np.where(x > lowest[-1], x + _Z95, np.interp(x, lowest, truth))
    return low, high


@lru_cache(maxsize=1)
def _acceptance() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For a true value of so many standard errors, the estimates that do not contradict it."""
    from scipy.special import ndtr

    truth = np.concatenate([np.geomspace(1e-3, 0.1, 100), np.linspace(0.101, _Z95, 2000)])
    below, above = np.zeros_like(truth), np.full_like(truth, 5.0)
    for _ in range(60):
        reach = (below + above) / 2
        lowest = (truth**2 - reach**2) / (2 * truth)
        inside = ndtr(reach) - ndtr(lowest - truth)
        below, above = np.where(inside < 0.95, reach, below), np.where(inside < 0.95, above, reach)
    return truth, (truth**2 - reach**2) / (2 * truth), truth + reach
