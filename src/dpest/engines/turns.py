"""Where the code decides by the input alone: there two neighbours can go different ways.

A threshold on an input, a clip, a sort: no noise stands between the neighbours, so what is lost
depends on where they are and not only on how they differ.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np

from dpest.engines.directions import Array, Corners, gradient
from dpest.numbers.rational import to_float
from dpest.program import Input, Linear, Piece, Program
from dpest.program.linear import pieces

_MOST = 12
"""So many thresholds are used."""
_LOOKED_AT = 2_000


def turns(program: Program) -> list[Linear]:
    """The lines in the input whose sign decides something."""
    found: dict[Linear, None] = {}
    for gap in itertools.islice(_gaps(program), _LOOKED_AT):
        if gap.terms and all(isinstance(v, Input) for v in gap.terms) and -gap not in found:
            found[gap] = None
        if len(found) == _MOST:
            break
    return list(found)


def _gaps(program: Program) -> Iterator[Linear]:
    """What is compared with zero, on the paths and inside of values."""
    for path in program.paths:
        conditions = list(path.conditions)
        for piece in pieces([*conditions, *(leaf.value for leaf in path.output.leaves)]):
            conditions += itertools.islice(piece.partition.conditions, _LOOKED_AT)
        for condition in conditions:
            yield from _resolved(condition.gap)


def _resolved(line: Linear) -> Iterator[Linear]:
    """The line with every choice of values for its pieces."""
    piece = next((v for v in line.terms if isinstance(v, Piece)), None)
    if piece is None:
        yield line
        return
    for value in piece.values:
        yield from _resolved(line.substitute({piece: value}))


def crossings(lines: Sequence[Linear], corners: Corners) -> Iterator[tuple[Array, Array]]:
    """Inputs at which a line changes its sign, each with differences that cross it."""
    n = corners.size
    for line in lines:
        slope = gradient(line, n)
        at = -to_float(line.const) * slope / (slope @ slope)
        yield from ((at, corners.along(sign * slope)) for sign in (1.0, -1.0))
    ends = _ends(lines, n)
    if ends is not None:
        yield from _split(*ends, corners)
        for place, sign in itertools.product(ends, (1.0, -1.0)):
            yield np.full(n, place), sign * corners.spread


def _ends(lines: Sequence[Linear], n: int) -> tuple[float, float] | None:
    """The least and the greatest threshold of a single input."""
    places = [
        -to_float(line.const / coefficient)
        for line in lines if len(line.terms) == 1 for coefficient in line.terms.values()
    ]  # fmt: skip
    return (min(places), max(places)) if places and n > 1 else None


def _split(low: float, high: float, corners: Corners) -> Iterator[tuple[Array, Array]]:
    """One half of the inputs at either end, and the input in the middle that can join a half."""
    middle = corners.size // 2
    centre = np.where(np.arange(corners.size) < middle, low, high)
    for place, sign in ((low, 1.0), (high, -1.0)):
        centre = centre.copy()
        centre[middle] = place
        yield centre, corners.along(sign * np.eye(corners.size)[middle])
