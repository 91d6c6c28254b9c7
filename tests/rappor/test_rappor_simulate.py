"""Populations, and counts and reports drawn from them."""

import numpy as np
import pytest

from dpest.rappor import (
    Candidates,
    Params,
    RapporError,
    count,
    population,
    simulate_counts,
    simulate_reports,
)
from dpest.rappor.client.fleet import filters

PARAMS = Params(16, 2, 4, 0.5, 0.25, 0.75)
WORDS = [f"v{number}" for number in range(1, 21)]


def test_populations_have_their_shapes():
    assert population("zipf", 3) * 11 / 6 == pytest.approx([1, 1 / 2, 1 / 3])
    assert population("zipf", 4, shape=0.7, active=2)[2:].tolist() == [0, 0]
    assert population("uniform", 4).tolist() == [0.25] * 4
    exponential = population("exponential", 10, shape=2)
    assert exponential[1:] / exponential[:-1] == pytest.approx([np.exp(-0.5)] * 9)
    normal = population("normal", 101, shape=10)
    spread = np.sqrt(normal @ (np.arange(101) - 50) ** 2)
    assert normal @ np.arange(101) == pytest.approx(50)
    assert spread == pytest.approx(10, rel=1e-3)
    for name in ("zipf", "normal", "exponential", "uniform"):
        assert population(name, 200, active=100).sum() == pytest.approx(1)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("pareto", 3), "population='pareto' is unknown"),
        (("zipf", 0), "size=0 must be 1 or more"),
        (("zipf", 3, None, 0), "active=0 must be between"),
        (("zipf", 3, 1.0, 4), "active=4 must be between 1 and size=3"),
        (("zipf", 3, -1.0), "shape=-1.0 must be a positive number"),
        (("uniform", 3, 1.0), "means nothing for uniform"),
    ],
)
def test_an_impossible_population_is_refused(arguments, words):
    name, size, shape, active = (*arguments, None, None)[:4]
    with pytest.raises(RapporError, match=words):
        population(name, size, shape=shape, active=active)


def test_packed_filters_are_those_of_the_hash():
    candidates = Candidates.hashed(WORDS, PARAMS)
    packed = candidates.packed_filters(PARAMS)
    for cohort in range(PARAMS.m):
        expected = filters(WORDS, [cohort] * len(WORDS), PARAMS).packed
        assert (packed[:, cohort] == expected).all()


def test_simulated_counts_and_counted_reports_have_the_same_law():
    """Means and variances of both agree with theory, bit by bit, over many runs."""
    candidates, shares = Candidates.hashed(WORDS, PARAMS), population("zipf", 20)
    design, sizes = candidates.design(PARAMS).toarray(), [50] * PARAMS.m
    share = (design @ shares).reshape(PARAMS.m, PARAMS.k)
    rate = PARAMS.p_star + share * (PARAMS.q_star - PARAMS.p_star)
    rng, runs = np.random.default_rng(7), 400
    counted = [simulate_counts(PARAMS, candidates, shares, sizes, rng)[0].ones for _ in range(runs)]
    reported = []
    for _ in range(runs):
        reports, values = simulate_reports(PARAMS, candidates, shares, sizes, rng)
        assert len(values) == len(reports) == 200
        reported.append(count(reports, PARAMS).ones)
    for sample in (np.array(counted), np.array(reported)):
        noise = np.sqrt(50 * rate * (1 - rate) / runs)
        assert (np.abs(sample.mean(axis=0) - 50 * rate) < 5 * noise).all()
        ratio = sample.var(axis=0) / (50 * rate * (1 - rate))
        assert ratio.mean() == pytest.approx(1, abs=0.05)


def test_a_seed_repeats_everything():
    candidates, shares = Candidates.hashed(WORDS, PARAMS), population("zipf", 20)
    first, second = (
        simulate_reports(PARAMS, candidates, shares, 100, np.random.default_rng(3))
        for _ in range(2)
    )
    assert (first[0].packed == second[0].packed).all()
    assert (first[1] == second[1]).all()


def test_the_truth_adds_up():
    candidates, shares = Candidates.hashed(WORDS, PARAMS), population("zipf", 20)
    rng = np.random.default_rng(3)
    counts, holders = simulate_counts(PARAMS, candidates, shares, 1000, rng)
    assert counts.total == holders.sum() == 1000


def test_wrong_sizes_are_refused():
    candidates = Candidates.hashed(WORDS, PARAMS)
    rng = np.random.default_rng(3)
    with pytest.raises(RapporError, match="3 probabilities do not match 20 candidates"):
        simulate_counts(PARAMS, candidates, np.ones(3) / 3, 10, rng)
    with pytest.raises(RapporError, match="2 cohort sizes do not fit m=4"):
        simulate_counts(PARAMS, candidates, population("zipf", 20), [1, 2], rng)
    with pytest.raises(RapporError, match="reports=0 must be 1 or more"):
        simulate_reports(PARAMS, candidates, population("zipf", 20), 0, rng)
