"""What holds for every mechanism, on random small ones: affine conditions, up to four draws."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import dpest
from dpest.engines.exact import ExactLaw, OutOfReach
from dpest.engines.proof import prove

quick = settings(
    derandomize=True, deadline=None, max_examples=25,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)  # fmt: skip
few = settings(quick, max_examples=10)

SIZE = 3
LAWS = ["laplace", "laplace", "exponential", "normal", "gumbel", "logistic", "uniform"]
PURE = ["laplace", "exponential"]
SHAPES = ["tree", "argmax", "where", "threshold", "number", "clipped", "count"]


class Mechanism:
    """A mechanism made of a recipe; `unit` scales inputs and noise together."""

    def __init__(self, recipe: dict[str, Any], unit: float = 1.0) -> None:
        self.recipe, self.unit = recipe, unit

    def __repr__(self) -> str:
        return f"Mechanism({self.recipe})"

    def __call__(self, x, rng):
        recipe, unit = self.recipe, self.unit
        noisy = []
        for k, (name, scale) in enumerate(recipe["draws"]):
            draw = rng.uniform(0, scale * unit) if name == "uniform" else (
                getattr(rng, name)(scale=scale * unit)
            )  # fmt: skip
            centre = sum(w * v for w, v in zip(recipe["weights"][k], x, strict=True))
            noisy.append(centre + draw)
        return getattr(self, recipe["shape"])(noisy, unit)

    def tree(self, noisy, unit):
        if noisy[0] > unit:
            return ["a", bool(noisy[-1] > 0)]
        if noisy[1] > noisy[0]:
            return ["b", None]
        return ["c", bool(noisy[1] + noisy[-1] > -unit)]

    def argmax(self, noisy, unit):
        return int(np.argmax(np.array(noisy)))

    def where(self, noisy, unit):
        values = np.array(noisy)
        return np.where(values > unit, 2, np.where(values > -unit, 1, 0))

    def threshold(self, noisy, unit):
        return [bool(value >= noisy[0]) for value in noisy[1:]]

    def number(self, noisy, unit):
        return noisy[0] - noisy[1]

    def clipped(self, noisy, unit):
        return np.clip(noisy[0], -unit, unit)

    def count(self, noisy, unit):
        return int(sum(np.array(noisy) > 0))


@st.composite
def recipes(draw: Callable[..., Any], laws: list[str], shapes: list[str]) -> dict[str, Any]:
    shape = draw(st.sampled_from(shapes))
    count = draw(st.integers(2, 3 if shape == "tree" else 4))
    scale = st.sampled_from([0.5, 1.0, 2.0])
    weight = st.sampled_from([-1.0, 0.0, 0.5, 1.0, 1.0])
    return {
        "shape": shape,
        "draws": draw(st.lists(st.tuples(st.sampled_from(laws), scale),
                               min_size=count, max_size=count)),
        "weights": draw(st.lists(st.lists(weight, min_size=SIZE, max_size=SIZE),
                                 min_size=count, max_size=count)),
    }  # fmt: skip


POINT = st.lists(st.sampled_from([-2.0, -1.0, 0.0, 0.5, 1.0, 3.0]), min_size=SIZE, max_size=SIZE)
DISCRETE = [shape for shape in SHAPES if shape not in ("number", "clipped")]


def pair_loss(mechanism, x, y):
    law = ExactLaw(dpest.trace(mechanism, SIZE))
    try:
        return law.pair(np.array(x), np.array(y))
    except OutOfReach:
        assume(False)


def close(a, b, rel=1e-9):
    return a == b or abs(a - b) <= rel * max(abs(a), abs(b)) + 1e-12


@quick
@given(recipes(LAWS, SHAPES), POINT, POINT)
def test_swapping_the_inputs_swaps_the_directions(recipe, x, y):
    mechanism = Mechanism(recipe)
    one, other = pair_loss(mechanism, x, y), pair_loss(mechanism, y, x)
    assert close(one.forward.loss, other.backward.loss)
    assert close(one.backward.loss, other.forward.loss)


@quick
@given(recipes(LAWS, SHAPES), POINT, POINT)
def test_no_loss_is_negative_and_equal_inputs_lose_nothing(recipe, x, y):
    mechanism = Mechanism(recipe)
    loss = pair_loss(mechanism, x, y)
    assert min(loss.forward.loss, loss.backward.loss) >= -1e-12
    assert abs(pair_loss(mechanism, x, x).loss) <= 1e-12


@quick
@given(recipes(LAWS, DISCRETE), POINT, POINT)
def test_post_processing_never_raises_the_loss(recipe, x, y):
    mechanism = Mechanism(recipe)

    def shortened(v, rng):
        outcome = mechanism(v, rng)
        return outcome[0] if isinstance(outcome, list) else outcome == 0

    assert pair_loss(shortened, x, y).loss <= pair_loss(mechanism, x, y).loss * (1 + 1e-11) + 1e-12


@quick
@given(recipes(LAWS, SHAPES), POINT, POINT, st.sampled_from([0.25, 8.0, 1024.0]))
def test_scaling_inputs_and_noise_together_changes_nothing(recipe, x, y, unit):
    plain = pair_loss(Mechanism(recipe), x, y)
    scaled = pair_loss(Mechanism(recipe, unit), unit * np.array(x), unit * np.array(y))
    assert close(plain.loss, scaled.loss, 1e-8)


@quick
@given(recipes(LAWS, DISCRETE), POINT)
def test_probabilities_sum_to_one(recipe, x):
    law = dpest.distribution(Mechanism(recipe), x)
    assert math.fsum(p for _, p in law.atoms()) == pytest.approx(1, abs=1e-11)


@few
@given(recipes(PURE, SHAPES), POINT, st.sampled_from(["l1", "linf"]), st.data())
def test_no_pair_loses_more_than_what_is_proved(recipe, x, kind, data):
    domain, neighbors = dpest.reals(SIZE), getattr(dpest, kind)(1)
    program = dpest.trace(Mechanism(recipe), domain)
    upper = prove(program, domain, neighbors).upper
    assume(math.isfinite(upper))
    law = ExactLaw(program)
    for _ in range(4):
        y = np.array(x)
        if kind == "l1":
            y[data.draw(st.integers(0, SIZE - 1))] += data.draw(st.sampled_from([-1.0, 1.0, 0.5]))
        else:
            y += data.draw(st.lists(st.sampled_from([-1.0, 0.0, 1.0]), min_size=SIZE,
                                    max_size=SIZE))  # fmt: skip
        try:
            assert law.pair(np.array(x), y).loss <= upper * (1 + 1e-9) + 1e-12
        except OutOfReach:
            assume(False)


@few
@given(recipes(PURE, SHAPES), st.sampled_from(["l1", "linf"]))
def test_lower_never_exceeds_upper(recipe, kind):
    report = dpest.audit(Mechanism(recipe), dpest.reals(SIZE), getattr(dpest, kind)(1))
    assert 0 <= report.lower <= report.upper
    if report.witness is not None and report.witness.certified and report.witness.p > 0:
        assert report.witness.loss <= report.upper * (1 + 1e-9) + 1e-12


MONTE_CARLO = [
    {"shape": "tree", "draws": [("laplace", 1.0), ("normal", 2.0), ("gumbel", 0.5)],
     "weights": [[1.0, 0.0, 0.0], [0.0, 1.0, 0.5], [1.0, -1.0, 1.0]]},
    {"shape": "argmax", "draws": [("logistic", 1.0), ("exponential", 2.0), ("uniform", 2.0)],
     "weights": [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]},
    {"shape": "threshold", "draws": [("laplace", 2.0), ("laplace", 1.0), ("normal", 1.0)],
     "weights": [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]},
    {"shape": "count", "draws": [("gumbel", 1.0), ("logistic", 2.0), ("laplace", 0.5)],
     "weights": [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]},
]  # fmt: skip


@pytest.mark.parametrize("recipe", MONTE_CARLO, ids=lambda r: r["shape"])
def test_atoms_agree_with_simulation_at_six_sigma(recipe):
    mechanism, x, runs = Mechanism(recipe), np.array([0.5, -0.5, 1.0]), 8_000
    rng = np.random.default_rng(20)
    seen = Counter(repr(mechanism(x, rng)) for _ in range(runs))
    atoms = {repr(outcome): p for outcome, p in dpest.distribution(mechanism, x).atoms()}
    assert set(seen) <= set(atoms)
    for outcome, p in atoms.items():
        assert abs(seen[outcome] - runs * p) <= 6 * math.sqrt(runs * p * (1 - p)) + 1
