"""What a mechanism may be given: the domain of its input."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np


class OneFloat(float):
    """An input of one number; also answers x[0], len(x) and what a number of numpy does."""

    def __getitem__(self, key: int) -> float:
        return _only(self, key)

    def __len__(self) -> int:
        return 1

    def __iter__(self) -> Iterator[float]:
        return iter((float(self),))

    def __getattr__(self, name: str) -> Any:
        return _of_numpy(np.float64(self), name)


class OneInt(int):
    """An input of one integer; also answers x[0] and len(x)."""

    def __getitem__(self, key: int) -> int:
        return _only(self, key)

    def __len__(self) -> int:
        return 1

    def __iter__(self) -> Iterator[int]:
        return iter((int(self),))

    def __getattr__(self, name: str) -> Any:
        return _of_numpy(np.int64(self), name)


def _of_numpy(number: Any, name: str) -> Any:
    """What a number of numpy has and one of Python has not, such as sum() and shape."""
    if name.startswith("_") or not hasattr(number, name):
        raise AttributeError(f"a number has no attribute {name!r}")
    return getattr(number, name)


def _only(value: Any, key: int) -> Any:
    if key in (0, -1):
        return value
    raise IndexError(f"the input is one number; it has no entry {key!r}")


@dataclass(frozen=True)
class Reals:
    """Vectors of `size` real numbers between `low` and `high`."""

    size: int
    low: float = -math.inf
    high: float = math.inf

    integral = False

    def bounds(self) -> tuple[float, float]:
        return (self.low, self.high)

    def give(self, x: Any) -> Any:
        """The value as the mechanism gets it."""
        numbers = np.asarray(x, dtype=float).ravel()
        return OneFloat(numbers[0]) if self.size == 1 else numbers

    def check(self, x: Any) -> list[float]:
        """The value as a list of numbers, refused where it is not in the domain."""
        return _checked(self, x)

    def values(self) -> Iterator[Any] | None:
        """All values of a finite domain, else None."""
        return None

    def __str__(self) -> str:
        bounded = f", {self.low:g}, {self.high:g}" if math.isfinite(self.high - self.low) else ""
        return f"reals({self.size}{bounded})"


@dataclass(frozen=True)
class Integers:
    """Vectors of `size` integers from `low` to `high`, both included."""

    size: int
    low: int
    high: int

    integral = True

    def bounds(self) -> tuple[float, float]:
        return (self.low, self.high)

    def give(self, x: Any) -> Any:
        numbers = np.asarray(x).ravel().astype(int)
        return OneInt(numbers[0]) if self.size == 1 else numbers

    def check(self, x: Any) -> list[float]:
        return _checked(self, x)

    def values(self) -> Iterator[Any] | None:
        if (self.high - self.low + 1) ** self.size > 100_000:
            return None
        return itertools.product(range(self.low, self.high + 1), repeat=self.size)

    def __str__(self) -> str:
        return f"integers({self.size}, {self.low}, {self.high})"


@dataclass(frozen=True)
class OneOf:
    """One of finitely many values of any kind."""

    options: tuple[Any, ...]

    size = 1
    integral = False

    def give(self, x: Any) -> Any:
        return x

    def check(self, x: Any) -> Any:
        if not any(x is option or x == option for option in self.options):
            raise ValueError(f"{x!r} is not one of {list(self.options)!r}")
        return x

    def values(self) -> Iterator[Any] | None:
        return iter(self.options)

    def __str__(self) -> str:
        return f"one_of({', '.join(map(repr, self.options))})"


Inputs = Reals | Integers | OneOf
MAX_SIZE = 100_000


def reals(n: int, low: float = -math.inf, high: float = math.inf) -> Reals:
    """Vectors of n real numbers, each between low and high.

    A mechanism of one number (n=1) gets it as a number.
    """
    _check_size(n)
    if math.isnan(low) or math.isnan(high) or low >= high:
        raise ValueError(f"reals needs low < high, got low={low!r}, high={high!r}")
    return Reals(int(n), float(low), float(high))


def integers(n: int, low: int, high: int) -> Integers:
    """Vectors of n integers from low to high, both included."""
    _check_size(n)
    if int(low) != low or int(high) != high:
        raise ValueError(f"integers needs whole bounds, got low={low!r}, high={high!r}")
    if low > high:
        raise ValueError(f"integers needs low <= high, got low={low!r}, high={high!r}")
    return Integers(int(n), int(low), int(high))


def one_of(*options: Any) -> OneOf:
    """One of the given values (strings, numbers, None, ...)."""
    if len(options) == 1 and isinstance(options[0], (list, tuple, set, frozenset, range)):
        options = tuple(options[0])
    if len(options) < 2:
        raise ValueError(f"one_of needs at least two values, got {list(options)!r}")
    return OneOf(tuple(options))


def _check_size(n: Any) -> None:
    if not isinstance(n, (int, np.integer)) or isinstance(n, bool) or n < 1:
        raise ValueError(f"the number of inputs must be a whole number >= 1, got {n!r}")
    if n > MAX_SIZE:
        raise ValueError(f"at most {MAX_SIZE} inputs can be audited at once, got {n}")


def _checked(domain: Reals | Integers, x: Any) -> list[float]:
    try:
        numbers = [float(v) for v in np.asarray(x).ravel()]
    except (TypeError, ValueError):
        raise TypeError(f"an input of {domain} must be numbers, got {x!r}") from None
    if len(numbers) != domain.size:
        raise ValueError(f"an input of {domain} has {domain.size} numbers, got {len(numbers)}")
    low, high = domain.bounds()
    for number in numbers:
        if not math.isfinite(number):
            raise ValueError(f"an input must be finite, got {number!r}")
        if not low <= number <= high:
            raise ValueError(f"{number!r} is outside {domain}")
        if domain.integral and number != int(number):
            raise ValueError(f"{number!r} is not an integer, as {domain} asks")
    return numbers
