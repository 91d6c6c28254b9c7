"""Compositions against closed forms; what is rounded is rounded to the safe side."""

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import binom, norm

import dpest
from dpest.curves.convolved import Convolved
from dpest.curves.gaussian import Gaussian
from dpest.curves.law import LossLaw


def gaussian(x, rng, sigma=1.0):
    return x + rng.normal(scale=sigma)


def laplace(x, rng, scale=1.0):
    return x + rng.laplace(scale=scale)


def two_laplace_draws(x, rng):
    return x + rng.laplace(size=2)


def randomized_response(bit, rng, flip=0.25):
    return np.where(rng.random(size=1) < flip, 1 - bit, bit)


def balle_wang(eps, mu):
    return norm.cdf(mu / 2 - eps / mu) - np.exp(eps) * norm.cdf(-mu / 2 - eps / mu)


def encloses(bounds, truth, width):
    """Whether every value lies between its bounds, which are no further apart than that."""
    return all(
        bound.lower <= value <= bound.upper and bound.upper - bound.lower <= width
        for bound, value in zip(bounds, truth, strict=True)
    )


@pytest.mark.parametrize("k", [1, 7, 10_000])
def test_gaussian_noise_stays_gaussian(k):
    report = dpest.audit(gaussian, dpest.reals(1), dpest.l2(1), params={"sigma": 5.0})
    eps = np.linspace(0, 10, 30)
    found = report.compose(k).delta(eps)
    assert [bound.upper for bound in found] == pytest.approx(
        balle_wang(eps, math.sqrt(k) / 5), abs=1e-13
    )


@pytest.mark.parametrize(
    ("k", "mu", "width"), [(2, 1, 1e-7), (100, 0.1, 1e-6), (10_000, 0.02, 1e-4)]
)
def test_sums_on_a_grid_enclose_the_closed_form(k, mu, width):
    law = LossLaw((Gaussian(mu),))
    eps = np.linspace(0, 5, 40)
    truth = balle_wang(eps, mu * math.sqrt(k))
    low, high = (Convolved(((law, k),), rounding) for rounding in ("low", "high"))
    assert (low.deltas(eps) <= truth).all()
    assert (truth <= high.deltas(eps) + high.missing).all()
    assert (high.deltas(eps) - low.deltas(eps)).max() < width


@pytest.mark.parametrize("k", [1, 2, 30, 10_000])
def test_randomized_response_is_binomial(k):
    report = dpest.audit(randomized_response, dpest.integers(1, 0, 1), dpest.l1(1))
    wins = np.arange(k + 1)
    loss, mass = (2 * wins - k) * math.log(3), binom.pmf(wins, k, 0.75)
    eps = np.linspace(0, k * math.log(3), 20)
    truth = [float((mass * -np.expm1(np.minimum(e - loss, 0))).sum()) for e in eps]
    found = report.compose(k).delta(eps)
    assert all(b.upper - b.lower <= 4e-15 + 1e-15 * k for b in found)
    assert [bound.upper for bound in found] == pytest.approx(truth, abs=4e-15 + 1e-15 * k)


def two_laplace_deltas(eps):
    """delta of two draws of Laplace noise: the loss of one, integrated over that of the other."""

    def delta(e):
        return max(0.0, -math.expm1((e - 1) / 2)) if e > -1 else 1 - math.exp(e)

    between, _ = quad(
        lambda loss: math.exp((loss - 1) / 2) / 4 * delta(eps - loss), -1, 1,
        points=[p for p in (eps - 1, eps + 1) if -1 < p < 1] or None, epsabs=1e-14,
    )  # fmt: skip
    return between + delta(eps - 1) / 2 + math.exp(-1) / 2 * delta(eps + 1)


def test_two_draws_of_laplace_noise():
    eps = np.linspace(0, 1.99, 15)
    truth = [two_laplace_deltas(e) for e in eps]
    composed = dpest.audit(laplace, dpest.reals(1), dpest.l1(1)).compose(2)
    assert encloses(composed.delta(eps), truth, 1e-7)
    at_once = dpest.audit(two_laplace_draws, dpest.reals(1), dpest.l1(1))
    assert encloses(at_once.delta(eps), truth, 1e-7)
    assert at_once.epsilon(0).upper == pytest.approx(2)


def test_divergences_add_up():
    report = dpest.audit(laplace, dpest.reals(1), dpest.l1(1))
    for alpha in (1, 1.5, 2, 50):
        one, ten = report.renyi(alpha), report.compose(10).renyi(alpha)
        assert ten.upper == pytest.approx(10 * one.upper, rel=1e-12)
    assert report.compose(10).zcdp().upper == pytest.approx(10 * report.zcdp().upper, rel=1e-9)


def test_compositions_compose():
    report = dpest.audit(laplace, dpest.reals(1), dpest.l1(1), params={"scale": 3.0})
    eps = [0.1, 0.5, 1.0]
    twice, once = report.compose(4).compose(5).delta(eps), report.compose(20).delta(eps)
    assert [b.upper for b in twice] == pytest.approx([b.upper for b in once], rel=1e-5)


def test_no_bound_is_better_than_basic_composition_of_what_is_lost_for_sure():
    report = dpest.audit(laplace, dpest.reals(1), dpest.l1(1), params={"scale": 2.0})
    for k in (1, 20):
        composed = report.compose(k)
        assert composed.epsilon(0).upper == pytest.approx(k / 2)
        assert composed.epsilon(1e-6).upper <= k / 2
        assert composed.delta(k / 2).lower == 0


@pytest.mark.parametrize("k", [0, -1, 2.5, "ten", True, None])
def test_bad_numbers_of_runs(k):
    report = dpest.audit(laplace, dpest.reals(1), dpest.l1(1))
    with pytest.raises(ValueError, match="the number of runs must be a whole number >= 1"):
        report.compose(k)
