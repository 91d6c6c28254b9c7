"""Bugs that were found in the wild, each beside its corrected twin.

Every function keeps only what the bug is about. `BUGS` says where it was found, under which inputs
and neighbours its claim fails, and how large its privacy loss really is; the twin keeps the claim.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpest.inputs import Inputs, integers, one_of, reals
from dpest.neighbors import Neighbors, l1, linf, pairs
from dpest.zoo.additive import noisy_hist1, noisy_hist2


@dataclass(frozen=True)
class Bug:
    """A wrong mechanism, its corrected twin, and the claim that only the twin keeps."""

    wrong: Callable[..., Any]
    right: Callable[..., Any]
    found_in: str
    url: str
    inputs: Inputs
    neighbors: Neighbors
    claim: float
    loss: float
    """What the wrong one really loses under these neighbours."""

    @property
    def name(self) -> str:
        return self.wrong.__name__


# -- randomised response that forgets the last bit --------------------------------------------


def last_bit_unprotected(bits: NDArray[Any], rng: np.random.Generator, flip: float = 0.25) -> Any:
    """The masks run from 1 to n - 1, so the last bit is sent as it is."""
    flipped = rng.random(size=len(bits) - 1) < flip
    noisy = np.where(flipped, 1 - bits[:-1], bits[:-1])
    return np.concatenate([noisy, bits[-1:]])


def every_bit_protected(bits: NDArray[Any], rng: np.random.Generator, flip: float = 0.25) -> Any:
    """One mask for every bit."""
    flipped = rng.random(size=len(bits)) < flip
    return np.where(flipped, 1 - bits, bits)


# -- half a width rounded down ----------------------------------------------------------------


def rounded_sensitivity(
    values: tuple[int, ...], rng: np.random.Generator, eps: float = 1.0, low: int = 0, high: int = 3
) -> float:
    """The sum around the middle, with half the width in integer arithmetic: 3 // 2 is 1."""
    centred = sum(value - (low + high) / 2 for value in values)
    return centred + rng.laplace(scale=((high - low) // 2) / eps)


def exact_sensitivity(
    values: tuple[int, ...], rng: np.random.Generator, eps: float = 1.0, low: int = 0, high: int = 3
) -> float:
    """Half the width as a fraction."""
    centred = sum(value - (low + high) / 2 for value in values)
    return centred + rng.laplace(scale=((high - low) / 2) / eps)


# -- one budget, two releases -----------------------------------------------------------------


def budget_spent_twice(
    centres: NDArray[Any], rng: np.random.Generator, eps: float = 1.0
) -> NDArray[Any]:
    """The centres of X and of y are each released with the whole budget."""
    return centres + rng.laplace(scale=1 / eps, size=len(centres))


def budget_shared(
    centres: NDArray[Any], rng: np.random.Generator, eps: float = 1.0
) -> NDArray[Any]:
    """Every centre gets its share of the budget."""
    return centres + rng.laplace(scale=len(centres) / eps, size=len(centres))


# -- a mean that divides by a private count ---------------------------------------------------


def private_batch_size(
    gradients: tuple[float, ...], rng: np.random.Generator, eps: float = 1.0
) -> float:
    """Noise on the sum, then division by the true number of records: its scale tells the count."""
    return (sum(gradients) + rng.laplace(scale=1 / eps)) / len(gradients)


def expected_batch_size(
    gradients: tuple[float, ...], rng: np.random.Generator, eps: float = 1.0, expected: int = 2
) -> float:
    """Division by a number that does not depend on the data."""
    return (sum(gradients) + rng.laplace(scale=1 / eps)) / expected


# -- sparse vector that lets true values through ----------------------------------------------


def true_values_pass(
    weights: NDArray[Any], rng: np.random.Generator, eps: float = 1.0, t: float = 1.0, c: int = 1
) -> list[float]:
    """What is above the threshold but beyond the first c is neither noised nor dropped."""
    threshold = t + rng.laplace(scale=3 / eps)
    shared: list[float] = []
    count = 0
    for weight in weights:
        if weight + rng.laplace(scale=6 * c / eps) < threshold:
            shared.append(0.0)
        elif count < c:
            shared.append(weight + rng.laplace(scale=3 * c / eps))
            count += 1
        else:
            shared.append(weight)
    return shared


def the_rest_is_dropped(
    weights: NDArray[Any], rng: np.random.Generator, eps: float = 1.0, t: float = 1.0, c: int = 1
) -> list[float]:
    """After the first c nothing is compared or shared any more."""
    threshold = t + rng.laplace(scale=3 / eps)
    shared: list[float] = []
    count = 0
    for weight in weights:
        if count == c or weight + rng.laplace(scale=6 * c / eps) < threshold:
            shared.append(0.0)
        else:
            shared.append(weight + rng.laplace(scale=3 * c / eps))
            count += 1
    return shared


# -- three programs of the CheckDP study ------------------------------------------------------


def compared_score_released(
    queries: NDArray[Any], rng: np.random.Generator, eps: float = 1.0, t: float = 0.0
) -> list[float]:
    """BadGapSVT: the first score above the threshold is released instead of its gap."""
    threshold = t + rng.laplace(scale=2 / eps)
    answers: list[float] = []
    for query in queries:
        score = query + rng.laplace(scale=4 / eps)
        if score >= threshold:
            return [*answers, score]
        answers.append(0.0)
    return answers


def gap_released(
    queries: NDArray[Any], rng: np.random.Generator, eps: float = 1.0, t: float = 0.0
) -> list[float]:
    """GapSVT: how far the first score lies above the threshold."""
    threshold = t + rng.laplace(scale=2 / eps)
    answers: list[float] = []
    for query in queries:
        score = query + rng.laplace(scale=4 / eps)
        if score >= threshold:
            return [*answers, score - threshold]
        answers.append(0.0)
    return answers


def half_the_noise(x: NDArray[Any], rng: np.random.Generator, eps: float = 1.0) -> float:
    """BadPartialSum: a sum with noise for a budget of 2 eps."""
    return np.sum(x) + rng.laplace(scale=1 / (2 * eps))


def all_the_noise(x: NDArray[Any], rng: np.random.Generator, eps: float = 1.0) -> float:
    """PartialSum."""
    return np.sum(x) + rng.laplace(scale=1 / eps)


def exact_block_totals(
    x: NDArray[Any], rng: np.random.Generator, eps: float = 0.5, block: int = 2
) -> list[float]:
    """BadSmartSum: where a block ends, its total is released without noise."""
    finished = running = total = 0.0
    released = []
    for place, value in enumerate(x, start=1):
        total = total + value
        if place % block:
            running = running + value + rng.laplace(scale=1 / eps)
        else:
            running = finished = finished + total
            total = 0.0
        released.append(running)
    return released


def noisy_block_totals(
    x: NDArray[Any], rng: np.random.Generator, eps: float = 0.5, block: int = 2
) -> list[float]:
    """SmartSum: fresh noise for every number, and for every finished block."""
    finished = running = total = 0.0
    released = []
    for place, value in enumerate(x, start=1):
        total = total + value
        if place % block:
            running = running + value + rng.laplace(scale=1 / eps)
        else:
            running = finished = finished + total + rng.laplace(scale=1 / eps)
            total = 0.0
        released.append(running)
    return released


_GITHUB = "https://github.com"
_CHECKDP = f"{_GITHUB}/cmla-psu/checkdp/blob/main/examples"
_RECORDS = ((0,), (0, 0), (0, 3))
_BATCHES = ((1.0,), (1.0, 1.0))

BUGS: tuple[Bug, ...] = (
    Bug(last_bit_unprotected, every_bit_protected, "OpenDP, issue 2707",
        f"{_GITHUB}/opendp/opendp/issues/2707", integers(4, 0, 1), l1(1), math.log(3), math.inf),
    Bug(noisy_hist2, noisy_hist1, "StatDP, histogram with the scale eps for 1/eps",
        f"{_GITHUB}/cmla-psu/statdp", reals(5), l1(1), 0.1, 10.0),
    Bug(rounded_sensitivity, exact_sensitivity, "google/differential-privacy, commit 75046f9",
        f"{_GITHUB}/google/differential-privacy/commit/75046f9", one_of(*_RECORDS),
        pairs([(_RECORDS[0], more) for more in _RECORDS[1:]]), 1.0, 1.5),
    Bug(budget_spent_twice, budget_shared, "diffprivlib, issue 104",
        f"{_GITHUB}/IBM/differential-privacy-library/issues/104", reals(2), linf(1), 1.0, 2.0),
    Bug(private_batch_size, expected_batch_size, "Opacus, issue 571",
        f"{_GITHUB}/meta-pytorch/opacus/issues/571", one_of(*_BATCHES), pairs([_BATCHES]),
        1.0, math.inf),
    Bug(true_values_pass, the_rest_is_dropped, "NVFlare, issue 343",
        f"{_GITHUB}/NVIDIA/NVFlare/issues/343", reals(3), linf(1), 1.0, math.inf),
    Bug(compared_score_released, gap_released, "CheckDP, BadGapSVT",
        f"{_CHECKDP}/badgapsparsevector.c", reals(5), linf(1), 1.0, 1.25),
    Bug(half_the_noise, all_the_noise, "CheckDP, BadPartialSum",
        f"{_CHECKDP}/badpartialsum.c", reals(5), l1(1), 1.0, 2.0),
    Bug(exact_block_totals, noisy_block_totals, "CheckDP, BadSmartSum",
        f"{_CHECKDP}/badsmartsum.c", reals(4), l1(1), 1.0, math.inf),
)  # fmt: skip
