"""A program with choices that coins make, and what is left of it once coins have fallen.

A choice is a number that one of several lines gives: each has its cell, a set of conditions on
coins, and exactly one cell holds. In the lines of the program x[n + k] stands for choice k, where n
is the number of inputs.

To open a coin is to look at each of its faces by itself. What mentions the coin becomes a plain
line, conditions that are decided drop out, and so do paths that cannot be taken. Choices that no
opened coin decides stay closed: whatever they are, they are the same number before and after.
The draws of a path are named in the order in which it uses them: only their laws matter to it, and
paths that draw at other places of the code can be compared.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from flint import fmpq

from dpest.verify.model import Draw, Line, Model, Terms, flag, items, place, read_model
from dpest.verify.price import ONE, ZERO, Malformed
from dpest.verify.shift import EITHER_WAY, UPWARD

MOVABLE = EITHER_WAY | UPWARD
COINS = frozenset({"uniform", "integers", "choice"})
MAX_FACES = 4_096
Condition = tuple[int, int, bool]
Cells = tuple[tuple[Condition, ...], ...]
Face = tuple[fmpq, fmpq]
"""A value that stands for a face of a coin, and its probability."""


@dataclass(frozen=True, eq=False, slots=True)
class Row:
    """An affine expression once coins have fallen; equal ones are one and the same object."""

    const: fmpq
    inputs: Terms
    """Coefficients of the mechanism's inputs."""
    shape: int
    """A number for all the rest: coefficients of draws and of closed choices."""
    line: Line
    movable: tuple[tuple[int, fmpq], ...]
    """Coefficients of the draws that can be shifted."""
    closed: tuple[int, ...]
    coins_only: bool


@dataclass(frozen=True)
class Choice:
    """One of the values (lines): that of the cell whose conditions hold."""

    cells: Cells
    values: tuple[int, ...]


@dataclass(frozen=True)
class OpenPath:
    """Conditions `gap >= 0` (or > 0) and outputs by place."""

    returns: str
    when: tuple[tuple[Row, bool], ...]
    out: tuple[tuple[int, Row], ...]

    @property
    def rows(self) -> list[Row]:
        """The gaps of its conditions, then its outputs."""
        return [row for row, _ in self.when] + [row for _, row in self.out]


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

    @cached_property
    def deciders(self) -> tuple[frozenset[int], ...]:
        """The draws in the conditions of each choice."""
        found: dict[Cells, frozenset[int]] = {}
        for choice in self.choices:
            if choice.cells not in found:
                gaps = map(self.gap, self._conditions(choice))
                found[choice.cells] = frozenset(j for gap in gaps for j in gap.noise)
        return tuple(found[choice.cells] for choice in self.choices)

    @cached_property
    def openers(self) -> tuple[Opener, ...]:
        """What says which value of each choice is taken."""
        found: dict[Cells, Opener] = {}
        for choice, coins in zip(self.choices, self.deciders, strict=True):
            if choice.cells not in found:
                cells = [[(self.gap(c), c[2]) for c in cell] for cell in choice.cells]
                found[choice.cells] = Opener(cells, sorted(coins))
        return tuple(found[choice.cells] for choice in self.choices)

    def gap(self, condition: Condition) -> Line:
        left, right = (self.model.lines[k] for k in condition[:2])
        return minus(left, right)

    @cached_property
    def names(self) -> Names:
        """The names of draws."""
        return Names(self)

    @cached_property
    def mixtures(self) -> dict[tuple[int, ...], list[tuple[fmpq, Branch]]]:
        """The branches for every set of coins that was opened."""
        return {}

    @cached_property
    def gaps(self) -> tuple[Line, ...]:
        """The gaps of all conditions."""
        found = [c for part in self.model.parts for c in part.when]
        found += [c for choice in self.choices for c in self._conditions(choice)]
        return tuple(map(self.gap, dict.fromkeys(found)))

    @cached_property
    def rows(self) -> Rows:
        """All rows that were met so far."""
        return Rows(self)

    @cached_property
    def plain(self) -> frozenset[int]:
        """The draws that are part of a number: of an output or of the value of a choice."""
        lines = [k for part in self.model.parts for _, k in part.out]
        lines += [k for choice in self.choices for k in choice.values]
        return frozenset(j for k in lines for j in self.model.lines[k].noise)


