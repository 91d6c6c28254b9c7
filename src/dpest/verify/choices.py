"""A program with choices that coins make, and what is left of it once coins have fallen.

A choice is a number that one of several lines gives: each has its cell, a set of conditions on
coins, and exactly one cell holds. In the lines of the program x[n + k] stands for choice k, where n
is the number of inputs.

To open a coin is to look at each of its faces by itself. What mentions the coin becomes a plain
line, conditions that are decided drop out, and so do paths that cannot be taken. Choices that no
opened coin decides stay closed: whatever they are, they are the same number before and after.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from flint import fmpq

from dpest.verify.model import Draw, Line, Model, flag, items, place, read_model
from dpest.verify.price import ONE, ZERO, Malformed
from dpest.verify.shift import EITHER_WAY, UPWARD

MOVABLE = EITHER_WAY | UPWARD
COINS = frozenset({"uniform", "integers", "choice"})
MAX_FACES = 4_096
Condition = tuple[int, int, bool]
Face = tuple[fmpq, fmpq]
"""A value that stands for a face of a coin, and its probability."""
Affine = tuple[fmpq, tuple[tuple[int, fmpq], ...], tuple[tuple[int, fmpq], ...]]
"""Constant, coefficients of inputs and closed choices, coefficients of draws."""


@dataclass(frozen=True)
class Choice:
    """One of the values (lines): that of the cell whose conditions hold."""

    cells: tuple[tuple[Condition, ...], ...]
    values: tuple[int, ...]


@dataclass(frozen=True)
class OpenPath:
    """Conditions `gap >= 0` (or > 0) and outputs by place."""

    returns: str
    when: tuple[tuple[Affine, bool], ...]
    out: tuple[tuple[int, Affine], ...]


Branch = tuple[OpenPath, ...]
Roots = tuple[frozenset[int], frozenset[int]]
"""The inputs and the draws that decide something."""


@dataclass(frozen=True)
class Mechanism:
    """A program whose lines may mention choices."""

    model: Model
    """Its inputs are those of the mechanism and one number for every choice."""
    size: int
    choices: tuple[Choice, ...]

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

    def deciders(self, choice: Choice) -> frozenset[int]:
        """The coins in the conditions of a choice."""
        lines = self.model.lines
        both = (k for left, right, _ in self._conditions(choice) for k in (left, right))
        return frozenset(j for k in both for j in lines[k].noise)

    def gap(self, condition: Condition) -> Affine:
        left, right = (self.model.lines[k] for k in condition[:2])
        return minus(affine(left), affine(right))

    @cached_property
    def gaps(self) -> tuple[Affine, ...]:
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


def affine(line: Line) -> Affine:
    return line.const, tuple(sorted(line.inputs.items())), tuple(sorted(line.noise.items()))


def minus(one: Affine, other: Affine) -> Affine:
    return one[0] - other[0], _minus(one[1], other[1]), _minus(one[2], other[2])


def _minus(
    one: tuple[tuple[int, fmpq], ...], other: tuple[tuple[int, fmpq], ...]
) -> tuple[tuple[int, fmpq], ...]:
    if not other:
        return one
    total = dict(one)
    for key, value in other:
        total[key] = total.get(key, ZERO) - value
    return tuple(sorted((key, value) for key, value in total.items() if value != 0))


# -- reading ----------------------------------------------------------------------------------


def read_mechanism(data: Any) -> Mechanism:
    """The program of a certificate; raises `Malformed`."""
    if not isinstance(data, Mapping) or "choices" not in data:
        raise Malformed("a program without choices")
    listed = items(data["choices"])
    rest = {key: value for key, value in data.items() if key != "choices"}
    model, size = _with_choices(rest, len(listed))
    if model.extremes or model.groups:
        raise Malformed("extremes or groups beside choices")
    lines = len(model.lines)
    mechanism = Mechanism(model, size, tuple(_read_choice(c, lines) for c in listed))
    for k, choice in enumerate(mechanism.choices):
        _check_choice(mechanism, k, choice)
    return mechanism


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
    if any(model.noise[j].law not in COINS for j in mechanism.deciders(choice)):
        raise Malformed("a choice that is not made by coins")


# -- faces ------------------------------------------------------------------------------------


def faces(mechanism: Mechanism, j: int) -> list[Face]:
    """The faces of a coin; raises where the draw is none."""
    draw = mechanism.model.noise[j]
    if draw.law == "choice":
        return [(fmpq(k), w) for k, w in enumerate(draw.weights) if w > 0]
    if draw.law == "integers" and draw.parameter <= MAX_FACES:
        return [(fmpq(k), 1 / draw.parameter) for k in range(int(draw.parameter.p))]
    if draw.law != "uniform":
        raise Malformed(f"{draw.law} noise is not a coin")
    return _intervals(draw, _thresholds(mechanism, j))


def _thresholds(mechanism: Mechanism, j: int) -> set[fmpq]:
    """The constants that a uniform draw is compared with."""
    if j in mechanism.plain:
        raise Malformed("a uniform draw that is not only compared")
    found = set()
    for const, inputs, noise in mechanism.gaps:
        if any(k == j for k, _ in noise):
            if inputs or len(noise) > 1:
                raise Malformed("a uniform draw that is not only compared with constants")
            found.add(-const / noise[0][1])
    return found


def _intervals(draw: Draw, thresholds: set[fmpq]) -> list[Face]:
    inside = sorted(t for t in thresholds if 0 < t < draw.parameter)
    cuts = [ZERO, *inside, draw.parameter]
    return [((a + b) / 2, (b - a) / draw.parameter) for a, b in itertools.pairwise(cuts)]


# -- opening ----------------------------------------------------------------------------------


def branches(mechanism: Mechanism, coins: Sequence[int]) -> list[tuple[fmpq, Branch]]:
    """The mechanism as a mixture over the faces of some coins; equal branches are one."""
    thrown = [faces(mechanism, j) for j in coins]
    count = 1
    for shown in thrown:
        count *= len(shown)
    if count > MAX_FACES:
        raise Malformed(f"the coins can fall in {count} ways")
    found: dict[Branch, fmpq] = {}
    for picked in itertools.product(*thrown):
        weight = ONE
        for _, mass in picked:
            weight *= mass
        values = {j: value for j, (value, _) in zip(coins, picked, strict=True)}
        branch = _Opening(mechanism, values).branch()
        found[branch] = found.get(branch, ZERO) + weight
    return [(weight, branch) for branch, weight in found.items()]


class _Opening:
    """The mechanism where some coins show these faces."""

    def __init__(self, mechanism: Mechanism, shown: Mapping[int, fmpq]) -> None:
        self.mechanism = mechanism
        self.shown = shown
        self._lines: dict[int, Affine] = {}
        self._values: dict[int, Affine | None] = {}
        self._parts: dict[int, OpenPath | None] = {}

    def branch(self) -> Branch:
        found = []
        for path in self.mechanism.model.paths:
            parts = [self._part(p) for p in path.parts]
            if None not in parts:
                found.append(_joined(path.returns, parts))  # type: ignore[arg-type]
        return tuple(found)

    def _part(self, p: int) -> OpenPath | None:
        """The part without what is decided; None where a condition is false."""
        if p not in self._parts:
            part = self.mechanism.model.parts[p]
            when = self._undecided(part.when)
            out = tuple((position, self.line(k)) for position, k in part.out)
            self._parts[p] = None if when is None else OpenPath("", when, out)
        return self._parts[p]

    def _undecided(
        self, conditions: Sequence[Condition]
    ) -> tuple[tuple[Affine, bool], ...] | None:
        kept = []
        for left, right, strict in conditions:
            gap = minus(self.line(left), self.line(right))
            if gap[1] or gap[2]:
                kept.append((gap, strict))
            elif gap[0] < 0 or (strict and gap[0] == 0):
                return None
        return tuple(kept)

    def line(self, k: int) -> Affine:
        if k not in self._lines:
            self._lines[k] = self._opened(self.mechanism.model.lines[k])
        return self._lines[k]

    def _opened(self, line: Line) -> Affine:
        const = line.const
        inputs = {i: c for i, c in line.inputs.items() if self._value(i) is None}
        noise = {j: c for j, c in line.noise.items() if j not in self.shown}
        const += sum((c * self.shown[j] for j, c in line.noise.items() if j in self.shown), ZERO)
        for i, c in line.inputs.items():
            value = self._value(i)
            if value is not None:
                const += c * value[0]
                _add(inputs, value[1], c)
                _add(noise, value[2], c)
        return affine(Line(const, inputs, noise, {}))

    def _value(self, i: int) -> Affine | None:
        """What x[i] stands for where it is a choice that is made; None where it stays."""
        if i < self.mechanism.size:
            return None
        if i not in self._values:
            self._values[i] = self._made(i - self.mechanism.size)
        return self._values[i]

    def _made(self, number: int) -> Affine | None:
        choice = self.mechanism.choices[number]
        if not self.mechanism.roots[number][1] & self.shown.keys():
            return None
        if not self.mechanism.deciders(choice) <= self.shown.keys():
            raise Malformed("a choice that is only half open")
        hits = [k for k, cell in enumerate(choice.cells) if self._undecided(cell) is not None]
        if len(hits) != 1:
            raise Malformed("the cells of a choice overlap or leave something out")
        return self.line(choice.values[hits[0]])


def _add(total: dict[int, fmpq], more: tuple[tuple[int, fmpq], ...], factor: fmpq) -> None:
    for key, value in more:
        new = total.pop(key, ZERO) + factor * value
        if new != 0:
            total[key] = new


def _joined(returns: str, parts: Sequence[OpenPath]) -> OpenPath:
    when = dict.fromkeys(row for part in parts for row in part.when)
    out = sorted((row for part in parts for row in part.out), key=lambda row: row[0])
    return OpenPath(returns, tuple(when), tuple(out))


def closed(mechanism: Mechanism, branch: Branch) -> frozenset[int]:
    """The choices that stayed closed in a branch."""
    rows = [line for path in branch for line, _ in path.when]
    rows += [line for path in branch for _, line in path.out]
    return frozenset(
        i - mechanism.size for line in rows for i, _ in line[1] if i >= mechanism.size
    )


def check_closed(mechanism: Mechanism, branch: Branch, i: int) -> None:
    """Refuse a closed choice that x[i] decides, or noise that a shift could touch."""
    for k in closed(mechanism, branch):
        inputs, noise = mechanism.roots[k]
        if i in inputs:
            raise Malformed(f"a choice that x[{i}] has a say in stays closed")
        if any(mechanism.model.noise[j].law in MOVABLE for j in noise):
            raise Malformed("a choice between noisy numbers stays closed")


def with_size(mechanism: Mechanism) -> Model:
    """The program with the domain of the mechanism's own inputs."""
    domain = replace(mechanism.model.domain, size=mechanism.size)
    return replace(mechanism.model, domain=domain)
