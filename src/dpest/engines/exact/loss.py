"""The privacy loss of a pair of inputs: sup over outcomes of log P/Q, in both directions."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from flint import fmpq
from numpy.typing import NDArray

from dpest.engines.exact.components import Component, Group, split
from dpest.engines.exact.coupled import coupled_extremes
from dpest.engines.exact.density import Cell, ComponentLaw, Key, Plan, Table
from dpest.engines.exact.extreme import Extreme, Slab
from dpest.engines.exact.joint import joint_extremes
from dpest.engines.exact.mediant import at_most
from dpest.engines.exact.plan import Density, Observed
from dpest.engines.exact.refusal import OutOfReach
from dpest.engines.exact.released import LOWEST, observed_kinks, released_extremes
from dpest.engines.exact.supremum import Peak, Status
from dpest.noise import Law
from dpest.numbers.rational import ONE, ZERO, to_float
from dpest.numbers.ties import clearly_above
from dpest.program import Output, Program

Array = NDArray[Any]
_REMEMBERED = 64


@dataclass(frozen=True)
class DirectedLoss:
    """sup over outcomes of log P(outcome under x) / P(outcome under x')."""

    loss: float
    outcome: Any
    status: Status
    group: Group | None = None
    extremes: tuple[Extreme, ...] = ()
    slack: float = 0.0
    """How much larger the supremum may be, where the loss is only the largest one found."""


@dataclass(frozen=True)
class PairLoss:
    """Both directions of a pair."""

    forward: DirectedLoss
    backward: DirectedLoss

    @property
    def loss(self) -> float:
        return max(self.forward.loss, self.backward.loss)

    @property
    def at_most(self) -> float:
        """What no outcome exceeds; the loss itself where that is exact."""
        return max(side.loss + side.slack for side in (self.forward, self.backward))

    @property
    def impossible(self) -> bool:
        """Whether an outcome of one input cannot happen for the other."""
        return "impossible" in (self.forward.status, self.backward.status)

    def exceeds(self, other: PairLoss) -> bool:
        """Whether it is clearly larger; what is impossible exceeds what is only unbounded."""
        if self.loss == other.loss == math.inf:
            return self.impossible and not other.impossible
        return clearly_above(self.loss, other.loss)


class ExactLaw:
    """The law of a program, ready for any number of inputs."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.groups = split(program)
        self._at: dict[str, LawAt] = {}
        self.plan = Plan(c for group in self.groups for c in group.components)

    def at(self, x: Any) -> LawAt:
        """The law at one input; the last few are remembered."""
        name = repr(np.asarray(x, dtype=object).tolist())
        if name not in self._at:
            if len(self._at) >= _REMEMBERED:
                del self._at[next(iter(self._at))]
            self._at[name] = LawAt(self, x)
        return self._at[name]

    def pair(self, x: Any, x_prime: Any) -> PairLoss:
        """The exact loss of one pair."""
        return self.at(x).against(self.at(x_prime))


class LawAt:
    """The law of the output for one input."""

    def __init__(self, law: ExactLaw, x: Any) -> None:
        self.groups = law.groups
        self.x = x
        self._table = Table(law.plan, law.program.at(x))

    def component(self, component: Component) -> ComponentLaw:
        """The law of one component."""
        return self._table.law(component)

    def against(self, other: LawAt, groups: Sequence[Group] | None = None) -> PairLoss:
        """The largest losses, this law against the other one and the other way round.

        Only outcomes of some groups are looked at where these are given.
        """
        losses: dict[int, Directions] = {}
        known: dict[Hashable, Directions] = {}
        best = [DirectedLoss(-math.inf, None, "attained")] * 2
        most = [-math.inf, -math.inf]
        for group in self.groups if groups is None else groups:
            for component in group.components:
                if id(component) not in losses:
                    p, q = self.component(component), other.component(component)
                    name = (p.signature, q.signature)
                    if name not in known:
                        known[name] = component_losses(p, q)
                    losses[id(component)] = known[name]
            for side in (0, 1):
                found = [losses[id(component)][side] for component in group.components]
                loss = _total(found)
                if loss is not None:
                    most[side] = max(most[side], loss + sum(e.slack for e in found if e))
                if loss is not None and clearly_above(loss, best[side].loss):
                    best[side] = _combined(group, found, loss)  # type: ignore[arg-type]
        return PairLoss(*map(_with_slack, best, most))


def _with_slack(found: DirectedLoss, most: float) -> DirectedLoss:
    """The loss that was found, and how far above it those of all outcomes may be."""
    return replace(found, slack=most - found.loss) if clearly_above(most, found.loss) else found


def _total(found: Sequence[Extreme | None]) -> float | None:
    """The sum of the components' losses; None where the group is impossible."""
    total = 0.0
    for extreme in found:
        if extreme is None:
            return None
        total = math.inf if math.inf in (total, extreme.loss) else total + extreme.loss
    return total


def _combined(group: Group, extremes: Sequence[Extreme], loss: float) -> DirectedLoss:
    """The group's worst outcome: the worst of every independent component."""
    order: list[Status] = ["attained", "approached", "unbounded", "impossible"]
    status = max((e.status for e in extremes), key=order.index) if extremes else order[0]
    return DirectedLoss(loss, _outcome(group, extremes), status, group, tuple(extremes))


def _outcome(group: Group, extremes: Sequence[Extreme]) -> Any:
    numbers: dict[int, Any] = {}
    for component, extreme in zip(group.components, extremes, strict=True):
        supply = iter(extreme.y)
        for place, part in zip(component.positions, extreme.key, strict=True):
            if isinstance(part, tuple):
                numbers[place] = next(supply, math.nan)
            else:
                numbers[place] = float(part)  # type: ignore[arg-type]
    return restore(group, [numbers[k] for k in range(len(group.kinds))])


def restore(group: Group, numbers: Sequence[Any]) -> Any:
    """The Python value of an outcome of the group."""
    casts: dict[str, Any] = {"bool": bool, "int": round, "float": lambda number: number}
    return Output(group.skeleton, ()).restore(
        [casts[kind](n) for kind, n in zip(group.kinds, numbers, strict=True)]
    )


Directions = tuple[Extreme | None, Extreme | None]


def component_losses(p: ComponentLaw, q: ComponentLaw) -> Directions:
    """The largest losses of one component; None where the first law has no outcome at all."""
    best: list[Extreme | None] = [
        _point_loss(p.log_probability, q.log_probability),
        _point_loss(q.log_probability, p.log_probability),
    ]
    for key in dict.fromkeys((*p.cells, *q.cells)):
        found = cell_losses(p, q, key)
        best = [_larger(mine, theirs) for mine, theirs in zip(best, found, strict=True)]
    return best[0], best[1]


def _larger(one: Extreme | None, other: Extreme | None) -> Extreme | None:
    if one is None or other is None:
        return one or other
    if one.loss == other.loss == math.inf:
        return other if other.status == "impossible" else one
    best = other if clearly_above(other.loss, one.loss) else one
    most = max(one.at_most, other.at_most)
    return replace(best, slack=most - best.loss) if clearly_above(most, best.at_most) else best


def _point_loss(p: Mapping[Key, float], q: Mapping[Key, float]) -> Extreme | None:
    best: Extreme | None = None
    for key, log_p in p.items():
        if log_p == -math.inf:
            continue
        log_q = q.get(key, -math.inf)
        if log_p < LOWEST or -math.inf < log_q < LOWEST:
            raise OutOfReach("an outcome is so unlikely that even its logarithm is lost")
        loss = log_p - log_q
        if best is None or clearly_above(loss, best.loss):
            best = Extreme(loss, key, (), "impossible" if loss == math.inf else "attained")
    return best


def cell_losses(p: ComponentLaw, q: ComponentLaw, key: Key) -> Directions:
    """The largest losses among the outcomes of one form."""
    mine, theirs = p.cells.get(key), q.cells.get(key)
    if mine is None or theirs is None:
        return _one_sided(mine), _one_sided(theirs)
    points = _points_in(mine, [*p.log_probability, *q.log_probability])
    if not points and (closed := _closed_form(mine, theirs)) is not None:
        return closed, _closed_form(theirs, mine)
    if len(mine.observed) > 1:
        return _several(p, q, mine, theirs)
    found = [(peak, (peak.y,)) for peak in released_extremes(mine, theirs, points)]
    return _directions(key, found)


def _several(p: ComponentLaw, q: ComponentLaw, mine: Cell, theirs: Cell) -> Directions:
    """Several released numbers: one threshold that they share, or else a search."""
    try:
        return _directions(mine.key, coupled_extremes(mine, theirs))
    except OutOfReach:
        form = mine.key, mine.observed
        return joint_extremes(mine, theirs, (at_most(p, q, form), at_most(q, p, form)))


def _directions(key: Key, found: Sequence[tuple[Peak, tuple[float, ...]]]) -> Directions:
    forward, backward = (
        None if peak.loss == -math.inf else Extreme(peak.loss, key, y, peak.status, (), peak.edge)
        for peak, y in found
    )
    return forward, backward


def _one_sided(cell: Cell | None) -> Extreme | None:
    """A form of outcome that the other law does not have."""
    if cell is None:
        return None
    if len(cell.observed) == 1 and (lattice := cell.lattice(0)) is not None:
        return _one_point(cell, *lattice)
    return Extreme(math.inf, cell.key, (math.nan,) * len(cell.observed), "impossible")


def _one_point(cell: Cell, step: float, offset: float) -> Extreme:
    """A likely integer outcome: the other law's lie on another lattice."""
    places = np.rint((observed_kinks(cell) - offset) / step) * step + offset
    y = float(places[np.argmax(cell.log_density(places[:, None]))])
    slab = Slab(((cell.observed[0].place, ONE),), y - 1e-9 * step, y + 1e-9 * step)
    return Extreme(math.inf, cell.key, (y,), "impossible", (slab,))


def _points_in(cell: Cell, keys: Sequence[Key]) -> list[float]:
    """Point outcomes inside a cell of integer noise: they are accounted for as points."""
    found = [cell.place_of(key) for key in keys]
    points = [y for y in found if y is not None]
    if points and len(cell.observed) > 1:
        raise OutOfReach("integer noise that is clipped is released together with other noise")
    return [y[0] for y in points]


def _closed_form(p: Cell, q: Cell) -> Extreme | None:
    """Purely additive noise: every draw is free, so the suprema of the draws add up."""
    mine, theirs = additive_factors(p), additive_factors(q)
    if mine is None or theirs is None:
        return None
    total, slabs = 0.0, []
    status: Status = "attained"
    for one, other in zip(mine, theirs, strict=True):
        if one.point.terms != other.point.terms or one.law != other.law:
            return None
        shift = other.point.const - one.point.const
        loss = one.law.shift_loss(shift)
        total += loss
        if shift != 0:
            slabs.append(_slab(one, shift))
        if loss == math.inf and status != "impossible":
            status = "impossible" if _leaves_support(one.law, shift) else "unbounded"
    return Extreme(total, p.key, _inside(mine, theirs, p), status, tuple(slabs))


def _slab(factor: Density, shift: fmpq) -> Slab:
    """The draws on which the shift costs most, as a condition on the output."""
    low, high = factor.law.shift_event(shift)
    const = to_float(factor.point.const)
    terms = tuple(
        (v.place, c) for v, c in factor.point.terms.items() if isinstance(v, Observed)
    )
    return Slab(terms, low - const, high - const)


def _inside(mine: Sequence[Density], theirs: Sequence[Density], cell: Cell) -> tuple[float, ...]:
    """A released point inside all slabs."""
    rows = [[to_float(f.point.terms.get(v, ZERO)) for v in cell.observed] for f in mine]
    targets = []
    for one, other in zip(mine, theirs, strict=True):
        low, high = one.law.shift_event(other.point.const - one.point.const)
        ends = [end for end in (low, high) if math.isfinite(end)]
        step = one.law.width * (1.0 if math.isfinite(low) else -1.0)
        z = sum(ends) / 2 if len(ends) == 2 else ends[0] + step
        targets.append(z - to_float(one.point.const))
    return tuple(np.linalg.solve(np.array(rows), np.array(targets)).tolist())


def additive_factors(cell: Cell) -> list[Density] | None:
    """The densities of a cell that consists of as many free draws as observed numbers."""
    if len(cell.batches) != 1 or cell.batches[0].axes or len(cell.batches[0].row) != 1:
        return None
    (batch,) = cell.batches
    factors = [f for f in batch.factors if isinstance(f, Density)]
    plain = len(factors) == len(batch.factors) == len(cell.observed)
    return factors if plain and (batch.incidence == 1).all() else None


def _leaves_support(law: Law, shift: fmpq) -> bool:
    """Whether an infinite loss comes from a support that moves (else from a tail)."""
    return law.support != (None, None) or (law.lattice and shift.q != 1)
