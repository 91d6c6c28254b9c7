"""The search finds inputs that show the whole loss, whatever the relation and the domain."""

import math

import numpy as np
import pytest

import dpest
from dpest.engines.exact import ExactLaw


def difference(x, rng):
    return x[0] - x[1] + rng.laplace()


def weighted(x, rng):
    return 2 * x[0] - 3 * x[1] + rng.laplace(scale=6)


def total(x, rng):
    return x.sum() + rng.laplace()


def noisy(x, rng):
    return x + rng.laplace(scale=2, size=len(x))


def top_two(x, rng):
    order = np.argsort(x + rng.laplace(scale=4, size=len(x)))
    return int(order[-1]), int(order[-2])


def first_above(x, rng):
    threshold = rng.laplace(scale=2)
    for k, query in enumerate(x):
        score = query + rng.laplace(scale=4)
        if score >= threshold:
            return k, score - threshold
    return None


CASES = {
    "opposite entries": (difference, dpest.reals(2), dpest.linf(1), 2.0),
    "opposite weights": (weighted, dpest.reals(2), dpest.linf(1), 5 / 6),
    "along the weights": (weighted, dpest.reals(2), dpest.l2(1), math.sqrt(13) / 6),
    "a diagonal": (total, dpest.reals(3, -1, 1), dpest.l2(1), math.sqrt(3)),
    "more than one entry can carry": (total, dpest.reals(3, -1, 1), dpest.l1(5), 5.0),
    "several integers": (total, dpest.integers(3, 0, 1), dpest.l2(1.5), 2.0),
    "a long diagonal": (noisy, dpest.reals(4), dpest.l2(3), 3.0),
    "the best two in order": (top_two, dpest.reals(4), dpest.linf(1), 1.0),
}


@pytest.mark.parametrize("name", CASES)
def test_the_whole_loss_is_shown(name):
    function, inputs, neighbors, loss = CASES[name]
    report = dpest.audit(function, inputs, neighbors)
    assert loss * (1 - 1e-6) <= report.lower <= loss * (1 + 1e-9)
    assert report.bound.lower_status == "certified"
    x, y = np.ravel(report.witness.x), np.ravel(report.witness.x_prime)
    assert neighbors.relates(x.tolist(), y.tolist())


def test_a_search_ends_where_integrals_are_dear():
    def gap(x, rng):
        scores = x + rng.exponential(scale=2, size=5)
        ranked = np.sort(scores)
        return int(np.argmax(scores)), ranked[-1] - ranked[-2] + ranked[-3]

    report = dpest.audit(gap, dpest.reals(5), dpest.linf(1))
    assert report.lower <= report.upper


@pytest.mark.slow
def test_choices_within_choices_end_in_a_bound():
    """Every step clips what the last one has moved: 3^9 cases, which nobody wants to wait for."""
    def descend(x, rng):
        at = 0.0
        for _ in range(3):
            at = at - (np.clip(x - at, -1, 1).mean() + rng.laplace(scale=3)) / 2
        return at

    report = dpest.audit(descend, dpest.reals(3), dpest.l1(1), claim=1)
    assert report.verdict == "holds"
    assert 0 < report.upper < 1


def test_a_loss_that_is_approached_far_out_is_shown_as_far_as_digits_reach():
    report = dpest.audit(first_above, dpest.reals(4), dpest.linf(1))
    assert 1 - 1e-6 <= report.lower <= report.upper == 1.0
    assert report.bound.lower_status == "certified"


@pytest.mark.parametrize("far", [160.0, 163_840.0, 1e7])
def test_rounding_far_out_is_not_taken_for_growth(far):
    law = ExactLaw(dpest.trace(first_above, dpest.reals(4)))
    apart = np.array([1.0, 1.0, 1.0, -1.0])
    found = law.pair(far * apart, (far + 1) * apart)
    assert 1 - 1 / far <= found.loss <= 1 + 1e-8


def test_noise_that_cancels_between_outputs_shows_an_impossible_outcome():
    def twice(x, rng):
        noise = rng.laplace()
        return x[0] + noise, x[1] + noise

    witness = dpest.audit(twice, dpest.reals(2), dpest.l1(1)).witness
    assert (witness.p, witness.p_prime) == (1.0, 0.0)
    assert witness.certified
    assert "y1 - y0" in witness.event


@pytest.mark.parametrize("name", ["svt5", "report_noisy_max4"])
def test_an_infinite_loss_is_shown_by_an_impossible_outcome(name):
    entry = dpest.zoo.find(name)
    report = dpest.audit(
        entry.function, entry.inputs, entry.neighbors, entry.claim, params=entry.params
    )
    assert report.lower == math.inf
    assert report.witness.p > 0
    assert report.witness.p_prime == 0
    assert report.witness.certified
