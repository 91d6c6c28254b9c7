"""Densities, masses of intervals and samplers of the noise laws."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from flint import fmpq
from scipy import stats

from dpest import noise as laws
from dpest.numbers import balls

TWO = fmpq(2)
CONTINUOUS = [
    (laws.Laplace(TWO), stats.laplace(scale=2)),
    (laws.Exponential(TWO), stats.expon(scale=2)),
    (laws.Normal(TWO), stats.norm(scale=2)),
    (laws.Uniform(TWO), stats.uniform(scale=2)),
    (laws.Gumbel(TWO), stats.gumbel_r(scale=2)),
    (laws.Logistic(TWO), stats.logistic(scale=2)),
]
A = math.exp(-0.5)
LATTICE = [
    (laws.Geometric(fmpq(1, 4)), stats.geom(0.25)),
    (laws.DiscreteLaplace(TWO), stats.dlaplace(0.5)),
    (laws.Integers(fmpq(6)), stats.randint(0, 6)),
    (laws.binomial_law(5, fmpq(1, 4)), stats.binom(5, 0.25)),
]
IDS = [law.name for law, _ in CONTINUOUS]
LATTICE_IDS = [law.name for law, _ in LATTICE]


@pytest.mark.parametrize(("law", "reference"), CONTINUOUS, ids=IDS)
def test_densities(law, reference):
    z = np.array([-7.0, -0.5, 0.25, 1.0, 1.75, 9.0])
    with np.errstate(divide="ignore"):
        assert law.log_density(z) == pytest.approx(reference.logpdf(z), rel=1e-13)


@pytest.mark.parametrize(("law", "reference"), CONTINUOUS, ids=IDS)
def test_masses_of_intervals(law, reference):
    low = np.array([-np.inf, -9.0, -1.0, 0.5, 0.25, 3.0, 1.0, 2.0])
    high = np.array([0.75, -1.0, 1.5, np.inf, 0.375, 9.0, 1.0, 1.0])
    mass = np.where(high > low, reference.cdf(high) - reference.cdf(low), 0)
    assert np.exp(law.log_interval(low, high)) == pytest.approx(mass, rel=1e-12, abs=1e-15)


@pytest.mark.parametrize(("law", "reference"), CONTINUOUS, ids=IDS)
def test_masses_agree_with_balls_far_out(law, reference):
    ends = [(-40, -39), (-80, -60), (0.5, 0.50001), (-1, 1), (39, 60), (600, 900), (-3, 3)]
    for low, high in ends:
        a, b = (balls.acb(fmpq(*float(v).as_integer_ratio())) for v in (low, high))
        exact_a, exact_b = (fmpq(*float(v).as_integer_ratio()) for v in (low, high))
        pieces = [exact_a, *[k for k in (fmpq(0), fmpq(2)) if exact_a < k < exact_b], exact_b]
        assert a is not None
        assert b is not None
        with balls.precision(3000):
            total = balls.acb(0)
            for left, right in itertools.pairwise(pieces):
                ends_ = (balls.acb(left), left), (balls.acb(right), right)
                total += balls.mass(law, *ends_)
            ball = total.real
            found = float(law.log_interval(np.array([float(low)]), np.array([float(high)]))[0])
            if ball.is_zero():
                assert found == -math.inf
            else:
                truth = float(ball.log().mid())
                assert found == pytest.approx(truth, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize(("law", "reference"), LATTICE, ids=LATTICE_IDS)
def test_masses_on_the_integers(law, reference):
    k = np.arange(-4, 12)
    assert np.exp(law.log_density(k)) == pytest.approx(reference.pmf(k), rel=1e-12, abs=1e-15)
    for low in (-5, 0, 1, 3):
        for high in (-1, 0, 2, 8):
            mass = max(0.0, math.fsum(reference.pmf(j) for j in range(low, high + 1)))
            found = float(np.exp(law.log_interval(np.array([low]), np.array([high])))[0])
            assert found == pytest.approx(mass, rel=1e-12, abs=1e-15)


@pytest.mark.parametrize(
    "law", [law for law, _ in CONTINUOUS + LATTICE] + [laws.DiscreteGaussian(TWO)],
    ids=lambda law: law.name,
)  # fmt: skip
def test_samples_have_the_law(law):
    """Shares below a few thresholds, at six sigma."""
    count = 20_000
    drawn = law.sample(np.random.default_rng(3), count)
    for edge in (-2.0, 0.0, 1.0, 3.0):
        p = float(np.exp(law.log_interval(np.array([-np.inf]), np.array([edge])))[0])
        seen = np.count_nonzero(drawn <= edge)
        assert abs(seen - count * p) <= 6 * math.sqrt(count * p * (1 - p)) + 1e-6


@pytest.mark.parametrize(
    "law", [laws.Laplace(TWO), laws.Logistic(TWO), laws.Exponential(TWO), laws.Gumbel(TWO),
            laws.DiscreteLaplace(TWO), laws.Geometric(fmpq(1, 4))], ids=lambda law: law.name,
)  # fmt: skip
def test_the_cost_of_a_shift_is_the_largest_log_ratio(law):
    z = np.arange(1, 200) if law.lattice else np.linspace(-150, 150, 601)
    before, after = law.log_density(z), law.log_density(z + 3)
    drawn = before > -np.inf
    largest = np.max(before[drawn] - after[drawn])
    assert law.shift_loss(fmpq(3)) == pytest.approx(largest, rel=1e-6)


def test_laws_of_normal_and_uniform_noise_have_no_finite_price():
    for law in (laws.Normal(TWO), laws.Uniform(TWO), laws.DiscreteGaussian(TWO)):
        assert law.shift_loss(fmpq(1)) == math.inf
        assert law.shift_loss(fmpq(0)) == 0


def test_a_discrete_gaussian_has_mass_however_far_out():
    from dpest.noise import DiscreteGaussian

    law = DiscreteGaussian(fmpq(3))
    k = np.array([100.0, 137.0, 138.0, 139.0, 200.0, 1e6])
    tails = law.log_interval(k, np.full(len(k), np.inf))
    steps = np.arange(400)
    for one, tail in zip(k, tails, strict=True):
        masses = law.log_density(one + steps)
        assert tail == pytest.approx(np.logaddexp.reduce(masses), rel=1e-12)
