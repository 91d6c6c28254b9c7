"""The law of a component at one input: every outcome with its probability or density."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

import numpy as np
from flint import fmpq

from dpest.engines.exact.batch import Batch
from dpest.engines.exact.components import Component
from dpest.engines.exact.effort import spend
from dpest.engines.exact.factors import Array, Substitute
from dpest.engines.exact.plan import (
    Axis,
    Factor,
    Memo,
    Observed,
    Step,
    Term,
    plan,
)
from dpest.engines.exact.refusal import OutOfReach
from dpest.numbers import panels
from dpest.numbers.rational import exact, to_float, to_fraction
from dpest.program import Linear
from dpest.program.program import Place

Key = tuple[Hashable, ...]
Form = tuple[Key, tuple[Observed, ...]]
OBSERVED = "observed"
_ALWAYS = Step(Linear())
_MOVING = 1_000
"""Values that are computed in the time that it takes to move one factor."""


class Plan:
    """The terms of some components with their factors numbered; made once for all inputs."""

    def __init__(self, components: Iterable[Component]) -> None:
        self.rows: dict[int, list[int]] = {}
        self.terms: list[Term] = []
        self.variants: list[frozenset[int] | None] = []
        memo: Memo = {}
        self._components = {id(component): component for component in components}
        for name, component in self._components.items():
            self.rows[name] = [len(self.terms) + k for k in range(len(component.cases))]
            self.terms += [plan(case, memo) for case in component.cases]
            self.variants += [case.variants for case in component.cases]
        place: dict[Factor, int] = {}
        self.used = [[place.setdefault(f, len(place)) for f in t.factors] for t in self.terms]
        self.factors = list(place)
        self.scale = np.array([to_float(term.scale) for term in self.terms])
        self._incidences: dict[tuple[int, ...], Array] = {}
        self.fixed_keys = [_fixed_key(term) for term in self.terms]

    def batch(self, rows: Sequence[int], factors: Sequence[Factor]) -> Batch:
        """Some terms over the factors as they are at one input."""
        name = tuple(rows)
        incidence = self._incidences.get(name)
        if incidence is None:
            incidence = self._incidences[name] = np.zeros((len(rows), len(factors)))
            for line, row in enumerate(rows):
                np.add.at(incidence[line], self.used[row], 1)
        return Batch(self.terms[rows[0]].axes, factors, incidence, self.scale[rows])


def _fixed_key(term: Term) -> Key | None:
    """The key of a term that returns the same constants whatever the input."""
    if term.observed or term.ties or not all(leaf.is_constant for _, leaf in term.constants):
        return None
    return tuple(_number(leaf.const) for _, leaf in sorted(term.constants, key=lambda c: c[0]))


def _key(term: Term, put: Substitute, size: int) -> Key:
    """The form of the term's outcomes at this input."""
    parts: dict[int, Hashable] = {}
    for place, leaf in term.constants:
        parts[place] = _number(put.line(leaf).const)
    for symbol, entry in zip(term.observed, term.lattices, strict=True):
        parts[symbol.place] = (OBSERVED,) if entry is None else (OBSERVED, *_phase(entry, put))
    for tie in term.ties:
        parts[tie.place] = ("tie", put.line(tie.relation))
    return tuple(parts[k] for k in range(size))


def _number(value: fmpq) -> int | Fraction:
    """A constant as a number that hashes fast."""
    return int(value.p) if value.q == 1 else to_fraction(value)


def _phase(entry: tuple[fmpq, Linear], put: Substitute) -> tuple[fmpq, fmpq]:
    """(step, offset) of the lattice that a leaf lives on."""
    step, offset = entry[0], put.line(entry[1])
    if not offset.is_constant:
        raise OutOfReach("a sum of integer noise is released beside one of its parts")
    return step, offset.const - step * fmpq((offset.const / step).floor())


@dataclass
class Cell:
    """Outcomes of one form: a density over the observed numbers."""

    key: Key
    observed: tuple[Observed, ...]
    batches: list[Batch]
    _moved: dict[fmpq, Cell] = field(default_factory=dict, repr=False)

    def log_density(self, y: Array) -> Array:
        """Log density at the rows of y (columns in the order of `observed`)."""
        y = np.asarray(y, float)
        values = {symbol: y[:, k] for k, symbol in enumerate(self.observed)}
        parts = [batch.log_total(values, len(y)) for batch in self.batches]
        return panels.log_sum(np.stack(parts), axis=0)

    def seen_from(self, origin: fmpq) -> Cell:
        """The same law of a single observed number, counted from another origin."""
        if origin not in self._moved:
            spend(sum(len(batch.factors) for batch in self.batches), _MOVING)
            batches = [batch.seen_from(self.observed[0], origin) for batch in self.batches]
            self._moved[origin] = Cell(self.key, self.observed, batches)
        return self._moved[origin]

    def place_of(self, point: Key) -> list[float] | None:
        """The observed numbers of a point outcome that this cell's integer noise can also give."""
        y = []
        for mine, value in zip(self.key, point, strict=True):
            if not isinstance(mine, tuple):
                if mine != value:
                    return None
            elif len(mine) == 3 and not isinstance(value, tuple):
                if ((exact(value) - mine[2]) / mine[1]).q != 1:
                    return None
                y.append(float(value))  # type: ignore[arg-type]
            else:
                return None
        return y

    def lattice(self, k: int) -> tuple[float, float] | None:
        """(step, offset) of the k-th observed number where it is on a lattice."""
        part = self.key[self.observed[k].place]
        assert isinstance(part, tuple)
        return (to_float(part[1]), to_float(part[2])) if len(part) == 3 else None


