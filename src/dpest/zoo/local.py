"""Local privacy: every client randomises its own value (Erlingsson, Pihur, Korolova 2014)."""

from __future__ import annotations

from typing import Any

import mmh3
import numpy as np
from numpy.typing import NDArray


def bloom_bits(value: object, h: int, k: int) -> NDArray[Any]:
    """The value as a Bloom filter of k bits with h hash functions."""
    bits = np.zeros(k, dtype=int)
    for seed in range(h):
        bits[mmh3.hash(str(value), seed=seed) % k] = 1
    return bits


def _check_probabilities(**given: float) -> None:
    for name, value in given.items():
        if not 0 <= value <= 1:
            raise ValueError(f"{name} must be a probability between 0 and 1, got {name}={value!r}")


def one_time_rappor(
    value: int, rng: np.random.Generator, h: int = 4, k: int = 20, f: float = 0.95
) -> NDArray[Any]:
    """The permanent response alone: every bit is replaced by a fair coin with probability f."""
    _check_probabilities(f=f)
    bits = bloom_bits(value, h, k)
    replaced = rng.random(size=k) < f
    return np.where(replaced, rng.integers(0, 2, size=k), bits)


def rappor(
    value: int,
    rng: np.random.Generator,
    h: int = 4,
    k: int = 20,
    f: float = 0.75,
    p: float = 0.45,
    q: float = 0.55,
) -> NDArray[Any]:
    """Both responses: permanent with f, then every bit reported as 1 with probability q or p."""
    _check_probabilities(p=p, q=q)
    permanent = one_time_rappor(value, rng, h, k, f)
    when_set = rng.random(size=k) < q
    when_clear = rng.random(size=k) < p
    return np.where(permanent == 1, when_set, when_clear)
