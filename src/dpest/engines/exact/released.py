"""The largest loss over one released number: where to look, and what happens at the edges.

Between kinks the log ratio is analytic and is scanned. At a kink where a density vanishes, the
ratio of two densities has a limit or grows without bound, according to the orders at which they
vanish: there both are looked at in coordinates that start at the kink, so that no digit is lost.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from flint import fmpq
from numpy.typing import NDArray

from dpest.engines.exact.density import Cell
from dpest.engines.exact.factors import break_lines, lines_of, widths
from dpest.engines.exact.plan import Axis, Density, Mass, Step
from dpest.engines.exact.refusal import OutOfReach
from dpest.engines.exact.supremum import NOWHERE, Peak, Ratios, extrapolated, extremes, larger
from dpest.numbers.rational import to_float
from dpest.program import Linear

Array = NDArray[Any]
LOWEST = -1e250
"""Logs below this have lost all digits."""
_STEPS = 12
"""How many steps of integer noise to either side are looked at one by one."""
_FAR_OUT = 1e3
"""So many widths from zero, a double next to a kink is not close enough to it."""
_CLOSE = 2.0 ** -np.arange(3, 13)
"""Distances from an edge at which its limit is taken."""


def released_extremes(p: Cell, q: Cell, points: Sequence[float]) -> tuple[Peak, Peak]:
    """sup of log P/Q and of log Q/P; `points` are accounted for elsewhere."""
    kinks = sorted({*_exact_kinks(p), *_exact_kinks(q)})
    places = np.array([to_float(kink) for kink in kinks])
    jumps = np.array(sorted({*_jumps(p), *_jumps(q)}))
    width = max(observed_widths(p))
    edges = list(_edges(p, q, kinks, width)) if can_vanish(p) or can_vanish(q) else []

    def losses(y: Array) -> Ratios:
        log_p, log_q = p.log_density(y[:, None]), q.log_density(y[:, None])
        lost = [(-np.inf < logs) & (logs < LOWEST) for logs in (log_p, log_q)]
        unknown = np.isin(y, points) | _is_near(y, jumps) | lost[0] | lost[1]
        for edge in edges:
            unknown |= edge.covers(y)
        return Ratios.of(log_p, log_q).without(unknown)

    forward, backward = extremes(
        losses, places, width, p.lattice(0), settles=not (_has_steps(p) or _has_steps(q))
    )
    if not p.lattice(0) and np.abs(places).max() > _FAR_OUT * width:
        forward, backward = (
            _at_kink(peak, p, q, kinks, sign) for peak, sign in ((forward, 1), (backward, -1))
        )
    for edge in edges:
        one, other = edge.peaks(p, q)
        forward, backward = larger(forward, one), larger(backward, other)
    return forward, backward


def _at_kink(peak: Peak, p: Cell, q: Cell, kinks: Sequence[fmpq], sign: int) -> Peak:
    """The peak, with all digits where it is the limit at one side of a kink."""
    kink = min(kinks, key=lambda k: abs(to_float(k) - peak.y))
    away = peak.y - to_float(kink)
    near = abs(away) <= 2e-11 * max(1.0, abs(peak.y))
    if not near or away == 0 or not math.isfinite(peak.loss):
        return peak
    y = np.array([[0.01 * away]])
    log_p, log_q = (float(cell.seen_from(kink).log_density(y)[0]) for cell in (p, q))
    limit = sign * (log_p - log_q) if math.isfinite(log_p) else -math.inf
    same = abs(limit - peak.loss) <= 1e-6 * max(1.0, abs(peak.loss))
    return replace(peak, loss=limit) if same else peak


# -- edges ------------------------------------------------------------------------------------


class _Edge:
    """One side of a kink, within which nothing else happens."""

    def __init__(self, kink: fmpq, side: int, room: float) -> None:
        self.kink, self.side, self.room = kink, side, room

    def covers(self, y: Array) -> Array:
        """Whether the numbers lie so close that the limit speaks for them."""
        away = (y - to_float(self.kink)) * self.side
        return np.asarray((away >= 0) & (away < self.room * _CLOSE[-1]))

    def vanishes(self, cell: Cell) -> bool:
        """Whether the density goes to zero here."""
        logs = self._logs(cell, _CLOSE[-2:])
        return bool(np.isfinite(logs).all() and logs[0] - logs[1] > 0.5 * math.log(2))

    def peaks(self, p: Cell, q: Cell) -> tuple[Peak, Peak]:
        """What the losses tend to at the edge."""
        ratio = self._logs(p, _CLOSE) - self._logs(q, _CLOSE)
        order = round((ratio[-2] - ratio[-1]) / math.log(2))
        edge = to_float(self.kink)
        y = edge + self.side * self.room * _CLOSE[0]
        if order == 0:
            limit = extrapolated(ratio)[0]
            return Peak(limit, y, "approached"), Peak(-limit, y, "approached")
        grown = Peak(math.inf, y, "unbounded", edge)
        return (grown, NOWHERE) if order < 0 else (NOWHERE, grown)

    def _logs(self, cell: Cell, distances: Array) -> Array:
        y = self.side * self.room * distances
        return cell.seen_from(self.kink).log_density(y[:, None])


def can_vanish(cell: Cell) -> bool:
    """Whether a density can go to zero at a finite place: something has an end, or is squeezed."""
    if cell.lattice(0) is not None:
        return False
    factors = [factor for batch in cell.batches for factor in batch.factors]
    cut = [f.gap.terms[a] > 0 for f in factors if isinstance(f, Step)
           for a in f.gap.terms if isinstance(a, Axis)]  # fmt: skip
    moving = [f for f in factors if any(line.terms for line in lines_of(f))]
    return len(set(cut)) > 1 or any(
        not isinstance(f, Step)
        and (f.law.support != (None, None) or (isinstance(f, Mass) and f.lower and f.upper))
        for f in moving
    )


def _edges(p: Cell, q: Cell, kinks: Sequence[fmpq], width: float) -> Iterator[_Edge]:
    """The sides of kinks where both laws have a density and one of them vanishes."""
    gaps = [math.inf, *(to_float(b - a) for a, b in pairwise(kinks)), math.inf]
    for k, kink in enumerate(kinks):
        for side, gap in ((-1, gaps[k]), (1, gaps[k + 1])):
            edge = _Edge(kink, side, min(gap / 2, width))
            y = np.array([[to_float(kink) + side * edge.room / 4]])
            both = np.isfinite(p.log_density(y)) & np.isfinite(q.log_density(y))
            if both.all() and (edge.vanishes(p) or edge.vanishes(q)):
                yield edge


# -- where to look ----------------------------------------------------------------------------


def _is_near(y: Array, jumps: Array) -> Array:
    """Whether a density has no value there: at a jump both sides would count."""
    gaps = np.abs(y[:, None] - jumps)
    return np.asarray((gaps <= 1e-14 * np.maximum(1.0, np.abs(jumps))).any(axis=1))


def _jumps(cell: Cell) -> Iterator[float]:
    """Where the density of a single continuous observed number jumps."""
    for line in _lines(cell):
        yield from map(to_float, _places(line, cell))


def _lines(cell: Cell) -> Iterator[Linear]:
    """Lines in the observed number on which a density jumps."""
    symbol = cell.observed[0]
    if cell.lattice(0) is not None:
        return
    for batch in cell.batches:
        for factor in batch.factors:
            if isinstance(factor, Step) or factor.law.support != (None, None):
                yield from (line for line in break_lines(factor) if symbol in line.terms)


def _has_steps(cell: Cell) -> bool:
    """Whether integer noise repeats the jumps without end."""
    return any(any(isinstance(v, Axis) for v in _integers(line, cell)) for line in _lines(cell))


def _integers(line: Linear, cell: Cell) -> list[Any]:
    """The integer axes of a line that has no other variable than these and the observed one."""
    others = [v for v in line.terms if v != cell.observed[0]]
    return others if all(isinstance(v, Axis) and v.lattice for v in others) else []


def _places(line: Linear, cell: Cell) -> Iterable[fmpq]:
    """Where the line is zero, for every value of the integer noise in it near its centre."""
    symbol, integers = cell.observed[0], _integers(line, cell)
    if len(integers) > 1:
        raise OutOfReach("two draws of integer noise and one with a bounded support are added")
    if set(line.terms) == {symbol}:
        return [line.solved_for(symbol).const]
    if not integers:
        return []
    axis = integers[0]
    return [
        line.substitute({axis: Linear(fmpq(k))}).solved_for(symbol).const
        for k in _values(axis, cell)
    ]


def _values(axis: Axis, cell: Cell) -> range:
    """The likeliest values of an integer axis."""
    laws = [
        factor.law
        for batch in cell.batches
        for factor in batch.factors
        if isinstance(factor, Density) and factor.point == Linear.of(axis)
    ]
    low, high = laws[0].support
    first = -_STEPS if low is None else int(low.p)
    last = first + 2 * _STEPS if high is None else int(high.p)
    return range(first, last + 1)


def _exact_kinks(cell: Cell) -> set[fmpq]:
    symbol = cell.observed[0]
    found = {
        line.solved_for(symbol).const
        for batch in cell.batches
        for line in batch.observed_lines
        if symbol in line.terms
    }
    return found.union(*(_places(line, cell) for line in _lines(cell)))


def observed_kinks(cell: Cell) -> Array:
    """Where the density of a single observed number is not smooth."""
    return np.array(sorted(map(to_float, _exact_kinks(cell))))


def observed_widths(cell: Cell) -> list[float]:
    """The lengths over which the density of the first observed number changes."""
    symbol = cell.observed[0]
    found = [w for batch in cell.batches for w in widths(batch.factors, symbol)]
    return found or [w for b in cell.batches for axis in b.axes for w in widths(b.factors, axis)]
