"""Loops that keep the best so far: many paths lead to one winner, and are one in the program."""

from __future__ import annotations

import math

import numpy as np
import pytest

import dpest


def running_best(x, rng):
    best, winner = -math.inf, None
    for place, value in enumerate(x):
        noisy = value + rng.laplace(scale=2.0)
        if noisy > best:
            best, winner = noisy, place
    return winner


def best_and_its_score(x, rng):
    best = None
    for place, value in enumerate(x):
        noisy = value + rng.laplace(scale=2.0)
        if best is None or noisy > best[1]:
            best = (place, noisy)
    return best


def by_key(x, rng):
    noisy = [value + rng.gumbel(scale=2.0) for value in x]
    return max(range(len(x)), key=lambda place: noisy[place])


def best_two(x, rng):
    noisy = [value + rng.laplace(scale=4.0) for value in x]
    return sorted(range(len(x)), key=lambda place: noisy[place], reverse=True)[:2]


def first_above(x, rng):
    above = x + rng.laplace(scale=4.0, size=len(x)) >= rng.laplace(scale=2.0)
    return int(np.argmax(above)) if above.any() else -1


def asks_for_nothing(x, rng):
    noisy = x + rng.laplace(scale=2.0, size=len(x))
    if noisy[0] > noisy[1]:
        noisy[2] > noisy[1] and noisy[0] > 5
    return "done"


LOOPS = {
    running_best: 5, best_and_its_score: 5, by_key: 5, best_two: 20, first_above: 6,
    asks_for_nothing: 1,
}  # fmt: skip


@pytest.mark.parametrize("mechanism", LOOPS, ids=lambda f: f.__name__)
def test_one_path_for_every_outcome(mechanism, agrees):
    program = agrees(mechanism, 5)
    assert len(program.paths) == LOOPS[mechanism]


def halves(x, rng):
    """The paths of "apart" are no single region: they stay as they are."""
    a, b = x[0] + rng.laplace(), x[1] + rng.laplace()
    return "alike" if (a > 0) == (b > 0) else "apart"


def count(x, rng):
    return sum(1 for value in x if value + rng.laplace() > 0)


@pytest.mark.parametrize("mechanism", [halves, count])
def test_paths_that_are_no_single_region_stay(mechanism, agrees):
    program = agrees(mechanism, 3)
    assert len(program.paths) > 2
    x = np.array([0.3, -0.4, 1.0])
    assert dpest.distribution(mechanism, x).total() == pytest.approx(1, abs=1e-12)


def integer_ties(x, rng):
    best, winner = -100, -1
    for place in range(3):
        noisy = x[place] + rng.integers(0, 3)
        if noisy >= best:
            best, winner = noisy, place
    return winner


def test_ties_go_where_the_loop_sends_them():
    """The last of the largest: counted out over the 27 equally likely draws."""
    x = np.array([1, 0, 0])
    wins = [0, 0, 0]
    for a in range(3):
        for b in range(3):
            for c in range(3):
                noisy = [1 + a, b, c]
                wins[max(range(3), key=lambda k: (noisy[k], k))] += 1
    law = dpest.distribution(integer_ties, x)
    assert [27 * law.density(k) for k in range(3)] == pytest.approx(wins)


@pytest.mark.parametrize("mechanism", [running_best, by_key], ids=lambda f: f.__name__)
def test_a_loop_costs_what_argmax_costs(mechanism):
    report = dpest.audit(mechanism, dpest.reals(8), dpest.linf(1))
    assert report.upper == pytest.approx(1, abs=1e-12)
    assert report.lower == pytest.approx(1, rel=1e-6)
    assert report.proof.content["coverage"] == "decision tree"
    assert dpest.check(report.proof.to_json()).ok


def test_the_place_of_the_first_truth_has_a_witness():
    report = dpest.audit(first_above, dpest.reals(4), dpest.linf(1))
    assert report.upper == pytest.approx(1, abs=1e-12)
    assert report.lower == pytest.approx(1, rel=1e-6)
