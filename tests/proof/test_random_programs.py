"""Random small programs: the bound covers every pair, and post-processing never raises it."""

import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import dpest.inputs as domains
import dpest.neighbors as near
from dpest.check import check
from dpest.engines.exact import ExactLaw
from dpest.engines.proof import prove
from dpest.trace import trace

SIZE = 2
SMALL = st.sampled_from([-2, -1, 0, 1, 2])
SCALE = st.sampled_from([0.5, 1.0, 2.0, 3.0])
LAWS = ("laplace", "exponential", "logistic", "gumbel")


@st.composite
def programs(draw, most=3, conditions_most=2):
    """A description of draws, conditions and an output, each affine in inputs and draws."""
    count = draw(st.integers(1, most))
    laws = [(draw(st.sampled_from(LAWS)), draw(SCALE)) for _ in range(count)]

    def line():
        return [draw(SMALL) for _ in range(SIZE)], [draw(SMALL) for _ in range(count)]

    conditions = [(line(), draw(SMALL)) for _ in range(draw(st.integers(0, conditions_most)))]
    output = line() if draw(st.booleans()) else None
    return laws, conditions, output


def run(description, x, rng, post=None):
    laws, conditions, output = description
    noise = [getattr(rng, law)(scale=scale) for law, scale in laws]

    def value(line):
        return sum(a * x[i] for i, a in enumerate(line[0])) + sum(
            c * z for c, z in zip(line[1], noise, strict=True)
        )

    answers = [bool(value(line) >= t) for line, t in conditions if any(line[0]) or any(line[1])]
    released = () if output is None else (value(output),)
    return (*answers, *released) if post is None else post(answers, released)


PLAIN = settings(
    max_examples=60, deadline=None, derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)  # fmt: skip
RELATIONS = st.sampled_from([near.l1(1), near.linf(1), near.l2(1), near.linf(2)])


def bound(description, relation, post=None):
    domain = domains.reals(SIZE)
    program = trace(lambda x, rng: run(description, x, rng, post), domain)
    proof = prove(program, domain, relation)
    if proof.certificate is not None:
        assert check(proof.certificate).ok
    return program, proof


@settings(PLAIN, max_examples=40)
@given(programs(2, 1), RELATIONS, st.integers(0, 10**6))
def test_no_pair_loses_more_than_the_bound(description, relation, seed):
    covers_pairs(description, relation, seed)


@pytest.mark.slow
@settings(PLAIN, max_examples=60)
@given(programs(), RELATIONS, st.integers(0, 10**6))
def test_no_pair_loses_more_than_the_bound_with_more_draws(description, relation, seed):
    covers_pairs(description, relation, seed)


def covers_pairs(description, relation, seed):
    program, proof = bound(description, relation)
    if proof.upper == math.inf:
        return
    law = ExactLaw(program)
    rng = np.random.default_rng(seed)
    for _ in range(3):
        x = rng.integers(-6, 7, size=SIZE) / 2
        d = rng.choice([-1.0, 1.0], size=SIZE) * relation.radius
        if relation.kind == "l1":
            d[rng.integers(SIZE)] = 0
        if relation.kind == "l2":
            d *= 0.7
        try:
            loss = law.pair(x, x + d).loss
        except Exception as reason:
            if type(reason).__name__ in ("OutOfReach", "ArithmeticError"):
                continue
            raise
        assert loss <= proof.upper * (1 + 1e-9) + 1e-9


@PLAIN
@given(programs(), RELATIONS)
def test_post_processing_never_raises_the_bound(description, relation):
    _, proof = bound(description, relation)
    posts = [
        lambda answers, released: sum(map(int, answers)),
        lambda answers, released: tuple(2 * y + 1 for y in released),
    ]
    for post in posts:
        _, after = bound(description, relation, post)
        assert after.upper <= proof.upper * (1 + 1e-12)


@PLAIN
@given(programs(), st.lists(st.integers(-3, 3), min_size=SIZE, max_size=SIZE))
def test_a_pair_and_its_mirror_image_have_the_same_bound(description, move):
    if not any(move):
        return
    x, y = (0.0,) * SIZE, tuple(map(float, move))
    one = bound(description, near.pairs([(x, y)]))[1]
    other = bound(description, near.pairs([(y, x)]))[1]
    assert one.upper == other.upper


@PLAIN
@given(programs())
def test_l1_is_never_dearer_than_linf(description):
    one = bound(description, near.l1(1))[1]
    other = bound(description, near.linf(1))[1]
    assert one.upper <= other.upper * (1 + 1e-12)
