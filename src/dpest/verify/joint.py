"""The price of several shifts together, where no single d makes all of them dearest.

The price at d is a sum of `rate * |c + v . d|`. A sum of absolute values is the largest of the
signed sums, and the largest value of a signed sum over a ball is the dual norm of its gradient.
Shifts that follow different inputs are independent of each other.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

from flint import fmpq

from dpest.verify.model import Draw, Model, Terms
from dpest.verify.price import ONE, ZERO, Price
from dpest.verify.reach import Form, Neighborhood

MAX_SIGNED = 11
_SIGNED = frozenset({"laplace", "logistic", "discrete_laplace"})
_RISING = frozenset({"exponential", "gumbel"})
Cost = tuple[fmpq, Terms, bool]
"""Constant and gradient of a shift's price, and whether it is known to be positive."""


def joint_price(model: Model, near: Neighborhood, changes: Mapping[int, Form]) -> Price | None:
    """A bound for the shifts together; None where it would be no better than their sum."""
    if near.norm not in ("linf", "l2") or near.radius is None or near.direction is not None:
        return None
    costs = []
    for j, form in changes.items():
        if form.delta or model.noise[j].law not in _SIGNED | _RISING:
            return None
        costs.append(_cost(model.noise[j], form))
    groups = _tied(costs)
    if near.norm == "linf":
        if all(len(group) == 1 for group in groups):
            return None
        return Price(sum((_linf(group, near.radius) for group in groups), ZERO))
    constants = sum((abs(const) for const, _, _ in costs), ZERO)
    squares = sum((_square(group) for group in groups), ZERO)
    return Price(constants) + Price.sqrt(squares * near.radius**2)


def _cost(draw: Draw, form: Form) -> Cost:
    rate = 1 / draw.parameter
    gradient = {i: c * rate for i, c in form.d.items()}
    return form.const * rate, gradient, draw.law in _RISING


def _tied(costs: Sequence[Cost]) -> list[list[Cost]]:
    """Costs that follow the same inputs, together."""
    groups: list[tuple[set[int], list[Cost]]] = []
    for cost in costs:
        inputs, members, apart = set(cost[1]), [cost], []
        for others, group in groups:
            if others & inputs:
                inputs, members = inputs | others, [*group, *members]
            else:
                apart.append((others, group))
        groups = [*apart, (inputs, members)]
    return [members for _, members in groups]


def _signed(group: Sequence[Cost]) -> list[tuple[fmpq, Terms]]:
    """Every signed sum; of a large group one that is above them all."""
    if len(group) > MAX_SIGNED:
        total: Terms = {}
        for _, gradient, _ in group:
            for i, c in gradient.items():
                total[i] = total.get(i, ZERO) + abs(c)
        return [(sum((abs(const) for const, _, _ in group), ZERO), total)]
    found = []
    for signs in itertools.product(*([ONE] if rising else [ONE, -ONE] for _, _, rising in group)):
        const, sums = ZERO, dict[int, fmpq]()
        for sign, (own, gradient, _) in zip(signs, group, strict=True):
            const += sign * own
            for i, c in gradient.items():
                sums[i] = sums.get(i, ZERO) + sign * c
        found.append((const, sums))
    return found


def _linf(group: Sequence[Cost], radius: fmpq) -> fmpq:
    return max(
        const + radius * sum(map(abs, sums.values()), ZERO) for const, sums in _signed(group)
    )


def _square(group: Sequence[Cost]) -> fmpq:
    """The largest squared length of a gradient."""
    return max(sum((c * c for c in sums.values()), ZERO) for _, sums in _signed(group))
