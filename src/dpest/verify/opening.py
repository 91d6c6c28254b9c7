"""What is left of a mechanism once some coins have fallen.

What mentions an opened coin becomes a plain line, conditions that are decided drop out, and so do
paths that cannot be taken. The draws of a path are named in the order in which it uses them: only
their laws matter to it, and paths that draw at other places of the code can be compared.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from flint import fmpq

from dpest.verify.choices import COINS, Cells, Condition, Mechanism, minus, plus
from dpest.verify.model import Draw, Line, Terms
from dpest.verify.price import ONE, ZERO, Malformed
from dpest.verify.shift import EITHER_WAY, UPWARD

MOVABLE = EITHER_WAY | UPWARD
MAX_FACES = 4_096
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
    draws: tuple[int, ...]
    movable: tuple[tuple[int, fmpq], ...]
    """Coefficients of the draws that can be shifted."""
    closed: tuple[int, ...]
    coins_only: bool


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


@dataclass(frozen=True)
class Openings:
    """A mechanism, and all that was found by opening its coins."""

    mechanism: Mechanism

    @cached_property
    def rows(self) -> Rows:
        """All rows that were met so far."""
        return Rows(self.mechanism)

    @cached_property
    def names(self) -> Names:
        """The names of draws."""
        return Names(self)

    @cached_property
    def openers(self) -> tuple[Opener, ...]:
        """What says which value of each choice is taken."""
        found: dict[Cells, Opener] = {}
        mechanism = self.mechanism
        for choice, coins in zip(mechanism.choices, mechanism.deciders, strict=True):
            if choice.cells not in found:
                cells = [[(mechanism.gap(c), c[2]) for c in cell] for cell in choice.cells]
                found[choice.cells] = Opener(cells, sorted(coins))
        return tuple(found[choice.cells] for choice in mechanism.choices)

    @cached_property
    def _mixtures(self) -> dict[tuple[int, ...], list[tuple[fmpq, Branch]]]:
        """The branches for every set of coins that was opened."""
        return {}

    def branches(self, coins: Sequence[int]) -> list[tuple[fmpq, Branch]]:
        """The mechanism as a mixture over the faces of some coins; equal branches are one."""
        key = tuple(coins)
        if key not in self._mixtures:
            self._mixtures[key] = _mixture(self, coins)
        return self._mixtures[key]


class Names:
    """Names the draws of paths alike where their laws are."""

    def __init__(self, openings: Openings) -> None:
        self._rows = openings.rows
        self._roots = openings.mechanism.roots
        alike: dict[object, list[int]] = {}
        self._alike = [
            alike.setdefault(_law(draw), []) for draw in openings.mechanism.model.noise
        ]
        for j, members in enumerate(self._alike):
            members.append(j)

    def __call__(self, path: OpenPath, shown: Mapping[int, fmpq]) -> OpenPath:
        """The path with each draw replaced by the first of its law that is not taken yet.

        Draws that decide choices which stay closed keep their names.
        """
        names = self._names(path, shown)
        if all(j == name for j, name in names.items()):
            return path

        def named(row: Row) -> Row:
            noise = {names[j]: c for j, c in row.line.noise.items()}
            return self._rows(Line(row.line.const, row.line.inputs, noise, {}))

        when = tuple((named(row), strict) for row, strict in path.when)
        return OpenPath(path.returns, when, tuple((k, named(row)) for k, row in path.out))

    def _names(self, path: OpenPath, shown: Mapping[int, fmpq]) -> dict[int, int]:
        kept = {j for row in path.rows for k in row.closed for j in self._roots[k][1]}
        names = {j: j for j in kept}
        taken = {*kept, *shown}
        for j in (j for row in path.rows for j in row.draws):
            if j not in names:
                names[j] = next(k for k in self._alike[j] if k not in taken)
                taken.add(names[j])
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
                line.const, inputs, shape, line, tuple(sorted(line.noise)), tuple(sorted(movable)),
                tuple(i - size for i in closed),
                not line.inputs and all(draws[j].law in COINS for j in line.noise),
            )  # fmt: skip
        return self._known[key]


def _whole(value: fmpq) -> tuple[int, int]:
    """Numbers that hash faster than the rational itself."""
    return int(value.p), int(value.q)


def _key(terms: Terms) -> tuple[object, ...]:
    return tuple((k, *_whole(terms[k])) for k in sorted(terms))


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


def _mixture(openings: Openings, coins: Sequence[int]) -> list[tuple[fmpq, Branch]]:
    thrown = [faces(openings.mechanism, j) for j in coins]
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
        branch = _Opening(openings, values).branch()
        found[branch] = found.get(branch, ZERO) + weight
    return [(weight, branch) for branch, weight in found.items()]


class _Opening:
    """The mechanism where some coins show these faces."""

    def __init__(self, openings: Openings, shown: Mapping[int, fmpq]) -> None:
        self.openings = openings
        self.mechanism = openings.mechanism
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
                found.append(self.openings.names(joined, self.shown))
        return tuple(found)

    def _part(self, p: int) -> OpenPath | None:
        """The part without what is decided; None where a condition is false."""
        if p not in self._parts:
            part, row = self.mechanism.model.parts[p], self.openings.rows
            when = self._undecided(part.when)
            out = tuple((position, row(self.line(k))) for position, k in part.out)
            self._parts[p] = None if when is None else OpenPath("", when, out)
        return self._parts[p]

    def _undecided(self, conditions: Sequence[Condition]) -> tuple[tuple[Row, bool], ...] | None:
        kept = []
        for left, right, strict in conditions:
            gap = minus(self.line(left), self.line(right))
            if gap.inputs or gap.noise:
                kept.append((self.openings.rows(gap), strict))
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
        return self.line(choice.values[self.openings.openers[number](self.shown)])


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
