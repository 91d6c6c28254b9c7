"""Mechanisms with finitely many draws against brute force in fractions."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable
from fractions import Fraction as F
from typing import Any

import numpy as np
import pytest
from flint import acb, fmpq

import dpest
from dpest.engines.exact import ExactLaw, enclosure, event_of
from dpest.noise import Integers, binomial_law, choice_law
from dpest.numbers import balls
from dpest.numbers.rational import exact
from dpest.trace import trace_values

THIRDS = [0.25, 0.5, 0.25]
SKEWED = [0.5, 0.125, 0.25, 0.125]


class Enumerator(np.random.Generator):
    """Gives one prescribed combination of outcomes, with its exact probability."""

    def __init__(self, places: tuple[int, ...]) -> None:
        super().__init__(np.random.PCG64(0))
        self.places = list(places)
        self.sizes: list[int] = []
        self.probability = F(1)

    def _next(self, weights: list[F]) -> int:
        k = self.places[len(self.sizes)] if len(self.sizes) < len(self.places) else 0
        self.sizes.append(len(weights))
        self.probability *= weights[k]
        return k

    def _many(self, size: Any, draw: Callable[[], Any]) -> Any:
        return draw() if size is None else np.array([draw() for _ in range(size)])

    def choice(self, a, size=None, replace=True, p=None, axis=0, shuffle=True):
        values = list(range(a)) if np.ndim(a) == 0 else list(a)
        weights = [F(1, len(values))] * len(values) if p is None else [F(w) for w in p]
        return self._many(size, lambda: np.asarray(values)[self._next(weights)])

    def integers(self, low, high=None, size=None, dtype=int, endpoint=False):
        low, high = (0, low) if high is None else (low, high)
        return self._many(size, lambda: low + self._next([F(1, high - low)] * (high - low)))

    def binomial(self, n, p, size=None):
        weights = [math.comb(n, k) * F(p) ** k * (1 - F(p)) ** (n - k) for k in range(n + 1)]
        return self._many(size, lambda: self._next(weights))


def brute_force(mechanism: Callable[..., Any], x: Any) -> dict[str, F]:
    """Every outcome (as text) with its exact probability."""
    found: Counter[str] = Counter()
    waiting: list[tuple[int, ...]] = [()]
    while waiting:
        prefix = waiting.pop()
        rng = Enumerator(prefix)
        outcome = mechanism(x, rng)
        found[_text(outcome)] += rng.probability
        for depth in range(len(prefix), len(rng.sizes)):
            head = (*prefix, *([0] * (depth - len(prefix))))
            waiting += [(*head, k) for k in range(1, rng.sizes[depth])]
    return dict(found)


def _text(value: Any) -> str:
    """A text that is the same for a numpy number and the Python number of the same value."""
    if isinstance(value, dict):
        return str({k: _text(v) for k, v in value.items()})
    if isinstance(value, (list, tuple, np.ndarray)):
        return str([_text(v) for v in value])
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value))
    if isinstance(value, (int, float, np.number)):
        return f"{float(value):.12g}"
    return repr(value)


def noisy_argmax(x, rng):
    return int(np.argmax(x + rng.choice(3, size=len(x), p=THIRDS)))


def noisy_max(x, rng):
    return np.max(x + rng.integers(0, 4, size=len(x)))


def shared_threshold(x, rng):
    threshold = rng.choice([0.0, 1.0, 2.0], p=THIRDS)
    return [bool(value + rng.integers(0, 3) >= threshold) for value in x]


def stops_early(x, rng):
    threshold = rng.integers(1, 4)
    for k, value in enumerate(x):
        if value + rng.binomial(3, 0.5) > threshold:
            return k
    return None


def nested_ifs(x, rng):
    coin = rng.choice(2, p=[0.75, 0.25])
    if coin:
        return "skip"
    if x[0] + rng.integers(0, 2) > x[1]:
        return ("above", x[2] + rng.integers(0, 2))
    return ("below", rng.binomial(2, 0.25) * 1.0)


def running_sums(x, rng):
    return np.cumsum(x + rng.choice([-1, 0, 1], size=len(x), p=THIRDS))


def sorted_scores(x, rng):
    return np.sort(x + rng.integers(0, 3, size=len(x)))


def order_of_scores(x, rng):
    return np.argsort(x + rng.integers(0, 3, size=len(x)), kind="stable")


def two_maxima(x, rng):
    noisy = x + rng.choice([0, 1, 5], size=len(x), p=THIRDS)
    return np.max(noisy[:2]) + np.max(noisy[1:])


def clipped(x, rng):
    return np.clip(x[0] + rng.choice([-2, -1, 1, 2], p=SKEWED), 0, 1)


def masked(x, rng):
    kept = rng.binomial(1, 0.25, size=len(x))
    return (kept * x).sum()


def where_else(x, rng):
    truthful = rng.choice([True, False], size=len(x), p=[0.75, 0.25])
    return np.where(truthful, x > 1, rng.integers(0, 2, size=len(x)) == 1)


def product_of_draws(x, rng):
    return x[0] * rng.choice([1, 2], p=[0.5, 0.5]) * rng.choice([1, 3], p=[0.25, 0.75])


def entry_at_argmax(x, rng):
    noisy = x + rng.integers(0, 3, size=len(x))
    winner = np.argmax(noisy)
    return {"winner": winner, "score": noisy[winner]}


def coin_between_mechanisms(x, rng):
    if rng.choice(2) == 0:
        return x[0] + rng.integers(0, 2)
    return x[0] + rng.integers(0, 4)


def medians(x, rng):
    return np.median(x + rng.integers(0, 2, size=len(x)))


def counted(x, rng):
    return np.count_nonzero(x + rng.integers(-1, 2, size=len(x)) > 0)


MECHANISMS = [
    noisy_argmax, noisy_max, shared_threshold, stops_early, nested_ifs, running_sums,
    sorted_scores, order_of_scores, two_maxima, clipped, masked, where_else, product_of_draws,
    entry_at_argmax, coin_between_mechanisms, medians, counted,
]  # fmt: skip
POINTS = [np.array([0.0, 1.0, 2.0]), np.array([1.0, 1.0, 1.0]), np.array([0.5, -1.0, 2.0])]


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda f: f.__name__)
def test_atoms_are_the_enumerated_probabilities(mechanism):
    for x in POINTS:
        truth = brute_force(mechanism, x)
        assert sum(truth.values()) == 1
        atoms = dpest.distribution(mechanism, x).atoms()
        found = {_text(outcome): p for outcome, p in atoms}
        assert len(found) == len(atoms)
        assert set(found) == set(truth)
        for outcome, p in truth.items():
            assert found[outcome] == pytest.approx(float(p), rel=2e-15)


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda f: f.__name__)
def test_the_loss_of_a_pair_is_the_enumerated_one(mechanism):
    for x, y in itertools.combinations(POINTS, 2):
        p, q = brute_force(mechanism, x), brute_force(mechanism, y)
        law = ExactLaw(trace_values(mechanism, [x, y]))
        loss = law.pair(x, y)
        for found, mine, theirs in ((loss.forward, p, q), (loss.backward, q, p)):
            ratios = [mine[k] / theirs[k] if k in theirs else math.inf for k in mine]
            truth = max(ratios)
            if truth == math.inf:
                assert found.loss == math.inf
                assert found.status == "impossible"
            else:
                assert found.loss == pytest.approx(math.log(truth), rel=1e-14, abs=2e-15)


CERTIFIED = [noisy_argmax, shared_threshold, stops_early, nested_ifs, order_of_scores, counted]


@pytest.mark.parametrize("mechanism", CERTIFIED, ids=lambda f: f.__name__)
def test_balls_contain_the_exact_fractions(mechanism):
    x, y = POINTS[0], POINTS[1]
    p, q = brute_force(mechanism, x), brute_force(mechanism, y)
    law = ExactLaw(trace_values(mechanism, [x, y]))
    for direction, here, there in ((law.pair(x, y).forward, x, y), (law.pair(x, y).backward, y, x)):
        event = event_of(law, direction, here, there)
        name = _text(direction.outcome)
        for place in (here, there):
            truth = (p if place is x else q).get(name, F(0))
            ball = enclosure(event, law, place).ball
            with balls.precision(500):
                assert ball.contains(fmpq(truth.numerator, truth.denominator))
            assert ball.rel_accuracy_bits() > 40 or truth == 0


def test_masses_of_finite_laws_are_the_exact_rationals():
    laws = [choice_law(SKEWED), binomial_law(5, exact(0.25)), Integers(exact(6))]
    tables = [
        [F(w) for w in SKEWED],
        [math.comb(5, k) * F(1, 4) ** k * F(3, 4) ** (5 - k) for k in range(6)],
        [F(1, 6)] * 6,
    ]
    for law, table in zip(laws, tables, strict=True):
        for low, high in itertools.combinations_with_replacement(range(-1, len(table) + 1), 2):
            truth = sum(table[max(low, 0) : high + 1], F(0))
            value = fmpq(truth.numerator, truth.denominator)
            assert balls.lattice_mass(law, fmpq(low), fmpq(high)).real.overlaps(acb(value).real)
            if law.name != "integers":
                assert law.mass(low, high) == value
