"""Counting with integers only (Balcer and Vadhan 2018)."""

from __future__ import annotations

import math

import numpy as np


def truncated_geometric(c: int, rng: np.random.Generator, eps: float = 0.1, n: int = 5) -> int:
    """GeoSample, Algorithm 4.8: a noisy count of at most n from one uniform integer."""
    k = math.ceil(math.log(2 / eps))
    base = 2**k + 1
    d = (2 ** (k + 1) + 1) * base ** (n - 1)
    u = rng.integers(1, d + 1)
    for z in range(n):
        if u <= _cumulative(z, c, n, k, d):
            return z
    return n


def _cumulative(z: int, c: int, n: int, k: int, d: int) -> int:
    """How many of the d equally likely draws give at most z < n when the count is c."""
    base = 2**k + 1
    if z < c:
        return 2 ** (k * (c - z)) * base ** (n - (c - z))
    return d - 2 ** (k * (z - c + 1)) * base ** (n - 1 - (z - c))
