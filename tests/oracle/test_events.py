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
