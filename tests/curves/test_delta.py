"""delta(eps) against closed forms."""

import math

import numpy as np
import pytest
from scipy.stats import norm

import dpest

EPS = np.linspace(0, 3, 200)


def gaussian(x, rng, sigma=1.0):
    return x + rng.normal(scale=sigma)


def laplace(x, rng, scale=1.0):
    return x + rng.laplace(scale=scale)


def mean(x, rng):
    return (sum(x) + rng.laplace(scale=1.0)) / len(x)


def balle_wang(eps, mu):
    return norm.cdf(mu / 2 - eps / mu) - np.exp(eps) * norm.cdf(-mu / 2 - eps / mu)


def uppers(bounds):
    return np.array([bound.upper for bound in bounds])


@pytest.mark.parametrize("sigma", [0.3, 1.0, 7.0])
def test_gaussian(sigma):
    report = dpest.audit(gaussian, dpest.reals(1), dpest.l2(1), params={"sigma": sigma})
    found = report.delta(EPS)
    assert np.abs(uppers(found) - balle_wang(EPS, 1 / sigma)).max() < 1e-14
    assert all(bound.is_exact for bound in found)


@pytest.mark.parametrize("scale", [0.5, 1.0, 9.0])
def test_laplace(scale):
    report = dpest.audit(laplace, dpest.reals(1), dpest.l1(1), params={"scale": scale})
    truth = np.maximum(0, -np.expm1((EPS - 1 / scale) / 2))
    assert np.abs(uppers(report.delta(EPS)) - truth).max() < 1e-14


@pytest.mark.parametrize(
    ("eps", "delta", "verdict"),
    [(1, 4.11e-8, "holds"), (10, 2.27e-5, "refuted"), (20, 1.53e-3, "refuted")],
)
def test_the_classical_gaussian_holds_for_small_eps_only(eps, delta, verdict):
    sigma = math.sqrt(2 * math.log(1.25e5)) / eps
    report = dpest.audit(
        gaussian, dpest.reals(1), dpest.l2(1), dpest.approx(eps, 1e-5), params={"sigma": sigma}
    )
    assert report.delta(eps).upper == pytest.approx(delta, rel=3e-3)
    assert str(report.verdict) == verdict
    assert str(report).startswith(f"The claim of ({eps}, 1e-05)-DP ")


def test_a_mean_with_a_private_count_leaks_one_way():
    small, large = (1.0, 1.0), (1.0, 1.0, 1.0)
    report = dpest.audit(mean, dpest.one_of(small, large), dpest.pairs([(small, large)]))
    edge = 2 * (1 + math.log(1.5))
    truth = math.exp(-edge) - math.e * math.exp(-1.5 * edge)
    assert report.delta(1, "forward").upper == pytest.approx(truth, abs=1e-14)
    assert report.delta(1, "backward").upper == 0
    assert report.delta(1).upper == pytest.approx(0.0200, abs=1e-4)
