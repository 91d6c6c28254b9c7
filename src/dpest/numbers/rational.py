"""Exact rationals: every constant of a program is one; nothing is rounded before an engine asks."""

from __future__ import annotations

import math
import numbers
from fractions import Fraction
from typing import Any

from flint import fmpq

ZERO = fmpq(0)
ONE = fmpq(1)


def exact(value: Any) -> fmpq:
    """The exact rational value of a finite int, float, Fraction or numpy number."""
    if isinstance(value, fmpq):
        return value
    if isinstance(value, numbers.Integral):
        return fmpq(int(value))
    if isinstance(value, Fraction):
        return fmpq(value.numerator, value.denominator)
    number = float(value) if not hasattr(value, "is_integer") else value
    if not math.isfinite(number):
        raise ValueError(f"{value!r} is not a finite number")
    return fmpq(*map(int, number.as_integer_ratio()))


def to_float(value: fmpq) -> float:
    """The nearest double."""
    return int(value.p) / int(value.q)


def to_fraction(value: fmpq) -> Fraction:
    """The same number as a standard-library fraction."""
    return Fraction(int(value.p), int(value.q))


def show(value: fmpq) -> str:
    """A short exact text where there is one (`0.5`, `1/3`), else the nearest double."""
    number = to_float(value)
    if exact(number) == value:
        return f"{number:g}" if exact(float(f"{number:g}")) == value else repr(number)
    text = str(value)
    return text if len(text) <= 12 else repr(number)
