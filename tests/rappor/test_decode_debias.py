"""Debiasing: published numbers, unbiasedness, the variance that simulation measures."""

import json
from pathlib import Path

import numpy as np
import pytest

from dpest.rappor import Params
from dpest.rappor.decoding.debias import conditional_variance, debias

DATA = Path(__file__).parents[1] / "data/rappor"
BLOOM = json.loads((DATA / "vectors.json").read_text())["decode"]["estimate_bloom_counts"]


def test_shares_and_errors_are_those_of_google_rappor():
    params = Params(**BLOOM["params"])
    counts = np.array(BLOOM["counts"])
    shares = debias(counts[:, 0], counts[:, 1:], params)
    assert shares.share == pytest.approx(np.array(BLOOM["estimates"]))
    assert np.sqrt(shares.variance(shares.share)) == pytest.approx(np.array(BLOOM["stds"]))


def test_conditional_variance_is_the_variance_of_the_noise():
    params = Params(4, 1, 1, 0.3, 0.2, 0.7)
    rng = np.random.default_rng(1)
    clients, holders = 500, np.array([0, 100, 250, 500])
    ones = rng.binomial(holders, params.q_star, (40_000, 4))
    ones += rng.binomial(clients - holders, params.p_star, (40_000, 4))
    estimate = (ones - params.p_star * clients) / (params.q_star - params.p_star)
    assert estimate.mean(axis=0) == pytest.approx(holders, abs=1)
    predicted = conditional_variance(np.full(40_000, clients), ones, params).mean(axis=0)
    assert predicted == pytest.approx(estimate.var(axis=0), rel=0.03)


@pytest.mark.parametrize(("f", "rounds"), [(0.0, 5), (0.5, 1), (0.5, 20), (0.8, 100)])
def test_repeated_reports_share_one_permanent_response(f, rounds):
    params = Params(1, 1, 1, f, 0.25, 0.75)
    rng = np.random.default_rng(2)
    clients, share, runs = 400, 0.3, 4000
    bit = rng.random((runs, clients)) < share
    noisy = rng.random((runs, clients))
    fixed = np.where(noisy < f / 2, True, np.where(noisy < f, False, bit))
    ones = rng.binomial(rounds, np.where(fixed, params.q, params.p)).sum(axis=1)
    measured = np.var((ones / (clients * rounds) - params.p_star) / (params.q_star - params.p_star))
    one = debias(np.array([clients * rounds]), ones[:1, None], params, rounds)
    assert one.variance(np.array([[share]]))[0, 0] == pytest.approx(measured, rel=0.1)


def test_empty_cohorts_are_dropped():
    params = Params(2, 1, 3, 0, 0.25, 0.75)
    shares = debias(np.array([10, 0, 20]), np.array([[5, 2], [0, 0], [10, 4]]), params)
    assert shares.kept.tolist() == [True, False, True]
    assert shares.sizes.tolist() == [10, 20]
    assert shares.total == 30


@pytest.mark.parametrize(
    ("sizes", "ones", "words"),
    [
        ([0, 0], [[0, 0], [0, 0]], "no reports"),
        ([5, 5], [[6, 0], [0, 0]], "cohort 0 counts bit 0 6 times in 5 reports"),
        ([5, 5], [[-1, 0], [0, 0]], "cohort 0 counts bit 0 -1 times"),
        ([5], [[1, 0]], "counts for m=2 cohorts of k=2 bits are needed"),
        ([5, np.nan], [[1, 0], [0, 0]], "finite"),
    ],
)
def test_counts_that_cannot_be_are_refused(sizes, ones, words):
    with pytest.raises(ValueError, match=words):
        debias(np.array(sizes), np.array(ones), Params(2, 1, 2, 0, 0.25, 0.75))


@pytest.mark.parametrize("reports_per_client", [0, 0.5, np.inf, np.nan])
def test_fewer_than_one_report_per_client_is_refused(reports_per_client):
    with pytest.raises(ValueError, match="must be 1 or more"):
        debias(np.array([4]), np.array([[1]]), Params(1, 1, 1, 0, 0.25, 0.75), reports_per_client)
