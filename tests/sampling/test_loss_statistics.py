"""The bounds: exact against brute force, right at zero counts, and better than the plain split."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from dpest.engines.blackbox.paired import PairCounts, best_stake, paired_lower_bound
from dpest.engines.blackbox.rules import Rule, best_rule
from dpest.engines.blackbox.statistics import (
    clopper_pearson_lower,
    clopper_pearson_upper,
    joint_lower_bound,
    split_lower_bound,
)


@given(st.integers(1, 60), st.integers(0, 60), st.floats(0.001, 0.4))
@settings(max_examples=60, deadline=None)
def test_clopper_pearson_solves_the_binomial_tail(n, k, alpha):
    k = min(k, n)
    low, high = float(clopper_pearson_lower(k, n, alpha)), float(clopper_pearson_upper(k, n, alpha))
    assert (low == 0.0) if k == 0 else math.isclose(binom.sf(k - 1, n, low), alpha, rel_tol=1e-6)
    assert (high == 1.0) if k == n else math.isclose(binom.cdf(k, n, high), alpha, rel_tol=1e-6)


def test_clopper_pearson_is_vectorised():
    counts = np.arange(11)
    low = clopper_pearson_lower(counts, 10, 0.05)
    assert low.tolist() == [float(clopper_pearson_lower(k, 10, 0.05)) for k in counts]


def test_an_empty_bin_is_not_infinity():
    assert clopper_pearson_upper(0, 1000, 0.05) > 0
    for bound in (
        float(split_lower_bound(500, 1000, 0, 1000, alpha=0.05)),
        joint_lower_bound(500, 1000, 0, 1000, alpha=0.05),
        paired_lower_bound(PairCounts(0, 500, 0, 1000), alpha=0.05, stake=0.02),
    ):
        assert 0 < bound < math.log(1000)


@pytest.mark.parametrize("counts", [(0, 100, 0, 100), (0, 100, 50, 100), (5, 100, 5, 100)])
def test_no_evidence_gives_zero(counts):
    assert joint_lower_bound(*counts, alpha=0.05) == 0.0
    assert float(split_lower_bound(*counts, alpha=0.05)) == 0.0


def test_the_joint_bound_beats_the_split_and_nears_the_normal_limit():
    k, n, k_prime = 5250, 100_000, 4750
    joint = joint_lower_bound(k, n, k_prime, n, alpha=0.05)
    split = float(split_lower_bound(k, n, k_prime, n, alpha=0.05))
    limit = math.log(k / k_prime) - 1.645 * math.sqrt(1 / k + 1 / k_prime)
    assert split < joint < math.log(k / k_prime)
    assert joint > 0.95 * limit


def joint_coverage(p, p_prime, n, alpha, delta):
    """Exact probability that the joint bound exceeds the truth, over all pairs of counts."""
    truth = math.log((p - delta) / p_prime)
    ks = range(n + 1)
    wrong = sum(
        binom.pmf(k, n, p) * binom.pmf(k_prime, n, p_prime)
        for k in ks
        for k_prime in ks
        if k > k_prime and joint_lower_bound(k, n, k_prime, n, alpha=alpha, delta=delta) > truth
    )
    return float(wrong)


@pytest.mark.parametrize(
    ("p", "p_prime", "delta"), [(0.5, 0.4, 0.0), (0.3, 0.05, 0.0), (0.6, 0.3, 0.1)]
)
def test_the_joint_bound_covers_exactly(p, p_prime, delta):
    assert joint_coverage(p, p_prime, 16, 0.2, delta) <= 0.2


@given(
    st.integers(0, 40), st.integers(0, 40), st.integers(0, 40), st.sampled_from([0.0, 0.01, 0.1])
)
@settings(max_examples=60, deadline=None)
def test_more_evidence_never_lowers_a_bound(both, first_only, second_only, delta):
    runs = 200
    less = PairCounts(both, first_only, second_only, runs)
    more = PairCounts(both, first_only + 1, second_only, runs)
    for rule in (Rule("paired", 0.1), Rule("joint", 0.7), Rule("split", 0.5)):
        lower = rule.bound(less, alpha=0.1, delta=delta)
        higher = rule.bound(more, alpha=0.1, delta=delta)
        assert 0.0 <= lower <= higher + 1e-9


def test_a_higher_delta_gives_a_lower_bound():
    counts = PairCounts(100, 300, 50, 1000)
    for rule in (Rule("paired", 0.1), Rule("joint", 0.7), Rule("split", 0.5)):
        bounds = [rule.bound(counts, alpha=0.05, delta=d) for d in (0.0, 0.05, 0.2, 0.5)]
        assert bounds == sorted(bounds, reverse=True)
        assert bounds[-1] == 0.0


def test_wealth_is_fair_under_the_claim():
    """At the true loss the gambler's wealth has mean 1 at most: enumerate three pairs."""
    delta, stake, ratio = 0.05, 0.3, 1.5
    both, second_only, n = 0.2, 0.1, 3
    p_prime = both + second_only
    first_only = ratio * p_prime + delta - both
    rates = {(1, 1): both, (1, 0): first_only, (0, 1): second_only}
    rates[(0, 0)] = 1 - sum(rates.values())
    mean = sum(
        rate * (1 + stake * (hit - ratio * hit_prime - delta))
        for (hit, hit_prime), rate in rates.items()
    )
    assert math.isclose(mean**n, 1.0)


def test_the_paired_bound_covers():
    rng = np.random.default_rng(5)
    both, first_only, second_only, runs = 0.10, 0.02, 0.01, 2000
    truth = math.log((both + first_only) / (both + second_only))
    expected = PairCounts(200, 40, 20, runs)
    stake = best_stake([expected], alpha=0.1)
    rates = [both, first_only, second_only, 1 - both - first_only - second_only]
    wrong = sum(
        paired_lower_bound(PairCounts(*draw[:3], runs), alpha=0.1, stake=stake) > truth
        for draw in rng.multinomial(runs, rates, size=2000).tolist()
    )
    assert wrong <= binom.ppf(0.999, 2000, 0.1)


def test_pairs_that_mostly_agree_are_worth_more_than_independent_runs():
    counts = PairCounts(both=20_000, first_only=2_000, second_only=0, runs=1_000_000)
    rule = best_rule(counts, counts.runs, alpha=0.05)
    assert rule.kind == "paired"
    independent = joint_lower_bound(22_000, 1_000_000, 20_000, 1_000_000, alpha=0.05)
    truth = math.log(22 / 20)
    paired = rule.bound(counts, alpha=0.05)
    assert truth - paired < 0.5 * (truth - independent)


def test_pairs_that_disagree_at_random_are_counted_as_independent_runs():
    p, p_prime, runs = 0.30, 0.27, 1_000_000
    both = round(p * p_prime * runs)
    counts = PairCounts(both, round(p * runs) - both, round(p_prime * runs) - both, runs)
    assert best_rule(counts, runs, alpha=0.05).kind == "joint"
