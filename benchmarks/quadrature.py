"""Quadrature by hand: Laplace noise, panels of Gauss-Legendre, and suprema over events."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Input = Sequence[float]
Pair = tuple[Input, Input]
NODES, WEIGHTS = np.polynomial.legendre.leggauss(24)
STEPS = np.array([2.0, 5.0, 10.0, 20.0, 40.0])
"""Where panels end beyond the outermost kinks, in scales: e^-40 is below the rounding."""


def density(z: Array, b: float) -> Array:
    return np.exp(-np.abs(z) / b) / (2 * b)


def below(z: Array, b: float) -> Array:
    """P(noise < z), without cancellation in the lower tail."""
    tail = np.exp(-np.abs(z) / b) / 2
    return np.where(z < 0, tail, 1 - tail)


def panels(edges: Array) -> tuple[Array, Array]:
    """Points and weights between neighbouring edges, which run along the last axis."""
    half, middle = np.diff(edges) / 2, (edges[..., 1:] + edges[..., :-1]) / 2
    points = middle[..., None] + half[..., None] * NODES
    shape = (*edges.shape[:-1], -1)
    return points.reshape(shape), (half[..., None] * WEIGHTS).reshape(shape)


def up_to(rows: Callable[[Array], Array], rates: Array, edges: Array) -> Array:
    """The integral of every row from -∞ up to the edges, the first of which lies below all kinks.

    Down there a row is C e^(rate τ), and its integral is its value over its rate.
    """
    points, weights = panels(edges)
    pieces = (rows(points) * weights).reshape(len(rates), -1, len(NODES)).sum(axis=-1)
    return np.cumsum(np.hstack([rows(edges[:1]) / rates[:, None], pieces]), axis=1)


def around(kinks: Input, b: float) -> Array:
    """The kinks, and ends of panels up to 40 scales beyond them."""
    inner = np.unique(kinks)
    return np.concatenate([inner[0] - b * STEPS[::-1], inner, inner[-1] + b * STEPS])


def grid(kinks: Input, b: float) -> Array:
    """Released numbers to look at: every kink, between them, and 40 scales beyond."""
    inner, beyond = np.unique(kinks), b * np.linspace(0, 40, 81)
    between = np.linspace(inner[0], inner[-1], 17)
    return np.unique(np.concatenate([inner[0] - beyond, inner, between, inner[-1] + beyond]))


def largest(p: Array, q: Array) -> float:
    """The largest |ln p/q| over events; infinite if one of them is possible on one side alone."""
    if np.any((p > 0) != (q > 0)):
        return math.inf
    possible = p > 0
    return float(np.max(np.abs(np.log(p[possible] / q[possible]))))


def of_atoms(law: Callable[[Input], Array]) -> Callable[[Pair], float]:
    """Of a law with finitely many outcomes the single outcomes are the worst events."""
    return lambda pair: largest(law(pair[0]), law(pair[1]))


def highest(log_ratios: Callable[[Array], Array], points: Array, rounds: int = 3) -> float:
    """The supremum over released numbers, the last axis: the grid is made finer at its largest.

    A round divides the spacing by 16. What is missed inside the last cell is its square, below 1e-7
    of a scale squared, times the curvature.
    """
    best = -math.inf
    for _ in range(rounds):
        values = log_ratios(points)
        best = max(best, float(values.max()))
        k = int(np.argmax(values)) % len(points)
        points = np.linspace(points[max(k - 1, 0)], points[min(k + 1, len(points) - 1)], 33)
    return max(best, float(log_ratios(points).max()))
