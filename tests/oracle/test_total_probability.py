"""All outcomes together have probability one."""

from __future__ import annotations

import numpy as np
import pytest

import dpest


@pytest.mark.parametrize("entry", dpest.zoo.ENTRIES, ids=lambda e: e.title)
def test_zoo_mechanism(entry):
    n = entry.inputs.size
    if entry.inputs.integral:
        points = [entry.inputs.give([v]) for v in (1, 3)]
    else:
        points = [np.ones(n), np.arange(n) % 3 * 1.0] if n > 1 else [1.0, -2.5]
    for x in points[: 1 if entry.name == "svt34_parallel" else 2]:
        total = dpest.distribution(entry.function, x, params=entry.params).total()
        assert total == pytest.approx(1, abs=1e-10)


def where_negative(x, rng):
    noisy = x[0] + rng.laplace()
    return np.where(noisy < 0, 0.0, noisy)


def masked(x, rng):
    noisy = x + rng.laplace(size=2)
    noisy[noisy < 0] = 0
    return noisy


def what_a_clip_cuts_off(x, rng):
    noise = rng.laplace()
    return x[0] + noise - np.clip(noise, -1, 1)


def zero_or_rectified(x, rng):
    return 0.0 if rng.random() < 0.5 else where_negative(x, rng)


CANCELLED = [where_negative, masked, what_a_clip_cuts_off, zero_or_rectified]


@pytest.mark.parametrize("mechanism", CANCELLED, ids=lambda f: f.__name__)
def test_noise_that_a_piece_cancels(mechanism):
    for x in ([1.0, -0.5], [-2.0, 3.0]):
        assert dpest.distribution(mechanism, x).total() == pytest.approx(1, abs=1e-10)


def test_an_atom_that_two_paths_share_is_one_outcome():
    """P(0) is 1/2 + P(x + noise < 0) / 2."""
    law = dpest.distribution(zero_or_rectified, [1.0, 0.0])
    assert law.density(0.0) == pytest.approx(0.5 + np.exp(-1) / 4, rel=1e-12)


def a_number_and_the_larger_one(x, rng):
    noisy = x + rng.laplace(size=2)
    return np.maximum.accumulate(noisy)


def one_lattice_or_another(x, rng):
    noise = dpest.discrete_laplace(rng, 1.0)
    return x[0] + (noise if rng.random() < 0.5 else noise + 0.5)


def whole_or_not(x, rng):
    return rng.laplace() if rng.random() < 0.5 else dpest.discrete_laplace(rng, 1.0)


FORMS = [a_number_and_the_larger_one, one_lattice_or_another, whole_or_not]


@pytest.mark.parametrize("mechanism", FORMS, ids=lambda f: f.__name__)
def test_outcomes_of_several_forms_are_counted_once(mechanism):
    law = dpest.distribution(mechanism, [0.0, 1.0])
    assert law.total() == pytest.approx(1, abs=1e-10)


def test_the_share_below_a_number_where_noise_is_whole_or_not():
    """Half of Laplace, half of its whole-numbered twin, whose P(0) is tanh(1/2)."""
    law = dpest.distribution(whole_or_not, [0.0, 1.0])
    zero = np.tanh(0.5)
    assert law.cdf(0.0) == pytest.approx(0.25 + (1 + zero) / 4, rel=1e-12)
    shifted = dpest.distribution(one_lattice_or_another, [0.0, 1.0])
    assert shifted.cdf(0.2) == pytest.approx(0.5, rel=1e-12)