class Table:
    """All terms at one input: the factors put in once, the point probabilities in few batches."""

    def __init__(self, plan_: Plan, place: Place) -> None:
        self.plan, self.place = plan_, place
        self.put = Substitute(place.numbers)
        concrete = [self.put.factor(factor) for factor in plan_.factors]
        self._gone = {k for k, factor in enumerate(concrete) if factor is None}
        self.factors = [_ALWAYS if f is None else f for f in concrete]
        self._laws: dict[int, ComponentLaw] = {}

    def law(self, component: Component) -> ComponentLaw:
        """The law of one of the components."""
        if id(component) not in self._laws:
            self._laws[id(component)] = ComponentLaw(self, component)
        return self._laws[id(component)]

    def possible(self, row: int) -> bool:
        """Whether the input allows the term at all."""
        variants = self.plan.variants[row]
        if variants is not None and self.place.variant not in variants:
            return False
        if not self._gone.isdisjoint(self.plan.used[row]):
            return False
        guards = self.plan.terms[row].guards
        return all(c.substitute(self.place.numbers).decided() for c in guards)

    def batches(self, rows: Sequence[int]) -> Iterable[tuple[list[int], Batch]]:
        """The terms by their axes, each group ready for evaluation."""
        groups: dict[tuple[Axis, ...], list[int]] = {}
        for row in rows:
            groups.setdefault(self.plan.terms[row].axes, []).append(row)
        for members in groups.values():
            yield members, self.plan.batch(members, self.factors)

    @cached_property
    def log_points(self) -> dict[int, float]:
        """Log probability of every possible term that observes nothing."""
        rows = [k for k, t in enumerate(self.plan.terms) if not t.observed and self.possible(k)]
        result: dict[int, float] = {}
        for members, batch in self.batches(rows):
            logs = batch.log_values({}, 1)[batch.row, 0]
            result.update(zip(members, logs.tolist(), strict=True))
        return result


class ComponentLaw:
    """The outcomes of one component at one input."""

    def __init__(self, table: Table, component: Component) -> None:
        self.table = table
        self._component = component
        self.own_points: dict[Key, float] = {}
        """Point outcomes with what the cases that return constants contribute to them."""
        forms: dict[Form, list[int]] = {}
        for row in table.plan.rows[id(component)]:
            term = table.plan.terms[row]
            if term.observed:
                if table.possible(row):
                    key = _key(term, table.put, len(component.positions))
                    forms.setdefault((key, term.observed), []).append(row)
            elif row in table.log_points:
                key = table.plan.fixed_keys[row] or _key(
                    term, table.put, len(component.positions)
                )
                known = self.own_points.get(key, -np.inf)
                self.own_points[key] = float(np.logaddexp(known, table.log_points[row]))
        self.forms = forms

    @cached_property
    def cells(self) -> dict[Key, Cell]:
        """The outcomes that show continuous or integer noise."""
        return {
            key: Cell(key, observed, [batch for _, batch in self.table.batches(rows)])
            for (key, observed), rows in self.forms.items()
        }

    def terms_at(self, point: Key) -> Iterable[tuple[tuple[Axis, ...], list[Factor], fmpq]]:
        """(axes, factors, scale) of every possible term of a point outcome."""
        table = self.table
        for row in table.plan.rows[id(self._component)]:
            term = table.plan.terms[row]
            if term.observed or not table.possible(row):
                continue
            if _key(term, table.put, len(point)) == point:
                yield term.axes, [table.factors[k] for k in table.plan.used[row]], term.scale

    @cached_property
    def signature(self) -> Hashable:
        """What the law of a component with a single released form depends on.

        Cases that differ only in which of some equal inputs they look at have the same one.
        """
        if self.own_points or len(self.forms) != 1:
            return id(self)
        ((form, rows),) = self.forms.items()
        used = [Counter(self.table.factors[k] for k in self.table.plan.used[r]) for r in rows]
        scales = [self.table.plan.scale[row] for row in rows]
        axes = [self.table.plan.terms[row].axes for row in rows]
        terms = Counter(zip(map(frozenset, map(Counter.items, used)), scales, axes, strict=True))
        return form, frozenset(terms.items())

    @cached_property
    def log_probability(self) -> dict[Key, float]:
        """Log probability of every outcome that is a point."""
        result = dict(self.own_points)
        for cell in self.cells.values():
            for key in result:
                y = cell.place_of(key)
                if y is not None:
                    log_here = float(cell.log_density(np.array([y]))[0])
                    result[key] = float(np.logaddexp(result[key], log_here))
        return result
