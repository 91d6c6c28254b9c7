"""What is said to hold over all neighbours holds for neighbours drawn at random."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import dpest
from dpest.curves.additive import worst_pair
from dpest.curves.pair import loss_law
from dpest.engines.exact import ExactLaw
from dpest.trace import trace

EPS = np.array([0.0, 0.1, 0.5, 1.0, 2.0, 4.0])
SLACK = 1e-9
DRAWS = {
    "laplace": lambda rng, scale: rng.laplace(scale=scale),
    "normal": lambda rng, scale: rng.normal(scale=scale),
    "logistic": lambda rng, scale: rng.logistic(scale=scale),
    "uniform": lambda rng, scale: rng.uniform(-3 * scale, 3 * scale),
    "exponential": lambda rng, scale: rng.exponential(scale=scale),
    "discrete_laplace": lambda rng, scale: dpest.discrete_laplace(rng, scale),
    "discrete_gaussian": lambda rng, scale: dpest.discrete_gaussian(rng, scale),
    "geometric": lambda rng, scale: rng.geometric(1 / (1 + scale)),
}

weights = st.integers(-2, 2)
draws = st.tuples(st.sampled_from(sorted(DRAWS)), st.sampled_from([0.5, 1, 2]))


@st.composite
def mechanisms(draw):
    """Noisy linear queries, and how many inputs they take."""
    inputs = draw(st.integers(1, 3))
    rows = draw(st.lists(
        st.tuples(st.lists(weights, min_size=inputs, max_size=inputs), draws),
        min_size=1, max_size=2,
    ))  # fmt: skip

    def mechanism(x, rng):
        numbers = [x] if inputs == 1 else x
        return [
            sum(w * v for w, v in zip(row, numbers, strict=True))
            + DRAWS[name](rng, scale)
            for row, (name, scale) in rows
        ]

    return mechanism, inputs


def scaled(direction, kind, radius, integral):
    """A difference of two neighbours in the direction."""
    size = {"l1": np.abs(direction).sum(), "linf": np.abs(direction).max(),
            "l2": np.linalg.norm(direction)}[kind]  # fmt: skip
    difference = direction * (radius / size)
    return np.trunc(difference) if integral else difference


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    made=mechanisms(),
    kind=st.sampled_from(["l1", "linf", "l2"]),
    radius=st.sampled_from([1, 2]),
    integral=st.booleans(),
    directions=st.lists(st.lists(st.floats(-1, 1), min_size=3, max_size=3), min_size=1, max_size=3),
)
def test_no_neighbours_are_worse_than_the_worst(made, kind, radius, integral, directions):
    mechanism, size = made
    inputs = dpest.integers(size, -9, 9) if integral else dpest.reals(size)
    neighbors = getattr(dpest, kind)(radius)
    program = trace(mechanism, inputs)
    worst = worst_pair(program, inputs, neighbors)
    if worst is None:
        return
    law = ExactLaw(program)
    covering = loss_law(law, *worst).high
    both = (covering, covering.reversed())
    most = np.max([one.deltas(EPS) + one.missing for one in both], axis=0)
    for direction in directions:
        vector = np.array(direction[:size])
        if np.abs(vector).max() < 1e-3:
            continue
        difference = scaled(vector, kind, radius, integral)
        other = loss_law(law, inputs.give(np.zeros(size)), inputs.give(difference)).low
        for one in (other, other.reversed()):
            assert (one.deltas(EPS) <= most + SLACK).all()


def known(mechanism, inputs, neighbors):
    return worst_pair(trace(mechanism, inputs), inputs, neighbors) is not None


def histogram(x, rng):
    return x + rng.laplace(size=len(x))


def discrete_histogram(x, rng):
    return x + np.array([dpest.discrete_laplace(rng, 2) for _ in x])


def mixed(x, rng):
    return [x[0] + rng.laplace(), x[1] + rng.normal()]


def half_steps(x, rng):
    return x / 2 + dpest.discrete_laplace(rng, 2)


def exponential_pair(x, rng):
    return [x[0] - x[1] + rng.exponential(), x[1] + rng.exponential()]


def staircase(x, rng):
    return x + dpest.discrete_laplace(rng, 1) + rng.uniform(0, 1)


@pytest.mark.parametrize(
    ("mechanism", "inputs", "neighbors", "is_known"),
    [
        (histogram, dpest.reals(3), dpest.l1(1), True),
        (histogram, dpest.reals(3), dpest.linf(1), True),
        (histogram, dpest.reals(3), dpest.l2(1), False),
        (discrete_histogram, dpest.integers(2, 0, 9), dpest.l1(1), True),
        (discrete_histogram, dpest.reals(2), dpest.l1(1), False),
        (mixed, dpest.reals(2), dpest.l1(1), False),
        (mixed, dpest.reals(2), dpest.linf(1), True),
        (half_steps, dpest.integers(1, 0, 9), dpest.l1(2), False),
        (exponential_pair, dpest.reals(2), dpest.linf(1), False),
        (staircase, dpest.reals(1), dpest.l1(1), False),
    ],
)
def test_where_a_worst_pair_is_known(mechanism, inputs, neighbors, is_known):
    assert known(mechanism, inputs, neighbors) == is_known


@pytest.mark.parametrize(("kind", "distance"), [("l1", 2.0), ("l2", 2.0), ("linf", 4.0)])
def test_gaussian_vectors_move_as_far_as_the_norm_lets_them(kind, distance):
    """With n = 4 entries a radius of r moves them by r under l2, by r times sqrt(n) under linf."""

    def mechanism(x, rng):
        return x + rng.normal(scale=3.0, size=len(x))

    report = dpest.audit(mechanism, dpest.reals(4), getattr(dpest, kind)(2))
    assert report.zcdp().upper == pytest.approx((distance / 3) ** 2 / 2)
