"""Laws on finitely many integers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from flint import fmpq

from dpest.noise.law import Array, Law
from dpest.numbers.rational import ZERO, exact, show, to_float


@dataclass(frozen=True)
class Integers(Law):
    """Uniform on the integers 0, 1, ..., count - 1."""

    count: fmpq
    name = "integers"
    lattice = True

    def __post_init__(self) -> None:
        if self.count < 1:
            raise ValueError(f"integers needs low < high, got a range of {show(self.count)} values")

    @property
    def support(self) -> tuple[fmpq | None, fmpq | None]:
        return (ZERO, self.count - 1)

    @property
    def kinks(self) -> tuple[float, ...]:
        return (0.0, to_float(self.count) - 1)

    @property
    def width(self) -> float:
        return max(1.0, to_float(self.count))

    def log_density(self, z: Array) -> Array:
        inside = (z >= 0) & (z <= to_float(self.count) - 1)
        return np.where(inside, -math.log(to_float(self.count)), -np.inf)

    def log_interval(self, low: Array, high: Array) -> Array:
        low = np.maximum(np.asarray(low, float), 0)
        size = np.minimum(np.asarray(high, float), to_float(self.count) - 1) - low + 1
        with np.errstate(divide="ignore"):
            return np.log(np.maximum(size, 0)) - math.log(to_float(self.count))

    def shift_loss(self, shift: fmpq) -> float:
        return 0.0 if shift == 0 else math.inf

    def shift_event(self, shift: fmpq) -> tuple[float, float]:
        last = to_float(self.count) - 1
        far = min(abs(to_float(shift)), last + 1) - 1
        return (last - far, last) if shift > 0 else (0.0, far)

    def sample(self, rng: np.random.Generator, size: int) -> Array:
        return rng.integers(0, int(self.count.p), size=size)

    def __repr__(self) -> str:
        return f"integers({show(self.count)})"


@dataclass(frozen=True)
class Table(Law):
    """Any law on finitely many integers 0, 1, ..., given by exact weights that sum to one."""

    weights: tuple[fmpq, ...]
    name = "choice"
    lattice = True

    @property
    def support(self) -> tuple[fmpq | None, fmpq | None]:
        positive = [k for k, weight in enumerate(self.weights) if weight > 0]
        return (fmpq(positive[0]), fmpq(positive[-1]))

    @property
    def kinks(self) -> tuple[float, ...]:
        return (0.0, len(self.weights) - 1.0)

    @property
    def width(self) -> float:
        return max(1.0, float(len(self.weights)))

    @cached_property
    def _mass(self) -> Array:
        return np.array([to_float(weight) for weight in self.weights])

    def log_density(self, z: Array) -> Array:
        z = np.asarray(z, float)
        inside = (z >= 0) & (z < len(self.weights))
        with np.errstate(divide="ignore"):
            return np.where(inside, np.log(self._mass)[np.where(inside, z, 0).astype(int)], -np.inf)

    def log_interval(self, low: Array, high: Array) -> Array:
        low, high = np.broadcast_arrays(np.asarray(low, float), np.asarray(high, float))
        result = np.full(low.shape, -np.inf)
        for bounds in set(zip(low.ravel().tolist(), high.ravel().tolist(), strict=True)):
            total = self.mass(*bounds)
            if total > 0:
                result[(low == bounds[0]) & (high == bounds[1])] = math.log(total)
        return result

    def mass(self, low: float, high: float) -> fmpq:
        """The exact mass of the integers from low to high."""
        first, last = max(low, 0), min(high, len(self.weights) - 1)
        if first > last:
            return ZERO
        return sum(self.weights[int(first) : int(last) + 1], ZERO)

    def shift_loss(self, shift: fmpq) -> float:
        return self._finite_shift_loss(shift)

    def shift_event(self, shift: fmpq) -> tuple[float, float]:
        z = np.arange(len(self.weights))
        before, after = self.log_density(z), self.log_density(z + to_float(shift))
        ratio = np.where(before > -math.inf, before, -math.inf) - np.where(
            before > -math.inf, after, 0.0
        )
        best = float(np.argmax(ratio))
        return (best, best)

    def sample(self, rng: np.random.Generator, size: int) -> Array:
        return rng.choice(len(self.weights), size=size, p=self._mass / self._mass.sum())

    def __repr__(self) -> str:
        shown = ", ".join(show(weight) for weight in self.weights[:4])
        return f"choice({shown}{', ...' if len(self.weights) > 4 else ''})"


def choice_law(weights: Any) -> Table:
    """A finite law from weights that sum to one up to rounding."""
    exact_weights = [exact(weight) for weight in weights]
    total = sum(exact_weights, ZERO)
    if any(weight < 0 for weight in exact_weights) or abs(to_float(total) - 1) > 1e-8:
        raise ValueError(f"probabilities must be >= 0 and sum to 1, got {list(weights)}")
    return Table(tuple(weight / total for weight in exact_weights))


def binomial_law(trials: int, p: fmpq) -> Table:
    """The number of successes, with exact weights."""
    if trials < 0 or not 0 <= p <= 1:
        raise ValueError(f"binomial needs n >= 0 and 0 <= p <= 1, got n={trials}, p={show(p)}")
    return Table(
        tuple(
            fmpq(math.comb(trials, k)) * p**k * (1 - p) ** (trials - k) for k in range(trials + 1)
        )
    )
