"""From a case to a term: which noise is fixed by the output, integrated in closed form, or left.

A term is a product of factors over observed numbers `y` and a few integration axes. Variables are
eliminated one after another: an observed number fixes a draw (its density remains); a draw that
only meets conditions integrates to an interval mass; what several such draws share becomes an
axis. Input symbols stay in place, so that one plan serves every input.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from flint import fmpq

from dpest.engines.exact.components import Case
from dpest.engines.exact.refusal import OutOfReach
from dpest.noise import Law
from dpest.numbers.rational import ONE, ZERO
from dpest.program import Condition, Input, Linear, Noise
from dpest.program.linear import Variable

MAX_AXES = 2


@dataclass(frozen=True)
class Observed(Variable):
    """The number that the output shows in one of a component's leaves."""

    place: int

    def __repr__(self) -> str:
        return f"y[{self.place}]"


@dataclass(frozen=True)
class Axis(Variable):
    """A number that is integrated over; shared by all terms, so that they share factors."""

    depth: int
    lattice: bool = False

    def __repr__(self) -> str:
        return f"t[{self.depth}]"


@dataclass(frozen=True)
class Density:
    """The density (or mass) of a law at an affine point."""

    law: Law
    point: Linear


@dataclass(frozen=True)
class Mass:
    """The mass of a law between the largest lower and the smallest upper bound."""

    law: Law
    lower: frozenset[Linear]
    upper: frozenset[Linear]


@dataclass(frozen=True)
class Step:
    """One where the expression is >= 0 (or > 0), else zero."""

    gap: Linear
    strict: bool = False


Factor = Density | Mass | Step


@dataclass(frozen=True)
class Tie:
    """A leaf that the other leaves determine: the expression in y and inputs is zero."""

    place: int
    relation: Linear


@dataclass(frozen=True)
class Term:
    """The contribution of one case to the law of a component."""

    guards: tuple[Condition, ...]
    constants: tuple[tuple[int, Linear], ...]
    ties: tuple[Tie, ...]
    observed: tuple[Observed, ...]
    lattices: tuple[tuple[fmpq, Linear] | None, ...]
    scale: fmpq
    axes: tuple[Axis, ...]
    factors: tuple[Factor, ...]


Memo = dict[tuple[Condition, Noise, Linear], Condition]
"""Conditions with a draw eliminated, so that cases with the same ones share the work."""


def plan(case: Case, memo: Memo | None = None) -> Term:
    """The term of a case."""
    return _Planner(case, {} if memo is None else memo).term()


