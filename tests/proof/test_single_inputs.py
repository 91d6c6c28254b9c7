"""Mechanisms that need the input itself, traced once per value of a finite domain."""

import copy
import json
import math

import numpy as np
import pytest

import dpest.inputs as domains
import dpest.neighbors as near
from dpest.check import check
from dpest.engines.proof import prove
from dpest.verify.model import digest


def centred_sum(values, rng, scale):
    return sum(value - 1.5 for value in values) + rng.laplace(scale=scale)


def mean_by_count(values, rng):
    return (sum(values) + rng.laplace()) / len(values)


def above(values, rng):
    threshold = rng.laplace(scale=2)
    return [sum(values) + rng.laplace(scale=4) >= threshold, len(str(threshold and "x"))]


def hashed_bits(value, rng):
    bits = np.array([int(ch) for ch in format(int(value) * 5 % 16, "04b")])
    return np.where(rng.random(size=4) < 0.5, rng.integers(0, 2, size=4), bits)


def pick_one(value, rng):
    weights = [1.0, 1.0, 1.0]
    weights[int(value)] = 3.0
    return rng.choice([10, 20, 30], p=[w / 5 for w in weights])


RECORDS = domains.one_of((0,), (0, 0), (0, 3))
PAIRS = near.pairs([((0,), (0, 0)), ((0,), (0, 3))])


@pytest.mark.parametrize(("scale", "loss"), [(1, 1.5), (1.5, 1.0)])
def test_sums_of_records(trace_family, scale, loss):
    proof = prove(trace_family(centred_sum, RECORDS, scale=scale), RECORDS, PAIRS)
    assert proof.upper == pytest.approx(loss, rel=1e-12)
    assert check(proof.certificate).ok
    assert proof.worst.pair[0] == (0,)


def test_a_scale_that_depends_on_the_input_has_no_bound(trace_family):
    proof = prove(trace_family(mean_by_count, RECORDS), RECORDS, PAIRS)
    assert proof.upper == math.inf
    assert "differently" in proof.reason


def test_hashed_bits_lose_their_distance(trace_family):
    domain = domains.integers(1, 0, 3)
    proof = prove(trace_family(hashed_bits, domain), domain, near.any_pair())
    distance = max((a * 5 % 16 ^ b * 5 % 16).bit_count() for a in range(4) for b in range(4))
    assert proof.upper == pytest.approx(distance * math.log(3), rel=1e-12)
    assert str(proof.price) == f"{distance}*ln(3)"
    assert check(proof.certificate).ok


def test_a_choice_with_weights(trace_family):
    domain = domains.one_of(0, 1, 2)
    proof = prove(trace_family(pick_one, domain), domain, near.any_pair())
    assert proof.upper == pytest.approx(math.log(3), rel=1e-12)


def test_an_outcome_that_only_one_input_has(trace_family):
    domain = domains.one_of(0, 1)
    proof = prove(
        trace_family(lambda v, rng: v if rng.random() < 0.5 else 2, domain), domain,
        near.any_pair(),
    )  # fmt: skip
    assert proof.upper == math.inf
    assert proof.unbounded
    assert "cannot" in proof.reason


def test_tampering_with_one_of_many_pairs_is_noticed(trace_family):
    proof = prove(trace_family(centred_sum, RECORDS, scale=1.0), RECORDS, PAIRS)
    content = json.loads(json.dumps(dict(proof.certificate.content)))
    assert content["argument"] == "couplings"
    for change in (
        lambda c: c["alignment"].pop(),
        lambda c: c["program"]["members"].pop(),
        lambda c: (c["program"]["members"].pop(), c["alignment"].pop()),
        lambda c: c["program"]["members"][1]["program"]["noise"][0].update(scale="1/2"),
        lambda c: c["program"]["members"][1]["program"]["lines"][0].update(x={"0": "9"}),
        lambda c: c["upper"].update(rational="1"),
        lambda c: c["neighbors"]["listed"].append([1, 2]),
    ):
        tampered = copy.deepcopy(content)
        change(tampered)
        assert not check(tampered).ok
        tampered["program_digest"] = digest(tampered["program"])
        tampered["digest"] = digest({k: v for k, v in tampered.items() if k != "digest"})
        assert not check(tampered).ok
