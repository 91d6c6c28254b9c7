"""The exact log-likelihood ratio of an outcome as its score: no event beats its thresholds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpest.engines.blackbox.events import Scorer, Scores
from dpest.engines.blackbox.outputs import Outputs
from dpest.engines.exact import ExactLaw, LawAt
from dpest.engines.exact.components import Component, Group
from dpest.engines.exact.density import Cell, ComponentLaw
from dpest.engines.sampling.samples import Samples
from dpest.numbers.rational import exact, to_float
from dpest.program import Output
from dpest.trace.tracer import skeleton_of

Floats = NDArray[np.float64]
_MARK = 2.0**52
_DIGITS = 9
"""Beyond these a ratio shows how sums were rounded, which is no property of the real numbers."""
_MOST = 700.0
"""Stands for an infinite ratio."""


@dataclass(frozen=True)
class LikelihoodScorer(Scorer):
    """Scores outcomes of a program by how much likelier they are on `x` than on `x_prime`."""

    packed: bytes
    x: Any
    x_prime: Any
    rows: int
    """So many outcomes are scored together."""

    def scores(self, outputs: Outputs) -> Scores:
        samples = outputs.origin
        parts = [samples[k : k + self.rows] for k in range(0, len(samples), self.rows)]
        return np.concatenate([np.empty(0), *map(self._ratios, parts)])

    def _ratios(self, samples: Samples) -> Floats:
        from dpest.engines.sampling.mechanism import law_of

        law = law_of(self.packed)
        here, there = (log_densities(law.at(x), law, samples) for x in (self.x, self.x_prime))
        with np.errstate(invalid="ignore"):
            ratio = np.clip(np.nan_to_num(here - there, nan=0.0), -_MOST, _MOST)
        return np.round(ratio, _DIGITS)

    def description(self, threshold: float, above: bool) -> str:
        side = ">=" if above else "<="
        return f"exact log-likelihood ratio of the output {side} {threshold:.6g}"


def log_densities(at: LawAt, law: ExactLaw, samples: Samples) -> Floats:
    """Log probability of every outcome, or log density where it shows continuous numbers."""
    result = np.full(len(samples), -np.inf)
    for number, form in enumerate(samples.forms):
        rows = np.flatnonzero(samples.form == number)
        skeleton, numbers = _unfolded(form, samples.numbers[rows])
        for group in law.groups:
            if group.skeleton == skeleton and len(rows):
                result[rows] = np.logaddexp(result[rows], _of_group(at, group, numbers))
    return result


def _unfolded(form: Output, numbers: NDArray[Any]) -> tuple[Any, Floats]:
    """The skeleton with all numbers as slots, and what stands in them in every run."""
    marks = [_MARK + k for k in range(len(form.leaves))]
    skeleton, leaves = skeleton_of(form.restore(marks))
    columns = []
    for leaf in leaves:
        value = to_float(leaf)
        slot = value >= _MARK and value - _MARK < len(marks)
        columns.append(numbers[:, int(value - _MARK)] if slot else np.full(len(numbers), value))
    return skeleton, np.column_stack(columns) if columns else np.empty((len(numbers), 0))


def _of_group(at: LawAt, group: Group, numbers: Floats) -> Floats:
    total = np.zeros(len(numbers))
    for component in group.components:
        total = total + _of_component(at.component(component), component, numbers)
    return total


def _of_component(law: ComponentLaw, component: Component, numbers: Floats) -> Floats:
    wanted = numbers[:, list(component.positions)].astype(float)
    result = np.full(len(wanted), -np.inf)
    known = np.zeros(len(wanted), bool)
    for key, log_p in law.log_probability.items():
        if not any(isinstance(part, tuple) for part in key):
            same = (wanted == np.array([float(part) for part in key])).all(axis=1)  # type: ignore[arg-type]
            result[same], known = log_p, known | same
    for cell in law.cells.values():
        fits = ~known & _fits(cell, wanted)
        if fits.any():
            y = wanted[fits][:, [symbol.place for symbol in cell.observed]]
            result[fits] = np.logaddexp(result[fits], cell.log_density(y))
    return result


def _fits(cell: Cell, wanted: Floats) -> NDArray[np.bool_]:
    """Which rows have the form of the cell: its constants, and numbers on its lattices."""
    fits = np.ones(len(wanted), bool)
    for place, part in enumerate(cell.key):
        if not isinstance(part, tuple):
            fits &= wanted[:, place] == float(part)  # type: ignore[arg-type]
        elif len(part) == 3:
            step, offset = to_float(exact(part[1])), to_float(exact(part[2]))
            steps = (wanted[:, place] - offset) / step
            fits &= np.abs(steps - np.round(steps)) < 1e-6
    return fits
