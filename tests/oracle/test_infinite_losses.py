"""Infinity is said only of an event that one input allows and the other rules out."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

import dpest
from dpest.engines.exact import ExactLaw, OutOfReach

ONE = dpest.reals(1)


def audited(mechanism, x, y):
    domain = dpest.reals(np.size(x))
    return dpest.audit(mechanism, domain, dpest.pairs([(x, y)]))


IMPOSSIBLE = {
    "uniform noise": (lambda x, rng: x + rng.uniform(), 0.0, 0.5),
    "an atom that moves": (lambda x, rng: x if rng.random() < 0.5 else rng.laplace(), 0.0, 1.0),
    "a value in the clear": (lambda x, rng: [x, rng.laplace()], 0.0, 1.0),
    "exponential noise": (lambda x, rng: x + rng.exponential(), 0.0, 1.0),
    "geometric noise": (lambda x, rng: x + rng.geometric(0.5), 0.0, 1.0),
    "another lattice": (lambda x, rng: x + dpest.discrete_laplace(rng, 1.0), 0.0, 0.5),
    "a branch without noise": (lambda x, rng: "a" if x > 0 else "b", 0.0, 1.0),
    "argmax of bounded noise": (
        lambda x, rng: np.argmax(x + rng.random(2)), [0.0, 0.5], [0.0, 1.5],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_infinite_where_one_input_rules_the_outcome_out(name):
    mechanism, x, y = IMPOSSIBLE[name]
    report = audited(mechanism, x, y)
    assert report.lower == report.upper == math.inf
    assert report.witness.p > 0
    assert report.witness.p_prime == 0
    assert report.witness.loss == math.inf


UNBOUNDED = {
    "normal": (lambda x, rng: x + rng.normal(), 0.0, 1.0),
    "gumbel": (lambda x, rng: x + rng.gumbel(), 0.0, 1.0),
    "discrete gaussian": (lambda x, rng: x + dpest.discrete_gaussian(rng, 2.0), 0.0, 1.0),
    "maximum of normals": (
        lambda x, rng: np.max(x + rng.normal(size=2)), [0.0, 0.0], [1.0, 1.0],
    ),
    "maximum of gumbels": (
        lambda x, rng: np.max(x + rng.gumbel(size=2)), [0.0, 0.0], [1.0, 1.0],
    ),
    "normal beside laplace": (
        lambda x, rng: [x[0] + rng.normal(), x[1] + rng.laplace()], [0.0, 0.0], [1.0, 1.0],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", UNBOUNDED)
def test_a_loss_that_grows_without_bound_is_worded_as_such(name):
    mechanism, x, y = UNBOUNDED[name]
    report = audited(mechanism, x, y)
    assert report.upper == math.inf
    assert 10 < report.lower < 1000
    assert report.witness.p_prime > 0
    assert report.lower == pytest.approx(
        math.log(report.witness.p) - math.log(report.witness.p_prime), rel=1e-6
    )
    assert "grows without bound" in str(report)


FINITE_FAR_OUT = {
    "gumbel selection": lambda x, rng: np.argmax(x + rng.gumbel(size=2)),
    "laplace selection": lambda x, rng: np.argmax(x + rng.laplace(size=2)),
    "exponential selection": lambda x, rng: np.argmax(x + rng.exponential(size=2)),
    "logistic selection": lambda x, rng: np.argmax(x + rng.logistic(size=2)),
    "laplace comparison": lambda x, rng: x[0] + rng.laplace() > x[1],
}


@pytest.mark.parametrize("name", FINITE_FAR_OUT)
@pytest.mark.parametrize("gap", [10.0, 700.0, 5000.0])
def test_tiny_probabilities_are_no_zeros(name, gap):
    loss = ExactLaw(dpest.trace(FINITE_FAR_OUT[name], 2)).pair([0.0, gap], [1.0, gap]).loss
    assert 0.85 < loss <= 1 + 1e-9


@pytest.mark.parametrize("place", [5.0, 6.0, 300.0, 689.0, 709.5, 800.0, 1e6])
def test_the_doubly_exponential_tail_of_gumbel_gives_no_false_infinity(place):
    program = dpest.trace(lambda x, rng: x + rng.gumbel() < 0, 1)
    try:
        loss = ExactLaw(program).pair(place, place + 1).loss
    except OutOfReach:
        assert place > 500
    else:
        assert loss == pytest.approx(math.exp(place) * (math.e - 1), rel=1e-12)


@pytest.mark.parametrize("place", [30.0, 1e3, 1e6])
def test_the_tail_of_the_normal_gives_no_false_infinity(place):
    program = dpest.trace(lambda x, rng: x + rng.normal() < 0, 1)
    loss = ExactLaw(program).pair(place, place + 1).loss
    assert loss == pytest.approx(place + 0.5 + math.log1p(1 / place), rel=1e-3)


def is_negative(x, rng):
    return x + rng.normal() < 0


def test_inputs_beyond_all_digits_are_refused_in_one_line_or_sampled():
    warnings.simplefilter("ignore")
    pair = dpest.pairs([(1e160, -1e160)])
    with pytest.raises(OutOfReach, match="far apart"):
        dpest.audit(is_negative, dpest.reals(1), pair, engine="analytic")
    report = dpest.audit(is_negative, dpest.reals(1), pair)
    assert report.bound.lower_status == "statistical"
    assert report.lower > 5


def test_an_atom_is_no_density():
    """A clipped output has atoms and a density; the loss compares like with like."""
    report = audited(lambda x, rng: np.clip(x + rng.laplace(), 0, 1), 0.0, 1.0)
    assert report.upper == pytest.approx(1)


def test_a_jump_of_the_density_is_no_loss():
    """At the very point where two pieces of a mixture meet, neither counts twice."""

    def mechanism(x, rng):
        sign = rng.choice([-1.0, 1.0])
        return x + sign * (rng.exponential() + 0.0)

    report = audited(mechanism, 0.0, 1.0)
    assert report.upper == pytest.approx(1, rel=1e-9)


def staircase(x, rng, eps=1.0, gamma=0.25):
    """Geng and Viswanath: piecewise constant noise that is optimal for pure privacy."""
    sign = 1 if rng.random() < 0.5 else -1
    step = rng.geometric(1 - math.exp(-eps)) - 1
    decay = math.exp(-eps) * (1 - gamma)
    if rng.random() < decay / (gamma + decay):
        return x + sign * (step + gamma + (1 - gamma) * rng.random())
    return x + sign * (step + gamma * rng.random())


def test_a_density_with_jumps_without_end():
    program = dpest.trace(staircase, 1)
    for y, expected in ((0.1, 1), (0.25, 1), (1.0, 1), (1.5, 2)):
        assert ExactLaw(program).pair(0.0, y).loss == pytest.approx(expected, rel=1e-12)
    law = dpest.distribution(staircase, 0.0)
    assert law.total() == pytest.approx(1, abs=1e-12)
    high = (1 - math.exp(-1)) / (2 * (0.25 + 0.75 * math.exp(-1)))
    for y, steps in ((0.2, 0), (0.9, 1), (-1.1, 1), (1.5, 2), (-700.5, 701)):
        assert law.log_density(y) == pytest.approx(math.log(high) - steps, rel=1e-12)


def largest_of(count):
    return lambda rng: np.max(rng.random(count))


def sum_of(count):
    return lambda rng: sum(rng.random() for _ in range(count))


EDGES = {
    "one order more": (largest_of(2), largest_of(3), math.inf, math.log(1.5)),
    "two orders more": (largest_of(1), largest_of(3), math.inf, math.log(3)),
    "equal orders": (largest_of(2), sum_of(2), math.log(2), math.inf),
}


@pytest.mark.parametrize("name", EDGES)
@pytest.mark.parametrize("place", [0.0, 1 / 3, 1e6])
def test_a_ratio_at_the_edge_of_two_densities(name, place):
    """What matters is at which order either density vanishes, however far from zero."""
    one, other, forward, backward = EDGES[name]

    def mechanism(x, rng):
        return place + (one(rng) if x > 0 else other(rng))

    loss = ExactLaw(dpest.trace(mechanism, 1)).pair(1.0, -1.0)
    assert loss.forward.loss == pytest.approx(forward, rel=1e-9)
    assert loss.backward.loss == pytest.approx(backward, rel=1e-9)
    report = audited(mechanism, 1.0, -1.0)
    assert report.upper == math.inf
    assert report.lower > 9


def test_a_ratio_that_grows_like_a_logarithm_has_no_bound():
    def mechanism(x, rng):
        return sum(rng.exponential() for _ in range(2 if x > 0 else 1))

    loss = ExactLaw(dpest.trace(mechanism, 1)).pair(1.0, -1.0)
    assert loss.forward.loss == loss.backward.loss == math.inf
    assert loss.forward.status == loss.backward.status == "unbounded"


def first_above_a_shared_threshold(x, rng):
    threshold = 1 + rng.laplace(scale=4)
    return next((place for place, value in enumerate(x) if value >= threshold), None)


def all_against_a_shared_threshold(x, rng):
    return x >= 1 + rng.laplace(scale=4)


def between_two(x, rng):
    draw = rng.normal(scale=3)
    return "between" if x[0] <= draw < x[1] else "outside"


@pytest.mark.parametrize(
    "mechanism",
    [first_above_a_shared_threshold, all_against_a_shared_threshold, between_two],
)
@pytest.mark.parametrize(
    "domain",
    [dpest.reals(2), dpest.reals(3), dpest.reals(4, -2, 2), dpest.integers(3, 0, 9)],
    ids=str,
)
def test_search_finds_neighbours_that_open_and_close_a_path(mechanism, domain):
    """One draw for two inputs: the path is open while the first is the lower one."""
    report = dpest.audit(mechanism, domain, dpest.linf(1), claim=1.0)
    assert report.lower == math.inf
    assert str(report.verdict) == "refuted"


@pytest.mark.parametrize("name", ["laplace", "logistic"])
@pytest.mark.parametrize("gap", [0.5, 3.0, 40.0])
def test_a_limit_that_is_approached_like_one_over_the_distance(name, gap):
    """Two draws of one scale have a density like |y| exp(-|y|): the ratio tends to exp(gap)."""

    def mechanism(x, rng):
        draw = getattr(rng, name)
        return x + draw() + draw()

    loss = ExactLaw(dpest.trace(mechanism, 1)).pair(0.0, gap)
    assert loss.forward.loss == pytest.approx(gap, rel=1e-9)
    assert loss.forward.status == "approached"


def first_above_with_its_gap(x, rng):
    threshold = rng.laplace(scale=2)
    for place, query in enumerate(x):
        noisy = query + rng.laplace(scale=4)
        if noisy >= threshold:
            return place, noisy - threshold
    return None


@pytest.mark.parametrize("reach", [1e5, 163_840.0, 1e6, 1e7])
def test_logs_of_a_million_that_differ_by_rounding_are_no_tail_that_grows(reach):
    """The loss is 1 but for 2 / reach: three queries of 1/4 each, in balance with the threshold."""
    x = np.array([reach, reach, reach, -reach])
    law = ExactLaw(dpest.trace(first_above_with_its_gap, 4))
    loss = law.pair(x, x + np.array([1.0, 1.0, 1.0, -1.0]))
    assert loss.loss == pytest.approx(1 - 1 / reach, abs=1 / reach)
    assert loss.backward.loss == pytest.approx(0.25, abs=1e-9)
