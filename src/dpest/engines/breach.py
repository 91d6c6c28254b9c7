"""An event that shows more of some measure than is claimed, for two inputs that are given.

The event for the largest epsilon is often one that hardly ever happens. What delta and Rényi
divergences limit shows in likelier events: half lines of the released numbers, whose ends are
moved until they show most.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpest.engines.exact import (
    Event,
    ExactLaw,
    NoEnclosure,
    OutOfReach,
    certified_log_ratio,
    enclosure,
    event_from,
    forms_of,
)
from dpest.engines.exact.components import Group
from dpest.engines.exact.density import Cell
from dpest.engines.exact.events import Part
from dpest.engines.exact.extreme import Extreme, Slab
from dpest.engines.exact.released import observed_kinks, observed_widths
from dpest.engines.pairs import plain
from dpest.evidence import Witness
from dpest.numbers.rational import ONE

Shown = Callable[[float, float], float]
"""What an event of these two probabilities shows."""
_GROUPS = 20
_COARSE = np.linspace(-24.0, 24.0, 49)
_DENSE = np.linspace(-24.0, 24.0, 4801)
_FINE = (np.linspace(-1.0, 1.0, 9), np.linspace(-0.25, 0.25, 9))
"""Where ends are tried, in widths of the noise: around the turns of the law, then the best end."""
_TURNS = 20
_GAIN = 1e-6
"""A condition that adds less than this share to what is shown is left out."""
Parts = tuple[Part, ...]


def breach(
    law: ExactLaw, x: Any, x_prime: Any, shown: Shown, level: float | None = None
) -> Witness | None:
    """The event that shows most, of those that are tried; None where none can be worked out.

    `level` is the loss above which outputs add to what is shown, where there is one.
    """
    pair = _Pair(law, x, x_prime, shown, level)
    try:
        found = [(*best, group) for group in law.groups[:_GROUPS] for best in _tried(pair, group)]
    except OutOfReach:
        return None
    if not found:
        return None
    _, parts, group = max(found, key=lambda one: one[0])
    return _witness(pair, event_from(law, group, parts, (x, x_prime)))


@dataclass(frozen=True)
class _Pair:
    """Two inputs, and what is to be shown of them."""

    law: ExactLaw
    x: Any
    x_prime: Any
    shown: Shown
    level: float | None

    def score(self, parts: Parts) -> float:
        """What the event of these parts shows."""
        logs = [
            math.fsum(part.log_probability(self.law, place) for part in parts)
            for place in (self.x, self.x_prime)
        ]
        p, q = (min(math.exp(log), 1.0) for log in logs)
        return self.shown(p, q) if p > q else -math.inf

    def cells(self, part: Part) -> list[Cell]:
        """The laws of what the part releases, for the inputs that can release it."""
        laws = (self.law.at(x).component(part.component) for x in (self.x, self.x_prime))
        return [law.cells[part.key] for law in laws if part.key in law.cells]


def _tried(pair: _Pair, group: Group) -> Iterator[tuple[float, Parts]]:
    """The worst form of outcome of a group, with conditions on what it releases."""
    loss = pair.law.at(pair.x).against(pair.law.at(pair.x_prime), [group]).forward
    if loss.group is None:
        return
    parts = forms_of(pair.law, loss, (pair.x, pair.x_prime))
    score = pair.score(parts)
    for k, extreme in enumerate(loss.extremes):
        for place, y in _released(extreme):
            better, cut = _cut(pair, parts, k, place, y)
            if better > score + _GAIN * abs(score) or score == -math.inf:
                score, parts = better, cut
    yield score, parts


def _released(extreme: Extreme) -> Iterator[tuple[int, float]]:
    """The places of the released numbers of a component, with their worst values."""
    places = [k for k, part in enumerate(extreme.key)
              if isinstance(part, tuple) and part[0] == "observed"]  # fmt: skip
    for place, y in zip(places, extreme.y, strict=False):
        if math.isfinite(y):
            yield place, y


def _cut(pair: _Pair, parts: Parts, k: int, place: int, y: float) -> tuple[float, Parts]:
    """The half line or interval of one released number that shows most."""
    cells = pair.cells(parts[k])
    scale = _Scale.of(cells, y)
    best = (-math.inf, parts)
    for above in (True, False):
        score, end = max(_scored(pair, parts, k, place, above, scale.first()))
        for steps in _FINE:
            score, end = max(_scored(pair, parts, k, place, above, scale.around(end, steps)))
        if score > best[0]:
            best = score, _with(parts, k, place, *_half_line(end, above))
    for low, high in _stretches(pair, cells, scale):
        inside = _with(parts, k, place, low, high)
        score = pair.score(inside)
        if score > best[0] + _GAIN * abs(best[0]):
            best = score, inside
    return best


def _stretches(pair: _Pair, cells: Sequence[Cell], scale: _Scale) -> list[tuple[float, float]]:
    """The longest intervals of a released number on which the loss exceeds the level."""
    if pair.level is None or len(cells) < 2 or len(cells[0].observed) > 1:
        return []
    y = np.array(sorted(scale.first(_DENSE)))
    p, q = (cell.log_density(y[:, None]) for cell in cells)
    with np.errstate(invalid="ignore"):
        over = np.flatnonzero(np.diff((p - q > pair.level).astype(int), prepend=0, append=0))
    y = np.concatenate([[-np.inf], y[1:-1], [np.inf]])
    ends = [(float(y[a]), float(y[b - 1])) for a, b in over.reshape(-1, 2) if b - a > 1]
    return sorted(ends, key=lambda end: end[0] - end[1])[:_TURNS]


def _scored(
    pair: _Pair, parts: Parts, k: int, place: int, above: bool, ends: Sequence[float]
) -> Iterator[tuple[float, float]]:
    """What the half lines with these ends show."""
    for end in ends:
        yield pair.score(_with(parts, k, place, *_half_line(end, above))), end


@dataclass(frozen=True)
class _Scale:
    """Where the ends of an event may lie: a length, places where the law turns, a lattice."""

    width: float
    turns: tuple[float, ...]
    lattice: tuple[float, float] | None = None

    @classmethod
    def of(cls, cells: Sequence[Cell], y: float) -> _Scale:
        """The scale of the first number that is released, near y where none is known."""
        if not cells:
            return cls(1.0, (y,))
        width = max(w for cell in cells for w in observed_widths(cell))
        if len(cells[0].observed) > 1:
            return cls(width, (y,))
        turns = sorted({float(kink) for cell in cells for kink in observed_kinks(cell)})
        return cls(width, tuple(turns) or (y,), cells[0].lattice(0))

    def first(self, steps: Any = _COARSE) -> list[float]:
        """Where to look at first: the turns, and steps around the outermost of them."""
        ends = {self.turns[0], self.turns[-1]}
        around = [end for turn in ends for end in self.around(turn, steps)]
        return list(dict.fromkeys((*self.turns[:_TURNS], *around)))

    def around(self, end: float, steps: Any) -> list[float]:
        """Steps of the width to either side of an end."""
        return list(dict.fromkeys(self._round(end + step * self.width) for step in steps))

    def _round(self, end: float) -> float:
        """To a hundredth of the width or so: where exactly an event ends matters little."""
        if self.lattice is not None:
            step, offset = self.lattice
            return float(offset + step * round((end - offset) / step))
        return float(round(end, 2 - math.floor(math.log10(self.width)))) + 0.0


def _half_line(end: float, above: bool) -> tuple[float, float]:
    return (end, math.inf) if above else (-math.inf, end)


def _with(parts: Parts, k: int, place: int, low: float, high: float) -> Parts:
    """The parts, one of them with one more condition."""
    slab = Slab(((place, ONE),), low, high)
    return (*parts[:k], replace(parts[k], slabs=(*parts[k].slabs, slab)), *parts[k + 1 :])


def _witness(pair: _Pair, event: Event) -> Witness:
    """The event with its probabilities, enclosed in balls where possible."""
    places = pair.x, pair.x_prime
    x, x_prime = map(plain, places)
    said, test = event.describe(), event.python()
    try:
        p, q = (enclosure(event, pair.law, place) for place in places)
    except NoEnclosure:
        logs = [event.log_probability(pair.law, place) for place in places]
        mine, theirs = map(math.exp, logs)
        loss = logs[0] - logs[1] if logs[0] > -math.inf else 0.0
        return Witness(x, x_prime, said, mine, theirs, loss, test=test)
    loss, balls = certified_log_ratio(p, q), (str(p), str(q))
    return Witness(x, x_prime, said, p.middle, q.middle, loss, True, True, balls, test=test)
