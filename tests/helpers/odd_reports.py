"""Reports that pages must bear: long inputs, strange names, no source, no witness, no program."""

import math

import numpy as np

import dpest
from dpest.evidence import Bound
from dpest.report.result import Report


def tilted_sum(x, rng, weights="<b>&amp;</b>"):
    """A docstring with <script>alert("x")</script>, a ‘quote’ and 日本語."""
    noise = rng.laplace(scale=2.0)  # <!-- not a comment of HTML -->
    return x[0] - x[1] + noise


def long_histogram(x, rng):
    return x + rng.laplace(scale=10.0, size=len(x))


def colour(x, rng):
    return x if rng.random() < 0.6 else "red"


def support(x, rng):
    return x + rng.random()


def gaussian(x, rng):
    return x + rng.normal(scale=3.0)


def untraceable(x, rng):
    return math.floor(x + rng.laplace(scale=1.0))


def tilted():
    return dpest.audit(tilted_sum, dpest.reals(2), dpest.l1(1), 0.4,
                       params={"weights": "<img src=x onerror=alert(1)>"})  # fmt: skip


def long_vectors():
    return dpest.audit(long_histogram, dpest.reals(200), dpest.l1(1), 0.1)


def words():
    options = ("red", "<green>", "a ‘very’ long colour " * 20)
    return dpest.audit(colour, dpest.one_of(*options), dpest.any_pair(), 1.0)


def infinite():
    return dpest.audit(support, dpest.reals(1, 0, 1), dpest.l1(1), 0.5)


def normal():
    return dpest.audit(gaussian, dpest.reals(1), dpest.l1(1), dpest.approx(1.0, 1e-5))


def without_claim():
    return dpest.audit(long_histogram, dpest.reals(3), dpest.linf(2))


def listed_pair():
    neighbors = dpest.pairs([([0.0, 0.0, 0.0], [1.0, -1.0, 5.0])])
    return dpest.audit(long_histogram, dpest.reals(3), neighbors, 0.1)


def from_exec():
    names = {"np": np}
    exec("def made(x, rng):\n    return x + rng.laplace(scale=1.0)\n", names)
    return dpest.audit(names["made"], dpest.reals(1), dpest.l1(1), 1.0)


def from_lambda():
    return dpest.audit(lambda x, rng: x + rng.laplace(scale=1), dpest.reals(1), dpest.l1(1), 0.5)


def sampled():
    return dpest.audit(untraceable, dpest.reals(1), dpest.l1(1), 0.5, samples=2_000,
                       time_limit=None)  # fmt: skip


def unknown():
    return Report(
        "nothing", dpest.reals(1), dpest.l1(1), {}, dpest.pure(0.5), Bound(0.0, math.inf), "none",
        0.0, notes=("nothing could be said",),
    )  # fmt: skip


MAKERS = (tilted, long_vectors, words, infinite, normal, without_claim, listed_pair, from_exec,
          from_lambda, sampled, unknown)  # fmt: skip
