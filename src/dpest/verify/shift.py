"""The price of shifting noise, and of a part under a rule.

`log f(y) - log f(y + s) <= price(s)` for every y that can be drawn, and y + s can be drawn too.
"""

from __future__ import annotations

from collections.abc import Mapping

from dpest.verify.model import Draw, Model, Part
from dpest.verify.price import Price, largest
from dpest.verify.reach import Form, Magnitude, Moves, Neighborhood, Unbounded, rule_noise

EITHER_WAY = frozenset({"laplace", "logistic", "discrete_laplace"})
UPWARD = frozenset({"exponential", "gumbel", "geometric"})


class Wrong(Exception):
    """An alignment that does not do what it should; the message says where."""


def shift_price(draw: Draw, down: Magnitude, up: Magnitude) -> Price:
    """The price of any shift from -down to +up."""
    if draw.law in EITHER_WAY:
        return largest([down.price(), up.price()]).scaled(1 / draw.parameter)
    if draw.law in UPWARD:
        if not _downward_is_empty(down):
            raise Wrong(f"{draw.law} noise may only be shifted upward")
        if draw.law != "geometric":
            return up.price().scaled(1 / draw.parameter)
        if draw.parameter != 1:
            if up.q != 0:
                raise Wrong("an irrational shift of integers")
            return Price.ln(1 / (1 - draw.parameter), up.a)
    if down.price().sign() > 0 or up.price().sign() > 0:
        raise Wrong(f"{draw.law} noise has no finite price")
    return Price()


def _downward_is_empty(down: Magnitude) -> bool:
    """Whether a + sqrt(q) <= 0."""
    return bool(down.a <= 0 and down.a * down.a >= down.q)


def part_price(
    model: Model, part: Part, near: Neighborhood, changes: Mapping[int, Form]
) -> Price:
    """The price of the part under the rule, after checking that the rule keeps the part.

    Raises `Wrong` where a condition or an output is not kept for some neighbour.
    """
    rule_noise(model, changes)
    if not changes.keys() <= model.noise_of(part):
        raise Wrong("a draw is shifted that the part does not use")
    moves = Moves(model, near, changes)
    try:
        _keeps(model, part, moves)
        return _cost(model, moves)
    except Unbounded as reason:
        raise Wrong(str(reason)) from None


def _keeps(model: Model, part: Part, moves: Moves) -> None:
    for position, k in part.out:
        if not _stays(moves, moves.line(k)):
            raise Wrong(f"output {position} does not stay the same")
    for left, right, _ in part.when:
        if not moves.at_least_zero(moves.line(left).minus(moves.line(right))):
            raise Wrong(f"the condition line {left} >= line {right} is not kept")
    for winner, group in part.beats:
        best = moves.line(winner)
        for rival in model.groups[group]:
            if rival != winner and not moves.at_least_zero(best.minus(moves.line(rival))):
                raise Wrong(f"line {winner} does not stay ahead of line {rival}")


def _stays(moves: Moves, form: Form) -> bool:
    """Whether the form is zero for every neighbour."""
    if form.is_zero:
        return True
    if not form.delta:
        return False
    return all(choice.is_zero for choice in moves.choices(form))


def _cost(model: Model, moves: Moves) -> Price:
    total = Price()
    for j, form in moves.changes.items():
        draw = model.noise[j]
        if draw.lattice:
            _check_lattice(model, moves.near, form)
        down, up = moves.span(form)
        total = total + shift_price(draw, down, up)
    return total


def _check_lattice(model: Model, near: Neighborhood, form: Form) -> None:
    """Integers can only be shifted by integers."""
    whole = [form.const, *form.d.values(), *form.delta.values()]
    if any(number.q != 1 for number in whole):
        raise Wrong("a fractional shift of integers")
    if near.norm == "step" and not form.is_zero and not model.domain.integral:
        raise Wrong("a shift of integers along a step of any length")
    if form.d and not model.domain.integral:
        raise Wrong("a shift of integers by a real difference")
    for z in form.delta:
        if not all(model.integral_lines[k] for k in model.extremes[z].of):
            raise Wrong("a shift of integers by the move of a real number")

