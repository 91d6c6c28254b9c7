"""The privacy loss over the outputs of one pair of inputs: which outcomes give how much away."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpest.engines.exact import ExactLaw, LawAt, OutOfReach
from dpest.engines.exact.components import Component, Group
from dpest.engines.exact.density import Cell
from dpest.engines.exact.loss import component_losses, restore
from dpest.engines.exact.released import observed_kinks, observed_widths
from dpest.program import Program
from dpest.program.program import SLOT

MAX_OUTCOMES = 5_000
MAX_FORMS = 24
_POINTS = 241
_WIDTHS = 4.0
"""How far beyond the kinks of a density its curve is drawn, in widths of the noise."""


@dataclass(frozen=True)
class Outcome:
    """An output, and the log of its probability under both inputs."""

    output: Any
    log_p: float
    log_q: float

    @property
    def loss(self) -> float:
        """ln(P/P'); infinite where only one input can give the output."""
        return _difference(self.log_p, self.log_q)


@dataclass(frozen=True)
class Form:
    """A form of output, or an independent part of it, and the largest losses either way."""

    output: Any
    forward: float
    backward: float


@dataclass(frozen=True)
class Curve:
    """The loss over one released number."""

    name: str
    y: tuple[float, ...]
    loss: tuple[float, ...]


@dataclass(frozen=True)
class Losses:
    """The loss over the outputs: outcome by outcome where they are points, else form by form."""

    outcomes: tuple[Outcome, ...] = ()
    forms: tuple[Form, ...] = ()
    """Those with the largest losses."""
    all_forms: int = 0
    parts: bool = False
    """Whether `forms` are parts whose losses add up."""
    curve: Curve | None = None


def losses(program: Program, x: Any, x_prime: Any) -> Losses:
    """What the exact engine knows of every output of both inputs."""
    law = ExactLaw(program)
    p, q = law.at(x), law.at(x_prime)
    outcomes = _outcomes(law, p, q)
    if outcomes is not None:
        return Losses(outcomes)
    whole = _whole_number(law, p, q)
    if whole is not None:
        return Losses(curve=whole)
    known = _Known(p, q)
    if len(law.groups) == 1:
        forms = [_part(component, known) for component in law.groups[0].components
                 if component.positions]  # fmt: skip
        return Losses((), tuple(forms), len(forms), True, _worst_number(law, known))
    ranked = sorted(((known.group(g), g) for g in law.groups), key=lambda r: -max(r[0]))
    possible = [(found, group) for found, group in ranked if max(found) > -math.inf]
    forms = [Form(_shown(group, p, q), *found) for found, group in possible[:MAX_FORMS]]
    return Losses((), tuple(forms), len(possible), False, _worst_number(law, known))


class _Known:
    """The largest losses of components, forward and backward, each computed once."""

    def __init__(self, p: LawAt, q: LawAt) -> None:
        self.p, self.q = p, q
        self._losses: dict[Any, tuple[float, float]] = {}
        self._names: dict[int, Any] = {}

    def component(self, component: Component) -> tuple[float, float]:
        """-inf where the input has no outcome at all."""
        p, q = self.p.component(component), self.q.component(component)
        name = self._names.setdefault(id(component), (p.signature, q.signature))
        if name not in self._losses:
            forward, backward = component_losses(p, q)
            if any(extreme and extreme.slack for extreme in (forward, backward)):
                raise OutOfReach("the largest losses are known to lie between bounds only")
            self._losses[name] = tuple(  # type: ignore[assignment]
                extreme.loss if extreme else -math.inf for extreme in (forward, backward)
            )
        return self._losses[name]

    def group(self, group: Group) -> tuple[float, float]:
        """The losses of independent parts add up; an impossible one makes all impossible."""
        found = [self.component(component) for component in group.components]
        forward, backward = (
            -math.inf if -math.inf in side else math.inf if math.inf in side else math.fsum(side)
            for side in zip(*found, strict=True)
        )
        return forward, backward


class _Blank:
    """Stands for a released number in a printed output."""

    def __init__(self, place: int) -> None:
        self.place = place

    def __repr__(self) -> str:
        return f"y{self.place}"


def _difference(log_p: float, log_q: float) -> float:
    if log_p == log_q:
        return 0.0
    return log_p - log_q


def _components(groups: Iterable[Group]) -> Iterator[Component]:
    for group in groups:
        yield from group.components


def _outcomes(law: ExactLaw, p: LawAt, q: LawAt) -> tuple[Outcome, ...] | None:
    """All outcomes, where they are points and not too many."""
    sides = [at.component(c) for at in (p, q) for c in _components(law.groups)]
    if any(side.cells for side in sides):
        return None
    found: dict[str, Outcome] = {}
    for group in law.groups:
        keys = [
            list(dict.fromkeys((*p.component(c).log_probability, *q.component(c).log_probability)))
            for c in group.components
        ]
        if math.prod(map(len, keys)) + len(found) > MAX_OUTCOMES:
            return None
        for outcome in _combinations(group, keys, p, q):
            known = found.get(repr(outcome.output))
            found[repr(outcome.output)] = _added(outcome, known) if known else outcome
    possible = [o for o in found.values() if max(o.log_p, o.log_q) > -math.inf]
    return tuple(sorted(possible, key=lambda o: -o.loss))


def _combinations(
    group: Group, keys: list[list[Any]], p: LawAt, q: LawAt
) -> Iterator[Outcome]:
    tables = [[at.component(c).log_probability for c in group.components] for at in (p, q)]
    for chosen in itertools.product(*keys):
        logs = [
            math.fsum(table.get(key, -math.inf) for table, key in zip(side, chosen, strict=True))
            for side in tables
        ]
        numbers: dict[int, float] = {}
        for component, key in zip(group.components, chosen, strict=True):
            numbers.update(zip(component.positions, map(float, key), strict=True))
        output = restore(group, [numbers[k] for k in range(len(group.kinds))])
        yield Outcome(output, *logs)


def _added(one: Outcome, other: Outcome) -> Outcome:
    """Two ways to the same output together."""
    logs = [
        float(np.logaddexp(*pair))
        for pair in ((one.log_p, other.log_p), (one.log_q, other.log_q))
    ]
    return Outcome(one.output, *logs)


def _shown(group: Group, p: LawAt, q: LawAt) -> Any:
    """The output with a name for every number that differs within the form."""
    numbers: dict[int, Any] = {}
    for component in group.components:
        keys = [key for at in (p, q) for key in _keys(at, component)]
        for place, parts in zip(component.positions, zip(*keys, strict=True), strict=True):
            fixed = {part for part in parts if not isinstance(part, tuple)}
            single = len(fixed) == 1 and not any(isinstance(part, tuple) for part in parts)
            numbers[place] = float(next(iter(fixed))) if single else _Blank(place)
    blank = [numbers.get(k, _Blank(k)) for k in range(len(group.kinds))]
    return restore(group, blank) if not _casts(group, blank) else blank


def _casts(group: Group, numbers: list[Any]) -> bool:
    """Whether a blank would have to be turned into a bool or an int."""
    return any(
        isinstance(v, _Blank) and kind != "float"
        for v, kind in zip(numbers, group.kinds, strict=True)
    )


def _keys(at: LawAt, component: Component) -> list[Any]:
    law = at.component(component)
    return [*law.log_probability, *law.cells]


def _part(component: Component, known: _Known) -> Form:
    names = ", ".join(f"y{k}" for k in component.positions)
    return Form(names, *known.component(component))


# -- curves -----------------------------------------------------------------------------------


def _whole_number(law: ExactLaw, p: LawAt, q: LawAt) -> Curve | None:
    """The loss over the output, where that is one continuous number."""
    if any(group.skeleton != SLOT for group in law.groups):
        return None
    cells = [
        [_single_cells(at, component) for component in _components(law.groups)
         if component.positions] for at in (p, q)
    ]  # fmt: skip
    mine, theirs = ([cell for found in side for cell in found] for side in cells)
    if len(law.groups) != 1 or len(law.groups[0].components) != 1:
        return None
    return _curve("the released number y", mine, theirs)


def _worst_number(law: ExactLaw, known: _Known) -> Curve | None:
    """The loss over the released number of the part with the largest loss."""
    singles = dict.fromkeys(c for c in _components(law.groups) if len(c.positions) == 1)
    ranked = [(max(known.component(component)), component) for component in singles]
    loss, worst = max(ranked, key=lambda r: r[0], default=(0.0, None))
    if worst is None or loss <= 0:
        return None
    mine, theirs = (_single_cells(at, worst) for at in (known.p, known.q))
    return _curve(f"the released number y{worst.positions[0]}", mine, theirs)


def _single_cells(at: LawAt, component: Component) -> list[Cell]:
    cells = at.component(component).cells.values()
    return [cell for cell in cells if len(cell.observed) == 1 and cell.lattice(0) is None]


def _curve(name: str, mine: list[Cell], theirs: list[Cell]) -> Curve | None:
    if not mine or not theirs:
        return None
    y = _grid([*mine, *theirs])
    log_p, log_q = (_log_density(cells, y) for cells in (mine, theirs))
    pairs = [
        (float(at), _difference(float(a), float(b)))
        for at, a, b in zip(y, log_p, log_q, strict=True)
        if max(a, b) > -math.inf
    ]
    return Curve(name, tuple(at for at, _ in pairs), tuple(loss for _, loss in pairs))


def _grid(cells: list[Cell]) -> NDArray[np.float64]:
    """Points over all kinks and some widths beyond; kinks lie between points, not on them."""
    kinks = np.concatenate([observed_kinks(cell) for cell in cells])
    reach = _WIDTHS * max(w for cell in cells for w in observed_widths(cell))
    centre = kinks if len(kinks) else np.zeros(1)
    return np.linspace(centre.min() - reach, centre.max() + reach, _POINTS)


def _log_density(cells: list[Cell], y: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.logaddexp.reduce([cell.log_density(y[:, None]) for cell in cells]))
