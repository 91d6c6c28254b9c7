"""The largest loss over several released numbers whose densities are sums over cases.

The laws are smooth between the hyperplanes on which a draw is at its centre or a condition flips.
Where the logs are piecewise linear the extremes are at corners, in one of the cones that meet
there, or far out; so the corners are looked at from all sides and at several distances, and the
best places are improved along lines. What is found is a lower bound of the supremum, and the
supremum itself where no case can lose more.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpest.engines.exact.closed import closed
from dpest.engines.exact.density import Cell
from dpest.engines.exact.extreme import Extreme, Slab
from dpest.engines.exact.factors import break_lines, distinct, widths
from dpest.engines.exact.plan import Observed, Step
from dpest.engines.exact.refusal import OutOfReach
from dpest.engines.exact.released import LOWEST, can_vanish
from dpest.engines.exact.supremum import Ratios, Status, extremes
from dpest.numbers.rational import ZERO, to_float
from dpest.numbers.ties import clearly_above, nearest_largest
from dpest.program import Linear

Array = NDArray[Any]
_CORNERS = 400
_POINTS, _INTEGRALS = 8_000, 800
"""So many corners, and points around them, are looked at; fewer where each is an integral."""
_DISTANCES = np.array([0.0, 0.25, 1.0, 4.0, 16.0, 64.0])
_HAIR, _MARGIN = 1e-11, 1e-6
"""How close to a hyperplane the losses are looked at, in widths; the latter where a density may
vanish there, and with it the digits of the ratio."""
_ON = 1e-9
"""A number this close to a hyperplane, in widths, lies next to it."""
_MOST = 6
"""More released numbers than this have too many corners."""
_STARTS, _ROUNDS = 2, 4
_Top = tuple[float, Array, Status]
"""A loss, where it is, and whether it is attained there."""


def joint_extremes(
    p: Cell, q: Cell, at_most: tuple[float, float]
) -> tuple[Extreme | None, Extreme | None]:
    """The largest losses that are found, forward and backward; none is above `at_most`."""
    if len(p.observed) > _MOST or any(p.lattice(k) for k in range(len(p.observed))):
        raise OutOfReach(
            f"{len(p.observed)} released numbers depend on each other in a way that has no "
            "one-dimensional form"
        )
    ratio = _Ratio(closed(p), closed(q))
    points = ratio.candidates
    values = ratio.losses(points).losses
    forward, backward = (
        _Climb(ratio, side, bound).extreme(points, values[side])
        for side, bound in enumerate(at_most)
    )
    return forward, backward


class _Ratio:
    """Both losses as functions of the released numbers, and where they are not smooth."""

    def __init__(self, p: Cell, q: Cell) -> None:
        self.p, self.q = p, q
        self.symbols = p.observed
        batches = [*p.batches, *q.batches]
        self.lines = _in(self.symbols, [line for b in batches for line in b.observed_lines])
        self.normals, self.consts = self._numbers(self.lines)
        jumping = [f for b in batches for f in b.factors
                   if isinstance(f, Step) or f.law.support != (None, None)]  # fmt: skip
        self.jumps = self._numbers(_in(self.symbols, [b for f in jumping for b in break_lines(f)]))
        found = [w for b in batches for v in (*self.symbols, *b.axes) for w in widths(b.factors, v)]
        self.unit = max(found)
        self.size = np.linalg.norm(self.normals, axis=1)
        self.vanishes = can_vanish(p) or can_vanish(q)

    def _numbers(self, lines: Sequence[Linear]) -> tuple[Array, Array]:
        normals = [[to_float(line.terms.get(v, ZERO)) for v in self.symbols] for line in lines]
        shape = (len(lines), len(self.symbols))
        return np.array(normals).reshape(shape), np.array([to_float(line.const) for line in lines])

    def losses(self, y: Array) -> Ratios:
        """Nothing where a digit is lost, as on a jump, where both sides would count."""
        normals, consts = self.jumps
        size = np.abs(y) @ np.abs(normals).T + np.abs(consts)
        lost = (np.abs(y @ normals.T + consts) <= 1e-14 * np.maximum(1.0, size)).any(axis=1)
        if self.vanishes:
            away = np.abs(y @ self.normals.T + self.consts) / self.size
            lost |= (away < 0.5 * _MARGIN * self.unit).any(axis=1)
        logs = self.p.log_density(y), self.q.log_density(y)
        for log in logs:
            lost |= (log > -np.inf) & (log < LOWEST)
        return Ratios.of(*logs).without(lost)

    @cached_property
    def _bases(self) -> Array:
        """Sets of hyperplanes that meet in one point, a fair choice where they are many."""
        m, k = self.normals.shape
        if math.comb(m, k) <= 8 * _CORNERS:
            sets = np.array(list(itertools.combinations(range(m), k)), dtype=int)
        else:
            rng = np.random.default_rng(0)
            sets = np.array([rng.choice(m, k, replace=False) for _ in range(8 * _CORNERS)])
        meeting = np.abs(np.linalg.det(self.normals[sets])) > 1e-9
        sets = sets[meeting]
        integrated = any(b.axes for b in (*self.p.batches, *self.q.batches))
        points = _INTEGRALS if integrated else _POINTS
        most = max(1, min(_CORNERS, points // (len(_DISTANCES) * 2**k)))
        places = np.unique(np.linspace(0, len(sets) - 1, min(most, len(sets))).astype(int))
        return sets[places]

    @cached_property
    def candidates(self) -> Array:
        """Points in the cones around corners, the nearest to their corners first."""
        normals = self.normals[self._bases]
        corners = np.linalg.solve(normals, -self.consts[self._bases][..., None])[..., 0]
        signs = np.array(list(itertools.product((1.0, -1.0), repeat=len(self.symbols))))
        sides = np.einsum("bij,sj->bsi", np.linalg.inv(normals), signs)
        hair = _HAIR * max(self.unit, float(np.abs(corners).max()))
        hair = _MARGIN * self.unit * 4 if self.vanishes else hair
        steps = np.maximum(_DISTANCES * self.unit, hair)
        points = corners[None, :, None, :] + steps[:, None, None, None] * sides
        return points.reshape(-1, len(self.symbols))

    def frame(self, y: Array) -> list[int]:
        """Independent hyperplanes, those nearest to the point."""
        away = np.round(np.abs(self.normals @ y + self.consts) / self.size / self.unit / _ON)
        chosen: list[int] = []
        for k in np.lexsort((np.count_nonzero(self.normals, axis=1), away)).tolist():
            if np.linalg.matrix_rank(self.normals[[*chosen, k]]) > len(chosen):
                chosen.append(k)
        return chosen


def _in(symbols: Sequence[Observed], lines: Sequence[Linear]) -> list[Linear]:
    """The lines that hold released numbers and nothing else."""
    return distinct(line for line in lines if line.terms and set(line.terms) <= set(symbols))


@dataclass
class _Climb:
    """From the best candidates uphill, in one direction of the loss."""

    ratio: _Ratio
    side: int
    bound: float

    def extreme(self, points: Array, values: Array) -> Extreme | None:
        """The highest place; None where there is no density at all."""
        impossible = np.flatnonzero(values == np.inf)
        if len(impossible) and self.bound == math.inf:
            return self._found(math.inf, points[impossible[len(impossible) // 2]], "impossible")
        values = np.where(values == np.inf, -np.inf, values)
        if not (values > -np.inf).any():
            return None
        place = int(nearest_largest(values, np.arange(len(values))))
        top: _Top = float(values[place]), points[place], "attained"
        for start in self._starts(points, values):
            if self._settled(top[0]):
                break
            found = self._uphill(float(values[start]), points[start])
            top = found if clearly_above(found[0], top[0]) else top
        loss, y, status = top
        return self._found(self.bound if self._settled(loss) else loss, y, status)

    def _settled(self, loss: float) -> bool:
        """Whether no case can lose more; next to a corner a hair of it is missing."""
        return loss >= self.bound - _ON * max(1.0, abs(loss))

    def _starts(self, points: Array, values: Array) -> list[int]:
        """The best candidate, and the best one elsewhere."""
        found: list[int] = []
        left = values.copy()
        for _ in range(_STARTS):
            place = int(nearest_largest(left, np.arange(len(left))))
            if left[place] == -np.inf:
                break
            found.append(place)
            left[np.linalg.norm(points - points[place], axis=1) < self.ratio.unit] = -np.inf
        return found

    def _uphill(self, loss: float, y: Array) -> _Top:
        status: Status = "attained"
        for _ in range(_ROUNDS):
            before = loss
            frame = np.linalg.inv(self.ratio.normals[self.ratio.frame(y)]).T
            for direction in np.unique(np.vstack([frame, np.eye(len(y))]), axis=0):
                peak = self._along(y, direction / np.linalg.norm(direction))
                if peak is not None and clearly_above(peak[0], loss):
                    loss, y, status = peak
                    if loss == math.inf:
                        return peak
            if not clearly_above(loss, before):
                break
        return loss, y, status

    def _along(self, y: Array, direction: Array) -> _Top | None:
        """The highest place on a line through the point."""
        slopes = self.ratio.normals @ direction
        crossing = np.abs(slopes) > 1e-9
        if not crossing.any():
            return None
        at = self.ratio.normals[crossing] @ y + self.ratio.consts[crossing]

        def losses(t: Array) -> Ratios:
            return self.ratio.losses(y + t[:, None] * direction)

        peak = extremes(losses, -at / slopes[crossing], self.ratio.unit)[self.side]
        if peak.loss == math.inf != self.bound:
            return None
        return peak.loss, y + peak.y * direction, peak.status

    def _found(self, loss: float, y: Array, status: Status) -> Extreme:
        slack = self.bound - loss if math.isfinite(loss) else 0.0
        cone = self._cone(y)
        slabs = cone if status == "unbounded" else ()
        place = tuple(y.tolist())
        return Extreme(loss, self.ratio.p.key, place, status, slabs, None, cone, slack)

    def _cone(self, y: Array) -> tuple[Slab, ...]:
        """The half spaces next to the hyperplanes that are nearest, on the side of the point."""
        ratio = self.ratio
        frame = ratio.frame(y)
        inverse = np.linalg.inv(ratio.normals[frame])
        slabs = []
        for k, edge in zip(frame, inverse.T, strict=True):
            away = float(ratio.normals[k] @ y + ratio.consts[k])
            const = -ratio.consts[k]
            if abs(away) > _ON * ratio.unit * ratio.size[k] * max(1.0, abs(const) / ratio.unit):
                const = float(f"{ratio.normals[k] @ y:.8g}")
                step = 1e-3 * ratio.unit * edge
                up, down = ratio.losses(np.stack([y + step, y - step])).losses[self.side].tolist()
                if clearly_above(up, down) or clearly_above(down, up):
                    away = 1.0 if up > down else -1.0
            slabs.append(_half_space(ratio.lines[k], const + 0.0, away > 0))
        return tuple(slabs)


def _half_space(line: Linear, end: float, above: bool) -> Slab:
    terms = tuple((v.place, c) for v, c in line.terms.items() if isinstance(v, Observed))
    return Slab(terms, end, math.inf) if above else Slab(terms, -math.inf, end)
