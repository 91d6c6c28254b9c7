"""`&`, `|` and `^`: of truth values and bits without a fork, of other integers value by value."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from flint import fmpq

from dpest.program import Noise, Piece
from dpest.trace import symbol as scalar
from dpest.trace.concrete import on_plain

_SIGNS: dict[Any, str] = {operator.and_: "&", operator.or_: "|", operator.xor: "^"}


def combined(function: Callable[..., Any], left: Any, right: Any) -> Any:
    """The operator of two traced or plain numbers, as Python and numpy have it."""
    if not (scalar.is_number(left) and scalar.is_number(right)):
        return NotImplemented
    kinds = [scalar.kind_of(value) for value in (left, right)]
    if "float" in kinds:
        names = " and ".join(repr(kind) for kind in kinds)
        raise TypeError(f"unsupported operand type(s) for {_SIGNS[function]}: {names}")
    if not (_is_bit(left) and _is_bit(right)):
        return on_plain(function, left, right)
    found = _TRUTHS[function](scalar.truth(left), scalar.truth(right))
    return found if kinds == ["bool", "bool"] else scalar.convert(found, "int")


_TRUTHS: dict[Any, Callable[[Any, Any], Any]] = {
    operator.and_: operator.mul,
    operator.or_: lambda left, right: ~(~left * ~right),
    operator.xor: operator.ne,
}


def _is_bit(value: Any) -> bool:
    """Whether the number is surely 0 or 1."""
    if not isinstance(value, scalar.Symbol):
        return value in (0, 1)
    if value.kind == "bool":
        return True
    line = scalar.linear_of(value)
    low = high = line.const
    for variable, coefficient in line.terms.items():
        ends = _ends(variable)
        if ends is None:
            return False
        low += min(coefficient * end for end in ends)
        high += max(coefficient * end for end in ends)
    return low >= 0 and high <= 1


def _ends(variable: Any) -> tuple[fmpq, fmpq] | None:
    """The smallest and the largest value, where they are known."""
    if isinstance(variable, Noise):
        low, high = variable.law.support
        return None if low is None or high is None else (low, high)
    if isinstance(variable, Piece) and all(value.is_constant for value in variable.values):
        numbers = [value.const for value in variable.values]
        return min(numbers), max(numbers)
    return None


def inverted(value: Any) -> Any:
    """np.invert: not of a truth value, and -1 - n of an integer."""
    return ~scalar.truth(value) if scalar.kind_of(value) == "bool" else ~value
