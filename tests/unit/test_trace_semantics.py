"""What a trace must not get wrong: aliases, types, copies, texts, and random arrangements."""

from __future__ import annotations

import copy
import math
from collections import Counter
from math import exp

import numpy as np
import pytest

import dpest
from dpest.trace.refusals import NeedsConcreteNoise


def changes_a_view(x, rng):
    v = x + rng.laplace(size=3)
    w = v[:2]
    w += 1
    w[0] = 7.0
    return v


def changes_the_input(x, rng):
    y = x
    y += rng.laplace(size=3)
    return x


def changes_copies(x, rng):
    v = x + rng.laplace(size=3)
    for made in (v.copy(), v.flatten(), copy.copy(v), copy.deepcopy(v), np.array(v)):
        made *= 0
    return v


def changes_by_a_mask(x, rng):
    v = x + rng.laplace(size=3)
    v[v > 1] = 1
    v[v < 0] *= 2
    return v


def stores_truths(x, rng):
    counts = np.zeros(3)
    flags = np.zeros(3, dtype=bool)
    for k, value in enumerate(x):
        flags[k] = value + rng.laplace() > 0
        counts[k] = flags[k]
    return [counts, flags, counts[0] + counts[1]]


def asks_for_types(x, rng):
    v = x + rng.laplace(size=3)
    return [
        isinstance(v, np.ndarray), isinstance(v[0], float), isinstance(v[0], np.floating),
        isinstance(v[0] > 0, np.bool_), isinstance(v[0], (int, np.integer)), np.isscalar(v[0]),
        v.dtype == np.float64, np.issubdtype(v.dtype, np.floating), np.float64(v[0]) + v[1],
    ]  # fmt: skip


def finds_the_largest(x, rng):
    v = x + rng.laplace(size=3)
    return [v == v.max(), np.where(v == v.max())[0][0], v.min() == v[1], v[0] == v[1]]


def selects(x, rng):
    v = x + rng.laplace(size=3)
    kept = v[v > 0]
    return [kept, len(kept), kept.mean() if len(kept) else None]


def computes_with_counts(x, rng):
    count = (x + rng.laplace(size=3) > 0).sum()
    return [
        count % 2,
        count // 2,
        2**count,
        round(count / 2),
        math.sqrt(count),
        f"{count}",
        {0: "a"}.get(count),
    ]


MECHANISMS = [
    changes_a_view, changes_copies, changes_by_a_mask, stores_truths, asks_for_types,
    finds_the_largest, selects, computes_with_counts,
]  # fmt: skip


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda f: f.__name__)
def test_as_in_a_real_run(mechanism, agrees):
    agrees(mechanism, 3)


def test_noise_written_into_the_input_is_in_the_output():
    program = dpest.trace(changes_the_input, 3)
    assert len(program.noises) == 3
    assert dpest.distribution(changes_the_input, [1.0, 2.0, 3.0]).total() == pytest.approx(1)


def test_noise_written_into_a_plain_input_that_is_looked_up():
    def mechanism(x, rng):
        noisy = x.astype(float)
        noisy[0] = {0: 5.0, 1: 7.0}[int(x[0])] + rng.laplace()
        noisy += rng.laplace(size=2)
        return noisy[1]

    report = dpest.audit(mechanism, dpest.integers(2, 0, 1), dpest.l1(1))
    assert report.upper == pytest.approx(1)
    assert report.lower == pytest.approx(1)


def test_an_input_changed_in_place_is_fresh_in_every_run():
    def mechanism(x, rng):
        x[0] += 1
        return x[0] + rng.laplace() > 2

    assert dpest.distribution(mechanism, [1.0, 2.0]).density(True) == pytest.approx(0.5)


@pytest.mark.parametrize("show", [str, repr, "{}".format, "{!r}".format, lambda v: f"{v[0]}"])
def test_a_text_of_noise_is_no_constant(show):
    with pytest.raises(NeedsConcreteNoise):
        dpest.trace(lambda x, rng: show(x + rng.laplace(size=2)), 2)


def test_the_exponential_mechanism_in_plain_python():
    def mechanism(x, rng):
        weights = [exp(value / 2) for value in x]
        return ["a", "b"][rng.choice(2, p=[w / sum(weights) for w in weights])]

    law = dpest.distribution(mechanism, [1.0, 3.0])
    assert law.density("b") == pytest.approx(1 / (1 + math.exp(-1)), rel=1e-12)


ARRANGEMENTS = {
    "permutation": lambda rng: tuple(rng.permutation(3).tolist()),
    "permutation of values": lambda rng: tuple(rng.permutation([4.0, 5.0, 6.0]).tolist()),
    "permuted": lambda rng: tuple(rng.permuted([1, 2, 3]).tolist()),
    "choice without replacement": lambda rng: tuple(rng.choice(4, 2, replace=False).tolist()),
    "choice of names": lambda rng: tuple(rng.choice(["a", "b", "c"], 2, replace=False).tolist()),
}


def shuffled(rng):
    values = ["a", "b", "c"]
    rng.shuffle(values)
    return tuple(values)


@pytest.mark.parametrize("draw", [*ARRANGEMENTS.values(), shuffled])
def test_every_arrangement_is_equally_likely(draw):
    rng = np.random.default_rng(1)
    seen = Counter(draw(rng) for _ in range(400))
    atoms = dpest.distribution(lambda x, rng: draw(rng), 0.0).atoms()
    assert {outcome for outcome, _ in atoms} == set(seen)
    assert [p for _, p in atoms] == pytest.approx([1 / len(seen)] * len(seen))


def test_numbers_of_numpy_are_numbers():
    program = dpest.trace(lambda x, rng: rng.geometric(0.5) > np.int64(3) + np.bool_(True), 1)
    assert len(program.paths) == 1


def test_a_generator_or_coroutine_returns_no_output():
    def yields(x, rng):
        yield x + rng.laplace()

    async def waits(x, rng):
        return x + rng.laplace()

    for mechanism in (yields, waits):
        with pytest.raises(TypeError, match="must return its output"):
            dpest.trace(mechanism, 1)


def test_more_inputs_than_can_be_audited_are_refused_at_once():
    with pytest.raises(ValueError, match="at most 100000"):
        dpest.reals(99_999_999)


def test_a_table_of_probabilities_is_looked_up_value_by_value():
    def keep_or_change(x, rng):
        names = ["red", "green", "blue"]
        p = np.full(3, 0.2)
        p[names.index(x)] = 0.6
        return names[rng.choice(3, p=p)]

    report = dpest.audit(keep_or_change, dpest.one_of("red", "green", "blue"), dpest.any_pair(), 2)
    assert report.verdict == "holds"
    assert report.upper == pytest.approx(math.log(3))
