"""Plans: which share of each branch answers for which other branch, by a linear program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import highspy
import numpy as np
from flint import arb, fmpq

from dpest.engines.proof.linear_program import optimum
from dpest.engines.proof.refusal import NoProof

_SHARE = 10**12
_PLAIN, _CLOSE = 10_000, 1e-10
Mix = Mapping[int, fmpq]
"""Probabilities by branch."""
Plan = list[tuple[int, int, fmpq]]


def shares_of(
    pairs: Sequence[tuple[int, int]], factors: Sequence[float], one: Mix, other: Mix
) -> np.ndarray:
    """Shares in floats: every branch is handed on whole, none gets too much."""
    lp = highspy.HighsLp()
    count, rows = len(pairs), len(one) + len(other)
    lp.num_col_, lp.num_row_ = count + 1, rows
    lp.col_cost_ = np.append(np.zeros(count), 1.0)
    lp.col_lower_, lp.col_upper_ = np.zeros(count + 1), np.full(count + 1, np.inf)
    matrix = np.zeros((rows, count + 1))
    for k, ((u, v), factor) in enumerate(zip(pairs, factors, strict=True)):
        matrix[list(one).index(u), k] = 1.0
        matrix[len(one) + list(other).index(v), k] = factor
    given = np.array([float(arb(w)) for w in one.values()])
    matrix[len(one) :, count] = [-float(arb(w)) for w in other.values()]
    lp.row_lower_ = np.concatenate([given, np.full(len(other), -np.inf)])
    lp.row_upper_ = np.concatenate([given, np.zeros(len(other))])
    point = optimum(lp, [[(int(k), float(row[k])) for k in np.flatnonzero(row)] for row in matrix])
    if point is None:
        raise NoProof("no plan carries the branches of one input over to the other's")
    return point[:-1]


def exactly(pairs: Sequence[tuple[int, int]], shares: np.ndarray, one: Mix) -> Plan:
    """Rational shares that hand on every branch exactly; its largest share takes the rounding."""
    plan: Plan = []
    for u, weight in one.items():
        mine = [(v, share) for (w, v), share in zip(pairs, shares, strict=True) if w == u]
        largest = max(mine, key=lambda item: item[1])[0]
        rest = weight
        for v, share in mine:
            exact = _nearest(share)
            if v != largest and 0 < exact < weight:
                plan.append((u, v, exact))
                rest -= exact
        plan.append((u, largest, rest))
    return plan


def _nearest(share: float) -> fmpq:
    """The plain fraction that a share is, or a rational next to it."""
    plain = Fraction(float(share)).limit_denominator(_PLAIN)
    if abs(float(plain) - share) < _CLOSE:
        return fmpq(plain.numerator, plain.denominator)
    return fmpq(round(share * _SHARE), _SHARE)


def above(ball: arb) -> fmpq:
    """A rational that is surely above, by a share that no printed digit shows."""
    value = float(ball.upper()) * (1 + 1e-14)
    return fmpq(*value.as_integer_ratio())
