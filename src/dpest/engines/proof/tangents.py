"""How neighbours in l1 share their distance between inputs so that they lose most, in floats."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from flint import fmpq

from dpest.verify.amplified import Loss, Tangent

_ROUNDS = 200
_PLAIN = 1_000_000


def tangent_of(losses: Sequence[Loss], radius: fmpq, far: fmpq) -> Tangent:
    """The slope at which the inputs together go just as far as they may, and where each is then."""
    most, total = _float(far), _float(radius)
    low, high = 0.0, max(_float_of(loss.step.ball()) for loss in losses)
    for _ in range(_ROUNDS):
        slope = (low + high) / 2
        if sum(_reach(loss, slope, most) for loss in losses) > total:
            low = slope
        else:
            high = slope
    at = tuple(min(far, _plain(_reach(loss, high, most))) for loss in losses)
    return Tangent(_exact(_slope(losses, at, far, high)), at)


def _slope(losses: Sequence[Loss], at: Sequence[fmpq], far: fmpq, slope: float) -> float:
    """The slope at the point of an input that goes some way but not all the way."""
    for loss, t in zip(losses, at, strict=True):
        if 0 < t < far:
            return _float_of(loss.slope(t))
    return slope


def _reach(loss: Loss, slope: float, most: float) -> float:
    """Where the loss of an input rises with this slope."""
    p = _float_of(loss.step.ball())
    if loss.share in (0, 1):
        return most if p * _float(loss.share) > slope else 0.0
    if slope >= p:
        return 0.0
    odds = _float(loss.share / (1 - loss.share)) * _float_of(loss.factor)
    t = math.log(odds * (p - slope) / slope) / p if slope > 0 else math.inf
    return min(max(t, 0.0), most)


def _plain(value: float) -> fmpq:
    near = Fraction(value).limit_denominator(_PLAIN)
    return fmpq(near.numerator, near.denominator)


def _exact(value: float) -> fmpq:
    return fmpq(*value.as_integer_ratio())


def _float(value: fmpq) -> float:
    return int(value.p) / int(value.q)


def _float_of(ball: object) -> float:
    return float(ball)  # type: ignore[arg-type]
