"""The cheapest rule for a part: how to shift its noise for every neighbour.

In a ball of the maximum norm a shift is `s0 + S d + R delta` with constants s0, S, R that are
equal for equal roles; requiring a row to stay >= 0 for every d is linear in them, because the
worst d turns `v . d` into a sum of absolute values. For a single direction the shift is a number.
Extremes are either frozen (their own noise stays, and others may follow their move) or open (their
noise moves too, and every line of theirs is taken into account).
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from flint import fmpq

from dpest.engines.proof.colors import (
    Coloring,
    Names,
    Row,
    color,
    line_terms,
    member_rows,
    opened,
    rows_of,
)  # fmt: skip
from dpest.engines.proof.layout import Layout, Packed, Setting
from dpest.engines.proof.linear_program import CONST, Expression, LinearProgram
from dpest.engines.proof.refusal import NoProof
from dpest.verify.model import Model, Part, Terms
from dpest.verify.reach import Form
from dpest.verify.shift import EITHER_WAY, UPWARD

ZERO, ONE = fmpq(0), fmpq(1)
MAX_DENSE = 2_500
MAX_PROGRAMS = 2_000
"""So many linear programs take a minute."""
Key = tuple[Any, ...]
Values = dict[Key, fmpq]


@dataclass
class Workshop:
    """What is shared between the parts of one proof."""

    model: Model
    names: Names = field(default_factory=Names)
    solved: dict[Any, list[Values]] = field(default_factory=dict)
    copied: dict[Any, list[Packed]] = field(default_factory=dict)
    programs: int = 0

    def rules(self, part: Part, setting: Setting) -> Iterator[dict[int, Form]]:
        """Candidate rules for the part (unit radius), best first; none where there is none."""
        rows = rows_of(self.model, part)
        layout = Layout(self.model, rows, setting, self.names)
        if layout.key not in self.copied:
            self.copied[layout.key] = [layout.pack(rule) for rule in self._made(rows, setting)]
        for packed in self.copied[layout.key]:
            yield layout.unpack(packed)

    def _made(self, rows: list[Row], setting: Setting) -> list[dict[int, Form]]:
        draft = _Draft(self.model, rows, setting, self.names)
        if not draft.possible:
            return []
        key = (draft.coloring.shape, setting.frozen, setting.dense, setting.any_length,
               setting.direction is None)  # fmt: skip
        if key not in self.solved:
            self.programs += 1
            if self.programs > MAX_PROGRAMS:
                raise NoProof(f"the parts of the output have over {MAX_PROGRAMS} different shapes")
            self.solved[key] = draft.solutions()
        return [draft.rule(values) for values in self.solved[key]]


class _Draft:
    """The linear program of one part."""

    def __init__(self, model: Model, rows: list[Row], setting: Setting, names: Names) -> None:
        self.model, self.setting, self.names = model, setting, names
        self.possible = True
        if not setting.frozen:
            each = opened(model, rows)
            self.possible = each is not None
            rows = each or []
        self.rows = rows
        self.moves = None if setting.direction is None else dict(setting.direction)
        members = [*rows, *member_rows(model, rows)]
        self.possible = self.possible and all(map(self._is_bounded, members))
        self.coloring: Coloring = color(model, members, names, self.moves)
        self.stuck = self._stuck()
        self.partners = self._partners()
        self.lp = LinearProgram()
        self.index: dict[Key, int] = {}
        self._hulls: dict[int, list[Terms]] = {}

    def _is_bounded(self, row: Row) -> bool:
        """Whether no line that inputs pick can be arbitrarily far from another."""
        jumping = [
            v[1] for v in row.terms if v[0] == "extreme" and self.model.can_jump(v[1], self.moves)
        ]
        lengths = not self.setting.any_length or self.model.domain.integral
        return all(lengths and self.model.width(z) is not None for z in jumping)

    # -- which shifts there are ---------------------------------------------------------------

    def _stuck(self) -> frozenset[int]:
        """Draws that stay as they are because extremes are frozen."""
        if not self.setting.frozen:
            return frozenset()
        used = {v[1] for row in self.rows for v in row.terms if v[0] == "extreme"}
        return frozenset().union(*(self.model.roots[z] for z in used))

    def _can_shift(self, j: int) -> bool:
        draw = self.model.noise[j]
        if j in self.stuck or draw.law not in EITHER_WAY | UPWARD:
            return False
        if draw.law == "geometric" and draw.parameter == 1:
            return False
        return not (
            draw.lattice and self.setting.any_length and not self.model.domain.integral
        )

    def _partners(self) -> dict[int, dict[tuple[str, int], Key]]:
        """For every draw the inputs and extremes that its shift may follow, by role."""
        met: dict[tuple[int, tuple[str, int]], list[tuple[int, str, str]]] = {}
        draws = {v[1] for row in self.rows for v in row.terms if v[0] == "noise"}
        for r, row in enumerate(self.rows):
            for v, c in row.terms.items():
                if v[0] != "noise":
                    continue
                for w, e in row.terms.items():
                    if w[0] != "noise" and self._may_follow(v[1], w):
                        met.setdefault((v[1], w), []).append(
                            (self.coloring.rows[r], str(c), str(e))
                        )
        if self.setting.dense and self.setting.direction is None:
            inputs = {w for row in self.rows for w in row.terms if w[0] == "x"}
            for j, w in itertools.product(draws, inputs):
                if self._may_follow(j, w):
                    met.setdefault((j, w), [])
        found: dict[int, dict[tuple[str, int], Key]] = {
            j: {} for j in sorted(draws) if self._can_shift(j)
        }
        colors = self.coloring.variables
        for (j, w), where in met.items():
            if j in found:
                found[j][w] = ("follow", colors[("noise", j)], colors[w], tuple(sorted(where)))
        return found

    def _may_follow(self, j: int, variable: tuple[str, int]) -> bool:
        lattice = self.model.noise[j].lattice
        if variable[0] == "x":
            return self.setting.direction is None and (
                not lattice or self.model.domain.integral
            )
        if not self.setting.frozen or j in self.model.roots[variable[1]]:
            return False
        lines = self.model.extremes[variable[1]].of
        return not lattice or all(self.model.integral_lines[k] for k in lines)

    # -- expressions --------------------------------------------------------------------------

    def _variable(self, key: Key, j: int) -> int:
        if key not in self.index:
            self.index[key] = self.lp.variable(whole=self.model.noise[j].lattice)
        return self.index[key]

    def _own(self, j: int) -> int:
        return self._variable(("own", self.coloring.variables[("noise", j)]), j)

    def _form(self, terms: Mapping[tuple[str, int], fmpq]) -> _Sketch:
        """How much `terms` moves, as expressions in the unknowns."""
        sketch = _Sketch()
        for (kind, index), c in terms.items():
            if kind == "noise":
                if index not in self.partners:
                    continue
                _add(sketch.const, self._own(index), c)
                for partner, key in self.partners[index].items():
                    target = sketch.d if partner[0] == "x" else sketch.delta
                    expression = target.setdefault(partner[1], {})
                    _add(expression, self._variable(key, index), c)
            elif kind == "x" and self.setting.direction is None:
                _add(sketch.d.setdefault(index, {}), CONST, c)
            elif kind == "x":
                _add(sketch.const, CONST, c * self.setting.direction.get(index, ZERO))  # type: ignore[union-attr]
            else:
                _add(sketch.delta.setdefault(index, {}), CONST, c)
        return sketch

    def _hull(self, z: int) -> list[Terms]:
        """The moves of a frozen extreme: those of its lines, or what its range leaves."""
        if z not in self._hulls and self.model.can_jump(z, self.moves):
            width = self.model.width(z)
            assert width is not None
            self._hulls[z] = self._to_either_side(width)
        if z not in self._hulls:
            found: dict[frozenset[tuple[int, fmpq]], Terms] = {}
            for k in self.model.extremes[z].of:
                for move in self._moves(line_terms(self.model, k)):
                    found[frozenset(move.items())] = move
            self._hulls[z] = self._within(z, list(found.values()))
        return self._hulls[z]

    def _within(self, z: int, moves: list[Terms]) -> list[Terms]:
        width, radius = self.model.width(z), self.setting.radius
        if width is None or self.setting.any_length:
            return moves
        if radius is None:
            return self._to_either_side(width)
        if self.setting.direction is not None:
            kept = {max(-width, min(width, move.get(CONST, ZERO))) for move in moves}
            return [{CONST: const} for const in sorted(kept)]
        if all(sum(map(abs, move.values()), ZERO) <= width / radius for move in moves):
            return moves
        return self._to_either_side(width)

    def _to_either_side(self, width: fmpq) -> list[Terms]:
        """A move by up to the width, in units of the ball."""
        radius = self.setting.radius
        if radius is not None and self.setting.direction is None:
            width /= radius
        return [{CONST: -width}, {CONST: width}]

    def _moves(self, terms: Mapping[tuple[str, int], fmpq]) -> Iterator[Terms]:
        own: Terms = {}
        for (kind, index), c in terms.items():
            if kind == "x":
                if self.setting.direction is None:
                    own[index] = c
                else:
                    own[CONST] = own.get(CONST, ZERO) + c * self.setting.direction.get(index, ZERO)
        nested = [
            [(c, move) for move in self._hull(v[1])] for v, c in terms.items() if v[0] == "extreme"
        ]
        for picked in itertools.product(*nested):
            move = dict(own)
            for c, inner in picked:
                for i, value in inner.items():
                    move[i] = move.get(i, ZERO) + c * value
            yield move

    def _choices(self, sketch: _Sketch) -> Iterator[_Sketch]:
        """The form for every combination of moves of its extremes."""
        live = [(z, e) for z, e in sketch.delta.items() if any(c != 0 for c in e.values())]
        for picked in itertools.product(*([(e, m) for m in self._hull(z)] for z, e in live)):
            result = _Sketch(dict(sketch.const), {i: dict(e) for i, e in sketch.d.items()})
            for expression, move in picked:
                for i, value in move.items():
                    target = result.const if i == CONST else result.d.setdefault(i, {})
                    for key, c in expression.items():
                        _add(target, key, c * value)
            yield result

    def _reach(self, sketch: _Sketch) -> Expression:
        """An expression for the largest value of the d-terms in the unit ball."""
        total: Expression = {}
        groups = Counter(_frozen(e) for e in sketch.d.values())
        for expression, count in groups.items():
            for key, c in self.lp.size(dict(expression)).items():
                _add(total, key, c * count)
        return total

    # -- the program --------------------------------------------------------------------------

    def solutions(self) -> list[Values]:
        """Optimal values of the unknowns, exactly; several roundings, plainest first."""
        done: set[int] = set()
        for row, name in zip(self.rows, self.coloring.rows, strict=False):
            if name not in done:
                done.add(name)
                self._require(row)
        self._price()
        point = self.lp.solve()
        if point is None:
            return []
        return [
            {key: candidate[k] for key, k in self.index.items()}
            for candidate in self.lp.exact_candidates(point)
        ]

    def _require(self, row: Row) -> None:
        sketch = self._form(row.terms)
        if row.kind == "out":
            for expression in (sketch.const, *sketch.d.values(), *sketch.delta.values()):
                self.lp.require(expression or {CONST: ZERO}, equal=True)
            return
        for choice in self._choices(sketch):
            slack = dict(choice.const)
            for key, c in self._reach(choice).items():
                _add(slack, key, -c)
            self.lp.require(slack)

    def _price(self) -> None:
        counts = Counter(self.coloring.variables[("noise", j)] for j in self.partners)
        done: set[int] = set()
        for j in self.partners:
            name = self.coloring.variables[("noise", j)]
            if name in done:
                continue
            done.add(name)
            draw = self.model.noise[j]
            bound = self.lp.variable(cost=_rate(draw) * counts[name], free=False)
            for choice in self._spans(self._form({("noise", j): ONE})):
                reach = self._reach(choice)
                if draw.law in UPWARD:
                    self.lp.require(_sum(choice.const, reach, -ONE))
                    self.lp.require(_sum({bound: ONE}, _sum(choice.const, reach, ONE), -ONE))
                else:
                    size = self.lp.size(choice.const)
                    self.lp.require(_sum({bound: ONE}, _sum(size, reach, ONE), -ONE))

    def _spans(self, sketch: _Sketch) -> Iterator[_Sketch]:
        count = 1
        for z in sketch.delta:
            count *= len(self._hull(z))
        if count <= 1_000:
            yield from self._choices(sketch)
            return
        for k in range(max(len(self._hull(z)) for z in sketch.delta)):
            picked = {z: [self._hull(z)[k % len(self._hull(z))]] for z in sketch.delta}
            before, self._hulls = self._hulls, {**self._hulls, **picked}
            yield from self._choices(sketch)
            self._hulls = before

    def rule(self, values: Values) -> dict[int, Form]:
        """The values as shifts of this part's draws."""
        colors = self.coloring.variables
        result = {}
        for j, partners in self.partners.items():
            const = values.get(("own", colors[("noise", j)]), ZERO)
            found: dict[str, Terms] = {"x": {}, "extreme": {}}
            for (kind, index), key in partners.items():
                value = values.get(key, ZERO)
                if value != 0:
                    found[kind][index] = value
            form = Form(const, found["x"], found["extreme"])
            if not form.is_zero:
                result[j] = form
        return result


@dataclass
class _Sketch:
    """A form whose coefficients are expressions in the unknowns."""

    const: Expression = field(default_factory=dict)
    d: dict[int, Expression] = field(default_factory=dict)
    delta: dict[int, Expression] = field(default_factory=dict)


def _add(expression: Expression, key: int, value: fmpq) -> None:
    expression[key] = expression.get(key, ZERO) + value


def _sum(one: Expression, other: Expression, factor: fmpq) -> Expression:
    total = dict(one)
    for key, c in other.items():
        _add(total, key, factor * c)
    return total


def _frozen(expression: Expression) -> frozenset[tuple[int, fmpq]]:
    return frozenset((k, c) for k, c in expression.items() if c != 0)


def _rate(draw: Any) -> fmpq:
    """The price of a shift by one; a logarithm is near enough to steer by."""
    if draw.law != "geometric":
        return 1 / draw.parameter
    import math

    miss = 1 - int(draw.parameter.p) / int(draw.parameter.q)
    return fmpq(*(-math.log(miss)).as_integer_ratio())
