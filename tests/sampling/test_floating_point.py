"""The last bits of doubles: the textbook sampler leaks, samplers on a lattice do not."""

import numpy as np
import pytest

import dpest
from dpest.evidence import Verdict

EPS = 0.1


def textbook(x, rng, size):
    return x + rng.laplace(scale=1 / EPS, size=size)


def snapped(x, rng, size):
    """Round to a coarse grid and clamp: what is left of the low bits does not depend on x."""
    noisy = x + rng.laplace(scale=1 / EPS, size=size)
    return np.clip(np.round(noisy / 16) * 16, -256, 256)


def on_a_lattice(x, rng, size, step=2.0**-10):
    """Discrete Laplace noise on the multiples of `step`; sums of those are exact."""
    success = -np.expm1(-step * EPS)
    steps = rng.geometric(success, size=size) - rng.geometric(success, size=size)
    return x + step * steps


def audited(mechanism, low_bits=True, **settings):
    """Through the front door: neighbours are 0 and 1."""
    box = dpest.blackbox(mechanism, low_bits=low_bits)
    return dpest.audit(
        box, dpest.reals(1), dpest.pairs([(0, 1)]), EPS, time_limit=None, **settings
    )


def test_the_textbook_sampler_is_refuted_by_its_low_bits():
    report = audited(textbook)
    assert report.verdict is Verdict.REFUTED
    assert report.lower > 3
    assert any("about doubles" in note for note in report.notes)


def test_the_textbook_sampler_looks_right_in_real_numbers():
    assert audited(textbook, low_bits=False).verdict is Verdict.UNKNOWN


@pytest.mark.parametrize("mechanism", [snapped, on_a_lattice])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_samplers_on_a_lattice_withstand(mechanism, seed):
    report = audited(mechanism, seed=seed)
    assert report.verdict is Verdict.UNKNOWN
    assert report.lower <= EPS
