"""A form of outcome whose law is not computed: what encloses it.

No law of given masses whose losses lie between two limits is worse than the one that takes both
limits and nothing between. What is told from a part of the outcome is better than the whole.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from dpest.curves.atoms import Atoms, two_points
from dpest.curves.enclosed import Enclosed
from dpest.curves.law import LossLaw, total
from dpest.engines.exact import ExactLaw, OutOfReach
from dpest.engines.exact.components import Case, Component
from dpest.engines.exact.density import Cell, ComponentLaw, Key, Plan, Table
from dpest.engines.exact.events import Part, fits
from dpest.engines.exact.extreme import Slab
from dpest.engines.exact.loss import cell_losses
from dpest.engines.exact.released import observed_kinks
from dpest.numbers.rational import ONE

_KINKS = 8
Line = Callable[[Cell, Cell], LossLaw]
"""The law of the loss where one number is released."""


def enclosed(
    law: ExactLaw, component: Component, key: Key, pair: tuple[Any, Any], line: Line
) -> Enclosed:
    """The outcomes of one form, for a pair of inputs."""
    p, q = (law.at(x).component(component) for x in pair)
    whole = Part(component, key, ())
    logs = [whole.log_probability(law, x) for x in pair]
    best = max(_better(law, whole, logs, pair, line, _events(p, q, key)), key=_distance)
    limits = (np.array([end]) for end in _limits(p, q, key))
    worst = two_points(np.array(logs[:1]), np.array(logs[1:]), *limits)
    return Enclosed(best, LossLaw((worst,)))


def _limits(p: ComponentLaw, q: ComponentLaw, key: Key) -> tuple[float, float]:
    """The largest and the smallest loss of the outcomes of one form."""
    try:
        forward, backward = cell_losses(p, q, key)
    except OutOfReach:
        return math.inf, -math.inf
    return (
        -math.inf if forward is None else forward.at_most,
        math.inf if backward is None else -backward.at_most,
    )


def _better(
    law: ExactLaw, whole: Part, logs: list[float], pair: tuple[Any, Any], line: Line,
    events: Iterable[Any],
) -> Iterator[LossLaw]:  # fmt: skip
    """Laws of less than the whole outcome: nothing but its form, an event in it, one number."""
    yield LossLaw((Atoms.of(np.array(logs[:1]), np.array(logs[1:])),))
    for slabs in events:
        part = Part(whole.component, whole.key, slabs)
        yield _split(logs, [part.log_probability(law, x) for x in pair])
    released = [k for k, part in enumerate(whole.key) if isinstance(part, tuple)]
    for place in released if len(released) > 1 else ():
        try:
            yield _showing(law, whole, place, pair, line)
        except OutOfReach:
            continue


def _events(p: ComponentLaw, q: ComponentLaw, key: Key) -> Iterator[Any]:
    """Where the largest losses are, and below every kink of a single number."""
    cells = p.cells[key], q.cells[key]
    if len(cells[0].observed) == 1:
        place = cells[0].observed[0].place
        kinks = np.concatenate([observed_kinks(cell) for cell in cells])
        for kink in np.unique(kinks)[:_KINKS].tolist():
            yield (Slab(((place, ONE),), -math.inf, kink),)
    try:
        found = cell_losses(p, q, key)
    except OutOfReach:
        return
    yield from (one.slabs for one in found if one is not None and one.slabs)


def _split(logs: list[float], inside: list[float]) -> LossLaw:
    outside = [
        math.log(rest) if (rest := math.exp(whole) - math.exp(part)) > 0 else -math.inf
        for whole, part in zip(logs, inside, strict=True)
    ]
    return LossLaw((Atoms.of(*np.array([inside, outside]).T),))


def _showing(
    law: ExactLaw, whole: Part, place: int, pair: tuple[Any, Any], line: Line
) -> LossLaw:
    """The outcomes of the form when one of its numbers is shown and the others are not."""
    kept = [k for k, part in enumerate(whole.key) if k == place or not isinstance(part, tuple)]
    cases = tuple(
        Case(case.conditions, tuple(case.leaves[k] for k in kept), case.variants)
        for case in whole.component.cases
        if all(fits(leaf, part) for leaf, part in zip(case.leaves, whole.key, strict=True))
    )
    component = Component(cases, tuple(whole.component.positions[k] for k in kept))
    plan = Plan([component])
    p, q = (Table(plan, law.program.at(x)).law(component).cells for x in pair)
    keys = [key for key in dict.fromkeys((*p, *q)) if _fixed(key) == _fixed(whole.key)]
    if any(key not in p or key not in q for key in keys):
        raise OutOfReach("the number shown has values that only one of the inputs can give")
    return total([line(p[key], q[key]) for key in keys], "low")


def _fixed(key: Key) -> Key:
    return tuple(part for part in key if not isinstance(part, tuple))


def _distance(law: LossLaw) -> float:
    """How far apart the inputs are, as total variation."""
    return float(law.deltas(np.zeros(1))[0])
