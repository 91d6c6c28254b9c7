"""Mechanisms that the proofs are tested on, with what they really lose."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import pytest

import dpest
import dpest.inputs as domains
import dpest.neighbors as near
from dpest.engines.proof import Proof, prove
from dpest.trace import trace, trace_values


def laplace(x, rng):
    return x + rng.laplace(scale=10)


def laplace_copies(x, rng):
    return x + rng.laplace(scale=200, size=20)


def histogram(x, rng, scale):
    return x + rng.laplace(scale=scale, size=len(x))


def noisy_argmax(x, rng):
    return np.argmax(x + rng.laplace(scale=20, size=len(x)))


def exponential_argmax(x, rng):
    return np.argmax(x + rng.exponential(scale=20, size=len(x)))


def gumbel_argmax(x, rng):
    return np.argmax(x + rng.gumbel(scale=20, size=len(x)))


def noisy_max(x, rng):
    return np.max(x + rng.laplace(scale=20, size=len(x)))


def exponential_max(x, rng):
    return np.max(x + rng.exponential(scale=20, size=len(x)))


def two_maxima(x, rng):
    noisy = x + rng.laplace(scale=10, size=len(x))
    return max(noisy[:10]) + np.max(noisy[10:])


def above_threshold(x, rng, t, b1, b2, c=1, release=False, renew=None):
    threshold = t + rng.laplace(scale=b1)
    answers, count = [], 0
    for query in x:
        score = query + rng.laplace(scale=b2)
        if score >= threshold:
            answers.append(score if release else True)
            count += 1
            if count >= c:
                break
            if renew:
                threshold = t + rng.laplace(scale=renew)
        else:
            answers.append(None if release else False)
    return answers


def numerical(x, rng, c=2):
    threshold = 1 + rng.laplace(scale=30)
    answers, count = [], 0
    for query in x:
        if query + rng.laplace(scale=60 * c) >= threshold:
            answers.append(query + rng.laplace(scale=30 * c))
            count += 1
            if count >= c:
                break
        else:
            answers.append(0.0)
    return answers


def no_query_noise(x, rng):
    return x >= 1 + rng.laplace(scale=20)


def never_stops(x, rng):
    return x + rng.laplace(scale=20, size=len(x)) >= 1 + rng.laplace(scale=20)


def side_by_side(x, rng):
    return (
        above_threshold(x, rng, 1, 20, 40, c=2, release=True),
        above_threshold(x, rng, 1, 40, 40 / 3, c=2),
    )


def running_sums(x, rng):
    return np.cumsum(x + rng.laplace(scale=10, size=len(x)))


def noisy_running_sums(x, rng):
    return np.cumsum(x) + rng.laplace(scale=10, size=len(x))


def clipped_sum(x, rng):
    return np.clip(x, -1, 1).sum() + rng.laplace(scale=2)


def clipped_far(x, rng):
    return np.clip(x, 0, 10).sum() + rng.laplace(scale=2)


def half_clipped(x, rng):
    return np.minimum(x, 10).sum() + rng.laplace(scale=2)


def clipped_apart(x, rng):
    return np.clip(x, -3, 0.5) + rng.laplace(scale=7, size=len(x))


def clipped_above(x, rng):
    total = np.clip(2 * x - 1, 0, 10).sum() + rng.laplace(scale=3)
    return total >= 4 + rng.laplace(scale=5)


def clipped_whole(x, rng):
    return np.clip(x, 2, 5).sum() + dpest.discrete_laplace(rng, 2)


def noisy_median(x, rng):
    return np.median(np.clip(x, 0, 1)) + rng.laplace(scale=1)


def third(x, rng):
    return np.sort(np.clip(x, 0, 4))[2] + rng.laplace(scale=2)


def top_two(x, rng):
    return np.sort(x)[-2:] + rng.laplace(scale=2, size=2)


def spread(x, rng):
    ordered = np.sort(x)
    return ordered[3] - ordered[1] + rng.laplace(scale=2)


def argmax_with_sorted_gap(x, rng):
    noisy = x + rng.laplace(scale=2, size=len(x))
    ordered = np.sort(noisy)
    return int(np.argmax(noisy)), ordered[-1] - ordered[-2]


def tested_before_release(x, rng):
    if np.min(np.abs(x - 5)) + rng.laplace(scale=1) > 3:
        return x.sum() + rng.laplace(scale=1)
    return None


def branches_on_a_clip(x, rng):
    if np.clip(x, 0, 10).sum() + rng.laplace(scale=2) >= 3 + rng.laplace(scale=4):
        return "above"
    return "below"


def full_order(x, rng):
    return np.argsort(x + rng.laplace(scale=4, size=len(x))).tolist()


def argmax_with_gap(x, rng):
    noisy = x + rng.laplace(scale=2, size=len(x))
    top = int(np.argmax(noisy))
    return top, noisy[top] - max(noisy[k] for k in range(len(x)) if k != top)


def gaussian(x, rng):
    return x + rng.normal(scale=3)


def geometric_count(x, rng):
    return x + rng.geometric(0.5) - rng.geometric(0.5)


def response(x, rng):
    return x if rng.random() < 0.75 else 1 - x


def clipped_response(bits, rng):
    flipped = rng.random(size=len(bits)) < 0.25
    return np.where(flipped, 1 - bits, bits)


def sum_and_difference(x, rng):
    noise = rng.laplace(scale=2, size=2)
    return x[0] + x[1] + noise[0], x[0] - x[1] + noise[1]


def shifted_cells(x, rng):
    noise = rng.exponential(scale=2, size=2)
    return int(np.argmax(np.array([x[0] + x[1], x[0] - x[1]]) + noise))


def plain_sum(x, rng):
    return x.sum() + rng.laplace()


def ramp(x, rng):
    return np.where(x > 0, x / 2, 0).sum() + rng.laplace()


def jump(x, rng):
    return np.where(x > 0, x + 1, x).sum() + rng.laplace()


def subsampled_sum(x, rng, share=0.25):
    total = rng.laplace()
    for value in x:
        if rng.random() < share:
            total = total + value
    return total


def sampled_number(x, rng):
    if rng.random() < 0.2:
        return x + rng.laplace()
    return rng.laplace()


def sampled_sum(x, rng, shares=0.2):
    return np.sum(x * (rng.random(len(x)) < shares)) + rng.laplace()


def sampled_clipped_sum(x, rng):
    return np.sum(np.clip(x, 0, 1) * (rng.random(len(x)) < 0.2)) + rng.laplace()


def sum_with_defaults(x, rng):
    return np.sum(np.where(rng.random(len(x)) < 0.2, x, 0.5)) + rng.laplace()


def sum_of_a_subset(x, rng):
    return x[rng.choice(len(x), size=2, replace=False)].sum() + rng.laplace()


def sampled_threshold(x, rng):
    total = rng.laplace(scale=2)
    for value in x:
        if rng.random() < 0.25:
            total = total + value
    return "high" if total > 0.5 else "low"


def told_by_a_branch(x, rng):
    noise = rng.laplace(scale=2)
    if x > 2:
        return noise + 1 > 0
    return noise > 0


def coin_and_branch(x, rng):
    noise = rng.laplace()
    return x + noise if rng.random() < (0.5 if x else 0.25) else noise


def count_above(x, rng):
    return np.sum(x > 5) + rng.laplace(scale=2)


def counted_in_a_loop(x, rng):
    count, total = 0, 0
    for value in x:
        if value > 5:
            count += 1
            total += value
    return count + rng.laplace(scale=2), total + rng.laplace(scale=20)


def many_above(x, rng):
    return bool(np.sum(x > 5) + rng.laplace(scale=2) > 2)


def counts_until_many(x, rng):
    level = 1 + rng.laplace(scale=2)
    for threshold in (2, 5, 8):
        if np.sum(x > threshold) + rng.laplace(scale=4) >= level:
            return threshold
    return None


def kept_above(x, rng):
    return np.where(x > 5, x, 0).sum() + rng.laplace(scale=10)


def bare(x, rng):
    return x[0], x[1] + rng.laplace()


class Case(NamedTuple):
    function: Any
    params: dict[str, Any]
    inputs: Any
    neighbors: Any
    upper: float


R, L1, LI, L2 = domains.reals, near.l1, near.linf, near.l2
SVT = {"t": 1.0, "b1": 20, "b2": 40}
GROWTH = math.e - 1


def together(parts, share=0.2, most=1.0):
    """What a sampled sum loses where its inputs change by these amounts."""
    used = share * math.exp(most)
    return sum(math.log((1 - share + used) / (1 - share + used * math.exp(-t))) for t in parts)


CASES: dict[str, Case] = {
    "laplace": Case(laplace, {}, R(1), L1(1), 0.1),
    "laplace under linf": Case(laplace, {}, R(1), LI(1), 0.1),
    "laplace under l2": Case(laplace, {}, R(1), L2(1), 0.1),
    "laplace, radius": Case(laplace, {}, R(1), L1(2.5), 0.25),
    "laplace in a box": Case(laplace, {}, R(1, 0, 3), near.any_pair(), 0.3),
    "laplace, far pair": Case(laplace, {}, R(1), near.pairs([([0], [7])]), 0.7),
    "copies": Case(laplace_copies, {}, R(1), L1(1), 0.1),
    "histogram": Case(histogram, {"scale": 10}, R(5), L1(1), 0.1),
    "wrong histogram": Case(histogram, {"scale": 0.1}, R(5), L1(1), 10.0),
    "histogram under linf": Case(histogram, {"scale": 10}, R(5), LI(1), 0.5),
    "histogram under l2": Case(histogram, {"scale": 10}, R(4), L2(1), 0.2),
    "argmax": Case(noisy_argmax, {}, R(5), LI(1), 0.1),
    "argmax under l1": Case(noisy_argmax, {}, R(5), L1(1), 0.05),
    "exponential argmax": Case(exponential_argmax, {}, R(5), LI(1), 0.1),
    "gumbel argmax": Case(gumbel_argmax, {}, R(5), LI(1), 0.1),
    "gumbel argmax under l1": Case(gumbel_argmax, {}, R(5), L1(1), 0.05),
    "max": Case(noisy_max, {}, R(5), LI(1), 0.25),
    "exponential max": Case(exponential_max, {}, R(5), LI(1), math.inf),
    "two maxima": Case(two_maxima, {}, R(20), LI(1), 2.0),
    "svt 1": Case(above_threshold, SVT | {"t": 0.5}, R(10), LI(1), 0.1),
    "svt 2": Case(above_threshold, SVT | {"renew": 20}, R(10), LI(1), 0.1),
    "svt 3": Case(above_threshold, SVT | {"b2": 20, "release": True}, R(10), LI(1), 0.5),
    "svt 4": Case(above_threshold, {"t": 1.0, "b1": 40, "b2": 40 / 3}, R(10), LI(1), 0.175),
    "svt 5": Case(no_query_noise, {}, R(10), LI(1), math.inf),
    "svt 6": Case(never_stops, {}, R(6), LI(1), 0.3),
    "numerical svt": Case(numerical, {}, R(10), LI(1), 0.1),
    "two in parallel": Case(side_by_side, {}, R(5), LI(1), 0.125 + 0.025 + 0.3),
    "running sums": Case(running_sums, {}, R(10), L1(1), 0.1),
    "running sums under linf": Case(running_sums, {}, R(10), LI(1), 1.0),
    "noise on running sums": Case(noisy_running_sums, {}, R(4), L1(1), 0.4),
    "clipped sum": Case(clipped_sum, {}, R(3), L1(5), 2.5),
    "clipped sum, any pair": Case(clipped_far, {}, R(6), near.any_pair(), 30.0),
    "clipped sum, far under linf": Case(clipped_far, {}, R(6), LI(100), 30.0),
    "clipped sum, near under linf": Case(clipped_far, {}, R(6), LI(4), 12.0),
    "clipped sum, far under l1": Case(clipped_far, {}, R(6), L1(100), 30.0),
    "clipped sum, some way under l1": Case(clipped_far, {}, R(6), L1(30), 15.0),
    "clipped sum, far under l2": Case(clipped_far, {}, R(6), L2(1000), 30.0),
    "clipped sum, far pair": Case(
        clipped_far, {}, R(2), near.pairs([([0, 10], [100, 10])]), 5.0
    ),
    "one clipped number, any pair": Case(clipped_far, {}, R(1), near.any_pair(), 5.0),
    "clipped on one side": Case(half_clipped, {}, R(2), near.any_pair(), math.inf),
    "clipped apart": Case(clipped_apart, {}, R(4), near.any_pair(), 2.0),
    "clipped and compared": Case(clipped_above, {}, R(2), near.any_pair(), 4.0),
    "clipped whole numbers": Case(
        clipped_whole, {}, domains.integers(3, -50, 50), near.any_pair(), 4.5
    ),
    "median": Case(noisy_median, {}, R(5), LI(1), 1.0),
    "median under l1": Case(noisy_median, {}, R(5), L1(1), 1.0),
    "median under l2": Case(noisy_median, {}, R(3), L2(0.5), 0.5),
    "median of an even number": Case(noisy_median, {}, R(4), LI(1), 1.0),
    "median, any pair": Case(noisy_median, {}, R(3), near.any_pair(), 1.0),
    "third of five, any pair": Case(third, {}, R(5), near.any_pair(), 2.0),
    "two largest": Case(top_two, {}, R(4), LI(1), 1.0),
    "difference of two ranks": Case(spread, {}, R(4), LI(1), 1.0),
    "sorted gap": Case(argmax_with_sorted_gap, {}, R(3), LI(1), 1.0),
    "sorted gap under l1": Case(argmax_with_sorted_gap, {}, R(3), L1(1), 0.5),
    "tested before release": Case(tested_before_release, {}, R(2), L1(1), 2.0),
    "tested before release under linf": Case(tested_before_release, {}, R(2), LI(1), 3.0),
    "a branch on a clip, any pair": Case(branches_on_a_clip, {}, R(3), near.any_pair(), 7.5),
    "a branch on a clip": Case(branches_on_a_clip, {}, R(3), L1(1), 0.25),
    "full order": Case(full_order, {}, R(3), LI(1), 0.5),
    "full order of two, further apart": Case(full_order, {}, R(2), LI(3), 1.5),
    "gap": Case(argmax_with_gap, {}, R(4), LI(1), 1.0),
    "gaussian": Case(gaussian, {}, R(1), L1(1), math.inf),
    "geometric": Case(geometric_count, {}, domains.integers(1, 0, 9), L1(1), math.log(2)),
    "one bit": Case(response, {}, domains.integers(1, 0, 1), near.any_pair(), math.log(3)),
    "bits": Case(clipped_response, {}, domains.integers(3, 0, 1), L1(1), math.log(3)),
    "bits, any pair": Case(
        clipped_response, {}, domains.integers(3, 0, 1), near.any_pair(), 3 * math.log(3)
    ),
    "sum and difference": Case(sum_and_difference, {}, R(2), L1(1), 1.0),
    "sum and difference under linf": Case(sum_and_difference, {}, R(2), LI(1), 1.0),
    "sum and difference under l2": Case(sum_and_difference, {}, R(2), L2(1), 1.0),
    "shifted cells": Case(shifted_cells, {}, R(2), LI(1), 1.0),
    "sum in a box, far": Case(plain_sum, {}, R(3, -1, 1), L1(100), 6.0),
    "sum in a box, two and a half entries": Case(plain_sum, {}, R(3, -1, 1), L1(5), 5.0),
    "sum in a box under l2": Case(plain_sum, {}, R(3, -1, 1), L2(100), 6.0),
    "two entries in a box": Case(histogram, {"scale": 2}, R(4, 0, 1), L1(2), 1.0),
    "ramp": Case(ramp, {}, R(3), LI(1), 1.5),
    "ramp under l1": Case(ramp, {}, R(3), L1(2), 1.0),
    "jump": Case(jump, {}, R(1), L1(1), math.inf),
    "subsampled": Case(
        subsampled_sum, {}, domains.integers(2, 0, 1), L1(1), math.log(1 + 0.25 * (math.e - 1))
    ),
    "subsampled, one of four": Case(
        subsampled_sum, {"share": 0.0625}, domains.integers(1, 0, 1), near.any_pair(),
        math.log(1 + 0.0625 * (math.e - 1)),
    ),
    "subsampled, two apart": Case(
        subsampled_sum, {}, domains.integers(2, 0, 1), near.any_pair(),
        2 * math.log(1 + 0.25 * (math.e - 1)),
    ),
    "sampled number": Case(sampled_number, {}, R(1, 0, 1), L1(1), math.log(1 + 0.2 * GROWTH)),
    "sampled real numbers": Case(
        sampled_sum, {}, R(3, 0, 1), L1(1), together([1 / 3] * 3)
    ),
    "sampled real numbers, any pair": Case(
        sampled_sum, {}, R(3, 0, 1), near.any_pair(), together([1] * 3)
    ),
    "sampled with unequal shares": Case(
        sampled_sum, {"shares": np.array([0.1, 0.5, 0.2])}, domains.integers(3, 0, 1), L1(1),
        math.log(1 + 0.5 * GROWTH),
    ),
    "sampled after a clip": Case(
        sampled_clipped_sum, {}, R(2), near.any_pair(), together([1] * 2)
    ),
    "sampled after a clip in a box": Case(
        sampled_clipped_sum, {}, R(2, 0.5, 7), L1(2), together([0.5] * 2)
    ),
    "sampled or a default": Case(
        sum_with_defaults, {}, domains.integers(2, 0, 1), L1(1), together([1], most=0.5)
    ),
    "drawn without replacement": Case(
        sum_of_a_subset, {}, domains.integers(5, 0, 1), L1(1), math.log(1 + 0.4 * GROWTH)
    ),
    "sampled threshold": Case(
        sampled_threshold, {}, R(2, 0, 1), LI(1),
        2 * math.log(1 + 0.25 * (math.exp(0.5) - 1)),
    ),
    "a branch on the input": Case(
        told_by_a_branch, {}, domains.integers(1, 0, 5), L1(1), 0.5
    ),
    "a coin with a bias that the input decides": Case(
        coin_and_branch, {}, domains.integers(1, 0, 1), L1(1),
        math.log(0.5 + 0.5 * math.e),
    ),
    "count above": Case(count_above, {}, R(3), L1(1), 1.5),
    "count above under l2": Case(count_above, {}, R(2), L2(1), 1.0),
    "count above, one entry": Case(count_above, {}, R(1), near.any_pair(), 0.5),
    "count above, integers": Case(count_above, {}, domains.integers(12, 0, 99), L1(2), 1.0),
    "count above, pair": Case(
        count_above, {}, R(3), near.pairs([([4, 6, 5], [6, 6, 5])]), 0.5
    ),
    "counted in a loop": Case(counted_in_a_loop, {}, R(3, 0, 10), LI(10), 3.0),
    "many above": Case(many_above, {}, R(3), L1(1), 1.5),
    "counts until many": Case(counts_until_many, {}, R(2, 0, 10), LI(1), 1.5),
    "counts until many, integers": Case(
        counts_until_many, {}, domains.integers(2, 0, 10), L1(1), 0.25
    ),
    "kept above": Case(kept_above, {}, R(2, 0, 10), LI(1), 2.0),
    "an input as it is": Case(bare, {}, R(2), L1(1), math.inf),
}


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest) -> Case:
    return CASES[request.param]


@pytest.fixture(scope="session")
def proof_of():
    """The proof of a case by name; every proof is made once."""
    known: dict[str, Proof] = {}

    def get(name: str) -> Proof:
        if name not in known:
            known[name] = proof_for(CASES[name])
        return known[name]

    return get


def proof_for(case: Case) -> Proof:
    return prove(trace(case.function, case.inputs, **case.params), case.inputs, case.neighbors)


@pytest.fixture(scope="session")
def prove_case():
    return proof_for


@pytest.fixture(scope="session")
def trace_family():
    def family(function, inputs, **params):
        values = [inputs.give(x) for x in inputs.values()]
        return trace_values(function, values, **params).members

    return family
