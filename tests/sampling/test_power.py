"""What a black box leaks is found wherever it sits: in strings, bits, lumps, edges, far entries."""

import dataclasses
import decimal
import math

import numpy as np
import pytest

from dpest.engines.blackbox import Sampling, blackbox, estimate

LIE = 0.25
TOLD = math.log(3)
"""What an answer loses that is a lie with probability 1/4."""


@dataclasses.dataclass(frozen=True)
class Answer:
    noise: float
    said: int


class Plain:
    def __init__(self, said):
        self.said = said


def said(x, rng):
    return int(x) ^ int(rng.random() < LIE)


def word_in_a_long_tail(x, rng):
    return f"{'ab'[said(x, rng)]}{rng.integers(10**9)}"


def sentence_with_a_number(x, rng):
    return f"about {x + rng.laplace(scale=0.9):.6f} people"


def string_of_bits(x, rng):
    return "".join("01"[said(x, rng) if k in (3, 9) else rng.integers(2)] for k in range(12))


def packed_bits(x, rng, size):
    noise = rng.integers(0, 2**30, size)
    return noise & ~8 | 8 * (x ^ (rng.random(size) < LIE))


def packed_beyond_doubles(x, rng):
    return (1 << 80) + (int(rng.integers(2**60)) << 10) + said(x, rng)


def bytes_of_noise(x, rng):
    return bytes([said(x, rng), *rng.integers(0, 256, 5)])


def forgets_noise(x, rng, size):
    return np.where(rng.random(size) < 0.02, x, x + rng.laplace(scale=10.0, size=size))


def bounded_noise(x, rng, size):
    return x + rng.uniform(-20, 20, size)


def entry_far_away(x, rng, size):
    bits = rng.integers(0, 2, (size, 300))
    bits[:, 277] = x ^ (rng.random(size) < LIE)
    return bits


def long_list(x, rng):
    return [int(v) for v in rng.integers(0, 9, 11)] + [said(x, rng)]


def complex_number(x, rng):
    return complex(rng.normal(), said(x, rng))


def data_class(x, rng):
    return Answer(rng.normal(), said(x, rng))


def plain_object(x, rng):
    return Plain(said(x, rng))


def exact_decimal(x, rng):
    return decimal.Decimal(said(x, rng)) + decimal.Decimal(rng.random()) / 2


@pytest.mark.parametrize(
    ("mechanism", "samples", "least", "truth"),
    [
        (word_in_a_long_tail, 8_000, 0.9, TOLD),
        (sentence_with_a_number, 20_000, 0.9, 1 / 0.9),
        (string_of_bits, 20_000, 1.8, 2 * TOLD),
        (packed_bits, 40_000, 0.95, TOLD),
        (packed_beyond_doubles, 8_000, 0.9, TOLD),
        (bytes_of_noise, 8_000, 0.9, TOLD),
        (forgets_noise, 100_000, 4.5, math.inf),
        (bounded_noise, 100_000, 5.0, math.inf),
        (entry_far_away, 20_000, 0.9, TOLD),
        pytest.param(long_list, 50_000, 0.95, TOLD, marks=pytest.mark.slow),
        (complex_number, 8_000, 0.85, TOLD),
        (data_class, 8_000, 0.85, TOLD),
        (plain_object, 4_000, 0.85, TOLD),
        (exact_decimal, 8_000, 0.85, TOLD),
    ],
)
def test_the_leak_is_found_where_it_is(mechanism, samples, least, truth):
    result = estimate(blackbox(mechanism), [(0, 1)], Sampling(samples=samples, time_limit=None))
    assert result.complete
    assert least < result.lower <= truth


def test_an_event_about_a_lump_is_a_snippet():
    result = estimate(
        blackbox(forgets_noise), [(0.0, 1.0)], Sampling(samples=50_000, time_limit=None)
    )
    assert result.event in ("output is 0.0", "output is 1.0")
    assert result.test.startswith("output == ")


def test_an_event_about_a_character_names_it():
    result = estimate(
        blackbox(word_in_a_long_tail), [(0, 1)], Sampling(samples=8000, time_limit=None)
    )
    assert result.event in ("character 0 of output >= 'b'", "character 0 of output <= 'a'")