class Names:
    """Names the draws of paths alike where their laws are."""

    def __init__(self, mechanism: Mechanism) -> None:
        self._mechanism = mechanism
        self._alike: dict[object, list[int]] = {}
        for j, draw in enumerate(mechanism.model.noise):
            self._alike.setdefault(_law(draw), []).append(j)

    def __call__(self, path: OpenPath) -> OpenPath:
        """The path with each draw replaced by the first of its law that is not taken yet.

        Draws that decide choices which stay closed keep their names.
        """
        names = self._names(path)
        if all(j == name for j, name in names.items()):
            return path

        def named(row: Row) -> Row:
            noise = {names[j]: c for j, c in row.line.noise.items()}
            return self._mechanism.rows(replace(row.line, noise=noise))

        when = tuple((named(row), strict) for row, strict in path.when)
        return OpenPath(path.returns, when, tuple((k, named(row)) for k, row in path.out))

    def _names(self, path: OpenPath) -> dict[int, int]:
        kept = {j for row in path.rows for k in row.closed for j in self._mechanism.roots[k][1]}
        names: dict[int, int] = {}
        free: dict[object, Iterator[int]] = {}
        for j in (j for row in path.rows for j in sorted(row.line.noise)):
            if j not in names and j in kept:
                names[j] = j
            elif j not in names:
                law = _law(self._mechanism.model.noise[j])
                if law not in free:
                    free[law] = (k for k in self._alike[law] if k not in kept)
                names[j] = next(free[law])
        return names


def _law(draw: Draw) -> object:
    return draw.law, _whole(draw.parameter), tuple(map(_whole, draw.weights))


class Opener:
    """Finds the cell that holds, for every way in which its coins fall."""

    def __init__(self, cells: Sequence[Sequence[tuple[Line, bool]]], coins: Sequence[int]) -> None:
        self._cells = cells
        self._coins = coins
        self._known: dict[tuple[object, ...], int] = {}

    def __call__(self, shown: Mapping[int, fmpq]) -> int:
        key = tuple(_whole(shown[j]) for j in self._coins)
        if key not in self._known:
            self._known[key] = self._found(shown)
        return self._known[key]

    def _found(self, shown: Mapping[int, fmpq]) -> int:
        hits = [
            k
            for k, cell in enumerate(self._cells)
            if all(_holds(gap, strict, shown) for gap, strict in cell)
        ]
        if len(hits) != 1:
            raise Malformed("the cells of a choice overlap or leave something out")
        return hits[0]


def _holds(gap: Line, strict: bool, shown: Mapping[int, fmpq]) -> bool:
    value = gap.const
    for j, c in gap.noise.items():
        value += c * shown[j]
    return bool(value > 0 or (value == 0 and not strict))


class Rows:
    """Makes rows, each only once."""

    def __init__(self, mechanism: Mechanism) -> None:
        self._mechanism = mechanism
        self._known: dict[object, Row] = {}
        self._shapes: dict[object, int] = {}

    def __call__(self, line: Line) -> Row:
        size, draws = self._mechanism.size, self._mechanism.model.noise
        inputs = {i: c for i, c in line.inputs.items() if i < size}
        closed = {i: c for i, c in line.inputs.items() if i >= size}
        rest = (_key(line.noise), _key(closed))
        shape = self._shapes.setdefault(rest, len(self._shapes))
        key = (_whole(line.const), _key(inputs), shape)
        if key not in self._known:
            movable = [(j, c) for j, c in line.noise.items() if draws[j].law in MOVABLE]
            self._known[key] = Row(
                line.const, inputs, shape, line, tuple(sorted(movable)),
                tuple(i - size for i in closed),
                not line.inputs and all(draws[j].law in COINS for j in line.noise),
            )  # fmt: skip
        return self._known[key]


def _whole(value: fmpq) -> tuple[int, int]:
    """Numbers that hash faster than the rational itself."""
    return int(value.p), int(value.q)


def _key(terms: Terms) -> tuple[object, ...]:
    return tuple((k, *_whole(terms[k])) for k in sorted(terms))


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
    if any(model.noise[j].law not in COINS for j in mechanism.deciders[number]):
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
    for gap in mechanism.gaps:
        if j in gap.noise:
            if gap.inputs or len(gap.noise) > 1:
                raise Malformed("a uniform draw that is not only compared with constants")
            found.add(-gap.const / gap.noise[j])
    return found


def _intervals(draw: Draw, thresholds: set[fmpq]) -> list[Face]:
    inside = sorted(t for t in thresholds if 0 < t < draw.parameter)
    cuts = [ZERO, *inside, draw.parameter]
    return [((a + b) / 2, (b - a) / draw.parameter) for a, b in itertools.pairwise(cuts)]


