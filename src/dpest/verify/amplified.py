"""What amplified inputs lose: each by itself, and all of them together.

An input whose change by t costs p t, and that is used with probability g, loses at most

    f(t) = ln([(1-g) + g K] / [(1-g) + g K e^(-p t)]),

a concave function of t with f(0) = 0. How far several inputs change is a matter of the relation:

linf, l2: every input by the radius, at most;
l1, whole numbers: unit after unit, and the dearest units are those that come first;
l1, real numbers: sum f_i(t_i) <= m r + sum [f_i(t_i) - m t_i] for every slope m, and f_i(t) - m t
lies below its tangent at any point.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cmp_to_key
from itertools import pairwise

from flint import arb, fmpq

from dpest.verify.model import Domain
from dpest.verify.price import Malformed, Price

MAX_UNITS = 4_000


@dataclass(frozen=True)
class Loss:
    """`step` is p, `share` is g and `factor` is K; a share of one means that nothing is gained."""

    step: Price
    share: fmpq
    factor: arb

    def at(self, t: fmpq) -> arb:
        """f(t)."""
        cost = self.step.ball() * arb(t)
        if self.share in (0, 1):
            return cost * arb(self.share)
        rest, used = arb(1 - self.share), arb(self.share) * self.factor
        return ((rest + used) / (rest + used * (-cost).exp())).log()

    def slope(self, t: fmpq) -> arb:
        """The derivative of f at t."""
        p = self.step.ball()
        if self.share in (0, 1):
            return p * arb(self.share)
        rest = arb(1 - self.share)
        left = arb(self.share) * self.factor * (-(p * arb(t))).exp()
        return p * left / (rest + left)


@dataclass(frozen=True)
class Tangent:
    """A slope, and for every input the point where its loss is replaced by a tangent."""

    slope: fmpq
    at: tuple[fmpq, ...]


def total_loss(
    losses: Sequence[Loss], norm: str, radius: fmpq, domain: Domain, tangent: Tangent | None
) -> arb:
    """The most that neighbours lose."""
    width = domain.width
    far = radius if width is None or radius < width else width
    if (tangent is not None) != (norm == "l1" and not domain.integral):
        raise Malformed("tangents are for real inputs that share one distance")
    if tangent is not None:
        return _on_tangents(losses, radius, far, tangent)
    if norm == "l1":
        return _by_units(losses, radius, far)
    return sum((loss.at(far) for loss in losses), arb(0))


def _on_tangents(losses: Sequence[Loss], radius: fmpq, far: fmpq, tangent: Tangent) -> arb:
    if len(tangent.at) != len(losses) or tangent.slope < 0:
        raise Malformed("every input needs its point, and the slope cannot be negative")
    total = arb(tangent.slope * min(radius, far * len(losses)))
    for loss, t in zip(losses, tangent.at, strict=True):
        if not 0 <= t <= far:
            raise Malformed("a point that no input can be moved to")
        tilt = loss.slope(t) - arb(tangent.slope)
        rise = (tilt * arb(far - t)).max(-tilt * arb(t))
        total += loss.at(t) - arb(tangent.slope * t) + rise
    return total


def _by_units(losses: Sequence[Loss], radius: fmpq, far: fmpq) -> arb:
    """The sum of the dearest increments; those of one input fall."""
    units, most = int(radius.floor()), int(far.floor())
    if most * len(losses) > MAX_UNITS:
        raise Malformed("too many units to be told apart")
    found: list[arb] = []
    for loss in losses:
        steps = [loss.at(fmpq(k)) for k in range(most + 1)]
        found += [(after - before).upper() for before, after in pairwise(steps)]
    found.sort(key=cmp_to_key(_dearest_first))
    return sum(found[:units], arb(0))


def _dearest_first(one: arb, other: arb) -> int:
    return int(one < other) - int(other < one)
