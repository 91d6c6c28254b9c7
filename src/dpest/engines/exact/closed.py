"""Integrals over a draw that only meets bounds, in closed form.

A draw that several released numbers bound is an axis, so that a threshold they share is seen as
such. Where its density and bounds are all there is, the integral is the mass between the bounds.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dpest.engines.exact.batch import Batch
from dpest.engines.exact.density import Cell
from dpest.engines.exact.factors import lines_of
from dpest.engines.exact.plan import Axis, Density, Factor, Mass, Step
from dpest.numbers.rational import to_float
from dpest.program import Linear


def closed(cell: Cell) -> Cell:
    """The cell without the axes that have a closed form."""
    return replace(cell, batches=[_closed(batch) for batch in cell.batches])


def _closed(batch: Batch) -> Batch:
    """The batch without its axis; the same one where that has no closed form."""
    if len(batch.axes) != 1 or batch.axes[0].lattice:
        return batch
    place: dict[Factor, int] = {}
    rows, scales = [], []
    for line, log_scale in zip(batch.incidence, batch.log_scale, strict=True):
        used = [f for f, count in zip(batch.factors, line, strict=True) for _ in range(int(count))]
        found = _mass(batch.axes[0], used)
        if found is None:
            return batch
        mass, slope, rest = found
        rows.append([place.setdefault(f, len(place)) for f in (*rest, mass)])
        scales.append(np.exp(log_scale) / slope)
    incidence = np.zeros((len(rows), len(place)))
    for k, columns in enumerate(rows):
        np.add.at(incidence[k], columns, 1)
    return Batch((), list(place), incidence[batch.row], np.array(scales)[batch.row])


def _mass(axis: Axis, factors: list[Factor]) -> tuple[Mass, float, list[Factor]] | None:
    """The mass between the bounds, the slope of the density, and the factors without the axis."""
    rest = [f for f in factors if all(axis not in line.terms for line in lines_of(f))]
    mine = [f for f in factors if f not in rest]
    densities = [f for f in mine if isinstance(f, Density)]
    steps = [f for f in mine if isinstance(f, Step)]
    if len(densities) != 1 or len(steps) != len(mine) - 1:
        return None
    (density,) = densities
    slope = density.point.terms[axis]
    lower: set[Linear] = set()
    upper: set[Linear] = set()
    for step in steps:
        bound = density.point.substitute({axis: step.gap.solved_for(axis)})
        (lower if step.gap.terms[axis] * slope > 0 else upper).add(bound)
    return Mass(density.law, frozenset(lower), frozenset(upper)), abs(to_float(slope)), rest
