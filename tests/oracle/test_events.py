"""An event is what its words and its Python test say, also where outputs have atoms."""

from __future__ import annotations

import math

import numpy as np
import pytest

import dpest
from dpest.engines.exact import ExactLaw, event_of


def clipped(x, rng):
    return np.clip(x[0] + rng.laplace(), 0, 1)


def clipped_twice(x, rng):
    return np.clip(x + rng.laplace(size=2), 0, 1)


def clipped_by_branches(x, rng):
    noisy = x[0] + rng.laplace()
    if noisy < 0:
        return 0.0
    return noisy if noisy < 1 else 1.0


def number_or_nothing(x, rng):
    noisy = x[0] + rng.laplace()
    return noisy if noisy > x[1] + rng.laplace() else None


def rectified_sum(x, rng):
    return np.maximum(x + rng.laplace(size=2), 0).sum()


MECHANISMS = [clipped, clipped_twice, clipped_by_branches, number_or_nothing, rectified_sum]


def as_lists(output):
    return output.tolist() if isinstance(output, np.ndarray) else output


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda f: f.__name__)
def test_the_probability_is_that_of_the_test(mechanism):
    x, y, runs = np.array([0.3, -0.6]), np.array([1.3, -1.6]), 4_000
    law = ExactLaw(dpest.trace(mechanism, 2))
    rng = np.random.default_rng(3)
    outputs = [as_lists(mechanism(x, rng)) for _ in range(runs)]
    loss = law.pair(x, y)
    for directed, a, b in ((loss.forward, x, y), (loss.backward, y, x)):
        event = event_of(law, directed, a, b)
        p = math.exp(event.log_probability(law, x))
        seen = sum(bool(eval(event.python(), {"output": output})) for output in outputs)
        assert abs(seen - runs * p) <= 6 * math.sqrt(runs * p * (1 - p)) + 1, event.python()
        gap = event.log_probability(law, a) - event.log_probability(law, b)
        assert gap == pytest.approx(directed.loss, rel=1e-4)


def test_an_impossible_outcome_is_more_than_an_unbounded_ratio():
    def mechanism(x, rng):
        return [np.max(x + rng.exponential(size=2)), x[0] + rng.normal()]

    loss = ExactLaw(dpest.trace(mechanism, 2)).pair([0.0, 0.0], [1.0, 0.0])
    assert loss.forward.loss == loss.backward.loss == math.inf
    assert loss.impossible


def clamped(x, rng):
    return min(max(int(x[0]) + dpest.discrete_laplace(rng, 1.0), 0), 5)


def zero_or_more(x, rng):
    return 0 if rng.random() < 0.5 else int(x[0]) + rng.geometric(0.5)


def four_or_near(x, rng):
    return 4 if rng.random() < 0.5 else int(x[0]) + dpest.discrete_laplace(rng, 1.0)


WHOLE = [(clamped, 1, 3), (clamped, 4, 1), (zero_or_more, 1, 2), (zero_or_more, -1, -2),
         (four_or_near, 3, 5), (four_or_near, 4, 2)]  # fmt: skip


@pytest.mark.parametrize(("mechanism", "x", "y"), WHOLE)
def test_constants_among_whole_numbers_are_counted_as_the_test_counts_them(mechanism, x, y):
    report = dpest.audit(mechanism, dpest.reals(2), dpest.pairs([([x, 0.0], [y, 0.0])]))
    witness, runs = report.witness, 4_000
    assert witness.certified
    rng = np.random.default_rng(5)
    for point, p in ((witness.x, witness.p), (witness.x_prime, witness.p_prime)):
        outputs = [mechanism(point, rng) for _ in range(runs)]
        seen = sum(bool(eval(witness.test, {"output": output})) for output in outputs)
        assert abs(seen - runs * p) <= 6 * math.sqrt(runs * p * (1 - p)) + 1, witness.event


def test_the_certified_probability_of_an_end_is_that_of_everything_beyond_it():
    """P(1 + noise <= 0) for noise of scale 1: the end itself is reached by integer noise too."""
    report = dpest.audit(clamped, dpest.reals(2), dpest.pairs([([1.0, 0.0], [3.0, 0.0])]))
    share = math.exp(-1) / (1 + math.exp(-1))
    assert report.witness.event == "the output is 0"
    assert report.witness.p == pytest.approx(share, rel=1e-12)
    assert report.witness.p_prime == pytest.approx(share * math.exp(-2), rel=1e-12)
