"""Credit for coins that decide whether an input has a say: right, tight, and not given lightly."""

import json
import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import dpest
import dpest.inputs as domains
import dpest.neighbors as near
from dpest.check import check
from dpest.engines.exact import ExactLaw
from dpest.engines.proof import prove
from dpest.engines.proof.subsampling import prove_subsampling
from dpest.trace import trace


def amplified(share, cost=1.0):
    return math.log(1 + share * (math.exp(cost) - 1))


def sampled_sum(x, rng, share=0.2):
    return np.sum(x * (rng.random(len(x)) < share)) + rng.laplace()


def by_a_loop(x, rng):
    total = rng.laplace()
    for value in x:
        if rng.random() < 0.2:
            total = total + value
    return total


def one_of_all(x, rng):
    return x[rng.integers(0, len(x))] + rng.laplace()


def two_coins(x, rng):
    if rng.random() < 0.5 and rng.random() < 0.4:
        return x + rng.laplace()
    return rng.laplace()


def one_number_each(x, rng):
    return [value * (rng.random() < 0.2) + rng.laplace() for value in x]


def sampled_argmax(x, rng):
    keep = rng.random(len(x)) < 0.2
    return np.argmax(x * keep + rng.exponential(scale=2, size=len(x)))


def sampled_count(x, rng):
    return np.sum(x * (rng.random(len(x)) < 0.2)) + dpest.discrete_laplace(rng, 1)


def clipped_twice(x, rng):
    twice = np.clip(x, 0, 1) + np.clip(x, 0, 2)
    return np.sum(twice * (rng.random(len(x)) < 0.2)) + rng.laplace()


def clipped_and_bare(x, rng):
    return np.sum(np.clip(x, 0, 1) * (rng.random(len(x)) < 0.2)) + x[0] + rng.laplace()


def clipped_for_some(x, rng):
    floored = np.maximum(x, -1) * (x > 0.5)
    return np.sum(floored * (rng.random(len(x)) < 0.2)) + rng.laplace()


def clipped_for_others(x, rng):
    floored = np.maximum(np.where(x[1] > 0.5, x[0], 0), -1)
    return floored * (rng.random() < 0.2) + rng.laplace()


def clipped_by_hand(x, rng):
    total = rng.laplace()
    for value in x:
        if rng.random() < 0.2:
            total = total + max(-1, min(value, 1))
    return total


def gaussian(x, rng):
    return np.sum(x * (rng.random(len(x)) < 0.2)) + rng.normal()


def told_by_the_input(x, rng):
    return x + rng.laplace() if rng.random() < 0.2 + x / 2 else rng.laplace()


def told_apart(x, rng):
    if rng.random() < 0.2:
        return "used", x + rng.laplace()
    return "unused", rng.laplace()


BITS, REALS = domains.integers, domains.reals


def proof_of(function, inputs, neighbors):
    proof = prove(trace(function, inputs), inputs, neighbors)
    assert check(json.loads(json.dumps(dict(proof.certificate.content)))).ok
    return proof


@pytest.mark.parametrize(
    ("function", "inputs", "neighbors", "upper"),
    [
        (sampled_sum, BITS(10, 0, 1), near.l1(1), amplified(0.2)),
        (sampled_sum, BITS(2, 0, 1), near.l1(2), 2 * amplified(0.2)),
        (sampled_sum, BITS(1, 0, 3), near.l1(2), math.log(
            (0.8 + 0.2 * math.exp(3)) / (0.8 + 0.2 * math.exp(1)))),
        (by_a_loop, BITS(5, 0, 1), near.l1(1), amplified(0.2)),
        (one_of_all, BITS(10, 0, 1), near.l1(1), amplified(0.1)),
        (two_coins, REALS(1, 0, 1), near.l1(1), amplified(0.2)),
        (one_number_each, REALS(2, 0, 1), near.any_pair(), 2 * amplified(0.2)),
        (sampled_argmax, BITS(3, 0, 1), near.l1(1), amplified(0.2, 0.5)),
        (sampled_count, BITS(2, 0, 1), near.l1(1), amplified(0.2)),
        (clipped_by_hand, REALS(2), near.linf(1), 2 * math.log(0.8 + 0.2 * math.e)),
        (clipped_by_hand, BITS(1, -9, 9), near.l1(7), math.log(
            (0.8 + 0.2 * math.e) / (0.8 + 0.2 / math.e))),
        (sampled_sum, REALS(1, -1, 1), near.l1(1), math.log(
            (0.8 + 0.2 * math.e) / 1)),
    ],
)  # fmt: skip
def test_the_credit_is_what_the_coins_are_worth(function, inputs, neighbors, upper):
    proof = proof_of(function, inputs, neighbors)
    assert proof.certificate.content["argument"] == "subsampling"
    assert proof.upper == pytest.approx(upper, rel=1e-12)
    assert "it is used" in "\n".join(proof.sentences)


