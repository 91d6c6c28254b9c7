"""Selecting the largest of several noisy answers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def report_noisy_max1(answers: NDArray[Any], rng: np.random.Generator, eps: float = 0.1) -> int:
    """Which answer is largest after Laplace noise: Algorithm 5 of Ding et al. 2018."""
    noisy = answers + rng.laplace(scale=2 / eps, size=len(answers))
    return np.argmax(noisy)  # type: ignore[return-value]


def report_noisy_max2(answers: NDArray[Any], rng: np.random.Generator, eps: float = 0.1) -> int:
    """Which answer is largest after exponential noise: Algorithm 6 of Ding et al. 2018."""
    noisy = answers + rng.exponential(scale=2 / eps, size=len(answers))
    return np.argmax(noisy)  # type: ignore[return-value]


def report_noisy_max3(answers: NDArray[Any], rng: np.random.Generator, eps: float = 0.1) -> float:
    """The largest value itself instead of its place: Algorithm 7 of Ding et al. 2018, wrong."""
    noisy = answers + rng.laplace(scale=2 / eps, size=len(answers))
    return np.max(noisy)


def report_noisy_max4(answers: NDArray[Any], rng: np.random.Generator, eps: float = 0.1) -> float:
    """The largest value under exponential noise: Algorithm 8 of Ding et al. 2018, wrong."""
    noisy = answers + rng.exponential(scale=2 / eps, size=len(answers))
    return np.max(noisy)


def noisy_max_sum(answers: NDArray[Any], rng: np.random.Generator, eps: float = 0.1) -> float:
    """The largest noisy value of the first half plus that of the second half."""
    noisy = answers + rng.laplace(scale=1 / eps, size=len(answers))
    half = len(answers) // 2
    return np.max(noisy[:half]) + np.max(noisy[half:])
