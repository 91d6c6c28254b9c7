"""Every refusal names the user's file and line, the reason, and a rewrite."""

from __future__ import annotations

import importlib
import inspect
import itertools
import math
import random
import secrets
from pathlib import Path

import numpy as np
import pytest

import dpest
from dpest.trace import refusals
from dpest.trace.refusals import (
    DivergingReplay,
    EndlessLoop,
    HiddenRandomness,
    NeedsConcreteInput,
    NeedsConcreteNoise,
    NonAffine,
    Refusal,
    TooManyPaths,
    UnknownOutput,
    Unsupported,
)

HERE = Path(__file__).name


def multiplies_noise(x, rng):
    return rng.laplace() * rng.laplace()  # refused here


def divides_by_noise(x, rng):
    return x[0] / rng.laplace()  # refused here


def takes_a_root(x, rng):
    return np.sqrt(x[0] + rng.laplace())  # refused here


def takes_an_exponential(x, rng):
    return np.exp(x + rng.laplace(size=2))  # refused here


def takes_math_exp(x, rng):
    return math.exp(x[0] + rng.laplace())  # refused here


def rounds(x, rng):
    return round(x[0] + rng.laplace())  # refused here


def rounds_an_array(x, rng):
    return np.round(x + rng.laplace(size=2))  # refused here


def floors(x, rng):
    return (x[0] + rng.laplace()) // 1  # refused here


def scales_by_the_input(x, rng):
    return rng.laplace(scale=x[0])  # refused here


def probability_from_the_input(x, rng):
    return rng.choice(2, p=[x[0], 1 - x[0]])  # refused here


def makes_an_integer_of_the_input(x, rng):
    return int(x[0]) + rng.laplace()  # refused here


def looks_up_the_input(x, rng):
    return [1, 2, 3][x[0]] + rng.laplace()  # refused here


def makes_an_integer_of_noise(x, rng):
    return int(rng.laplace())  # refused here


def uses_global_numpy(x, rng):
    return x[0] + np.random.laplace()  # refused here


def uses_random(x, rng):
    return x[0] + random.gauss(0, 1)  # refused here


def uses_secrets(x, rng):
    return x[0] + secrets.randbelow(3)  # refused here


def makes_its_own_generator(x, rng):
    return x[0] + np.random.default_rng(0).laplace()  # refused here


def never_ends(x, rng):
    while rng.laplace() < 1:  # refused here
        pass
    return 0


def asks_too_often(x, rng):
    noisy = x[0] + rng.laplace(size=15)
    return [1 if value > 0 else 0 for value in noisy]


def sorts_too_many(x, rng):
    return np.sort(x[0] + rng.laplace(size=13))  # refused here


def partitions(x, rng):
    return np.partition(x + rng.laplace(size=2), 1)[1]  # refused here


def uses_an_unknown_option(x, rng):
    return np.quantile(x + rng.laplace(size=2), 0.5, method="nearest")  # refused here


def unknown_method(x, rng):
    return (x + rng.laplace(size=2)).byteswap()  # refused here


def unknown_function(x, rng):
    return np.fft.fft(x + rng.laplace(size=2))  # refused here


def shuffles_many(x, rng):
    return rng.permutation(9)  # refused here


CASES = [
    (multiplies_noise, NonAffine), (divides_by_noise, NonAffine), (takes_a_root, NonAffine),
    (takes_an_exponential, NonAffine), (takes_math_exp, NonAffine), (rounds, NonAffine),
    (rounds_an_array, Refusal), (floors, NonAffine), (scales_by_the_input, NonAffine),
    (probability_from_the_input, NonAffine),
    (makes_an_integer_of_the_input, NeedsConcreteInput), (looks_up_the_input, NeedsConcreteInput),
    (makes_an_integer_of_noise, NeedsConcreteNoise), (uses_global_numpy, HiddenRandomness),
    (uses_random, HiddenRandomness), (uses_secrets, HiddenRandomness),
    (makes_its_own_generator, HiddenRandomness), (never_ends, EndlessLoop),
    (sorts_too_many, TooManyPaths), (partitions, Unsupported),
    (uses_an_unknown_option, Unsupported), (unknown_method, Unsupported),
    (unknown_function, Unsupported), (shuffles_many, TooManyPaths),
]  # fmt: skip