@pytest.mark.parametrize(
    ("function", "inputs", "neighbors"),
    [
        (gaussian, REALS(2, 0, 1), near.l1(1)),
        (told_by_the_input, REALS(1, 0, 1), near.l1(1)),
        (told_apart, REALS(1, 0, 1), near.l1(1)),
        (sampled_sum, REALS(2), near.l1(1)),
        (clipped_twice, REALS(2), near.l1(1)),
        (clipped_and_bare, REALS(2), near.l1(1)),
        (clipped_for_some, REALS(2), near.any_pair()),
        (clipped_for_others, REALS(2), near.any_pair()),
        (sampled_sum, REALS(2, 0, 1), near.pairs([((0, 0), (1, 0))])),
        (lambda x, rng: x + rng.laplace(), REALS(1, 0, 1), near.l1(1)),
        (lambda x, rng: x + rng.laplace() + rng.random(), REALS(1, 0, 1), near.l1(1)),
        (sampled_count, REALS(2, 0, 1), near.l1(1)),
    ],
)
def test_no_credit_where_no_coin_hides_an_input(function, inputs, neighbors):
    proof = prove(trace(function, inputs), inputs, neighbors)
    assert proof.certificate is None or proof.certificate.content["argument"] != "subsampling"


def test_unbounded_numbers_lose_what_they_lose_without_coins():
    report = dpest.audit(sampled_sum, REALS(1), near.l1(1))
    assert report.lower == pytest.approx(1, rel=1e-6)
    assert report.upper == 1


@pytest.mark.parametrize("inputs", [REALS(3, 0, 1), BITS(3, 0, 1)])
def test_the_witness_never_passes_the_bound(inputs):
    report = dpest.audit(sampled_sum, inputs, near.l1(1))
    assert 0.85 * report.upper < report.lower <= report.upper


COST = st.sampled_from([0.25, 0.5, 1.0])
DESCRIPTIONS = st.tuples(
    st.lists(st.sampled_from([0.1, 0.25, 0.5, 1.0]), min_size=2, max_size=2),
    st.lists(st.sampled_from([-1, 1, 2]), min_size=2, max_size=2),
    st.lists(st.sampled_from([-0.5, 0.0, 1.0]), min_size=2, max_size=2),
    COST, st.sampled_from(["number", "above", "tested", "largest"]), st.booleans(),
)  # fmt: skip


def described(description, x, rng):
    shares, factors, defaults, cost, kind, nested = description
    kept = []
    for k, (share, factor, default) in enumerate(zip(shares, factors, defaults, strict=True)):
        letin = rng.random() < share
        if nested and k == 1:
            letin = letin & (rng.random() < 0.5)
        kept.append(np.where(letin, factor * x[k], default))
    noise = rng.laplace(scale=1 / cost, size=3)
    if kind == "number":
        return kept[0] + kept[1] + noise[0]
    if kind == "above":
        return bool(kept[0] - kept[1] + noise[0] >= 0.5)
    if kind == "largest":
        return int(np.argmax([kept[0] + noise[0], kept[1] + noise[1], noise[2]]))
    if kept[0] + noise[0] > 0.25:
        return kept[0] + kept[1] + noise[1]
    return None


@settings(
    max_examples=25, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
)
@given(
    DESCRIPTIONS, st.sampled_from([near.l1(1), near.l1(0.5), near.linf(0.5), near.any_pair()]),
    st.booleans(), st.integers(0, 10**6),
)  # fmt: skip
def test_no_pair_loses_more_than_the_bound(description, relation, whole, seed):
    inputs = BITS(2, 0, 1) if whole else REALS(2, -1, 1)
    if whole and getattr(relation, "radius", 1) < 1:
        relation = near.l1(1)
    program = trace(lambda x, rng: described(description, x, rng), inputs)
    found = prove_subsampling(program, inputs, relation) if _credits(description) else None
    proof = prove(program, inputs, relation)
    assert check(proof.certificate).ok
    if found is not None:
        assert proof.upper <= math.log(float(_ratio(found))) * (1 + 1e-9) + 1e-9
    rng, law = np.random.default_rng(seed), ExactLaw(program)
    for _ in range(4):
        x, y = _neighbors(inputs, relation, rng)
        loss = law.pair(x, y).loss
        assert loss <= proof.upper * (1 + 1e-9) + 1e-9


def _credits(description):
    return any(share < 1 for share in description[0])


def _ratio(found):
    from fractions import Fraction

    return Fraction(found.alignment["bound"])


def _neighbors(inputs, relation, rng):
    """Two neighbours, as a rule as far apart as they can be, at the edge of the box."""
    low, high = (0, 1) if inputs.integral else (-1, 1)
    x = rng.choice([low, high], size=2).astype(float)
    reach = getattr(relation, "radius", high - low)
    d = rng.dirichlet([1, 1]) * reach if relation.__class__.__name__ == "Norm" else [reach] * 2
    if getattr(relation, "kind", "") == "linf":
        d = np.array([reach, reach])
    if inputs.integral:
        d = np.eye(2)[rng.integers(2)] if getattr(relation, "kind", "") == "l1" else np.ones(2)
    d = np.minimum(np.asarray(d, float), high - low)
    return x, np.where(x == low, x + d, x - d)


def test_a_pair_that_is_listed_twice_counts_once():
    both = near.pairs([((0,), (1,)), ((1,), (0,))])
    assert proof_of(by_a_loop, BITS(1, 0, 1), both).upper == pytest.approx(amplified(0.2))
