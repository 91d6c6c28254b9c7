"""A loss that no outcome of a form exceeds, from the cases one by one.

A ratio of two sums is at most the largest ratio of their summands. Both laws have the same cases,
so that every summand has its partner, and the ratio of two products is at most the product of the
largest ratios of their factors.
"""

from __future__ import annotations

import math

from flint import fmpq

from dpest.engines.exact.density import ComponentLaw, Form, Table
from dpest.engines.exact.plan import Density, Factor, Step
from dpest.program import Linear


def at_most(p: ComponentLaw, q: ComponentLaw, form: Form) -> float:
    """No outcome of the form has a larger log P/Q."""
    rows = p.forms.get(form, [])
    if not set(rows) <= set(q.forms.get(form, [])):
        return math.inf
    known: dict[int, float] = {}
    return max((_term(p.table, q.table, row, known) for row in rows), default=-math.inf)


def _term(p: Table, q: Table, row: int, known: dict[int, float]) -> float:
    total = 0.0
    for k in p.plan.used[row]:
        if k not in known:
            known[k] = _factor(p.plan.factors[k], p, q)
        total += known[k]
    return total


def _factor(factor: Factor, p: Table, q: Table) -> float:
    """The largest log ratio of one factor."""
    if isinstance(factor, Step):
        return 0.0 if _shift(factor.gap, p, q) >= 0 else math.inf
    if isinstance(factor, Density):
        return factor.law.shift_loss(_shift(factor.point, p, q))
    shifts = {_shift(bound, p, q) for bound in (*factor.lower, *factor.upper)}
    if len(shifts) > 1:
        return math.inf
    return factor.law.shift_loss(shifts.pop()) if shifts else 0.0


def _shift(line: Linear, p: Table, q: Table) -> fmpq:
    return q.put.line(line).const - p.put.line(line).const
