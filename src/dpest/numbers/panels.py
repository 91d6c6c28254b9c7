"""Composite Gauss-Legendre in log space.

Integrands are products of densities and interval masses: analytic between known break points and
falling off at least exponentially beyond the outermost. Many integrands that share an axis are
integrated together, each for a whole batch of parameters, on panels that are halved until every
one of them has settled relative to its own total.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Integrand = Callable[[Array, Array], Array]
"""(points [panels, nodes], batch index [panels]) -> log values [integrands, panels, nodes]"""

_ORDER = 16
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(_ORDER)
_LOG_WEIGHTS = np.log(_WEIGHTS)
_TOP = np.array([
    (2 * k + 1) / 2 * _WEIGHTS * np.polynomial.legendre.Legendre.basis(k)(_NODES)
    for k in (_ORDER - 3, _ORDER - 2, _ORDER - 1)
])  # fmt: skip
"""Rows that give the last three Legendre coefficients of an integrand from its node values."""
_SETTLED = 1e-8
"""The rule is exact to degree 31, so last coefficients of 1e-8 leave an error near 1e-16."""
_ROUNDING = 64 * np.finfo(float).eps
"""A log of size s is a multiple of about s * eps, and so coarse is what it is the log of."""
_MAX_ROUNDS = 60
_TAIL_WIDTHS = 64.0


def log_sum(values: Array, axis: int) -> Array:
    """log(sum(exp(values))) along an axis; -inf where all are."""
    peak = np.max(values, axis=axis, keepdims=True, initial=-np.inf)
    safe = np.where(np.isfinite(peak), peak, 0.0)
    with np.errstate(divide="ignore"):
        total = np.log(np.sum(np.exp(values - safe), axis=axis, keepdims=True)) + safe
    return np.squeeze(total, axis=axis)


def _panel_integrals(
    integrand: Integrand, left: Array, right: Array, batch: Array
) -> tuple[Array, Array]:
    """Log integrals of the panels, and the log size of their last Legendre coefficients."""
    half, middle = (right - left) / 2, (right + left) / 2
    values = integrand(middle[:, None] + half[:, None] * _NODES, batch)
    peak = np.max(values, axis=2, keepdims=True)
    peak = np.where(np.isfinite(peak), peak, 0.0)
    plain = np.exp(values - peak)
    with np.errstate(divide="ignore"):
        shift = peak[..., 0] + np.log(half)
        total = np.log(np.einsum("ipk,k->ip", plain, _WEIGHTS)) + shift
        rest = np.log(np.max(np.abs(np.einsum("ipk,tk->ipt", plain, _TOP)), axis=2)) + shift
    return total, rest


def initial_panels(breaks: Array, narrow: float, wide: float) -> tuple[Array, Array, Array]:
    """Panels between the break points and beyond them, doubling with the distance to a break."""
    steps = [narrow]
    while sum(steps) < _TAIL_WIDTHS * wide:
        steps.append(min(steps[-1] * 2, 8 * wide))
    reach = np.cumsum(steps)
    edges = np.sort(breaks, axis=1)
    parts = [edges, edges[:, :1] - reach, edges[:, -1:] + reach]
    gaps = np.diff(edges, axis=1) / 2
    if np.max(gaps, initial=0.0) > narrow:
        inner = np.minimum(reach, gaps[..., None])
        parts += [(edges[:, :-1, None] + inner).reshape(len(edges), -1),
                  (edges[:, 1:, None] - inner).reshape(len(edges), -1)]  # fmt: skip
    edges = np.sort(np.concatenate(parts, axis=1), axis=1)
    left, right = edges[:, :-1], edges[:, 1:]
    batch = np.broadcast_to(np.arange(len(edges))[:, None], left.shape)
    real = right - left > 1e-13 * narrow
    return left[real], right[real], batch[real]


def _accumulate(totals: Array, values: Array, batch: Array) -> None:
    """Add panel integrals (in logs) to the totals of their batch entry."""
    order = np.argsort(batch, kind="stable")
    starts = np.flatnonzero(np.diff(batch[order], prepend=-1))
    sums = np.logaddexp.reduceat(values[:, order], starts, axis=1)
    places = batch[order][starts]
    totals[:, places] = np.logaddexp(totals[:, places], sums)


def log_integrals(
    integrand: Integrand, breaks: Array, narrow: float, wide: float, count: int
) -> Array:
    """Log integrals over the whole line, [count, batch].

    `breaks` [batch, m] holds every point where an integrand is not analytic or has its centre;
    `narrow` and `wide` are the smallest and largest width of the laws involved.
    """
    left, right, batch = initial_panels(breaks, narrow, wide)
    totals = np.full((count, len(breaks)), -np.inf)
    for _ in range(_MAX_ROUNDS):
        values, rest = _panel_integrals(integrand, left, right, batch)
        scale = totals.copy()
        _accumulate(scale, values, batch)
        settled = _is_settled(rest, scale[:, batch])
        if settled.any():
            _accumulate(totals, values[:, settled], batch[settled])
        if settled.all():
            return totals
        open_ = ~settled
        middle = (left + right)[open_] / 2
        left, right = np.append(left[open_], middle), np.append(middle, right[open_])
        batch = np.append(batch[open_], batch[open_])
    raise ArithmeticError("a quadrature did not settle: the integrand is not as smooth as assumed")


def _is_settled(rest: Array, scale: Array) -> Array:
    """Panels in which no integrand has a last coefficient that matters to its total."""
    with np.errstate(invalid="ignore"):
        share = np.where(rest == -np.inf, -np.inf, rest - scale)
    size = np.where(np.isfinite(scale), np.abs(scale), 0.0)
    return np.asarray(np.all(share <= np.log(np.maximum(_SETTLED, _ROUNDING * size)), axis=0))


def log_cumulative(
    integrand: Integrand, breaks: Array, points: Array, narrow: float, wide: float, count: int
) -> Array:
    """Log integrals from minus infinity to every point, [count, points].

    All points share one set of panels, each accurate relative to the integral up to it.
    """
    edges, place = np.unique(points, return_inverse=True)
    left, right, _ = initial_panels(np.union1d(breaks, edges[:1])[None, :], narrow, wide)
    inside = edges[(edges > left[0]) & (edges < right[-1])]
    cuts = np.unique(np.concatenate([left, right[-1:], inside]))
    left, right = cuts[:-1], cuts[1:]
    values = np.empty((count, 0))
    rest = np.empty((count, 0))
    for _ in range(_MAX_ROUNDS):
        fresh = slice(values.shape[1], None)
        new, new_rest = _panel_integrals(
            integrand, left[fresh], right[fresh], np.zeros(len(left[fresh]), int)
        )
        values, rest = np.append(values, new, axis=1), np.append(rest, new_rest, axis=1)
        order = np.argsort(left)
        left, right, values, rest = left[order], right[order], values[:, order], rest[:, order]
        running = np.logaddexp.accumulate(values, axis=1)
        open_ = ~_is_settled(rest, running)
        if not open_.any():
            before = np.column_stack([np.full(count, -np.inf), running])
            return before[:, np.searchsorted(right, edges, side="right")][:, place.ravel()]
        middle = (left + right)[open_] / 2
        left = np.concatenate([left[~open_], left[open_], middle])
        right = np.concatenate([right[~open_], middle, right[open_]])
        values, rest = values[:, ~open_], rest[:, ~open_]
    raise ArithmeticError("a quadrature did not settle: the integrand is not as smooth as assumed")


def log_sums(
    integrand: Integrand, low: Array, high: Array, count: int, limit: int = 400_000
) -> Array:
    """Log sums over the integers from low to high (per batch entry), [count, batch]."""
    span = int(np.max(high - low, initial=0)) + 1
    if span > limit:
        raise ArithmeticError(f"a sum over {span} integers is too long")
    totals = np.empty((count, len(low)))
    for part in np.array_split(np.arange(len(low)), -(-span * len(low) // limit)):
        points = low[part, None] + np.arange(span)
        values = integrand(points, part)
        totals[:, part] = log_sum(np.where(points <= high[part, None], values, -np.inf), axis=2)
    return totals
