"""Bounds of mixtures: never below what a pair of inputs really loses, and tight where known."""

import math

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import dpest.inputs as domains
import dpest.neighbors as near
from dpest.check import check
from dpest.engines.exact import ExactLaw
from dpest.engines.proof import prove
from dpest.trace import trace

SHARES = st.sampled_from([0.125, 0.25, 0.5, 0.75])
PLACES = st.lists(st.integers(-2, 2), min_size=3, max_size=3)


@settings(
    max_examples=25, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
@given(SHARES, SHARES, PLACES, PLACES, st.sampled_from([1.0, 2.0]))
def test_no_pair_loses_more_than_the_bound(share, other, places, moved, scale):
    def mechanism(x, rng):
        noise = rng.laplace(scale=scale)
        if x > 0:
            if rng.random() < other:
                return moved[0] + noise
            return (moved[1] if rng.random() < share else moved[2]) + noise
        if rng.random() < share:
            return places[0] + noise
        return (places[1] if rng.random() < other else places[2]) + noise

    inputs = domains.integers(1, 0, 1)
    program = trace(mechanism, inputs)
    proof = prove(program, inputs, near.any_pair())
    loss = ExactLaw(program).pair(0, 1).loss
    assert check(proof.certificate).ok
    assert loss <= proof.upper * (1 + 1e-9) + 1e-9
    assert proof.upper <= 4 / scale * (1 + 1e-9)


@pytest.mark.parametrize("share", [0.5, 0.01, 0.999])
@pytest.mark.parametrize("scale", [0.25, 4.0])
def test_subsampling(share, scale):
    def mechanism(x, rng):
        total = rng.laplace(scale=scale)
        return total + x if rng.random() < share else total

    inputs = domains.integers(1, 0, 1)
    proof = prove(trace(mechanism, inputs), inputs, near.l1(1))
    assert proof.upper == pytest.approx(math.log1p(share * math.expm1(1 / scale)), rel=1e-11)
    assert check(proof.certificate).upper == proof.upper
