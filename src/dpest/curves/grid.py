"""Laws of the loss on a grid, for sums of many independent losses.

A law is decided by delta as a function of e^eps: convex, its kinks are the losses. Chords between
grid points lie above it and are the law of a worse pair on the grid; tangents in the middle of the
cells, lowered to their convex hull on the grid, lie below it and are that of a better pair. Sums
of independent losses keep that order, and the error shrinks with the square of the step.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Rounding = Literal["low", "high"]
MOST_POINTS = 2**20
_TAIL = 40.0
"""Sums further out have a probability below e^-40."""
_SLACK = 1e-15
_SLACK_PER_LOSS = 2e-16
"""What rounding in a transform may add to a probability, at least and for every loss summed."""


@dataclass(frozen=True, eq=False)
class Grid:
    """Probabilities of the losses start, start + step, ..."""

    start: float
    step: float
    mass: Array
    infinite: float
    """The probability of an infinite loss."""

    @property
    def end(self) -> float:
        return self.start + self.step * (len(self.mass) - 1)

    @cached_property
    def _tails(self) -> tuple[Array, Array]:
        """Sums from every point on: of the masses, and of mass times e^(its loss to the point)."""
        from scipy.signal import lfilter

        upward = self.mass[::-1]
        discounted = lfilter([1.0], [1.0, -math.exp(-self.step)], upward)
        return tuple(np.append(v[::-1], 0.0) for v in (np.cumsum(upward), discounted))  # type: ignore[return-value]

    def above(self, eps: Array) -> tuple[Array, Array]:
        """The mass of larger losses under the first input, and e^eps times that under the other."""
        place = np.clip(np.floor((eps - self.start) / self.step) + 1, 0, len(self.mass))
        place = np.where(np.isfinite(eps), place, np.where(eps > 0, len(self.mass), 0)).astype(int)
        p, discounted = (tail[place] for tail in self._tails)
        with np.errstate(over="ignore", invalid="ignore"):
            share = np.exp(eps - (self.start + self.step * place)) * discounted
        return p + self.infinite, np.where(discounted > 0, share, 0.0)

    def deltas(self, eps: Array) -> Array:
        """delta(eps)."""
        p, q = self.above(eps)
        return np.asarray(np.maximum(p - q, self.infinite))


def between(low: Array | float, high: Array | float, count: int) -> Array:
    """Points from low to high: evenly spaced near zero, in even ratios far from it."""
    ends = np.arcsinh(low), np.arcsinh(high)
    points = np.sinh(np.linspace(*ends, count, axis=-1))
    points[..., 0], points[..., -1] = low, high
    return points


def kinks(eps: Array, values: Array, total: float) -> Array:
    """The masses at the points of a grid for which delta has these values, but for what is convex.

    At e^eps = 0 delta is the total, beyond the last point it stays. Points above the chord of their
    neighbours are passed over.
    """
    values = np.minimum.accumulate(np.minimum(values, total))
    kept = np.arange(len(eps))
    while True:
        gaps, steps = np.diff(eps[kept]), np.diff(values[kept], prepend=total)
        slopes_left = steps / np.append(1.0, -np.expm1(-gaps))
        slopes_right = np.append(steps[1:] / np.expm1(gaps), 0.0)
        bend = slopes_right - slopes_left
        if (bend >= 0).all():
            mass = np.zeros(len(eps))
            mass[kept] = bend
            return mass
        kept = kept[bend >= 0]


class Summed(NamedTuple):
    """A law on a grid, and how often it is drawn."""

    grid: Grid
    runs: int


def convolved(factors: Sequence[Summed]) -> Grid:
    """The law of the sum of independent losses, on grids of one step."""
    from scipy.fft import irfft, next_fast_len, rfft

    if not all(f.grid.mass.any() for f in factors):
        return Grid(0.0, 1.0, np.zeros(1), math.prod(f.grid.infinite**f.runs for f in factors))
    step, start = factors[0].grid.step, math.fsum(f.runs * f.grid.start for f in factors)
    first, last = _window(factors)
    size = next_fast_len(last - first + 1, real=True)
    spectrum = np.ones(size // 2 + 1, complex)
    for grid, count in factors:
        spectrum *= _power(rfft(_folded(grid.mass, size)), count)
    mass = np.roll(irfft(spectrum, size), -(first % size))[: last - first + 1]
    infinite = either([(f.grid.infinite, f.grid.infinite + f.grid.mass.sum(), f.runs)
                       for f in factors])  # fmt: skip
    return Grid(start + first * step, step, mass, infinite)


def either(parts: Sequence[tuple[float, float, int]]) -> float:
    """The probability that one of independent outcomes is of a kind.

    Each comes with the probabilities of the kind and of all, and how often it is drawn.
    """
    with np.errstate(divide="ignore"):
        none = sum(count * np.log1p(-min(kind / whole, 1.0)) for kind, whole, count in parts)
    return float(-np.expm1(none) * math.prod(whole**count for _, whole, count in parts))


def _power(spectrum: NDArray[np.complex128], count: int) -> NDArray[np.complex128]:
    """By squaring: no more rounding than the multiplications bring."""
    result = np.ones_like(spectrum)
    while count:
        if count % 2:
            result = result * spectrum
        spectrum, count = spectrum * spectrum, count // 2
    return result


def _folded(mass: Array, size: int) -> Array:
    """The masses with places counted modulo the size."""
    rows = -(-len(mass) // size)
    return np.pad(mass, (0, rows * size - len(mass))).reshape(rows, size).sum(axis=0)


def _window(factors: Sequence[Summed]) -> tuple[int, int]:
    """First and last place of the sum, without tails of negligible probability (Chernoff)."""
    last = sum(f.runs * (len(f.grid.mass) - 1) for f in factors)
    rates = np.geomspace(1e-4, 1e3, 71) / max(math.sqrt(sum(f.runs * len(f.grid.mass) ** 2
                                                            for f in factors)), 1.0)  # fmt: skip
    highest = float(np.min((_log_moments(factors, rates) + _TAIL) / rates))
    lowest = float(np.max(-(_log_moments(factors, -rates) + _TAIL) / rates))
    return max(0, math.floor(lowest)), min(last, math.ceil(highest))


def _log_moments(factors: Sequence[Summed], rates: Array) -> Array:
    """log E[e^(rate * place of the sum)], given that the loss is finite."""
    total = np.zeros(len(rates))
    for grid, count in factors:
        places = np.flatnonzero(grid.mass > 0)
        logs = np.log(grid.mass[places] / grid.mass.sum())
        for k, rate in enumerate(rates):
            values = logs + rate * places
            peak = values.max(initial=-np.inf)
            total[k] += count * (np.log(np.exp(values - peak).sum()) + peak)
    return total


def slack(count: int) -> float:
    """How far rounding may move a probability of the sum of so many losses."""
    return _SLACK + _SLACK_PER_LOSS * count
