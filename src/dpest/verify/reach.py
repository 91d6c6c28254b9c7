"""How far a form can move while the input runs over all neighbours.

A form is `c + v . d + w . delta`: d is the difference of the two inputs, and delta_z is how much
the extreme z moves. Whatever the noise, delta_z lies between the least and the largest move of
the lines that the extreme is taken over, so every combination of those moves is allowed for.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from flint import fmpq

from dpest.verify.model import Model, Terms
from dpest.verify.price import ZERO, Malformed, Price

MAX_CHOICES = 20_000


@dataclass(frozen=True)
class Form:
    """`const + d-terms + delta-terms`."""

    const: fmpq
    d: Terms
    delta: Terms

    def minus(self, other: Form) -> Form:
        return Form(
            self.const - other.const,
            _combined(self.d, other.d, fmpq(-1)),
            _combined(self.delta, other.delta, fmpq(-1)),
        )

    @property
    def is_zero(self) -> bool:
        return self.const == 0 and not self.d and not self.delta


def _combined(one: Terms, other: Mapping[int, fmpq], factor: fmpq) -> Terms:
    if not other:
        return one
    total = dict(one)
    for key, value in other.items():
        new = total.get(key, ZERO) + factor * value
        if new == 0:
            del total[key]
        else:
            total[key] = new
    return total


def combine(parts: Iterable[tuple[fmpq, Form]]) -> Form:
    """A linear combination of forms."""
    const, d, delta = ZERO, {}, {}  # type: ignore[var-annotated]
    for factor, form in parts:
        const += factor * form.const
        d = _combined(d, form.d, factor)
        delta = _combined(delta, form.delta, factor)
    return Form(const, d, delta)


@dataclass(frozen=True)
class Magnitude:
    """`a + sqrt(q)`: the square root is there for Euclidean neighbours only."""

    a: fmpq
    q: fmpq = ZERO

    def price(self) -> Price:
        return Price(self.a) + Price.sqrt(self.q)


class Neighborhood:
    """The differences of neighbouring inputs: a ball of a norm, or one single direction."""

    def __init__(
        self, norm: str, radius: fmpq | None, direction: Terms | None = None
    ) -> None:
        self.norm = norm
        self.radius = radius
        self.direction = direction

    def form_of(self, const: fmpq, d: Terms) -> tuple[fmpq, Terms]:
        """A direction turns the d-terms into a number."""
        if self.direction is None:
            return const, d
        moves = (c * self.direction[i] for i, c in d.items() if i in self.direction)
        return const + sum(moves, ZERO), {}

    def reach(self, d: Terms) -> Magnitude:
        """The largest value of the d-terms."""
        if not d:
            return Magnitude(ZERO)
        if self.radius is None:
            raise Unbounded("two neighbours can be arbitrarily far apart")
        if self.norm == "linf":
            return Magnitude(self.radius * sum(map(abs, d.values()), ZERO))
        if self.norm == "l1":
            return Magnitude(self.radius * max(map(abs, d.values())))
        return Magnitude(ZERO, self.radius**2 * sum((c * c for c in d.values()), ZERO))


class Unbounded(Exception):
    """No finite price covers the move."""


class Moves:
    """Bounds on forms, for one model, one rule and one neighbourhood."""

    def __init__(
        self, model: Model, near: Neighborhood, changes: Mapping[int, Form]
    ) -> None:
        """`changes` says by how much the rule shifts each draw."""
        self.model = model
        self.near = near
        self.changes = changes
        self._lines: dict[int, Form] = {}
        self._hulls: dict[int, tuple[Form, ...]] = {}
        self.confined: dict[int, fmpq] = {}
        """The extremes that their range keeps from moving as far as their lines."""

    def line(self, k: int) -> Form:
        """How much a line moves."""
        if k not in self._lines:
            line = self.model.lines[k]
            const, d = self.near.form_of(ZERO, line.inputs)
            shifts = [(c, self.changes[j]) for j, c in line.noise.items() if j in self.changes]
            own = Form(const, d, line.extremes)
            self._lines[k] = combine([(fmpq(1), own), *shifts]) if shifts else own
        return self._lines[k]

    def hull(self, z: int) -> tuple[Form, ...]:
        """Forms without extremes whose convex hull holds every move of the extreme."""
        if z not in self._hulls and self.model.can_jump(z, self.near.direction):
            self._hulls[z] = self._jumps(z)
        if z not in self._hulls:
            found: dict[tuple[object, ...], Form] = {}
            for k in self.model.extremes[z].of:
                for form in self.choices(self.line(k)):
                    found[(form.const, frozenset(form.d.items()))] = form
            self._hulls[z] = self._within(z, tuple(found.values()))
        return self._hulls[z]

    def _jumps(self, z: int) -> tuple[Form, Form]:
        """As far apart as the lines are that the inputs can pick."""
        width = self.model.width(z)
        if width is None or (self.near.norm == "step" and not self.model.domain.integral):
            raise Unbounded("a line that inputs pick can be arbitrarily far from another")
        self.confined[z] = width
        return Form(-width, {}, {}), Form(width, {}, {})

    def _within(self, z: int, moves: tuple[Form, ...]) -> tuple[Form, ...]:
        """The moves, or those that the range of the extreme leaves where these are fewer.

        A step stands for changes of any length, so there the range says nothing.
        """
        width = self.model.width(z)
        if width is None or self.near.norm == "step":
            return moves
        kept = self._limited(moves, width)
        if kept != moves:
            self.confined[z] = width
        return kept

    def _limited(self, moves: tuple[Form, ...], width: fmpq) -> tuple[Form, ...]:
        if all(not move.d for move in moves):
            return tuple(Form(max(-width, min(width, move.const)), {}, {}) for move in moves)
        if all(self._covered(move, width) for move in moves):
            return moves
        return Form(-width, {}, {}), Form(width, {}, {})

    def _covered(self, move: Form, width: fmpq) -> bool:
        """Whether the move is never longer than the width."""
        if move.d and self.near.radius is None:
            return False
        return _covers(width - abs(move.const), self.near.reach(move.d))

    def choices(self, form: Form) -> Iterator[Form]:
        """The form with every combination of moves of its extremes."""
        if not form.delta:
            yield form
            return
        base = Form(form.const, form.d, {})
        hulls = [[(c, move) for move in self.hull(z)] for z, c in form.delta.items()]
        count = 1
        for hull in hulls:
            count *= len(hull)
        if count > MAX_CHOICES:
            raise Unbounded(f"{count} ways in which extremes can move together")
        for picked in itertools.product(*hulls):
            yield combine([(fmpq(1), base), *picked])

    def clusters(self, form: Form) -> list[Form]:
        """The form as a sum whose summands share neither inputs nor extremes.

        In a ball of the maximum norm the summands move independently, so the extreme values of
        the sum are the sums of theirs; in any other ball they are bounds.
        """
        if len(form.delta) < 2:
            return [form]
        groups: list[tuple[set[int], Form]] = []
        for z, c in form.delta.items():
            inputs = {i for move in self.hull(z) for i in move.d}
            merged = Form(ZERO, {}, {z: c})
            apart = []
            for others, other in groups:
                if others & inputs:
                    inputs |= others
                    merged = combine([(fmpq(1), merged), (fmpq(1), other)])
                else:
                    apart.append((others, other))
            groups = [*apart, (inputs, merged)]
        rest = dict(form.d)
        result = []
        for inputs, part in groups:
            own = {i: rest.pop(i) for i in list(rest) if i in inputs}
            result.append(Form(ZERO, own, part.delta))
        return [Form(form.const, rest, {}), *result]

    def at_least_zero(self, form: Form) -> bool:
        """Whether the form is >= 0 for every neighbour and every move of the extremes."""
        if not form.delta:
            return _covers(form.const, self.near.reach(form.d))
        if self.near.norm == "l2":
            return all(_covers(f.const, self.near.reach(f.d)) for f in self.choices(form))
        return bool(self.least(form) >= 0)

    def least(self, form: Form) -> fmpq:
        """The smallest value of the form (a lower bound of it)."""
        total = ZERO
        for cluster in self.clusters(form):
            total += min(f.const - self._rational_reach(f.d) for f in self.choices(cluster))
        return total

    def _rational_reach(self, d: Terms) -> fmpq:
        reach = self.near.reach(d)
        if reach.q != 0:
            raise Unbounded("a sum of square roots is not compared")
        return reach.a

    def span(self, form: Form) -> tuple[Magnitude, Magnitude]:
        """The largest values of -form and of form."""
        if self.near.norm == "l2" and self.near.direction is None:
            return self._euclidean_span(form)
        negative = Form(-form.const, _negated(form.d), _negated(form.delta))
        return Magnitude(-self.least(form)), Magnitude(-self.least(negative))

    def _euclidean_span(self, form: Form) -> tuple[Magnitude, Magnitude]:
        settled, rest = self._settled(form)
        options = list(self.choices(rest))
        squares = {self.near.reach(f.d).q for f in options}
        if len(squares) > 1 and any(f.const != options[0].const for f in options):
            raise Unbounded("extremes under Euclidean neighbours with a constant move")
        down, up = max(-f.const for f in options), max(f.const for f in options)
        return Magnitude(settled + down, max(squares)), Magnitude(settled + up, max(squares))

    def _settled(self, form: Form) -> tuple[fmpq, Form]:
        """The most that extremes add whose moves are constants, and the form without them."""
        total, rest = ZERO, dict(form.delta)
        for z, c in form.delta.items():
            if all(not move.d for move in self.hull(z)):
                total += abs(c) * max(abs(move.const) for move in self.hull(z))
                del rest[z]
        return total, Form(form.const, form.d, rest)


def _negated(terms: Terms) -> Terms:
    return {k: -c for k, c in terms.items()}


def _covers(const: fmpq, reach: Magnitude) -> bool:
    slack = const - reach.a
    return bool(slack >= 0 and slack * slack >= reach.q)


def rule_noise(model: Model, changes: Mapping[int, Form]) -> None:
    """Refuse a rule that is not a measure-preserving map.

    A draw whose shift depends on an extreme must not decide any extreme that shifts depend on:
    then the other draws are translated first, and these by numbers that those decide.
    """
    moved = {j for j, form in changes.items() if form.delta}
    used = {z for form in changes.values() for z in form.delta}
    for z in used:
        if moved & model.roots[z]:
            raise Malformed("a shift depends on an extreme that its own draw decides")

