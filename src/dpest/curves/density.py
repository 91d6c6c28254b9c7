"""A part of a loss law that comes from densities of one released number.

Both densities are known at the nodes of Gauss-Legendre panels on which the loss is monotone, so
the place where it passes a given value is a root of a polynomial, and the masses beyond it are
integrals of what the nodes determine.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.polynomial import legendre
from numpy.typing import NDArray

from dpest.curves.atoms import Atoms, two_points
from dpest.curves.grid import Rounding
from dpest.engines.exact import OutOfReach
from dpest.numbers.panels import initial_panels, log_sum

Array = NDArray[np.float64]
LogDensities = Callable[[Array], tuple[Array, Array]]
"""points -> log densities under both inputs"""

_ORDER = 16
_NODES, _WEIGHTS = legendre.leggauss(_ORDER)
_SIZES = (2 * np.arange(_ORDER)[:, None] + 1) / 2
_FIT = _SIZES * legendre.legvander(_NODES, _ORDER - 1).T * _WEIGHTS
"""Legendre coefficients from values at the nodes."""
_SETTLED = 1e-9
"""The rule is exact to degree 31, so last coefficients of 1e-9 leave an error near 1e-17."""
_NEGLIGIBLE = 1e-17
_STRAIGHT = 1e-11
_FLAT = 2e-13
"""Losses that vary by less over a panel are one value."""
_ROUNDS = 40
_RELATIVE_ROUNDS = 14
"""After so many halvings a panel need only be settled relative to the whole."""
_STEPS = 32
"""Bisections of a root: its error enters an integral of (p - e^eps q) squared."""
_MOST_OPEN = 64
"""If more panels than this are open by then, they do not settle any more."""
_CHUNK = 20_000
_MATRIX = 4_000_000


@dataclass(frozen=True, eq=False)
class Panels:
    """Panels on which the loss is strictly monotone, with the densities at their nodes."""

    log_half: Array
    """Log of half the width of each panel."""
    log_p: Array
    log_q: Array
    outer: Array
    """-1 or 1 for the last panel towards either infinity, 0 for the others."""

    @cached_property
    def _loss(self) -> Array:
        """Legendre coefficients of the loss, [panels, order]."""
        return np.asarray((self.log_p - self.log_q) @ _FIT.T)

    @cached_property
    def _ends(self) -> tuple[Array, Array]:
        """The loss at the left and right end of every panel."""
        signs = (-1.0) ** np.arange(_ORDER)
        return self._loss @ signs, self._loss.sum(axis=1)

    @cached_property
    def _masses(self) -> tuple[Array, Array]:
        return _integral(self.log_p, self.log_half), _integral(self.log_q, self.log_half)

    @property
    def log_masses(self) -> tuple[float, float]:
        """Log probability under both inputs."""
        p, q = (float(np.log(mass.sum())) for mass in self._masses)
        return p, q

    infinite = 0.0

    @property
    def missing(self) -> float:
        """A bound on the mass of larger losses further out: that of the outermost panels."""
        return float(self._masses[0][self._rising].sum())

    @property
    def _rising(self) -> NDArray[np.bool_]:
        """Which panels are the last ones where the loss rises."""
        left, right = self._ends
        return np.asarray((right - left) * self.outer > 0)

    @property
    def highest(self) -> tuple[float, float]:
        """Between what the largest loss lies."""
        return self.reach[1], np.inf if self._rising.any() else self.reach[1]

    @property
    def reach(self) -> tuple[float, float]:
        """The smallest and largest loss."""
        return float(np.min(self._ends)), float(np.max(self._ends))

    def deltas(self, eps: Array) -> Array:
        """The integral of (p - e^eps q) where that is positive."""
        p, q = self.above(eps)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.maximum(p - np.exp(np.where(q > 0, eps + np.log(q), -np.inf)), 0)

    def above(self, eps: Array) -> tuple[Array, Array]:
        """The mass of losses above eps, under both inputs."""
        low, high = np.minimum(*self._ends), np.maximum(*self._ends)
        order = np.argsort(low)
        p, q = (_from(mass[order], low[order], eps) for mass in self._masses)
        which, panel = np.nonzero((low[None, :] < eps[:, None]) & (eps[:, None] < high[None, :]))
        for k in range(0, len(which), _CHUNK):
            rows, places = which[k : k + _CHUNK], panel[k : k + _CHUNK]
            part_p, part_q = self._beyond(places, eps[rows])
            np.add.at(p, rows, part_p)
            np.add.at(q, rows, part_q)
        return p, q

    def _beyond(self, panel: NDArray[np.intp], eps: Array) -> tuple[Array, Array]:
        """The masses on the side of each panel where the loss is above eps."""
        rising = self._ends[1][panel] > self._ends[0][panel]
        root = self._root(panel, eps, rising)
        left, right = np.where(rising, root, -1.0), np.where(rising, 1.0, root)
        nodes = ((right + left) / 2)[:, None] + ((right - left) / 2)[:, None] * _NODES
        basis = legendre.legvander(nodes, _ORDER - 1)
        log_half = self.log_half[panel] + np.log(np.maximum(right - left, 1e-300) / 2)
        return tuple(  # type: ignore[return-value]
            _integral(np.einsum("kns,ks->kn", basis, logs[panel] @ _FIT.T), log_half)
            for logs in (self.log_p, self.log_q)
        )

    def _root(self, panel: NDArray[np.intp], eps: Array, rising: NDArray[np.bool_]) -> Array:
        """Where the loss is eps, by bisection."""
        coefficients = np.where(rising, 1.0, -1.0) * (self._loss[panel].T)
        coefficients[0] -= np.where(rising, eps, -eps)
        low, high = np.full(len(panel), -1.0), np.full(len(panel), 1.0)
        for _ in range(_STEPS):
            middle = (low + high) / 2
            below = legendre.legval(middle, coefficients, tensor=False) < 0
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        return (low + high) / 2

    def log_moments(self, order: Array) -> Array:
        """log of the integral of p e^(order * loss) over the panels; infinite if it diverges."""
        rows = max(1, _MATRIX // self.log_p.size)
        found = [self._log_moments(order[k : k + rows]) for k in range(0, len(order), rows)]
        return np.concatenate([np.zeros(0), *found])

    def _log_moments(self, order: Array) -> Array:
        values = self._weighted(order, slice(None))
        peak = values.max(axis=(1, 2))
        sums = np.exp(values - peak[:, None, None]).sum(axis=1) @ _WEIGHTS
        return np.where(self._diverges(order), np.inf, np.log(sums) + peak)

    def _weighted(self, order: Array, panels: Any) -> Array:
        """log of p e^(order * loss), times half the width, at the nodes of some panels."""
        log_p, log_q = self.log_p[panels], self.log_q[panels]
        base = log_p + self.log_half[panels][:, None]
        return np.asarray(base + order[:, None, None] * (log_p - log_q))

    def _diverges(self, order: Array) -> NDArray[np.bool_]:
        """Whether the logs of an integrand rise in a straight line towards infinity."""
        outer = self.outer != 0
        lines = np.stack([self.log_p[outer], self.log_q[outer]]) @ _FIT.T
        size = np.maximum(1.0, np.abs(lines).max(axis=2, initial=0.0))
        straight = (np.abs(lines[..., 2:]).max(axis=2, initial=0.0) <= _STRAIGHT * size).all(axis=0)
        p, q = lines[..., 1]
        rises = (p + order[:, None] * (p - q)) * self.outer[outer] >= 0
        return np.asarray((straight & rises).any(axis=1))

    def log_tails(self, order: Array) -> Array:
        """log of what bounds the part of a moment beyond the panels: that of the outermost."""
        values = self._weighted(order, self.outer != 0)
        return log_sum(values.reshape(len(order), -1), axis=1) + np.log(2)

    def excess_moments(self, order: Array) -> Array:
        """The integral of p (e^(order * loss) - 1)."""
        mass, loss = np.exp(self.log_p + self.log_half[:, None]) * _WEIGHTS, self.log_p - self.log_q
        with np.errstate(over="ignore", invalid="ignore"):
            return np.array([float((mass * np.expm1(t * loss)).sum()) for t in order])

    def mean(self) -> float:
        """The integral of p * loss."""
        values = np.exp(self.log_p + self.log_half[:, None]) * (self.log_p - self.log_q)
        return float((values @ _WEIGHTS).sum())

    def rounded(self, rounding: Rounding) -> Atoms:
        """Every panel as one outcome (better), or as one at either end of its losses (worse)."""
        with np.errstate(divide="ignore"):
            log_p, log_q = (np.log(mass) for mass in self._masses)
        if rounding == "low":
            return Atoms.of(log_p, log_q)
        low, high = np.minimum(*self._ends), np.maximum(*self._ends)
        outer = np.where(self.outer != 0, np.inf, 0.0)
        return two_points(log_p, log_q, high + outer, low - outer)

    def scaled(self, log_p: float, log_q: float) -> Panels:
        """The part beside an independent outcome of these probabilities."""
        return replace(self, log_p=self.log_p + log_p, log_q=self.log_q + log_q)

    def reversed(self) -> Panels:
        """The inputs exchanged."""
        return replace(self, log_p=self.log_q, log_q=self.log_p)


def _from(masses: Array, low: Array, eps: Array) -> Array:
    """The mass of the panels that lie above eps altogether."""
    sums = np.append(np.cumsum(masses[::-1])[::-1], 0.0)
    return np.asarray(sums[np.searchsorted(low, eps, side="left")])


def _integral(logs: Array, log_half: Array) -> Array:
    """The integral over every panel of what has these logs at the nodes."""
    return np.asarray(np.exp(logs + log_half[:, None]) @ _WEIGHTS)


def densities(
    log_densities: LogDensities, breaks: Array, narrow: float, wide: float
) -> tuple[Atoms, Panels | None]:
    """The loss law of one released number: regions of constant loss are atoms."""
    left, right, _ = initial_panels(breaks[None, :], narrow, wide)
    return _Refined(log_densities).settled(left, right)


class _Refined:
    """Halves panels until both densities and the loss are polynomials on them."""

    def __init__(self, log_densities: LogDensities) -> None:
        self.log_densities = log_densities
        self.atoms: list[tuple[Array, Array]] = []
        self.panels: list[tuple[Array, ...]] = []
        self.total = np.zeros(2)

    def settled(self, left: Array, right: Array) -> tuple[Atoms, Panels | None]:
        self.ends = left.min(), right.max()
        for round_ in range(_ROUNDS):
            left, right = self._round(left, right, round_)
            if not len(left):
                return self._result()
            if round_ > _RELATIVE_ROUNDS and len(left) > _MOST_OPEN:
                break
        raise OutOfReach("a density is not as smooth as its curve would need it to be")

    def _round(self, left: Array, right: Array, round_: int) -> tuple[Array, Array]:
        """Keep the panels that are settled; the others, cut in two."""
        half = (right - left) / 2
        nodes = ((right + left) / 2)[:, None] + half[:, None] * _NODES
        logs = [v.reshape(nodes.shape) for v in self.log_densities(nodes.ravel())]
        log_half = np.log(half)
        masses = np.stack([_integral(v, log_half) for v in logs])
        if round_ == 0:
            self.total = np.maximum(masses.sum(axis=1), 1e-300)
        gone = [np.all(v == -np.inf, axis=1) for v in logs]
        one_sided = gone[0] | gone[1]
        self._keep_atoms(one_sided & ~(gone[0] & gone[1]), logs, log_half)
        with np.errstate(invalid="ignore", over="ignore"):
            loss = logs[0] - logs[1]
            smooth = np.all(np.isfinite(loss), axis=1) & _is_smooth(logs, loss)
        small = np.all(masses <= _NEGLIGIBLE * self.total[:, None], axis=0)
        if round_ >= _RELATIVE_ROUNDS:
            self._keep_atoms(small & ~smooth & ~one_sided, logs, log_half)
            one_sided = one_sided | (small & ~smooth)
        with np.errstate(invalid="ignore"):
            spread = loss.max(axis=1) - loss.min(axis=1)
            size = np.maximum(1.0, np.abs(logs[0]).max(axis=1))
        flat = smooth & (spread <= _FLAT * size)
        self._keep_atoms(flat & ~one_sided, logs, log_half)
        cut = self._turning(loss, smooth & ~flat & ~one_sided)
        good = smooth & ~flat & ~one_sided & np.isnan(cut)
        outer = (right == self.ends[1]).astype(float) - (left == self.ends[0])
        self.panels.append((log_half[good], logs[0][good], logs[1][good], outer[good]))
        open_ = ~(one_sided | flat | good)
        at = np.where(np.isnan(cut), 0.0, cut)
        middle = (left + right) / 2 + half * at
        return (np.append(left[open_], middle[open_]), np.append(middle[open_], right[open_]))

    def _keep_atoms(self, which: Array, logs: list[Array], log_half: Array) -> None:
        with np.errstate(divide="ignore"):
            self.atoms.append(tuple(  # type: ignore[arg-type]
                np.log(_integral(v[which], log_half[which])) for v in logs
            ))  # fmt: skip

    def _turning(self, loss: Array, which: Array) -> Array:
        """Where a smooth loss turns, in the panel's own coordinate; NaN where it is monotone."""
        cut = np.full(len(loss), np.nan)
        steps = np.diff(np.where(which[:, None], loss, 0.0), axis=1)
        turning = which & ~(np.all(steps > 0, axis=1) | np.all(steps < 0, axis=1))
        for k in np.flatnonzero(turning):
            roots = legendre.legroots(legendre.legder(_FIT @ loss[k]))
            inside = roots[np.abs(roots.imag) < 1e-8].real
            inside = inside[np.abs(inside) < 1 - 1e-6]
            if len(inside):
                cut[k] = inside[np.argmin(np.abs(inside))]
        return cut

    def _result(self) -> tuple[Atoms, Panels | None]:
        atoms = Atoms.of(*(np.concatenate(v) for v in zip(*self.atoms, strict=True)))
        panels = Panels(*(np.concatenate(v) for v in zip(*self.panels, strict=True)))
        return atoms, panels if len(panels.log_half) else None


def _is_smooth(logs: list[Array], loss: Array) -> Array:
    """Whether the last coefficients of both densities and of the loss do not matter."""
    fine = np.ones(len(loss), bool)
    for values in logs:
        peak = values.max(axis=1, keepdims=True)
        tail = np.abs(np.exp(values - np.where(np.isfinite(peak), peak, 0)) @ _FIT[-3:].T)
        rounding = 64 * np.finfo(float).eps * np.abs(peak[:, 0])
        fine &= tail.max(axis=1) <= np.maximum(_SETTLED, rounding)
    size = np.maximum(1.0, np.abs(logs[0]).max(axis=1))
    with np.errstate(invalid="ignore"):
        return np.asarray(fine & (np.abs(loss @ _FIT[-3:].T).max(axis=1) <= 1e-11 * size))
