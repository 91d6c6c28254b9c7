"""Laws on infinitely many integers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from flint import fmpq

from dpest.noise.law import Array, Law, log_expm1_neg
from dpest.numbers.rational import show, to_float


@dataclass(frozen=True)
class Geometric(Law):
    """Trials up to the first success: 1, 2, 3, ..."""

    p: fmpq
    name = "geometric"
    lattice = True

    def __post_init__(self) -> None:
        if not 0 < self.p <= 1:
            raise ValueError(f"geometric noise needs 0 < p <= 1, got {show(self.p)}")

    @property
    def support(self) -> tuple[fmpq | None, fmpq | None]:
        return (fmpq(1), fmpq(1) if self.p == 1 else None)

    @property
    def kinks(self) -> tuple[float, ...]:
        return (1.0,)

    @property
    def width(self) -> float:
        return 1.0 / to_float(self.p)

    @cached_property
    def _log_miss(self) -> float:
        return math.log1p(-to_float(self.p)) if self.p != 1 else -math.inf

    def log_density(self, z: Array) -> Array:
        with np.errstate(all="ignore"):
            inside = math.log(to_float(self.p)) + np.where(z == 1, 0.0, (z - 1) * self._log_miss)
            return np.where(z >= 1, inside, -np.inf)

    def log_interval(self, low: Array, high: Array) -> Array:
        low = np.maximum(np.asarray(low, float), 1)
        with np.errstate(all="ignore"):
            head = np.where(low == 1, 0.0, (low - 1) * self._log_miss)
            value = head + log_expm1_neg(-(high - low + 1) * self._log_miss)
        return np.where(high >= low, value, -np.inf)

    def shift_loss(self, shift: fmpq) -> float:
        if shift == 0:
            return 0.0
        return math.inf if shift.q != 1 or shift < 0 else -to_float(shift) * self._log_miss

    def shift_event(self, shift: fmpq) -> tuple[float, float]:
        return (1.0, math.inf) if shift >= 0 else (1.0, max(1.0, -to_float(shift) // 1))

    def sample(self, rng: np.random.Generator, size: int) -> Array:
        return rng.geometric(to_float(self.p), size=size)

    def __repr__(self) -> str:
        return f"geometric(p={show(self.p)})"


@dataclass(frozen=True)
class DiscreteLaplace(Law):
    """P(k) proportional to exp(-|k| / scale) on the integers."""

    scale: fmpq
    name = "discrete_laplace"
    lattice = True

    def __post_init__(self) -> None:
        if self.scale <= 0:
            raise ValueError(f"discrete_laplace needs a positive scale, got {show(self.scale)}")

    @property
    def kinks(self) -> tuple[float, ...]:
        return (0.0,)

    @property
    def width(self) -> float:
        return max(1.0, to_float(self.scale))

    @cached_property
    def _rate(self) -> float:
        return to_float(1 / self.scale)

    def log_density(self, z: Array) -> Array:
        return math.log(math.tanh(self._rate / 2)) - np.abs(z) * self._rate

    def log_interval(self, low: Array, high: Array) -> Array:
        low, high = np.asarray(low, float), np.asarray(high, float)
        tail = -math.log1p(math.exp(-self._rate))
        with np.errstate(all="ignore"):
            one_side = log_expm1_neg((high - low + 1) * self._rate)
            one_side = one_side - np.maximum(low, -high) * self._rate + tail
            ends = np.exp((low - 1) * self._rate + tail) + np.exp(-(high + 1) * self._rate + tail)
            value = np.where((low <= 0) & (high >= 0), np.log1p(-ends), one_side)
        return np.where(high >= low, value, -np.inf)

    def shift_loss(self, shift: fmpq) -> float:
        return math.inf if shift.q != 1 else to_float(abs(shift) / self.scale)

    def sample(self, rng: np.random.Generator, size: int) -> Array:
        p = -math.expm1(-self._rate)
        return rng.geometric(p, size=size) - rng.geometric(p, size=size)

    def __repr__(self) -> str:
        return f"discrete_laplace(scale={show(self.scale)})"


@dataclass(frozen=True)
class DiscreteGaussian(Law):
    """P(k) proportional to exp(-k^2 / (2 sigma^2)) on the integers."""

    sigma: fmpq
    name = "discrete_gaussian"
    lattice = True

    def __post_init__(self) -> None:
        if self.sigma <= 0:
            raise ValueError(f"discrete_gaussian needs a positive sigma, got {show(self.sigma)}")

    @property
    def width(self) -> float:
        return max(1.0, to_float(self.sigma))

    @cached_property
    def _reach(self) -> int:
        """Beyond this every mass is smaller than a double can tell from its neighbour's sum."""
        return math.ceil(45 * to_float(self.sigma)) + 3

    @cached_property
    def _log_total(self) -> float:
        k = np.arange(-self._reach, self._reach + 1)
        return float(np.log(np.sum(np.exp(-((k / to_float(self.sigma)) ** 2) / 2))))

    def log_density(self, z: Array) -> Array:
        return -((np.asarray(z, float) / to_float(self.sigma)) ** 2) / 2 - self._log_total

    @cached_property
    def _log_upper(self) -> Array:
        """log P(K >= k) for k = 0, 1, ..., reach."""
        masses = self.log_density(np.arange(self._reach + 1))
        beyond = self._far_tail(np.array([self._reach + 1.0]))[0]
        masses[-1] = np.logaddexp(masses[-1], beyond)
        return np.logaddexp.accumulate(masses[::-1])[::-1]

    def log_interval(self, low: Array, high: Array) -> Array:
        low, high = np.broadcast_arrays(np.asarray(low, float), np.asarray(high, float))
        mirror = low + high < 0
        low, high = np.where(mirror, -high, low), np.where(mirror, -low, high)
        with np.errstate(all="ignore"):
            one_side = self._upper_part(np.maximum(low, 0), high)
            below = self._upper_part(np.ones_like(low), np.where(low < 0, -low, 0.0))
            value = np.where(low < 0, np.logaddexp(one_side, below), one_side)
        return np.where(high >= low, value, -np.inf)

    def _upper_part(self, low: Array, high: Array) -> Array:
        """log P(low <= K <= high) for 0 <= low, by a short sum or a difference of tails."""
        first = self._tail(low)
        difference = first + log_expm1_neg(first - self._tail(high + 1))
        short = high - low < 4
        steps = low[..., None] + np.arange(4)
        masses = np.where(steps <= high[..., None], self.log_density(steps), -np.inf)
        return np.where(short, np.logaddexp.reduce(masses, axis=-1), difference)

    def _tail(self, k: Array) -> Array:
        inside = k <= self._reach
        tail = np.asarray(self._log_upper[np.where(inside, k, 0).astype(int)])
        far = ~inside
        return np.where(far, self._far_tail(np.where(far, k, np.inf)), tail)

    def _far_tail(self, k: Array) -> Array:
        """log P(K >= k) beyond the reach: the first mass times a sum that falls off fast."""
        found = np.full(k.shape, -np.inf)
        finite = np.isfinite(k)
        steps = np.arange(math.ceil(to_float(self.sigma)) + 1)
        fall = steps * (2 * k[finite][:, None] + steps) / (2 * to_float(self.sigma) ** 2)
        found[finite] = self.log_density(k[finite]) + np.log(np.exp(-fall).sum(axis=-1))
        return found

    def shift_loss(self, shift: fmpq) -> float:
        return 0.0 if shift == 0 else math.inf

    def shift_event(self, shift: fmpq) -> tuple[float, float]:
        edge = math.ceil(8 * to_float(self.sigma))
        return (edge, math.inf) if shift > 0 else (-math.inf, -edge)

    def sample(self, rng: np.random.Generator, size: int) -> Array:
        k = np.arange(-self._reach, self._reach + 1)
        mass = np.exp(self.log_density(k))
        return k[np.searchsorted(np.cumsum(mass / mass.sum())[:-1], rng.random(size))]

    def __repr__(self) -> str:
        return f"discrete_gaussian(sigma={show(self.sigma)})"
