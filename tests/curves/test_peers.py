"""Worst pairs and compositions against Google's dp_accounting, within its own stated error."""

import math

import numpy as np
import pytest

import dpest

peer = pytest.importorskip("dp_accounting.pld.privacy_loss_distribution")

STEP = 1e-3
EPS = [0.0, 0.1, 0.5, 1.0, 2.0]
SLACK = 1e-12
RUNS = 20


def gaussian(x, rng):
    return x + rng.normal(scale=1.5)


def laplace(x, rng):
    return x + rng.laplace(scale=1.2)


def discrete_laplace(x, rng):
    return x + dpest.discrete_laplace(rng, 2)


def discrete_gaussian(x, rng):
    return x + dpest.discrete_gaussian(rng, 2)


def randomized_response(x, rng):
    kept = rng.random() < 0.6
    return np.where(kept, x, rng.integers(0, 4))


def sampled_gaussian(x, rng):
    return np.where(rng.random() < 0.2, x, 0) + rng.normal(scale=0.8)


def sampled_laplace(x, rng):
    return np.where(rng.random() < 0.3, x, 0) + rng.laplace(scale=1.0)


def sampled_discrete_laplace(x, rng):
    return np.where(rng.random() < 0.3, x, 0) + dpest.discrete_laplace(rng, 2)


def sampled_discrete_gaussian(x, rng):
    return np.where(rng.random() < 0.3, x, 0) + dpest.discrete_gaussian(rng, 1)


BIT = dpest.integers(1, 0, 1)
PAIR = dpest.pairs([(1, 0)])
CASES = {
    "gaussian": (gaussian, dpest.reals(1), dpest.l2(1), peer.from_gaussian_mechanism, (1.5,), {}),
    "laplace": (laplace, dpest.reals(1), dpest.l1(1), peer.from_laplace_mechanism, (1.2,), {}),
    "discrete laplace": (
        discrete_laplace, dpest.integers(1, 0, 9), dpest.l1(3),
        peer.from_discrete_laplace_mechanism, (0.5,), {"sensitivity": 3},
    ),
    "discrete gaussian": (
        discrete_gaussian, dpest.integers(1, 0, 9), dpest.l1(1),
        peer.from_discrete_gaussian_mechanism, (2,), {},
    ),
    "randomized response": (
        randomized_response, dpest.integers(1, 0, 3), dpest.any_pair(),
        peer.from_randomized_response, (0.4, 4), {},
    ),
    "sampled gaussian": (
        sampled_gaussian, BIT, PAIR, peer.from_gaussian_mechanism, (0.8,), {"sampling_prob": 0.2},
    ),
    "sampled laplace": (
        sampled_laplace, BIT, PAIR, peer.from_laplace_mechanism, (1.0,), {"sampling_prob": 0.3},
    ),
    "sampled discrete laplace": (
        sampled_discrete_laplace, BIT, PAIR,
        peer.from_discrete_laplace_mechanism, (0.5,), {"sampling_prob": 0.3},
    ),
    "sampled discrete gaussian": (
        sampled_discrete_gaussian, BIT, PAIR,
        peer.from_discrete_gaussian_mechanism, (1,), {"sampling_prob": 0.3},
    ),
}  # fmt: skip


@pytest.fixture(params=CASES, scope="module")
def case(request):
    """A report, and dp_accounting's distribution rounded up and rounded down."""
    function, inputs, neighbors, make, arguments, options = CASES[request.param]
    report = dpest.audit(function, inputs, neighbors)
    up, down = (
        make(*arguments, **options, value_discretization_interval=STEP, pessimistic_estimate=side)
        for side in (True, False)
    )
    return report, up, down


def directed(distribution, direction):
    """dp_accounting's delta in one direction."""
    pmf = distribution._pmf_remove if direction == "forward" else distribution._pmf_add
    return np.array([pmf.get_delta_for_epsilon(eps) for eps in EPS])


def uppers(bounds):
    return np.array([bound.upper for bound in bounds])


def lowers(bounds):
    return np.array([bound.lower for bound in bounds])


@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_both_directions_lie_within_the_error_of_the_peer(case, direction):
    report, up, down = case
    found = report.delta(EPS, direction)
    assert (lowers(found) <= directed(up, direction) + SLACK).all()
    assert (directed(down, direction) <= uppers(found) + SLACK).all()
    assert np.abs(directed(up, direction) - directed(down, direction)).max() < 3 * STEP
    assert all(bound.is_exact for bound in found)


def test_compositions_lie_within_the_error_of_the_peer(case):
    report, up, down = case
    found = report.compose(RUNS).delta(EPS)
    above, below = (d.self_compose(RUNS).get_delta_for_epsilon(EPS) for d in (up, down))
    assert (lowers(found) <= np.array(above) + SLACK).all()
    assert (np.array(below) <= uppers(found) + SLACK).all()


def test_the_export_is_no_better_and_hardly_worse(case):
    report, _, _ = case
    exported = report.to_pld(STEP)
    found = np.array(exported.get_delta_for_epsilon(EPS))
    exact = uppers(report.delta(EPS))
    assert (found >= exact - SLACK).all()
    assert (found <= exact + STEP).all()


def test_a_composed_export_agrees_with_the_composition(case):
    report, _, _ = case
    exported = np.array(report.to_pld(STEP).self_compose(RUNS).get_delta_for_epsilon(EPS))
    composed = report.compose(RUNS).delta(EPS)
    assert (exported >= lowers(composed) - 1e-9).all()
    assert np.abs(exported - uppers(composed)).max() < RUNS * STEP


def test_exports_compose_with_the_peers_own(case):
    report, up, _ = case
    assert report.to_pld(STEP).compose(up).get_delta_for_epsilon(1.0) <= 1


def test_what_nothing_covers_is_not_exported():
    report = dpest.audit(randomized_response, dpest.integers(1, 0, 3), dpest.any_pair())
    bare = type(report.curves)(report.curves.shown, (), "nothing covers it")
    with pytest.raises(ValueError, match="nothing bounds them"):
        bare.to_pld()


@pytest.mark.parametrize("step", [0, -1, math.nan, "fine", math.inf])
def test_bad_steps(step):
    report = dpest.audit(laplace, dpest.reals(1), dpest.l1(1))
    with pytest.raises(ValueError, match="step of a privacy loss distribution must be > 0"):
        report.to_pld(step)


def test_a_step_too_small_for_any_machine():
    report = dpest.audit(laplace, dpest.reals(1), dpest.l1(1))
    with pytest.raises(ValueError, match="use a larger one"):
        report.to_pld(1e-12)
