"""Sorting tells apart only the ranks that are used."""

import math
from itertools import combinations, permutations

import numpy as np
import pytest

import dpest
from dpest.noise import Laplace
from dpest.numbers.rational import exact
from dpest.program import Linear, Noise
from dpest.trace.ranks import Order
from dpest.trace.refusals import TooManyPaths, Unsupported

LINES = tuple(Linear.of(Noise(k, Laplace(exact(1)))) for k in range(5))
RANKS = [ranks for size in range(1, 6) for ranks in combinations(range(5), size)]


@pytest.mark.parametrize("ranks", RANKS, ids=str)
def test_every_order_is_in_one_arrangement(ranks):
    order = Order(LINES, ranks)
    every = Order(LINES, tuple(range(5)))
    places = order.fibres(every)
    assert order.count == len(order.arrangements) == len(set(places))
    for whole, place in zip(every.arrangements, places, strict=True):
        standing = [at[0] for at in whole[1::2]]
        shown = order.arrangements[place]
        assert [at[0] for at in shown[1::2]] == [standing[rank] for rank in ranks]
        assert sorted(k for group in shown for k in group) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("ranks", RANKS, ids=str)
def test_the_conditions_of_an_arrangement_hold_for_its_orders_only(ranks):
    order = Order(LINES, ranks)
    for values in permutations(range(5)):
        numbers = dict(enumerate(values))
        place = {line: numbers[k] for k, line in enumerate(LINES)}
        holding = [
            k for k, arrangement in enumerate(order.arrangements)
            if all(place[c.left] >= place[c.right] for c in order._conditions(arrangement))
        ]  # fmt: skip
        assert len(holding) == 1
        standing = np.argsort(values)
        assert [a[0] for a in order.arrangements[holding[0]][1::2]] == [standing[r] for r in ranks]


def top_two(x, rng):
    return np.argsort(x + rng.laplace(scale=4, size=len(x)))[::-1][:2]


def top_two_one_by_one(x, rng):
    order = np.argsort(-(x + rng.laplace(scale=4, size=len(x))))
    return order[0], order[1]


def top_two_in_any_order(x, rng):
    return sorted(np.argsort(x + rng.laplace(scale=4, size=len(x)))[-2:])


@pytest.mark.parametrize("n", [4, 9])
def test_the_best_two_cost_twice_the_best(n):
    report = dpest.audit(top_two, dpest.reals(n), dpest.linf(1))
    assert report.lower == pytest.approx(1, rel=1e-5)
    assert report.upper == 1


def test_ranks_taken_one_by_one_are_told_apart_no_further():
    report = dpest.audit(top_two_one_by_one, dpest.reals(4), dpest.linf(1))
    assert report.upper == 1


def test_sorted_places_are_proved():
    report = dpest.audit(top_two_in_any_order, dpest.reals(4), dpest.linf(1))
    assert 1 - 1e-5 < report.lower <= report.upper == 1


def median(x, rng):
    return np.median(x + rng.laplace(scale=2, size=len(x)))


def test_the_median_of_nine_has_630_cases(agrees):
    program = agrees(median, n=9)
    ((value,),) = ([leaf.value for leaf in path.output.leaves] for path in program.paths)
    (piece,) = value.terms
    assert len(piece.values) == 9 * math.comb(8, 4)


def writes_into_a_part(x, rng):
    best = np.sort(x + rng.laplace(size=len(x)))[-2:]
    best[0] = 0
    return best


def test_writing_into_a_part_of_a_sorted_array_is_refused():
    with pytest.raises(Unsupported, match="copy"):
        dpest.trace(writes_into_a_part, 3)


def too_many(x, rng):
    order = np.argsort(x + rng.laplace(size=len(x)))
    return order[:5]


def test_too_many_ranks_are_refused_where_they_are_sorted():
    with pytest.raises(TooManyPaths, match=r"5 ranks of 12 sorted numbers.*np.argsort"):
        dpest.trace(too_many, 12)
