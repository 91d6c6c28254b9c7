"""Laws with a density: Laplace, exponential, normal, uniform, Gumbel, logistic."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from flint import fmpq

from dpest.noise.law import LOG_HALF, LOWEST, Array, Law, log_expm1_neg
from dpest.numbers.rational import ZERO, show, to_float


@dataclass(frozen=True)
class Scaled(Law):
    """A continuous law given by the scale of a standard form."""

    scale: fmpq

    def __post_init__(self) -> None:
        if self.scale <= 0:
            raise ValueError(f"{self.name} noise needs a positive scale, got {show(self.scale)}")

    @cached_property
    def _scale(self) -> float:
        return to_float(self.scale)

    @property
    def width(self) -> float:
        return self._scale

    def log_density(self, z: Array) -> Array:
        with np.errstate(all="ignore"):
            return self._standard_log_density(z / self._scale) - math.log(self._scale)

    def log_interval(self, low: Array, high: Array) -> Array:
        low, high = np.asarray(low, float) / self._scale, np.asarray(high, float) / self._scale
        with np.errstate(all="ignore"):
            value = self._standard_log_interval(low, high)
        return np.where(high > low, value, -np.inf)

    def _standard_log_density(self, z: Array) -> Array:
        raise NotImplementedError

    def _standard_log_interval(self, low: Array, high: Array) -> Array:
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{self.name}(scale={show(self.scale)})"


class Laplace(Scaled):
    name = "laplace"

    @property
    def kinks(self) -> tuple[float, ...]:
        return (0.0,)

    def _standard_log_density(self, z: Array) -> Array:
        return LOG_HALF - np.abs(z)

    def _standard_log_interval(self, low: Array, high: Array) -> Array:
        one_side = LOG_HALF + log_expm1_neg(high - low) - np.maximum(low, -high)
        across = np.log(-np.expm1(np.minimum(low, 0)) - np.expm1(-np.maximum(high, 0))) + LOG_HALF
        return np.where((low < 0) & (high > 0), across, one_side)

    def shift_loss(self, shift: fmpq) -> float:
        return to_float(abs(shift) / self.scale)

    def sample(self, rng: np.random.Generator, size: int) -> Array:
        return rng.laplace(scale=self._scale, size=size)


class Exponential(Scaled):
    name = "exponential"

    @property
    def support(self) -> tuple[fmpq | None, fmpq | None]:
        return (ZERO, None)

    @property
    def kinks(self) -> tuple[float, ...]:
        return (0.0,)

    def _standard_log_density(self, z: Array) -> Array:
        return np.where(z >= 0, -z, -np.inf)

    def _standard_log_interval(self, low: Array, high: Array) -> Array:
        low = np.maximum(low, 0)
        return np.where(high > low, log_expm1_neg(high - low) - low, -np.inf)

    def shift_loss(self, shift: fmpq) -> float:
        return to_float(shift / self.scale) if shift >= 0 else math.inf

    def shift_event(self, shift: fmpq) -> tuple[float, float]:
        return (0.0, math.inf) if shift >= 0 else (0.0, to_float(-shift))

    def sample(self, rng: np.random.Generator, size: int) -> Array:
        return rng.exponential(scale=self._scale, size=size)


class Normal(Scaled):
    name = "normal"

    def _standard_log_density(self, z: Array) -> Array:
        return -0.5 * z * z - 0.5 * math.log(2 * math.pi)

    def _standard_log_interval(self, low: Array, high: Array) -> Array:
        from scipy.special import log_ndtr, ndtr

        mirror = low + high > 0
        low, high = np.where(mirror, -high, low), np.where(mirror, -low, high)
        upper = log_ndtr(high)
        apart = upper + log_expm1_neg(upper - log_ndtr(low))
        across = np.where((low < -1) & (high > 1), np.log1p(-ndtr(low) - ndtr(-high)), apart)
        return np.where(high - low < 1, self._short_interval(low, high), across)

    def _short_interval(self, low: Array, high: Array) -> Array:
        """Gauss-Legendre, where a difference of two distribution values would cancel."""
        nodes, weights = np.polynomial.legendre.leggauss(12)
        half, middle = (high - low) / 2, (high + low) / 2
        z = middle[..., None] + half[..., None] * nodes
        peak = np.max(self._standard_log_density(z), axis=-1)
        total = np.exp(self._standard_log_density(z) - peak[..., None]) @ weights
        return peak + np.log(total * half)

    def shift_loss(self, shift: fmpq) -> float:
        return 0.0 if shift == 0 else math.inf

    def shift_event(self, shift: fmpq) -> tuple[float, float]:
        return (8 * self._scale, math.inf) if shift > 0 else (-math.inf, -8 * self._scale)

    def sample(self, rng: np.random.Generator, size: int) -> Array:
        return rng.normal(scale=self._scale, size=size)


class Uniform(Scaled):
    """Uniform on [0, scale)."""

    name = "uniform"

    @property
    def support(self) -> tuple[fmpq | None, fmpq | None]:
        return (ZERO, self.scale)

    @property
    def kinks(self) -> tuple[float, ...]:
        return (0.0, self._scale)

    def _standard_log_density(self, z: Array) -> Array:
        return np.where((z >= 0) & (z <= 1), 0.0, -np.inf)

    def _standard_log_interval(self, low: Array, high: Array) -> Array:
        return np.log(np.maximum(np.minimum(high, 1) - np.maximum(low, 0), 0))

    def shift_loss(self, shift: fmpq) -> float:
        return 0.0 if shift == 0 else math.inf

    def shift_event(self, shift: fmpq) -> tuple[float, float]:
        far = min(abs(to_float(shift)), self._scale)
        return (self._scale - far, self._scale) if shift > 0 else (0.0, far)

    def sample(self, rng: np.random.Generator, size: int) -> Array:
        return self._scale * rng.random(size)


class Gumbel(Scaled):
    name = "gumbel"

    def _standard_log_density(self, z: Array) -> Array:
        return np.maximum(-z - np.exp(-z), LOWEST)

    def _standard_log_interval(self, low: Array, high: Array) -> Array:
        gap = np.exp(-low + log_expm1_neg(high - low))
        return np.maximum(-np.exp(-high) + log_expm1_neg(gap), LOWEST)

    def shift_loss(self, shift: fmpq) -> float:
        return to_float(shift / self.scale) if shift >= 0 else math.inf

    def shift_event(self, shift: fmpq) -> tuple[float, float]:
        edge = 36 * self._scale if shift > 0 else -3 * self._scale
        return (edge, math.inf) if shift > 0 else (-math.inf, edge)

    def sample(self, rng: np.random.Generator, size: int) -> Array:
        return rng.gumbel(scale=self._scale, size=size)


class Logistic(Scaled):
    name = "logistic"

    def _standard_log_density(self, z: Array) -> Array:
        return -np.abs(z) - 2 * np.log1p(np.exp(-np.abs(z)))

    def _standard_log_interval(self, low: Array, high: Array) -> Array:
        return -np.logaddexp(0, -high) - np.logaddexp(0, low) + log_expm1_neg(high - low)

    def shift_loss(self, shift: fmpq) -> float:
        return to_float(abs(shift) / self.scale)

    def shift_event(self, shift: fmpq) -> tuple[float, float]:
        edge = 36 * self._scale
        return (edge, math.inf) if shift > 0 else (-math.inf, -edge)

    def sample(self, rng: np.random.Generator, size: int) -> Array:
        return rng.logistic(scale=self._scale, size=size)
