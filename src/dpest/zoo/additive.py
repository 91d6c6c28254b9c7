"""Mechanisms that add independent noise to numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def laplace_mechanism(x: float, rng: np.random.Generator, eps: float = 0.1) -> float:
    """One number with Laplace noise (Dwork, McSherry, Nissim, Smith 2006)."""
    return x + rng.laplace(scale=1 / eps)


def laplace_parallel(
    x: float, rng: np.random.Generator, eps_each: float = 0.005, copies: int = 20
) -> NDArray[Any]:
    """The same number released again and again, each time with fresh noise."""
    return x + rng.laplace(scale=1 / eps_each, size=copies)


def noisy_hist1(counts: NDArray[Any], rng: np.random.Generator, eps: float = 0.1) -> NDArray[Any]:
    """A histogram with noise on every count: Algorithm 9 of Ding et al. 2018."""
    return counts + rng.laplace(scale=1 / eps, size=len(counts))


def noisy_hist2(counts: NDArray[Any], rng: np.random.Generator, eps: float = 0.1) -> NDArray[Any]:
    """The histogram with the wrong scale, eps for 1/eps: Algorithm 10 of Ding et al. 2018."""
    return counts + rng.laplace(scale=eps, size=len(counts))


def prefix_sum(x: NDArray[Any], rng: np.random.Generator, eps: float = 0.1) -> NDArray[Any]:
    """Running totals of noisy numbers (Wang, Ding, Kifer, Zhang 2019)."""
    return np.cumsum(x + rng.laplace(scale=1 / eps, size=len(x)))
