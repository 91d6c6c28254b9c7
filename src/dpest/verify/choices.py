"""A program with choices that coins make.

A choice is a number that one of several lines gives: each has its cell, a set of conditions on
coins, and exactly one cell holds. In the lines of the program x[n + k] stands for choice k, where n
is the number of inputs.

Where a clip is given, x stands for the clipped input: neighbours that are clipped are neighbours
still, and all they can be is between its bounds.

Once some coins are opened (`dpest.verify.opening`), choices that none of them decides stay closed:
whatever they are, they are the same number before and after.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from flint import fmpq

from dpest.verify.model import Domain, Line, Model, Terms, flag, items, place, read_model, two
from dpest.verify.price import ONE, ZERO, Malformed, rational

COINS = frozenset({"uniform", "integers", "choice"})
Condition = tuple[int, int, bool]
Cells = tuple[tuple[Condition, ...], ...]


@dataclass(frozen=True)
class Choice:
    """One of the values (lines): that of the cell whose conditions hold."""

    cells: Cells
    values: tuple[int, ...]


Roots = tuple[frozenset[int], frozenset[int]]
"""The inputs and the draws that decide something."""


@dataclass(frozen=True)
class Mechanism:
    """A program whose lines may mention choices."""

    model: Model
    """Its inputs are those of the mechanism and one number for every choice."""
    size: int
    choices: tuple[Choice, ...]
    clip: tuple[fmpq, fmpq] | None

    @cached_property
    def roots(self) -> tuple[Roots, ...]:
        """What decides each choice."""
        found: list[Roots] = []
        for choice in self.choices:
            conditions = [k for left, right, _ in self._conditions(choice) for k in (left, right)]
            every = [self._roots(self.model.lines[k], found) for k in (*conditions, *choice.values)]
            inputs = frozenset().union(*(inputs for inputs, _ in every))
            found.append((inputs, frozenset().union(*(noise for _, noise in every))))
        return tuple(found)

    def _roots(self, line: Line, known: Sequence[Roots]) -> Roots:
        inside = [known[k - self.size] for k in line.inputs if k >= self.size]
        inputs = frozenset(k for k in line.inputs if k < self.size)
        noise = frozenset(line.noise)
        return (
            inputs.union(*(more for more, _ in inside)),
            noise.union(*(more for _, more in inside)),
        )

    def _conditions(self, choice: Choice) -> Iterator[Condition]:
        return (condition for cell in choice.cells for condition in cell)

    @cached_property
    def deciders(self) -> tuple[frozenset[int], ...]:
        """The draws in the conditions of each choice."""
        found: dict[Cells, frozenset[int]] = {}
        for choice in self.choices:
            if choice.cells not in found:
                gaps = map(self.gap, self._conditions(choice))
                found[choice.cells] = frozenset(j for gap in gaps for j in gap.noise)
        return tuple(found[choice.cells] for choice in self.choices)

    def gap(self, condition: Condition) -> Line:
        left, right = (self.model.lines[k] for k in condition[:2])
        return minus(left, right)

    @cached_property
    def gaps(self) -> tuple[Line, ...]:
        """The gaps of all conditions."""
        found = [c for part in self.model.parts for c in part.when]
        found += [c for choice in self.choices for c in self._conditions(choice)]
        return tuple(map(self.gap, dict.fromkeys(found)))

    @cached_property
    def plain(self) -> frozenset[int]:
        """The draws that are part of a number: of an output or of the value of a choice."""
        lines = [k for part in self.model.parts for _, k in part.out]
        lines += [k for choice in self.choices for k in choice.values]
        return frozenset(j for k in lines for j in self.model.lines[k].noise)


def minus(one: Line, other: Line) -> Line:
    return Line(
        one.const - other.const, plus(one.inputs, other.inputs, -ONE),
        plus(one.noise, other.noise, -ONE), {},
    )  # fmt: skip


def plus(one: Terms, other: Terms, factor: fmpq) -> Terms:
    """`one + factor * other`."""
    if not other:
        return one
    total = dict(one)
    for key, value in other.items():
        new = total.pop(key, ZERO) + factor * value
        if new != 0:
            total[key] = new
    return total


# -- reading ----------------------------------------------------------------------------------


def read_mechanism(data: Any) -> Mechanism:
    """The program of a certificate; raises `Malformed`."""
    if not isinstance(data, Mapping) or "choices" not in data or "clip" not in data:
        raise Malformed("a program without choices or clip")
    listed, clip = items(data["choices"]), _read_clip(data["clip"])
    rest = {key: value for key, value in data.items() if key not in ("choices", "clip")}
    model, size = _with_choices(rest, len(listed))
    model = replace(model, domain=_within(model.domain, clip))
    if model.extremes or model.groups:
        raise Malformed("extremes or groups beside choices")
    lines = len(model.lines)
    mechanism = Mechanism(model, size, tuple(_read_choice(c, lines) for c in listed), clip)
    for k, choice in enumerate(mechanism.choices):
        _check_choice(mechanism, k, choice)
    return mechanism


def _read_clip(data: Any) -> tuple[fmpq, fmpq] | None:
    if data is None:
        return None
    low, high = map(rational, two(data))
    if low > high:
        raise Malformed("a clip with low > high")
    return low, high


def _within(domain: Domain, clip: tuple[fmpq, fmpq] | None) -> Domain:
    """What the clipped inputs can be."""
    if clip is None:
        return domain
    if domain.integral and any(bound.q != 1 for bound in clip):
        raise Malformed("whole numbers that are clipped to others")
    low, high = (_clipped(bound, clip, end) for bound, end in ((domain.low, 0), (domain.high, 1)))
    return replace(domain, low=low, high=high)


def _clipped(bound: fmpq | None, clip: tuple[fmpq, fmpq], end: int) -> fmpq:
    return clip[end] if bound is None else max(clip[0], min(clip[1], bound))


def _with_choices(data: dict[str, Any], choices: int) -> tuple[Model, int]:
    """The program with one more input for every choice, and the number of its own."""
    inputs = data.get("inputs")
    if not isinstance(inputs, Mapping):
        raise Malformed("a program without inputs")
    size = place(inputs.get("size"), 1 << 20)
    model = read_model({**data, "inputs": {**inputs, "size": size + choices}})
    if size < 1:
        raise Malformed("a program without inputs")
    return model, size


def _read_choice(data: Any, lines: int) -> Choice:
    if not isinstance(data, Mapping) or set(data) != {"cells", "values"}:
        raise Malformed("a choice needs cells and values")
    cells = tuple(
        tuple(_read_condition(c, lines) for c in items(cell)) for cell in items(data["cells"])
    )
    values = tuple(place(k, lines) for k in items(data["values"]))
    if len(cells) != len(values):
        raise Malformed("every cell of a choice needs its value")
    return Choice(cells, values)


def _read_condition(data: Any, lines: int) -> Condition:
    if len(items(data)) != 3:
        raise Malformed("a condition needs two lines and whether it is strict")
    return place(data[0], lines), place(data[1], lines), flag(data[2])


def _check_choice(mechanism: Mechanism, number: int, choice: Choice) -> None:
    """Coins alone decide it, and its values mention earlier choices only."""
    model, later = mechanism.model, mechanism.size + number
    for k in choice.values:
        if any(i >= later for i in model.lines[k].inputs):
            raise Malformed("a choice between itself or later ones")
    for left, right, _ in (c for cell in choice.cells for c in cell):
        if model.lines[left].inputs or model.lines[right].inputs:
            raise Malformed("a choice that is not made by coins")
    if any(model.noise[j].law not in COINS for j in mechanism.deciders[number]):
        raise Malformed("a choice that is not made by coins")


def with_size(mechanism: Mechanism) -> Model:
    """The program with the domain of the mechanism's own inputs."""
    domain = replace(mechanism.model.domain, size=mechanism.size)
    return replace(mechanism.model, domain=domain)
