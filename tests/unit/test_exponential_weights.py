"""`rng.choice(p=softmax)` is traced as an argmax with Gumbel noise, which has the same law."""

import itertools
import math

import numpy as np
import pytest

import dpest
from dpest.trace.refusals import NonAffine


def plain(x, rng):
    w = np.exp(x)
    return rng.choice(len(x), p=w / w.sum())


def shifted_by_the_largest(x, rng):
    w = np.exp(x - np.max(x))
    w /= np.sum(w)
    return rng.choice(len(x), p=w)


def python_sum(x, rng):
    weights = [np.exp(v) for v in x]
    total = sum(weights)
    return rng.choice(len(x), p=[w / total for w in weights])


def common_factor(x, rng):
    w = 3 * np.exp(x)
    return rng.choice(len(x), p=w / w.sum())


def loss(mechanism, x, x_prime):
    """The exact loss of a pair, from a trace with symbolic inputs."""
    pairs = dpest.pairs([(x, x_prime)])
    return dpest.audit(mechanism, dpest.reals(len(x)), pairs).upper


def softmax_loss(x, x_prime):
    p, q = (np.exp(v) / np.exp(v).sum() for v in (x, x_prime))
    return np.abs(np.log(p / q)).max()


@pytest.mark.parametrize("mechanism", [plain, shifted_by_the_largest, python_sum, common_factor])
def test_the_law_is_the_softmax(mechanism):
    x, x_prime = [0.5, -1.0, 2.25], [0.25, -1.5, 2.5]
    expected = softmax_loss(x, x_prime)
    assert loss(mechanism, x, x_prime) == pytest.approx(expected, rel=1e-10)


def test_a_coin_with_a_logistic_probability():
    def coin(x, rng):
        p = 1 / (1 + np.exp(-x[0]))
        return rng.choice(["tails", "heads"], p=[1 - p, p])

    expected = math.log((1 + math.exp(1.5)) / (1 + math.exp(0.75)))
    assert loss(coin, [0.75], [1.5]) == pytest.approx(expected, rel=1e-10)


def test_values_are_picked_and_draws_are_independent():
    def two(x, rng):
        w = np.exp(x)
        return rng.choice(["a", "b"], p=w / w.sum(), size=2)

    expected = 2 * softmax_loss([0.0, 1.0], [0.0, 2.0])
    assert loss(two, [0.0, 1.0], [0.0, 2.0]) == pytest.approx(expected, rel=1e-10)


def test_the_exponential_mechanism_is_proved():
    def exponential_mechanism(scores, rng, eps=0.5):
        w = np.exp(eps * scores / 2)
        return rng.choice(len(scores), p=w / w.sum())

    report = dpest.audit(exponential_mechanism, dpest.reals(4), dpest.linf(1), claim=0.5)
    assert report.upper == 0.5
    assert report.lower == pytest.approx(0.5, rel=1e-6)


def test_a_softmax_of_a_few_integers_is_exact():
    """Brute force over the domain, in floats."""

    def scored(x, rng):
        w = np.exp(np.asarray(x) / 2)
        return rng.choice(2, p=w / w.sum())

    def first(x):
        return 1 / (1 + math.exp((x[1] - x[0]) / 2))

    grid = list(itertools.product(range(3), repeat=2))
    worst = max(
        math.log(first(x) / first(y))
        for x in grid for y in grid if max(abs(a - b) for a, b in zip(x, y, strict=True)) <= 1
    )  # fmt: skip
    report = dpest.audit(scored, dpest.integers(2, 0, 2), dpest.linf(1))
    assert report.upper == pytest.approx(worst, rel=1e-12)
    assert report.lower == pytest.approx(worst, rel=1e-12)
    assert report.bound.upper_status == "proved"
    assert dpest.check(report.proof.to_json()).ok


@pytest.mark.parametrize(
    "mechanism",
    [
        lambda x, rng: np.exp(x[0] + rng.laplace()),
        lambda x, rng: 1 if np.exp(x[0] + rng.laplace()) > 2 else 0,
        lambda x, rng: rng.choice(2, p=[np.exp(x[0]) / 9, 1 - np.exp(x[0]) / 9]),
        lambda x, rng: float(np.exp(x[0])),
        lambda x, rng: np.exp(x[0]) ** 2,
        lambda x, rng: np.exp(x[0]) * x[1],
    ],
)
def test_other_uses_of_an_exponential_are_refused(mechanism):
    with pytest.raises(NonAffine, match=r"np.exp of the input or of noise is not affine"):
        dpest.trace(mechanism, 2)


def test_unequal_factors_are_refused():
    def weighted(x, rng):
        w = np.array([1.0, 2.0]) * np.exp(x)
        return rng.choice(2, p=w / w.sum())

    with pytest.raises(NonAffine, match="unequal factors"):
        dpest.trace(weighted, 2)


def test_weights_that_do_not_sum_to_one():
    with pytest.raises(ValueError, match="do not sum to 1"):
        dpest.trace(lambda x, rng: rng.choice(2, p=np.exp(x)), 2)


def stable_softmax(x, rng):
    weights = np.exp((x - np.max(x)) / 2)
    return rng.choice(len(x), p=weights / np.sum(weights))


def test_the_shift_of_a_stable_softmax_costs_nothing():
    report = dpest.audit(stable_softmax, dpest.reals(3), dpest.linf(1))
    assert report.lower == pytest.approx(1, rel=1e-6)
    assert report.upper == 1


def median_of_counts(x, rng):
    grid = np.arange(4)
    score = -np.abs(np.sum(x[:, None] <= grid, axis=0) - len(x) / 2)
    return rng.choice(grid, p=np.exp(score / 2) / np.exp(score / 2).sum())


def median_of_counts_once(x, rng):
    grid = np.arange(4)
    weights = np.exp(-np.abs(np.sum(x[:, None] <= grid, axis=0) - len(x) / 2) / 2)
    return rng.choice(grid, p=weights / weights.sum())


def test_exponentials_of_what_was_decided_are_numbers():
    domain = dpest.integers(2, 0, 3)
    twice, once = (
        dpest.audit(f, domain, dpest.l1(1)) for f in (median_of_counts, median_of_counts_once)
    )
    assert twice.upper == once.upper
    assert twice.lower == pytest.approx(once.upper, rel=1e-9)