class _Planner:
    """Eliminates the noise of one case."""

    def __init__(self, case: Case, memo: Memo) -> None:
        self.memo = memo
        self.conditions = list(case.conditions)
        self.pins: list[tuple[int, Linear]] = []
        self.constants: list[tuple[int, Linear]] = []
        for place, leaf in enumerate(case.leaves):
            noisy = any(isinstance(v, Noise) for v in leaf.terms)
            (self.pins if noisy else self.constants).append((place, leaf))
        self.noises = list(_noises([*(c.gap for c in self.conditions), *(p for _, p in self.pins)]))
        self.points: dict[Noise, Linear] = {n: Linear.of(n) for n in self.noises}
        self.ties: list[Tie] = []
        self.observed: list[Observed] = []
        self.lattices: list[tuple[fmpq, Linear] | None] = []
        self.scale = ONE

    def term(self) -> Term:
        for place, leaf in self.pins:
            self._pin(place, leaf)
        guards = tuple(c for c in self.conditions if _only_inputs(c.gap))
        self.conditions = [c for c in self.conditions if not _only_inputs(c.gap)]
        free = [n for n in self.noises if self.points[n] == Linear.of(n)]
        shared = self._shared(free)
        axes = self._make_axes(shared)
        factors = self._factors([n for n in free if n not in shared])
        return Term(
            guards, tuple(self.constants), tuple(self.ties), tuple(self.observed),
            tuple(self.lattices), self.scale, axes, tuple(factors),
        )  # fmt: skip

    # -- outputs fix draws ---------------------------------------------------------------------

    def _pin(self, place: int, leaf: Linear) -> None:
        """Use the observed leaf to eliminate one draw from everything."""
        for noise, point in self.points.items():
            if noise in leaf.terms and point != Linear.of(noise):
                leaf = leaf.substitute({noise: point})
        unknown = [v for v in leaf.terms if isinstance(v, Noise)]
        symbol = Observed(place)
        if not unknown:
            self.ties.append(Tie(place, leaf))
            return
        met = self._meetings()
        pivot = min(unknown, key=lambda v: (v.law.lattice, len(met.get(v, ())), v.index))
        solution = (leaf - Linear.of(symbol)).solved_for(pivot)
        self.scale = self.scale / abs(leaf.terms[pivot]) if not pivot.law.lattice else self.scale
        self.observed.append(symbol)
        self.lattices.append(_lattice(leaf, unknown))
        for noise in self.noises:
            self.points[noise] = self.points[noise].substitute({pivot: solution})
        self._eliminate(pivot, solution)

    def _eliminate(self, noise: Noise, solution: Linear) -> None:
        """Put the solution in place of the draw in all conditions."""
        for k, condition in enumerate(self.conditions):
            if noise in condition.gap.terms:
                key = (condition, noise, solution)
                if key not in self.memo:
                    self.memo[key] = condition.substitute({noise: solution})
                self.conditions[k] = self.memo[key]

    def _meetings(self) -> dict[Variable, list[Condition]]:
        """The conditions that each variable is part of."""
        found: dict[Variable, list[Condition]] = {}
        for condition in self.conditions:
            for variable in condition.gap.terms:
                found.setdefault(variable, []).append(condition)
        return found

    # -- which draws are left for quadrature ----------------------------------------------------

    def _shared(self, free: Sequence[Noise]) -> tuple[Noise, ...]:
        """The smallest set of draws without which all others can be integrated in closed form."""
        met = self._meetings()
        followed = {v for n, point in self.points.items() for v in point.terms if v is not n}
        forced = {n for n in free if n in followed or _bounds_several(met.get(n, ()))}
        candidates = sorted(
            (n for n in free if n not in forced), key=lambda n: -len(met.get(n, ()))
        )
        for size in range(MAX_AXES + 1 - len(forced)):
            for extra in itertools.combinations(candidates, size):
                chosen = tuple(n for n in free if n in forced or n in extra)
                if self._closed(set(free) - set(chosen)):
                    return chosen
        raise OutOfReach(
            f"{len(free)} draws depend on each other so that more than {MAX_AXES} integrals nest"
        )

    def _closed(self, leaves: set[Noise]) -> bool:
        """Whether each of these draws meets no other of them, and integers meet only integers."""
        for condition in self.conditions:
            mine = [v for v in condition.gap.terms if v in leaves]
            if len(mine) > 1:
                return False
            if mine and mine[0].law.lattice and not self._integral(condition, mine[0]):
                return False
        return True

    def _integral(self, condition: Condition, noise: Noise) -> bool:
        """Whether the bound on the integer draw moves in whole steps with the other variables."""
        slope = condition.gap.terms[noise]
        for variable, coefficient in condition.gap.terms.items():
            if variable is noise or isinstance(variable, Input):
                continue
            whole = isinstance(variable, Noise) and variable.law.lattice
            if not whole or (coefficient / slope).q != 1:
                return False
        return True

    def _make_axes(self, shared: Sequence[Noise]) -> tuple[Axis, ...]:
        axes = tuple(Axis(k, n.law.lattice) for k, n in enumerate(shared))
        for noise, axis in zip(shared, axes, strict=True):
            side = self._natural_side(noise)
            if not axis.lattice:
                self.scale = self.scale / abs(side.terms[noise])
            solution = (side - Linear.of(axis)).solved_for(noise)
            for other in self.noises:
                self.points[other] = self.points[other].substitute({noise: solution})
            self._eliminate(noise, solution)
        return axes

    def _natural_side(self, noise: Noise) -> Linear:
        """The compared quantity that holds this draw alone, so that cases share their axis."""
        if not noise.law.lattice:
            for condition in self.conditions:
                for side in (condition.left, condition.right):
                    if [v for v in side.terms if not isinstance(v, Input)] == [noise]:
                        return side
        return Linear.of(noise)

    # -- factors --------------------------------------------------------------------------------

    def _factors(self, leaves: Sequence[Noise]) -> Iterable[Factor]:
        lower: dict[Noise, set[Linear]] = {n: set() for n in leaves}
        upper: dict[Noise, set[Linear]] = {n: set() for n in leaves}
        for condition in self.conditions:
            mine = [v for v in condition.gap.terms if v in lower]
            if not mine:
                yield Step(condition.gap, condition.strict)
                continue
            noise = mine[0]
            assert isinstance(noise, Noise)
            bound = condition.gap.solved_for(noise)
            rising = condition.gap.terms[noise] > 0
            if noise.law.lattice and condition.strict:
                bound = _beyond(bound, rising)
            (lower if rising else upper)[noise].add(bound)
        for noise in self.noises:
            if noise in lower:
                if lower[noise] or upper[noise]:
                    yield Mass(noise.law, frozenset(lower[noise]), frozenset(upper[noise]))
            else:
                yield Density(noise.law, self.points[noise])


def _bounds_several(met: Sequence[Condition]) -> bool:
    """Whether several released numbers bound a draw: they are treated as a shared axis."""
    return len({v for c in met for v in c.gap.terms if isinstance(v, Observed)}) > 1


STRICT = fmpq(1, 2**80)
"""How far a strict bound on an integer is moved: less than any bound's distance to an integer."""


def _beyond(bound: Linear, rising: bool) -> Linear:
    return bound.shifted(STRICT if rising else -STRICT)


def _lattice(leaf: Linear, unknown: Sequence[Noise]) -> tuple[fmpq, Linear] | None:
    """(step, offset) of the values a leaf can take, where all its noise is on the integers."""
    if not all(noise.law.lattice for noise in unknown):
        return None
    step = ZERO
    for noise in unknown:
        step = _gcd(step, abs(leaf.terms[noise]))
    offset = Linear(leaf.const, {v: c for v, c in leaf.terms.items() if v not in unknown})
    return step, offset


def _gcd(a: fmpq, b: fmpq) -> fmpq:
    while b != 0:
        a, b = b, a - b * fmpq((a / b).floor())
    return a


def _noises(lines: Iterable[Linear]) -> dict[Noise, None]:
    found = {v: None for line in lines for v in line.terms if isinstance(v, Noise)}
    return dict(sorted(found.items(), key=lambda item: item[0].index))


def _only_inputs(line: Linear) -> bool:
    return all(isinstance(v, Input) for v in line.terms)
