"""Several released numbers that depend on each other: the loss against brute force."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import dpest
from dpest.engines.exact import ExactLaw, event_of


def laplace(z, scale=1.0):
    return np.exp(-np.abs(z) / scale) / (2 * scale)


def adaptive(x, rng):
    a = x[0] + rng.laplace(scale=2)
    return a, x[1] + (rng.laplace(scale=1) if a > 0 else rng.laplace(scale=4))


def adaptive_density(x, y):
    scale = np.where(y[0] > 0, 1.0, 4.0)
    return laplace(y[0] - x[0], 2.0) * laplace(y[1] - x[1], scale)


def refined(x, rng):
    a = x[0] + rng.laplace(scale=2)
    return a, a + x[1] + rng.laplace()


def refined_density(x, y):
    return laplace(y[0] - x[0], 2.0) * laplace(y[1] - y[0] - x[1])


def least_squares(x, rng):
    a, b, c = np.array([x[0], x[1], x[0] + x[1]]) + rng.laplace(size=3)
    return (2 * a - b + c) / 3, (2 * b - a + c) / 3


def least_squares_density(x, y):
    """The noise is (u, v, u + v) + t (1, 1, -1) for some t."""
    u, v = y[0] - x[0], y[1] - x[1]
    t = np.linspace(-40, 40, 80_001)[:, None]
    inner = laplace(u + t) * laplace(v + t) * laplace(u + v - t)
    return np.trapezoid(inner, dx=1e-3, axis=0)


def ordered(x, rng):
    return np.sort(x + rng.laplace(size=len(x)))


def ordered_density(x, y):
    orders = itertools.permutations(range(len(x)))
    total = sum(math.prod(laplace(y[k] - x[i]) for k, i in enumerate(order)) for order in orders)
    return np.where((np.diff(y, axis=0) > 0).all(axis=0), total, 0.0)


def summed(x, rng):
    noisy = x + rng.laplace(size=2)
    return np.max(noisy), np.sum(noisy)


def summed_density(x, y):
    low = y[1] - y[0]
    pairs = laplace(y[0] - x[0]) * laplace(low - x[1]) + laplace(y[0] - x[1]) * laplace(low - x[0])
    return np.where(y[0] > low, pairs, 0.0)


CASES = [
    (adaptive, adaptive_density, [-3.0, 1.0], [-4.0, 0.0]),
    (adaptive, adaptive_density, [0.0, 0.0], [1.0, 1.0]),
    (refined, refined_density, [0.0, 0.0], [1.0, -1.0]),
    (least_squares, least_squares_density, [0.0, 1.0], [1.0, 2.0]),
    (ordered, ordered_density, [-1.0, 2.0], [-2.0, 3.0]),
    (ordered, ordered_density, [2.0, 3.0, 0.0], [2.0, 2.0, 1.0]),
    (ordered, ordered_density, [2.0, 0.0, 2.0], [3.0, -1.0, 3.0]),
    (summed, summed_density, [1.0, 3.0], [2.0, 2.5]),
]
NAMES = [f"{case[0].__name__}-{case[2]}" for case in CASES]


def points(n, count):
    """Places everywhere, and next to the corners of a grid."""
    rng = np.random.default_rng(5)
    grid = rng.integers(-6, 7, (count, n)) + rng.choice([-1e-7, 1e-7], (count, n))
    return np.concatenate([rng.uniform(-8, 8, (count, n)), grid]).T


@pytest.mark.parametrize(("mechanism", "density", "x", "y"), CASES, ids=NAMES)
def test_no_outcome_loses_more_than_is_found(mechanism, density, x, y):
    found = ExactLaw(dpest.trace(mechanism, len(x))).pair(np.array(x), np.array(y))
    outcomes = points(len(mechanism(np.array(x), np.random.default_rng())),
                      150 if mechanism is least_squares else 20_000)  # fmt: skip
    p, q = density(x, outcomes), density(y, outcomes)
    losses = np.log(p[p > 0] / q[p > 0])
    assert found.forward.loss == pytest.approx(losses.max(), rel=2e-3)
    assert found.backward.loss == pytest.approx(-losses.min(), rel=2e-3)
    assert found.forward.loss >= losses.max() - 1e-5
    assert found.backward.loss >= -losses.min() - 1e-5


@pytest.mark.parametrize(("mechanism", "density", "x", "y"), CASES, ids=NAMES)
def test_the_event_shows_the_loss(mechanism, density, x, y):
    law = ExactLaw(dpest.trace(mechanism, len(x)))
    pair = law.pair(np.array(x), np.array(y))
    for directed, a, b in ((pair.forward, x, y), (pair.backward, y, x)):
        event = event_of(law, directed, np.array(a), np.array(b))
        gap = event.log_probability(law, np.array(a)) - event.log_probability(law, np.array(b))
        assert gap >= directed.loss * (1 - 1e-6)


def two_largest(x, rng):
    noisy = np.sort(x + rng.laplace(size=3))
    return noisy[-1], noisy[-2]


AUDITS = [
    (adaptive, 2, 1.5), (refined, 2, 1.5), (least_squares, 2, 3.0), (ordered, 2, 2.0),
    (ordered, 3, 3.0), (summed, 2, 2.0), (two_largest, 3, 3.0),
]  # fmt: skip


@pytest.mark.parametrize(
    ("mechanism", "size", "loss"), AUDITS, ids=[f"{f.__name__}-{n}" for f, n, _ in AUDITS]
)
def test_an_audit_reaches_the_supremum(mechanism, size, loss):
    report = dpest.audit(mechanism, dpest.reals(size), dpest.linf(1))
    assert report.bound.lower_status == "certified"
    assert loss * (1 - 1e-6) <= report.lower <= loss


def test_a_listed_pair_has_an_exact_loss_where_no_case_loses_more():
    pair = dpest.pairs([([0.0, 0.0], [1.0, 1.0])])
    report = dpest.audit(adaptive, dpest.reals(2), pair)
    assert report.lower == report.upper == pytest.approx(1.5, rel=1e-9)


def test_a_listed_pair_has_bounds_where_a_case_may_lose_more():
    """No order of the numbers makes all three inputs look different at once."""
    pair = dpest.pairs([([-1.0, 0.0, -1.0], [-2.0, -1.0, 0.0])])
    report = dpest.audit(ordered, dpest.reals(3), pair)
    assert (report.lower, report.upper) == (pytest.approx(1), pytest.approx(3))
    assert "largest loss that was found" in " ".join(report.notes)


def test_supports_that_move_are_impossible_outcomes():
    def mechanism(x, rng):
        a = x[0] + rng.laplace()
        return a, x[1] + (rng.exponential() if a > 1 else 2 * rng.exponential())

    report = dpest.audit(mechanism, dpest.reals(2), dpest.linf(1))
    assert report.lower == math.inf
    assert report.witness.p > 0
    assert report.witness.p_prime == 0


def test_thin_tails_are_unbounded():
    def mechanism(x, rng):
        a = x[0] + rng.normal(scale=2)
        return a, x[1] + (rng.normal() if a > 0 else rng.normal(scale=4))

    report = dpest.audit(mechanism, dpest.reals(2), dpest.linf(1), claim=3)
    assert report.verdict == "refuted"
    assert 6 <= report.lower < report.upper == math.inf
