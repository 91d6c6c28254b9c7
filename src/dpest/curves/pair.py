"""From the exact laws of two inputs to the law of their privacy loss."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpest.curves.atoms import Atoms
from dpest.curves.coarse import enclosed
from dpest.curves.density import densities
from dpest.curves.enclosed import Enclosed, product, total
from dpest.curves.gaussian import Gaussian
from dpest.curves.law import ONE, LossLaw, Part
from dpest.engines.exact import ExactLaw, OutOfReach
from dpest.engines.exact.components import Component
from dpest.engines.exact.density import Cell
from dpest.engines.exact.events import Part as EventPart
from dpest.engines.exact.loss import additive_factors
from dpest.engines.exact.plan import Density
from dpest.engines.exact.released import observed_kinks, observed_widths
from dpest.noise import DiscreteGaussian, Law, Normal
from dpest.numbers.rational import to_float

Array = NDArray[np.float64]
_TAIL_WIDTHS = 64
MAX_POINTS = 1_000_000


def loss_law(law: ExactLaw, x: Any, x_prime: Any) -> Enclosed:
    """The law of log P/Q under P, the law of the output for x; Q is that for x_prime."""
    known: dict[int, Enclosed] = {}
    for group in law.groups:
        for component in group.components:
            if id(component) not in known:
                known[id(component)] = _component(law, component, x, x_prime)
    return total(product([known[id(c)] for c in group.components]) for group in law.groups)


def _component(law: ExactLaw, component: Component, x: Any, x_prime: Any) -> Enclosed:
    """Points, then every form of outcome that shows noise."""
    p, q = (law.at(place).component(component) for place in (x, x_prime))
    points = dict.fromkeys((*p.log_probability, *q.log_probability))
    logs = [[one.log_probability.get(key, -math.inf) for key in points] for one in (p, q)]
    laws = [Enclosed.exact(_law(Atoms.of(*map(np.array, logs))))]
    for key in dict.fromkeys((*p.cells, *q.cells)):
        if key in p.cells and key in q.cells:
            try:
                laws.append(_both(p.cells[key], q.cells[key], list(points)))
            except OutOfReach:
                laws.append(enclosed(law, component, key, (x, x_prime), _line))
        else:
            place = x if key in p.cells else x_prime
            mass = EventPart(component, key, ()).log_probability(law, place)
            logs_here = (mass, -math.inf) if key in p.cells else (-math.inf, mass)
            one_sided = Atoms.of(*(np.array([v]) for v in logs_here))
            laws.append(Enclosed.exact(_law(one_sided)))
    return total(laws)


def _both(p: Cell, q: Cell, points: Sequence[Any]) -> Enclosed:
    """A form of outcome that both inputs can give."""
    taken = [y for y in map(p.place_of, points) if y is not None]
    mine, theirs = additive_factors(p), additive_factors(q)
    if mine and theirs and not taken and _same_shape(mine, theirs):
        return product([
            Enclosed.exact(_shifted(one.law, to_float(other.point.const - one.point.const)))
            for one, other in zip(mine, theirs, strict=True)
        ])  # fmt: skip
    if all(p.lattice(k) is not None for k in range(len(p.observed))):
        return Enclosed.exact(_lattice(p, q, taken))
    return Enclosed.exact(_line(p, q))


def _line(p: Cell, q: Cell) -> LossLaw:
    """One released number."""
    if len(p.observed) > 1:
        raise OutOfReach("the loss of several released numbers that share noise has no curve")
    if p.lattice(0) is not None:
        return _lattice(p, q, ())
    breaks = np.union1d(observed_kinks(p), observed_kinks(q))
    found = [w for cell in (p, q) for w in observed_widths(cell)]

    def log_densities(y: Array) -> tuple[Array, Array]:
        return p.log_density(y[:, None]), q.log_density(y[:, None])

    return _law(*densities(log_densities, breaks, min(found), max(found)))


def _same_shape(mine: Sequence[Density], theirs: Sequence[Density]) -> bool:
    """Whether the inputs only move the noise."""
    return all(
        one.law == other.law and one.point.terms == other.point.terms
        for one, other in zip(mine, theirs, strict=True)
    )


@lru_cache(maxsize=64)
def _shifted(law: Law, shift: float) -> LossLaw:
    """A draw against the same draw moved by -shift."""
    if shift == 0:
        return ONE
    if isinstance(law, Normal):
        return _law(Gaussian(abs(shift) / law.width))
    if isinstance(law, DiscreteGaussian) and shift == round(shift):
        rho = (shift / to_float(law.sigma)) ** 2 / 2
        return LossLaw((_moved_points(law, shift),), rho=rho)
    if law.lattice:
        return _law(_moved_points(law, shift))
    breaks = np.array([*law.breaks, *(b - shift for b in law.breaks)])

    def log_densities(z: Array) -> tuple[Array, Array]:
        return law.log_density(z), law.log_density(z + shift)

    return _law(*densities(log_densities, np.unique(breaks), law.width, law.width))


def _moved_points(law: Law, shift: float) -> Atoms:
    reach = _TAIL_WIDTHS * law.width + abs(shift)
    z = _whole_numbers(min(law.breaks) - reach, max(law.breaks) + reach)
    return _listed(law.log_density(z), law.log_density(z + shift))


def _listed(log_p: Array, log_q: Array) -> Atoms:
    """The outcomes of a range of integers, in their order, beyond which the masses are tiny.

    Where the loss still moves at an end of the range, it may go on beyond it.
    """
    with np.errstate(invalid="ignore"):
        loss = log_p - log_q
        outward = np.diff(loss)[[0, -1]] * [-1.0, 1.0]
        moves = np.abs(outward) > 1e-12 * np.maximum(1.0, np.abs(loss[[0, -1]]))
    ends = np.stack([*np.stack([log_p, log_q])[:, [0, -1]], np.sign(outward)])[:, moves]
    return Atoms.of(log_p, log_q, ends)


def _law(*parts: Part | None) -> LossLaw:
    return LossLaw(tuple(part for part in parts if part is not None))


def _lattice(p: Cell, q: Cell, taken: Sequence[Sequence[float]]) -> LossLaw:
    """Outcomes on a lattice, without those that are accounted for as points."""
    y = _lattice_points(p, q)
    known = np.zeros(len(y), bool)
    for place in taken:
        known |= (np.abs(y - np.array(place)) < 1e-9).all(axis=1)
    logs = (np.where(known, -np.inf, cell.log_density(y)) for cell in (p, q))
    return _law(_listed(*logs))


def _lattice_points(*cells: Cell) -> Array:
    if len(cells[0].observed) > 1:
        raise OutOfReach("several integers that share noise have no curve")
    kinks = np.concatenate([observed_kinks(cell) for cell in cells])
    reach = _TAIL_WIDTHS * max(w for cell in cells for w in observed_widths(cell))
    lattice = cells[0].lattice(0)
    assert lattice is not None
    step, offset = lattice
    k = _whole_numbers((kinks.min() - reach - offset) / step, (kinks.max() + reach - offset) / step)
    return (offset + step * k)[:, None]


def _whole_numbers(low: float, high: float) -> Array:
    if high - low > MAX_POINTS:
        raise OutOfReach(f"more than {MAX_POINTS} integers can be released")
    return np.arange(math.floor(low), math.ceil(high) + 1, dtype=float)