@pytest.mark.parametrize(("mechanism", "kind"), CASES, ids=lambda v: v.__name__)
def test_refusal_names_line_reason_and_rewrite(mechanism, kind):
    with pytest.raises(kind) as caught:
        dpest.trace(mechanism, 2)
    refusal = caught.value
    lines, start = inspect.getsourcelines(mechanism)
    place = start + next(k for k, line in enumerate(lines) if "refused here" in line)
    assert f"{HERE}:{place}: " in str(refusal)
    assert "Instead: " in str(refusal)
    assert refusal.reason in str(refusal)
    assert len(str(refusal).splitlines()) == 1


def test_too_many_paths_states_the_cap(monkeypatch):
    monkeypatch.setattr(importlib.import_module("dpest.trace.tracer"), "MAX_PATHS", 100)
    with pytest.raises(TooManyPaths, match="more than 100 paths"):
        dpest.trace(asks_too_often, 1)


_COUNTER = itertools.count()


def remembers(x, rng):
    return next(_COUNTER) + rng.laplace()


def test_a_function_that_changes_between_runs_is_refused():
    with pytest.raises(DivergingReplay, match="two runs") as caught:
        dpest.trace(remembers, 1)
    assert f"{HERE}:{remembers.__code__.co_firstlineno}: " in str(caught.value)


def draws_through_a_table(x, rng):
    return x[0] + _HELPERS["uniform"](0, 1) + rng.laplace()


def test_randomness_that_no_name_betrays_is_noticed():
    with pytest.raises(HiddenRandomness) as caught:
        dpest.trace(draws_through_a_table, 2)
    assert f"{HERE}:{draws_through_a_table.__code__.co_firstlineno}: " in str(caught.value)


_HELPERS = {"uniform": random.uniform}


class Opaque:
    """Equal to nothing but itself."""


@pytest.mark.parametrize("make", [lambda: bytearray(b"a"), Opaque], ids=["unhashable", "opaque"])
def test_an_output_that_cannot_be_compared_is_refused(make):
    def mechanism(x, rng):
        return make()

    with pytest.raises(UnknownOutput, match="cannot be compared") as caught:
        dpest.trace(mechanism, 1)
    assert caught.value.source.line == mechanism.__code__.co_firstlineno


def test_a_traced_number_in_a_plain_array_is_refused():
    def mechanism(x, rng):
        table = np.arange(3.0)
        table[0] = x[0] + rng.laplace()
        return table

    with pytest.raises(Unsupported, match="into a plain array") as caught:
        dpest.trace(mechanism, 3)
    assert caught.value.source.line == mechanism.__code__.co_firstlineno + 2


def test_every_refusal_has_a_page_and_a_rewrite_of_its_own():
    kinds = [
        kind for kind in vars(refusals).values()
        if isinstance(kind, type) and issubclass(kind, Refusal)
    ]  # fmt: skip
    assert len({kind.page for kind in kinds}) == len(kinds)
    assert all(kind.rewrite and issubclass(kind, ValueError) for kind in kinds)


def test_names_are_back_after_a_refusal():
    before = (max, np.random, random.gauss)
    with pytest.raises(Refusal):
        dpest.trace(uses_random, 2)
    assert (max, np.random, random.gauss) == before
    assert np is uses_random.__globals__["np"]
    assert "max" not in globals()


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda rng: rng.laplace(scale=0), "scale"),
        (lambda rng: rng.laplace(scale=-1), "scale"),
        (lambda rng: rng.normal(scale=math.nan), "scale"),
        (lambda rng: rng.gumbel(scale=math.inf), "scale"),
        (lambda rng: rng.exponential(0), "scale"),
        (lambda rng: rng.uniform(1, 1), "scale"),
        (lambda rng: rng.geometric(0), "p"),
        (lambda rng: rng.geometric(1.5), "p"),
        (lambda rng: rng.binomial(-1, 0.5), "n"),
        (lambda rng: rng.binomial(3, 2), "p"),
        (lambda rng: rng.integers(3, 3), "low < high"),
        (lambda rng: rng.choice([]), "at least one"),
        (lambda rng: rng.choice(2, p=[0.5, 0.6]), "sum to 1"),
        (lambda rng: rng.choice(2, p=[1.5, -0.5]), "probabilities"),
        (lambda rng: rng.choice(3, p=[0.5, 0.5]), "probabilities"),
        (lambda rng: dpest.discrete_laplace(rng, 0), "scale"),
        (lambda rng: dpest.discrete_gaussian(rng, -1.0), "sigma"),
    ],
)
def test_bad_parameters_get_one_clear_sentence(draw, message):
    with pytest.raises(ValueError, match=message) as caught:
        dpest.trace(lambda x, rng: x + draw(rng), 1)
    assert len(str(caught.value).splitlines()) == 1
