"""Which conditions can hold together: impossible paths are pruned, possible ones never.

Most questions are settled exactly: a condition with a fresh unbounded variable can always be met,
and conditions on a single variable are intervals. The rest go to a linear program, which prunes
only what it finds clearly impossible.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from flint import fmpq

from dpest.numbers.rational import to_float
from dpest.program import Condition, Input, Linear, Noise
from dpest.program.linear import Variable

Bounds = tuple[fmpq | None, fmpq | None]
_CLEARLY = 1e-7


class Region:
    """The set of inputs and noise that a path can still have."""

    def __init__(self, input_bounds: Mapping[Input, Bounds] | None = None) -> None:
        self._input_bounds = dict(input_bounds or {})
        self._conditions: dict[Condition, None] = {}
        self._used: set[Variable] = set()
        self._simple: dict[Variable, Interval] = {}
        self._coupled: set[Variable] = set()

    def add(self, condition: Condition) -> bool:
        """Narrow the region; False where the condition says nothing new."""
        if condition.decided() is not None or condition in self._conditions:
            return False
        self._conditions[condition] = None
        terms = condition.gap.terms
        self._used.update(terms)
        if len(terms) == 1:
            (variable,) = terms
            self._simple[variable] = self._interval(variable).narrowed(condition)
        else:
            self._coupled.update(terms)
        return True

    def allows(self, cell: Sequence[Condition]) -> bool:
        """Whether the region still has a point that meets the conditions."""
        pending = []
        for condition in cell:
            truth = condition.decided()
            if truth is False or condition.negation in self._conditions:
                return False
            if truth is None and condition not in self._conditions:
                pending.append(condition)
        if self._has_fresh_variables(pending):
            return True
        if self._is_simple(pending):
            return self._intervals_meet(pending)
        return self._linear_program(pending)

    def bounds(self, variable: Variable) -> Bounds:
        if isinstance(variable, Noise):
            return variable.law.support
        return self._input_bounds.get(variable, (None, None))  # type: ignore[call-overload]

    def _has_fresh_variables(self, pending: list[Condition]) -> bool:
        seen: set[Variable] = set()
        for condition in pending:
            terms = condition.gap.terms
            fresh = [v for v in terms if v not in self._used and v not in seen]
            if not any(self._unbounded_upward(v, terms[v] > 0) for v in fresh):
                return False
            seen.update(terms)
        return True

    def _unbounded_upward(self, variable: Variable, rising: bool) -> bool:
        low, high = self.bounds(variable)
        return (high if rising else low) is None

    def _is_simple(self, pending: list[Condition]) -> bool:
        return all(
            len(c.gap.terms) == 1 and self._coupled.isdisjoint(c.gap.terms) for c in pending
        )

    def _intervals_meet(self, pending: list[Condition]) -> bool:
        intervals: dict[Variable, Interval] = {}
        for condition in pending:
            (variable,) = condition.gap.terms
            current = intervals.get(variable) or self._interval(variable)
            intervals[variable] = current.narrowed(condition)
        return not any(interval.empty for interval in intervals.values())

    def _interval(self, variable: Variable) -> Interval:
        if variable in self._simple:
            return self._simple[variable]
        low, high = self.bounds(variable)
        lattice = isinstance(variable, Noise) and variable.law.lattice
        return Interval(low, high, lattice)

    def _linear_program(self, pending: list[Condition]) -> bool:
        from dpest.numbers.lp import largest_slack

        gaps = [c.gap for c in (*self._conditions, *pending)]
        order = list(dict.fromkeys(v for gap in gaps for v in gap.terms))
        rows = [[to_float(gap.terms.get(v, fmpq(0))) for v in order] for gap in gaps]
        bounds = [tuple(None if b is None else to_float(b) for b in self.bounds(v)) for v in order]
        slack = largest_slack(rows, [to_float(gap.const) for gap in gaps], bounds)
        return slack is None or slack > -_CLEARLY


class Interval:
    """Exact bounds of one variable, with open ends and integer rounding."""

    def __init__(
        self, low: fmpq | None, high: fmpq | None, lattice: bool = False,
        low_open: bool = False, high_open: bool = False,
    ) -> None:
        self.low, self.high, self.lattice = low, high, lattice
        self.low_open, self.high_open = low_open, high_open

    def narrowed(self, condition: Condition) -> Interval:
        return self.cut(condition.gap, condition.strict)

    def cut(self, gap: Linear, strict: bool) -> Interval:
        """The part where the expression in this one variable is >= 0 (or > 0)."""
        ((variable, slope),) = gap.terms.items()
        edge = gap.solved_for(variable).const
        if self.lattice:
            edge, strict = _round_inward(edge, slope > 0, strict), False
        low, high, low_open, high_open = self.low, self.high, self.low_open, self.high_open
        if slope > 0 and (low is None or edge > low or (edge == low and strict)):
            low, low_open = edge, strict
        if slope < 0 and (high is None or edge < high or (edge == high and strict)):
            high, high_open = edge, strict
        return Interval(low, high, self.lattice, low_open, high_open)

    @property
    def empty(self) -> bool:
        if self.low is None or self.high is None:
            return False
        return self.low > self.high or (
            self.low == self.high and (self.low_open or self.high_open)
        )


def _round_inward(edge: fmpq, lower: bool, strict: bool) -> fmpq:
    """The nearest integer inside the half line that starts at the edge."""
    if lower:
        return fmpq(edge.floor()) + 1 if strict or edge.q != 1 else edge
    return fmpq(edge.ceil()) - 1 if strict or edge.q != 1 else edge
