"""Factors of a term at one input: their values, where they are not smooth, how wide they are."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from flint import fmpq
from numpy.typing import NDArray

from dpest.engines.exact.plan import (
    Density,
    Factor,
    Mass,
    Step,
)
from dpest.numbers.rational import to_float
from dpest.program import Linear
from dpest.program.linear import Variable

Array = NDArray[Any]
Values = Mapping[Any, Array]
Substitution = Mapping[Variable, Linear]


_ROUNDING = 8 * np.finfo(float).eps
"""A gap this small against what it is the difference of is none: integers meet their bounds."""


class Substitute:
    """Puts an input into lines and factors; every line once."""

    def __init__(self, x: Substitution) -> None:
        self.x = x
        self._known: dict[Linear, Linear] = {}

    def line(self, line: Linear) -> Linear:
        known = self._known.get(line)
        if known is None:
            known = self._known[line] = line.substitute(self.x)
        return known

    def factor(self, factor: Factor) -> Factor | None:
        """The factor at the input; None where it is zero."""
        if isinstance(factor, Density):
            return Density(factor.law, self.line(factor.point))
        if isinstance(factor, Step):
            gap = self.line(factor.gap)
            if gap.is_constant and (gap.const < 0 or (gap.const == 0 and factor.strict)):
                return None
            return Step(gap, factor.strict)
        lower = _tightest(map(self.line, factor.lower), max)
        upper = _tightest(map(self.line, factor.upper), min)
        return Mass(factor.law, lower, upper)


def _tightest(bounds: Iterable[Linear], pick: Any) -> frozenset[Linear]:
    """Without the bounds that another one, which differs by a constant only, makes redundant."""
    best: dict[Hashable, Linear] = {}
    for bound in bounds:
        key = frozenset(bound.terms.items()) if bound.terms else None
        held = best.get(key)
        if held is None or pick(bound.const, held.const) == bound.const:
            best[key] = bound
    return frozenset(best.values())


def value_at(line: Linear, values: Values) -> Array | float:
    total: Any = to_float(line.const)
    for variable, coefficient in line.terms.items():
        total = total + to_float(coefficient) * values[variable]
    return total


def _magnitude(line: Linear, values: Values) -> Array | float:
    """The size of the numbers that the value of the line is made of."""
    total: Any = abs(to_float(line.const))
    for variable, coefficient in line.terms.items():
        total = total + abs(to_float(coefficient)) * np.abs(values[variable])
    return total


def _whole_bound(line: Linear, values: Values, lower: bool) -> Array | float:
    """An integer bound; the constant is rounded exactly before it meets a float."""
    const = fmpq(line.const.ceil() if lower else line.const.floor())
    return value_at(Linear(const, line.terms), values)


def factor_values(factor: Factor, values: Values, size: int) -> Array:
    """Log of the factor for given numbers."""
    if isinstance(factor, Step):
        gap = np.broadcast_to(value_at(factor.gap, values), (size,))
        near = np.abs(gap) <= _ROUNDING * _magnitude(factor.gap, values)
        inside = np.where(near, not factor.strict, gap > 0)
        return np.where(inside, 0.0, -np.inf)
    if isinstance(factor, Density):
        point = np.broadcast_to(value_at(factor.point, values), (size,))
        return factor.law.log_density(np.rint(point) if factor.law.lattice else point)
    bound = _whole_bound if factor.law.lattice else lambda line, v, _: value_at(line, v)
    low: Any = -np.inf
    high: Any = np.inf
    for line in factor.lower:
        low = np.maximum(low, bound(line, values, True))
    for line in factor.upper:
        high = np.minimum(high, bound(line, values, False))
    return factor.law.log_interval(np.broadcast_to(low, (size,)), np.broadcast_to(high, (size,)))


def break_lines(factor: Factor) -> Iterable[Linear]:
    """Expressions whose zeros are where the factor is not analytic, or has its centre."""
    if isinstance(factor, Step):
        yield factor.gap
        return
    if isinstance(factor, Density):
        for point in factor.law.breaks:
            yield factor.point.shifted(-_exact(point))
        return
    bounds = [*factor.lower, *factor.upper]
    for bound in bounds:
        for point in factor.law.breaks:
            yield bound.shifted(-_exact(point))
    for one, other in itertools.combinations(bounds, 2):
        yield one - other


def _exact(number: float) -> fmpq:
    return fmpq(*number.as_integer_ratio())


def moved(factor: Factor, variable: Variable, by: fmpq) -> Factor:
    """The factor as a function of what is left of the variable without this amount."""

    def move(line: Linear) -> Linear:
        return line.shifted(line.terms[variable] * by) if variable in line.terms else line

    if isinstance(factor, Step):
        return Step(move(factor.gap), factor.strict)
    if isinstance(factor, Density):
        return Density(factor.law, move(factor.point))
    return Mass(factor.law, frozenset(map(move, factor.lower)), frozenset(map(move, factor.upper)))


def lines_of(factor: Factor) -> list[Linear]:
    """The affine expressions inside a factor."""
    if isinstance(factor, Step):
        return [factor.gap]
    return [factor.point] if isinstance(factor, Density) else [*factor.lower, *factor.upper]


def widths(factors: Iterable[Factor], axis: Any) -> Iterable[float]:
    """The lengths along the axis over which the factors change."""
    for factor in factors:
        if not isinstance(factor, Step):
            for line in lines_of(factor):
                if axis in line.terms:
                    yield factor.law.width / abs(to_float(line.terms[axis]))


def distinct(lines: Iterable[Linear]) -> list[Linear]:
    """Lines up to a factor, without constants."""
    found: dict[Linear, None] = {}
    for line in lines:
        if line.terms:
            lead = line.terms[min(line.terms, key=repr)]
            found[line.scaled(1 / lead)] = None
    return list(found)


def eliminated(lines: Sequence[Linear], axis: Any) -> list[Linear]:
    """The lines without the axis, and those where two lines with it cross."""
    crossing = [line.scaled(1 / line.terms[axis]) for line in lines if axis in line.terms]
    pairs = (a - b for a, b in itertools.combinations(crossing, 2))
    return distinct([*(line for line in lines if axis not in line.terms), *pairs])
