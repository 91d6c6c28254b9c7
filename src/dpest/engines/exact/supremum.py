"""The extremes of a log ratio of two densities over one observed number.

Both densities are analytic between known kinks and settle towards a limit in the tails, so a scan
between the kinks, a zoom on the best places and an extrapolation of the tails find the largest
ratio in either direction; both directions share every evaluation.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dpest.numbers.ties import clearly_above, nearest_largest

Array = NDArray[Any]
Status = Literal["attained", "approached", "unbounded", "impossible"]

_SUBDIVISIONS = 6
_TAIL = 60.0
_FAR = 2.0 ** np.arange(6, 11)
_ZOOMS = 10
_HALF = 8
_LEVEL = 1e-12
_ULPS = 4 * float(np.finfo(float).eps)
"""How far the log of a density may be off, relative to it."""
_SETTLING = 0.75
"""Growth from one distance to the next that shrinks less than so has no limit: like log(y)."""
_EXPLODING = 1e12
"""A loss beyond this that doubles from point to point belongs to a doubly exponential tail."""


@dataclass(frozen=True)
class Peak:
    """The supremum, a point that attains or nearly attains it, and which of the two it is."""

    loss: float
    y: float
    status: Status = "attained"
    edge: float | None = None
    """Where a loss is unbounded: the number next to which it is, None for far out."""


NOWHERE = Peak(-math.inf, 0.0)


@dataclass(frozen=True)
class Ratios:
    """log P/Q and log Q/P as [2, points]; -inf where the numerator has no density.

    `rounding` says for each point how far both may be off: far out the logs of both densities are
    large numbers with a small difference.
    """

    losses: Array
    rounding: Array

    @classmethod
    def of(cls, log_p: Array, log_q: Array) -> Ratios:
        with np.errstate(invalid="ignore"):
            forward = np.where(log_p == -np.inf, -np.inf, log_p - log_q)
            backward = np.where(log_q == -np.inf, -np.inf, log_q - log_p)
        sizes = [np.where(np.isfinite(log), np.abs(log), 0.0) for log in (log_p, log_q)]
        return cls(np.stack([forward, backward]), _ULPS * np.maximum(*sizes))

    def without(self, lost: Array) -> Ratios:
        """Nothing is said at some of the points."""
        return Ratios(np.where(lost, -np.inf, self.losses), self.rounding)


Losses = Callable[[Array], Ratios]


def larger(one: Peak, other: Peak) -> Peak:
    """The higher peak; of two infinite ones that of an impossible outcome."""
    if one.loss == other.loss == math.inf:
        return other if other.status == "impossible" else one
    return other if clearly_above(other.loss, one.loss) else one


def extremes(
    losses: Losses, kinks: Array, width: float, step: tuple[float, float] | None = None,
    settles: bool = True,
) -> tuple[Peak, Peak]:  # fmt: skip
    """sup of log P/Q and sup of log Q/P; `step` is (spacing, offset) of a lattice.

    A ratio that repeats itself without end instead of settling far out is looked at near the kinks.
    """
    lattice = _Lattice(step)
    hair = 1e-11 * max(width, float(np.max(np.abs(kinks), initial=0.0)) * 1e-3)
    points = np.unique(lattice.near(_candidates(np.unique(kinks), width, hair, settles)))
    unit = width + np.ptp(kinks) / 16
    far = lattice.near(np.concatenate([kinks.min() - unit * _FAR, kinks.max() + unit * _FAR]))
    values = losses(points).losses
    tails = losses(far)
    if not settles:
        tails = tails.without(np.full(len(far), True))
    zoomed = _zoom(losses, points, values, lattice, hair, float(np.median(kinks)))
    return tuple(  # type: ignore[return-value]
        _best(points, values[k], zoomed[k], far, tails.losses[k], tails.rounding)
        for k in range(2)
    )


@dataclass(frozen=True)
class _Lattice:
    step: tuple[float, float] | None

    def near(self, points: Array) -> Array:
        """The points, moved to the lattice where there is one."""
        if self.step is None:
            return points
        spacing, offset = self.step
        return np.rint((points - offset) / spacing) * spacing + offset


def _candidates(kinks: Array, width: float, hair: float, beyond: bool) -> Array:
    """Both sides of every kink, points between, and doubling steps beyond."""
    parts = [kinks - hair, kinks + hair]
    if len(kinks) > 1:
        share = np.arange(1, _SUBDIVISIONS) / _SUBDIVISIONS
        parts.append((kinks[:-1, None] + np.diff(kinks)[:, None] * share).ravel())
    reach = width * np.geomspace(0.25, _TAIL, 12) if beyond else np.array([])
    return np.concatenate([*parts, kinks[0] - reach, kinks[-1] + reach])


def _best(
    points: Array, values: Array, zoomed: Peak, far: Array, tails: Array, rounding: Array
) -> Peak:
    impossible = np.flatnonzero(values == np.inf)
    if impossible.size:
        return Peak(math.inf, float(points[impossible[len(impossible) // 2]]), "impossible")
    half = len(far) // 2
    low = _tail(points[:2], values[:2], far[:half], tails[:half], rounding[:half])
    high = _tail(points[:-3:-1], values[:-3:-1], far[half:], tails[half:], rounding[half:])
    return larger(larger(zoomed, low), high)


def _zoom(
    losses: Losses, points: Array, values: Array, lattice: _Lattice, hair: float, centre: float
) -> list[Peak]:
    """Narrow in on the best few candidates of both directions together.

    Where the loss is level, a place near the centre is taken: events are likeliest there.
    """
    tops = [_tops(row, np.abs(points - centre)) for row in values]
    best = [
        Peak(float(row[top[0]]), float(points[top[0]])) if len(top) else NOWHERE
        for row, top in zip(values, tops, strict=True)
    ]
    sides = np.repeat([0, 1], [len(top) for top in tops])
    places = np.concatenate(tops)
    if not len(places):
        return best
    left, middle, right = _brackets(points, places, hair)
    for _ in range(1 if lattice.step else _ZOOMS):
        rows = np.arange(len(sides))
        grid = lattice.near(_around(left, middle, right))
        found = losses(grid.ravel()).losses.reshape(2, *grid.shape)[sides, rows]
        found = np.where(np.isfinite(found), found, -np.inf)
        away = np.abs(grid - centre)
        for side in (0, 1):
            _update(best, side, grid, found, away, sides == side)
        peak = nearest_largest(found, away)
        peak = np.where(grid[rows, peak] == middle, _HALF, peak)
        ends = np.stack([left == middle, right == middle]) & (peak == _HALF)
        left, middle, right = (grid[rows, np.clip(peak + k, 0, 2 * _HALF)] for k in (-1, 0, 1))
        open_ = ~_are_settled(found, peak, ends)
        if not open_.any():
            break
        sides, left, middle, right = (v[open_] for v in (sides, left, middle, right))
    return best


def _brackets(points: Array, places: Array, hair: float) -> tuple[Array, Array, Array]:
    """Places with their neighbours; a place beside a kink has no neighbour across it."""
    left, middle, right = (points[np.clip(places + k, 0, len(points) - 1)] for k in (-1, 0, 1))
    left = np.where(middle - left <= 3 * hair, middle, left)
    right = np.where(right - middle <= 3 * hair, middle, right)
    return left, middle, right


def _around(left: Array, middle: Array, right: Array) -> Array:
    """A row of points from left to right for each middle, which is among them."""
    lower = np.linspace(left, middle, _HALF, endpoint=False, axis=1)
    return np.hstack([lower, np.linspace(middle, right, _HALF + 1, axis=1)])


def _tops(values: Array, away: Array) -> Array:
    """The highest few local maxima, the nearest first where they are equally high."""
    finite = np.where(np.isfinite(values), values, -np.inf)
    padded = np.concatenate([[-np.inf], finite, [-np.inf]])
    tops = np.flatnonzero((finite >= padded[:-2]) & (finite >= padded[2:]) & (finite > -np.inf))
    found: list[int] = []
    for _ in range(min(3, len(tops))):
        found.append(int(tops[nearest_largest(finite[tops], away[tops])]))
        tops = tops[tops != found[-1]]
    return np.array(found, dtype=int)


def _update(
    best: list[Peak], side: int, grid: Array, found: Array, away: Array, mine: Array
) -> None:
    """Note a better loss; its place only where it is clearly better."""
    if not mine.any():
        return
    flat, where = found[mine].ravel(), grid[mine].ravel()
    top, place = float(flat.max()), int(nearest_largest(flat, away[mine].ravel()))
    y = float(where[place]) if clearly_above(top, best[side].loss) else best[side].y
    best[side] = Peak(max(top, best[side].loss), y)


def _are_settled(found: Array, peak: Array, ends: Array) -> Array:
    """For every peak, whether nothing higher lies beside it.

    Either side is as high as the peak, or the peak is the end of a smooth stretch that falls away
    from it. That a round gains nothing says little: the last round's peak is in every grid.
    """
    rows = np.arange(len(peak))
    top = found[rows, peak]
    settled = ~np.isfinite(top)
    with np.errstate(invalid="ignore"):
        sides = [_beside(found, peak, k) for k in (-1, 1)]
        level = [top - near <= _LEVEL * np.abs(top) for near, _ in sides]
        falls = [4 * near - 3 * top - far <= 0 for near, far in sides]
    settled |= (level[0] | ends[0]) & (level[1] | ends[1])
    settled |= (ends[0] & falls[1]) | (ends[1] & falls[0])
    return settled


def _beside(found: Array, peak: Array, way: int) -> tuple[Array, Array]:
    """The first and the second value next to every peak on one side."""
    rows, last = np.arange(len(peak)), found.shape[1] - 1
    near, far = (found[rows, np.clip(peak + way * k, 0, last)] for k in (1, 2))
    return near, far


def _tail(edges: Array, at_edges: Array, far: Array, values: Array, rounding: Array) -> Peak:
    """The limit far out, from distances that double; the first edge is the outermost point."""
    edge, at_edge = float(edges[0]), float(at_edges[0])
    if not math.isfinite(at_edge):
        return NOWHERE
    if not np.isfinite(values).all():
        explodes = at_edge > max(_EXPLODING, 2 * at_edges[1])
        return Peak(math.inf, edge, "unbounded") if explodes else NOWHERE
    growth = np.diff(np.concatenate([[at_edge], values]))
    noise = 1e-9 * max(1.0, float(np.max(np.abs(values)))) + float(np.max(rounding))
    if (np.abs(growth) <= noise).all():
        return Peak(at_edge, float(edge))
    if growth[-1] > noise and growth[-1] >= _SETTLING * growth[-2]:
        return Peak(math.inf, float(far[0]), "unbounded")
    return Peak(extrapolated(values)[0], float(far[-1]), "approached")


def extrapolated(values: Array) -> tuple[float, float]:
    """Richardson's limit of a sequence whose error halves term by term, and how far it is sure.

    Of all orders the one whose limit the next changes least.
    """
    limits, table = [float(values[-1])], values
    for order in range(1, len(values)):
        table = (2**order * table[1:] - table[:-1]) / (2**order - 1)
        limits.append(float(table[-1]))
    changes = np.abs(np.diff(limits))
    best = int(np.argmin(changes))
    return limits[1 + best], float(changes[best])