# -- opening ----------------------------------------------------------------------------------


def branches(mechanism: Mechanism, coins: Sequence[int]) -> list[tuple[fmpq, Branch]]:
    """The mechanism as a mixture over the faces of some coins; equal branches are one."""
    key = tuple(coins)
    if key not in mechanism.mixtures:
        mechanism.mixtures[key] = _mixture(mechanism, coins)
    return mechanism.mixtures[key]


def _mixture(mechanism: Mechanism, coins: Sequence[int]) -> list[tuple[fmpq, Branch]]:
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
        self._lines: dict[int, Line] = {}
        self._values: dict[int, Line | None] = {}
        self._parts: dict[int, OpenPath | None] = {}

    def branch(self) -> Branch:
        found = []
        for path in self.mechanism.model.paths:
            parts = [self._part(p) for p in path.parts]
            if None not in parts:
                joined = _joined(path.returns, parts)  # type: ignore[arg-type]
                found.append(self.mechanism.names(joined))
        return tuple(found)

    def _part(self, p: int) -> OpenPath | None:
        """The part without what is decided; None where a condition is false."""
        if p not in self._parts:
            part, row = self.mechanism.model.parts[p], self.mechanism.rows
            when = self._undecided(part.when)
            out = tuple((position, row(self.line(k))) for position, k in part.out)
            self._parts[p] = None if when is None else OpenPath("", when, out)
        return self._parts[p]

    def _undecided(self, conditions: Sequence[Condition]) -> tuple[tuple[Row, bool], ...] | None:
        kept = []
        for left, right, strict in conditions:
            gap = minus(self.line(left), self.line(right))
            if gap.inputs or gap.noise:
                kept.append((self.mechanism.rows(gap), strict))
            elif gap.const < 0 or (strict and gap.const == 0):
                return None
        return tuple(kept)

    def line(self, k: int) -> Line:
        if k not in self._lines:
            self._lines[k] = self._opened(self.mechanism.model.lines[k])
        return self._lines[k]

    def _opened(self, line: Line) -> Line:
        const, inputs, noise = line.const, line.inputs, line.noise
        if not noise.keys().isdisjoint(self.shown):
            const += sum((noise[j] * self.shown[j] for j in noise if j in self.shown), ZERO)
            noise = {j: c for j, c in noise.items() if j not in self.shown}
        made = {i: value for i in inputs if (value := self._value(i)) is not None}
        inputs = {i: c for i, c in inputs.items() if i not in made}
        for i, value in made.items():
            c = line.inputs[i]
            const += c * value.const
            inputs, noise = plus(inputs, value.inputs, c), plus(noise, value.noise, c)
        return Line(const, inputs, noise, {})

    def _value(self, i: int) -> Line | None:
        """What x[i] stands for where it is a choice that is made; None where it stays."""
        if i < self.mechanism.size:
            return None
        if i not in self._values:
            self._values[i] = self._made(i - self.mechanism.size)
        return self._values[i]

    def _made(self, number: int) -> Line | None:
        choice = self.mechanism.choices[number]
        if not self.mechanism.roots[number][1] & self.shown.keys():
            return None
        if not self.mechanism.deciders[number] <= self.shown.keys():
            raise Malformed("a choice that is only half open")
        return self.line(choice.values[self.mechanism.openers[number](self.shown)])


def _joined(returns: str, parts: Sequence[OpenPath]) -> OpenPath:
    when = dict.fromkeys(row for part in parts for row in part.when)
    out = sorted((row for part in parts for row in part.out), key=lambda row: row[0])
    return OpenPath(returns, tuple(when), tuple(out))


def check_closed(mechanism: Mechanism, branch: Branch, i: int) -> None:
    """Refuse a closed choice that x[i] decides, or noise that a shift could touch."""
    for k in {k for path in branch for row in path.rows for k in row.closed}:
        inputs, noise = mechanism.roots[k]
        if i in inputs:
            raise Malformed(f"a choice that x[{i}] has a say in stays closed")
        if any(mechanism.model.noise[j].law in MOVABLE for j in noise):
            raise Malformed("a choice between noisy numbers stays closed")


def with_size(mechanism: Mechanism) -> Model:
    """The program with the domain of the mechanism's own inputs."""
    domain = replace(mechanism.model.domain, size=mechanism.size)
    return replace(mechanism.model, domain=domain)
