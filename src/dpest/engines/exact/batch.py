"""Products of factors, integrated over their axes many at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from flint import fmpq

from dpest.engines.exact.effort import spend
from dpest.engines.exact.factors import (
    Array,
    Values,
    break_lines,
    distinct,
    eliminated,
    factor_values,
    lines_of,
    moved,
    value_at,
    widths,
)
from dpest.engines.exact.plan import (
    Axis,
    Density,
    Factor,
    Observed,
    Step,
)
from dpest.engines.exact.refusal import OutOfReach
from dpest.numbers import panels
from dpest.numbers.rational import to_float
from dpest.program import Linear

_TAIL_WIDTHS = 64
_AROUND_A_BREAK = 256
"""About so many points are looked at around every point where an integrand is not smooth."""
_MANY = 16
"""From this many cut-off points on, one running integral beats an integral for each."""
_AT_ONCE = 4_096
"""So many integrals are computed together; more would only fill the memory."""
_SORTING = 10
"""Values that are computed in the time that it takes to sort out one entry of an incidence."""
_NEVER = -1e300
"""Stands for log 0 inside matrix products, where -inf times 0 would be NaN."""


class Batch:
    """Products of shared factors over shared axes, evaluated together.

    `incidence[k, j]` is how often term k uses factor j.
    """

    def __init__(
        self, axes: tuple[Axis, ...], factors: Sequence[Factor], incidence: Array, scale: Array
    ) -> None:
        spend(incidence.size, _SORTING)
        self.axes = axes
        self.factors, columns = _merged_columns(factors, incidence)
        rows, self.row = np.unique(
            np.column_stack([columns, scale]), axis=0, return_inverse=True
        )
        self.row = self.row.ravel()
        self.incidence, self.log_scale = rows[:, :-1], np.log(rows[:, -1])
        self.count = len(rows)
        self.log_multiplicity = np.log(np.bincount(self.row))

    def seen_from(self, symbol: Observed, origin: fmpq) -> Batch:
        """The same terms with an observed number counted from another origin."""
        factors = [moved(factor, symbol, origin) for factor in self.factors]
        return Batch(
            self.axes, factors, self.incidence[self.row], np.exp(self.log_scale)[self.row]
        )

    def log_values(self, observed: Values, size: int) -> Array:
        """Log of every distinct term, [distinct terms, size]; `row` maps terms to them."""
        try:
            return self._integrated(dict(observed), size, 0) + self.log_scale[:, None]
        except ArithmeticError as reason:
            raise OutOfReach(str(reason)) from None

    def log_total(self, observed: Values, size: int) -> Array:
        """Log of the sum of all terms."""
        values = self.log_values(observed, size)
        return panels.log_sum(values + self.log_multiplicity[:, None], axis=0)

    def _integrated(self, values: dict[Any, Array], size: int, depth: int) -> Array:
        if depth == len(self.axes):
            return self._pointwise(values, size, slice(None))
        if size >= _MANY and self._cut is not None:
            return self._cumulative(values, size)
        if size > _AT_ONCE:
            parts = np.array_split(np.arange(size), -(-size // _AT_ONCE))
            return np.concatenate([
                self._integrated({v: a[part] for v, a in values.items()}, len(part), depth)
                for part in parts
            ], axis=1)  # fmt: skip
        axis = self.axes[depth]

        def integrand(points: Array, batch: Array) -> Array:
            flat = {v: np.repeat(a[batch], points.shape[1]) for v, a in values.items()}
            flat[axis] = points.ravel()
            inner = self._integrated(flat, points.size, depth + 1)
            return inner.reshape(self.count, *points.shape)

        breaks = self._breaks(depth, values, size)
        spend(breaks.size * _AROUND_A_BREAK)
        narrow, wide = self._widths(axis)
        if axis.lattice:
            low, high = self._integer_range(axis, breaks, wide)
            return panels.log_sums(integrand, low, high, self.count)
        return panels.log_integrals(integrand, breaks, narrow, wide, self.count)

    def _pointwise(self, values: Values, size: int, columns: Any) -> Array:
        """Sum of the logs of some of the factors."""
        chosen = np.arange(len(self.factors))[columns]
        if not len(chosen):
            return np.zeros((self.count, size))
        spend(size * (len(chosen) + self.count))
        logs = np.stack([factor_values(self.factors[k], values, size) for k in chosen])
        total = self.incidence[:, chosen] @ np.maximum(logs, _NEVER)
        return np.where(total <= _NEVER, -np.inf, total)

    # -- an axis that observed numbers only cut off ---------------------------------------------

    @cached_property
    def _cut(self) -> _Cut | None:
        """How the observed numbers cut off the only axis, where that is all they do to it."""
        if len(self.axes) != 1 or self.axes[0].lattice:
            return None
        (axis,) = self.axes
        kinds = [_kind(factor, axis) for factor in self.factors]
        steps = [k for k, kind in enumerate(kinds) if kind == "step"]
        if "mixed" in kinds or not steps or not (self.incidence[:, steps] >= 1).all():
            return None
        signs = {self.factors[k].gap.terms[axis] > 0 for k in steps}  # type: ignore[union-attr]
        if len(signs) != 1:
            return None
        inner = [k for k, kind in enumerate(kinds) if kind == "inner"]
        outer = [k for k, kind in enumerate(kinds) if kind == "outer"]
        return _Cut(signs.pop(), steps, inner, outer)

    def _cumulative(self, values: dict[Any, Array], size: int) -> Array:
        cut, axis = self._cut, self.axes[0]
        assert cut is not None
        mirror = -1.0 if cut.from_below else 1.0
        gaps = [f.gap for f in (self.factors[k] for k in cut.steps) if isinstance(f, Step)]
        bounds = [
            mirror * np.broadcast_to(value_at(gap.solved_for(axis), values), (size,))
            for gap in gaps
        ]

        def integrand(points: Array, _: Array) -> Array:
            flat = {axis: mirror * points.ravel()}
            inside = self._pointwise(flat, points.size, cut.inner)
            return inside.reshape(self.count, *points.shape)

        breaks = [
            mirror * to_float(line.solved_for(axis).const)
            for line in self.lines[0]
            if set(line.terms) == {axis}
        ]
        narrow, wide = self._widths(axis)
        integrals = panels.log_cumulative(
            integrand, np.array(breaks), np.min(bounds, axis=0), narrow, wide, self.count
        )
        return integrals + self._pointwise(values, size, cut.outer)

    # -- where to look --------------------------------------------------------------------------

    def _breaks(self, depth: int, values: Values, size: int) -> Array:
        axis = self.axes[depth]
        columns = [
            np.broadcast_to(value_at(line.solved_for(axis), values), (size,))
            for line in self.lines[depth]
            if axis in line.terms
        ]
        return np.stack(columns, axis=1)

    @cached_property
    def lines(self) -> list[list[Linear]]:
        """For every depth the lines on which something is not smooth, inner axes eliminated."""
        current = distinct(line for factor in self.factors for line in break_lines(factor))
        levels = [current]
        for axis in reversed(self.axes[1:]):
            current = eliminated(current, axis)
            levels.append(current)
        return levels[::-1]

    @property
    def observed_lines(self) -> list[Linear]:
        """The lines in the observed numbers alone."""
        return eliminated(self.lines[0], self.axes[0]) if self.axes else self.lines[0]

    def _widths(self, axis: Any) -> tuple[float, float]:
        found = list(widths(self.factors, axis))
        return min(found), max(found)

    def _integer_range(self, axis: Axis, breaks: Array, wide: float) -> tuple[Array, Array]:
        low = np.floor(breaks.min(axis=1)) - np.ceil(_TAIL_WIDTHS * wide)
        high = np.ceil(breaks.max(axis=1)) + np.ceil(_TAIL_WIDTHS * wide)
        for factor in self.factors:
            if isinstance(factor, Density) and factor.point == Linear.of(axis):
                first, last = factor.law.support
                low = low if first is None else np.maximum(low, to_float(first))
                high = high if last is None else np.minimum(high, to_float(last))
        return low, np.maximum(high, low)


@dataclass(frozen=True)
class _Cut:
    """Which factors cut the axis off (from below or above), depend on it, or do not."""

    from_below: bool
    steps: list[int]
    inner: list[int]
    outer: list[int]


def _kind(factor: Factor, axis: Axis) -> str:
    """Whether the factor depends on the axis, on observed numbers, or cuts one by the other."""
    mentioned = {v for line in lines_of(factor) for v in line.terms}
    if axis not in mentioned:
        return "outer"
    if not any(isinstance(v, Observed) for v in mentioned):
        return "inner"
    return "step" if isinstance(factor, Step) else "mixed"


def _merged_columns(factors: Sequence[Factor], incidence: Array) -> tuple[list[Factor], Array]:
    """Factors that became equal at this input, counted together; unused ones left out."""
    used: Array = np.any(incidence, axis=0)
    place: dict[Factor, int] = {}
    kept = [f for f, u in zip(factors, used.tolist(), strict=True) if u]
    columns: Array = np.array([place.setdefault(f, len(place)) for f in kept], dtype=np.intp)
    merged = np.zeros((len(incidence), len(place)))
    np.add.at(merged.T, columns, incidence.T[used])
    return list(place), merged
