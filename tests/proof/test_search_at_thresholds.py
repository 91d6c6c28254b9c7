"""Where the code decides by the input alone, witnesses stand on both sides of the decision."""

import math

import numpy as np
import pytest

import dpest


def jump(x, rng):
    return (1.0 if x > 5 else 0.0) + rng.laplace(scale=1)


def count_above(x, rng):
    return np.sum(x > 3) + rng.laplace(scale=1)


def clipped_median(x, rng):
    return np.median(np.clip(x, 0, 1)) + rng.laplace(scale=1)


def clipped_maximum(x, rng):
    return np.max(np.clip(x, 0, 10)) + rng.laplace(scale=10)


def branch_that_releases(x, rng):
    return None if x > 2 else x + rng.laplace(scale=1)


@pytest.mark.parametrize(
    ("mechanism", "inputs", "neighbors", "loss"),
    [
        (jump, dpest.reals(1), dpest.l1(1), 1),
        (jump, dpest.integers(1, 0, 9), dpest.l1(1), 1),
        (count_above, dpest.reals(4), dpest.l1(1), 4),
        (count_above, dpest.reals(4, 0, 10), dpest.linf(0.5), 4),
        (count_above, dpest.integers(4, 0, 9), dpest.l1(1), 1),
        (clipped_median, dpest.reals(5), dpest.l1(1), 1),
        (clipped_median, dpest.reals(4), dpest.linf(1), 1),
        (clipped_maximum, dpest.reals(4), dpest.any_pair(), 1),
        (branch_that_releases, dpest.reals(1), dpest.l1(1), math.inf),
    ],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_the_worst_pair_is_found(mechanism, inputs, neighbors, loss):
    report = dpest.audit(mechanism, inputs, neighbors, engine="analytic")
    assert report.lower == pytest.approx(loss, rel=1e-6)
