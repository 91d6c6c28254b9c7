"""The statistics of decoding by themselves: intervals, tests, the posterior, mixtures."""

import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr

from dpest.rappor.decoding.evidence import Evidence, inverse
from dpest.rappor.decoding.intervals import share_intervals
from dpest.rappor.decoding.mixture import em, em_step, fit_mixture, neighbourhood
from dpest.rappor.decoding.posterior import spike_and_slab
from dpest.rappor.decoding.select import one_sided, posterior_discoveries, rejected

VECTORS = json.loads((Path(__file__).parents[1] / "data/rappor/vectors.json").read_text())
p_lists = st.lists(st.floats(0, 1), min_size=1, max_size=30).map(np.array)


@pytest.mark.parametrize("truth", [0, 0.3, 1, 1.9, 2.5, 6])
def test_intervals_cover_exactly_95_percent_down_to_zero(truth):
    """The estimates whose interval holds the truth have probability 0.95, by summation."""
    error = 0.01
    x = np.linspace(truth - 9, truth + 9, 200_001)
    low, high = share_intervals(x * error, np.full_like(x, error))
    covered = (low <= truth * error + 1e-12) & (truth * error <= high + 1e-12)
    density = np.exp(-((x - truth) ** 2) / 2) / np.sqrt(2 * np.pi)
    assert (density * covered).sum() * (x[1] - x[0]) == pytest.approx(0.95, abs=1e-3)


@given(st.floats(-0.2, 1.2), st.floats(1e-5, 0.3))
def test_intervals_are_never_empty_and_grow_with_the_estimate(estimate, error):
    low, high = share_intervals(np.array([estimate, estimate + error]), np.full(2, error))
    assert (low <= high).all()
    assert low[0] <= low[1]
    assert high[0] <= high[1] + 1e-12
    assert low[0] >= 0
    assert high[1] <= 1


def test_an_unknown_error_knows_nothing():
    low, high = share_intervals(np.array([0.3]), np.array([np.nan]))
    assert (low[0], high[0]) == (0, 1)


def test_p_values_are_the_half_chi_square_test():
    estimate, error = np.array([0.0, 0.02, -0.03]), np.full(3, 0.01)
    assert one_sided(estimate, error) == pytest.approx(1 - ndtr([0, 2, -3]))


@given(p_lists, st.floats(0.001, 0.3))
def test_corrections_nest(p_values, alpha):
    none, fdr, bonferroni = (
        rejected(p_values, alpha, correction) for correction in ("none", "fdr", "bonferroni")
    )
    assert (bonferroni <= fdr).all()
    assert (fdr <= (p_values <= alpha)).all()
    assert (none == (p_values < alpha)).all()


@given(p_lists, st.floats(0.001, 0.3))
def test_false_discovery_control_is_the_textbook_rule(p_values, alpha):
    ordered, size = np.sort(p_values), len(p_values)
    largest = max([k for k in range(1, size + 1) if ordered[k - 1] <= alpha * k / size], default=0)
    assert rejected(p_values, alpha, "fdr").sum() == largest


def test_no_discovery_without_evidence_whatever_the_prior_says():
    assert not posterior_discoveries(np.zeros(5), np.full(5, 0.2), 0.05).any()


def test_an_unlikely_string_is_not_carried_by_sure_ones():
    absent = np.array([0.0] * 99 + [0.9])
    found = posterior_discoveries(absent, np.full(100, 1e-9), 0.05)
    assert found.sum() == 99


def test_inverse_is_the_inverse():
    x = np.random.default_rng(0).normal(size=(30, 8)) * 10.0 ** np.arange(8)
    information = x.T @ x
    assert inverse(information) @ information == pytest.approx(np.eye(8), abs=1e-3)


def test_posterior_agrees_with_enumeration():
    """Four correlated candidates: sum over which are present, integrate the rest by sampling."""
    rng = np.random.default_rng(3)
    design = rng.normal(size=(40, 4)) + 0.3
    information = design.T @ design
    score = information @ np.array([0.9, 0.0, 0.35, 0.0]) + rng.normal(size=4)
    posterior = spike_and_slab(Evidence(information, score, 4, np.zeros(4)))
    prior = posterior.prior
    draws = np.abs(rng.normal(size=(40_000, 4))) * rng.choice(
        prior.widths, (40_000, 4), p=prior.weights[1:] / prior.weights[1:].sum()
    )
    weight = {}
    for present in itertools.product((0, 1), repeat=4):
        x = draws * present
        likelihood = np.exp(x @ score - 0.5 * ((x @ information) * x).sum(axis=1) - 20)
        odds = np.where(present, 1 - prior.weights[0], prior.weights[0]).prod()
        weight[present] = odds * likelihood.mean()
    total = sum(weight.values())
    exact = [sum(w for key, w in weight.items() if not key[i]) / total for i in range(4)]
    assert posterior.absent == pytest.approx(exact, abs=0.05)


def test_em_matches_the_published_run():
    d, e = np.array([1, 1, 2, 2, 3, 3]) / 12, np.array([3, 3, 2, 2, 1, 1]) / 12
    assert em(np.array([d, e, d]), 10) == pytest.approx(VECTORS["decode"]["em"]["est"])


def test_the_fitted_mixture_is_a_fixed_point_that_em_cannot_improve():
    likelihood = np.random.default_rng(4).random((300, 5)) ** 3
    shares = fit_mixture(likelihood)
    assert shares.sum() == pytest.approx(1)
    assert em_step(likelihood, shares) == pytest.approx(shares, abs=1e-6)
    assert (
        np.log(likelihood @ shares).sum() >= np.log(likelihood @ em(likelihood, 3000)).sum() - 1e-6
    )


def test_the_neighbourhood_of_a_clear_mixture_is_multinomial():
    rng = np.random.default_rng(5)
    truth = np.array([0.5, 0.3, 0.2])
    likelihood = np.eye(3)[rng.choice(3, 2000, p=truth)] + 1e-9
    shares = fit_mixture(likelihood)
    estimate, covariance, statistic = neighbourhood(likelihood, shares)
    expected = (np.diag(shares) - np.outer(shares, shares)) / 2000
    assert estimate == pytest.approx(shares, abs=1e-5)
    assert covariance == pytest.approx(expected, abs=1e-8)
    assert statistic == pytest.approx(0, abs=1e-3)
