"""Between which constants the extremes of a program stay, whatever the input and the noise."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from flint import fmpq

if TYPE_CHECKING:
    from dpest.verify.model import Extreme, Line, Model

Bound = fmpq | None
"""A constant, or None where there is none."""
Range = tuple[Bound, Bound]


def ranges_of(model: Model) -> tuple[Range, ...]:
    """The range of every extreme.

    What inputs pick is at least the least of the lines and at most the greatest. The k-th smallest
    of some numbers is at least the k-th smallest of their lower bounds, and at most the k-th
    smallest of their upper bounds.
    """
    found: list[Range] = []
    for extreme in model.extremes:
        own = [_line_range(model, model.lines[k], found) for k in extreme.of]
        low = _ranked([low for low, _ in own], extreme)
        negated = [None if high is None else -high for _, high in own]
        high = _ranked(negated, extreme, mirrored=True)
        found.append((low, None if high is None else -high))
    return tuple(found)


def _ranked(lows: list[Bound], extreme: Extreme, mirrored: bool = False) -> Bound:
    """The bound at the place of the extreme; numbers without one come first."""
    place = 0
    if extreme.rank is not None:
        place = len(lows) - 1 - extreme.rank if mirrored else extreme.rank
    known = sorted(low for low in lows if low is not None)
    unknown = len(lows) - len(known)
    return None if place < unknown else known[place - unknown]


def _line_range(model: Model, line: Line, known: list[Range]) -> Range:
    if line.noise:
        return None, None
    box = model.domain.low, model.domain.high
    spread = [(c, box) for c in line.inputs.values()]
    spread += [(c, known[z]) for z, c in line.extremes.items()]
    return (
        _sum(line.const, (_scaled(c, low if c > 0 else high) for c, (low, high) in spread)),
        _sum(line.const, (_scaled(c, high if c > 0 else low) for c, (low, high) in spread)),
    )


def _scaled(c: fmpq, bound: Bound) -> Bound:
    return None if bound is None else c * bound


def _sum(const: fmpq, bounds: Iterable[Bound]) -> Bound:
    total = const
    for bound in bounds:
        if bound is None:
            return None
        total += bound
    return total
