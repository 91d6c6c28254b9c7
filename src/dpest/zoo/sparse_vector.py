"""The sparse vector technique: which queries are above a noisy threshold?

The six variants are Algorithms 1 to 6 of Lyu, Su and Li 2017; 1 and 2 are right, 3 to 6 are the
published mistakes. `c` is the number of positive answers after which the mechanism stops.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def svt1(
    queries: NDArray[Any], rng: np.random.Generator, eps: float = 0.1, t: float = 0.5, c: int = 1
) -> list[bool]:
    """Algorithm 1: the authors' own, with noise that grows with c on the queries only."""
    threshold = t + rng.laplace(scale=2 / eps)
    answers = []
    for query in queries:
        above = bool(query + rng.laplace(scale=4 * c / eps) >= threshold)
        answers.append(above)
        if sum(answers) >= c:
            break
    return answers


def svt2(
    queries: NDArray[Any], rng: np.random.Generator, eps: float = 0.1, t: float = 1.0, c: int = 1
) -> list[bool]:
    """Algorithm 2: Dwork and Roth's, which draws a new threshold after every positive answer."""
    threshold = t + rng.laplace(scale=2 * c / eps)
    answers = []
    for query in queries:
        above = bool(query + rng.laplace(scale=4 * c / eps) >= threshold)
        answers.append(above)
        if above:
            threshold = t + rng.laplace(scale=2 * c / eps)
        if sum(answers) >= c:
            break
    return answers


def svt3(
    queries: NDArray[Any], rng: np.random.Generator, eps: float = 0.1, t: float = 1.0, c: int = 1
) -> list[float | None]:
    """Algorithm 3, wrong: it releases the very score that was compared."""
    threshold = t + rng.laplace(scale=2 / eps)
    answers: list[float | None] = []
    count = 0
    for query in queries:
        score = query + rng.laplace(scale=2 * c / eps)
        if score >= threshold:
            answers.append(score)
            count += 1
            if count >= c:
                break
        else:
            answers.append(None)
    return answers


def svt4(
    queries: NDArray[Any], rng: np.random.Generator, eps: float = 0.1, t: float = 1.0, c: int = 1
) -> list[bool]:
    """Algorithm 4, wrong: the noise on the queries does not grow with c."""
    threshold = t + rng.laplace(scale=4 / eps)
    answers = []
    for query in queries:
        above = bool(query + rng.laplace(scale=4 / (3 * eps)) >= threshold)
        answers.append(above)
        if sum(answers) >= c:
            break
    return answers


def svt5(
    queries: NDArray[Any], rng: np.random.Generator, eps: float = 0.1, t: float = 1.0
) -> NDArray[np.bool_]:
    """Algorithm 5, wrong: no noise on the queries, and it never stops."""
    threshold = t + rng.laplace(scale=2 / eps)
    return queries >= threshold


def svt6(
    queries: NDArray[Any], rng: np.random.Generator, eps: float = 0.1, t: float = 1.0
) -> NDArray[np.bool_]:
    """Algorithm 6, wrong: noise on the queries, but it never stops."""
    threshold = t + rng.laplace(scale=2 / eps)
    return queries + rng.laplace(scale=2 / eps, size=len(queries)) >= threshold


def svt34_parallel(
    queries: NDArray[Any], rng: np.random.Generator, eps: float = 0.1, t: float = 1.0, c: int = 2
) -> tuple[list[float | None], list[bool]]:
    """Algorithms 3 and 4 on the same queries, with noise of their own."""
    return svt3(queries, rng, eps, t, c), svt4(queries, rng, eps, t, c)


def numerical_svt(
    queries: NDArray[Any], rng: np.random.Generator, eps: float = 0.1, t: float = 1.0, c: int = 2
) -> list[float]:
    """Numbers above the threshold, released with fresh noise (Wang, Ding, Kifer, Zhang 2019)."""
    threshold = t + rng.laplace(scale=3 / eps)
    answers: list[float] = []
    count = 0
    for query in queries:
        if query + rng.laplace(scale=6 * c / eps) >= threshold:
            answers.append(query + rng.laplace(scale=3 * c / eps))
            count += 1
            if count >= c:
                break
        else:
            answers.append(0.0)
    return answers
