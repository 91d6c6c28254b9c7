"""A contest is the partition that its cells written out would be."""

import time

import numpy as np
import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

import dpest
from dpest.program import Cases, Condition, Contest, Input, Linear, Noise, Piece
from dpest.program.linear import pieces, roots

SYMBOLS = [Linear.of(Input(k)) for k in range(3)]
coefficients = st.lists(st.integers(-2, 2).map(fmpq), min_size=3, max_size=3)
expressions = coefficients.map(
    lambda numbers: sum((s.scaled(c) for s, c in zip(SYMBOLS, numbers, strict=True)), Linear())
)
contests = st.builds(
    Contest, st.lists(expressions, min_size=2, max_size=4).map(tuple), st.sampled_from([1, -1])
)


def written_out(contest):
    """Ties go to the line that stands first."""
    def beats(k, j):
        sides = [contest.lines[k], contest.lines[j]]
        return Condition(*(sides if contest.sign > 0 else sides[::-1]), strict=k > j)

    places = range(len(contest.lines))
    return Cases(tuple(tuple(beats(k, j) for j in places if j != k) for k in places))


@given(contests)
def test_a_contest_says_what_its_cells_say(contest):
    cases = written_out(contest)
    assert contest.cells == cases.cells
    assert contest.says_the_same_as(cases)
    assert cases.says_the_same_as(contest)
    assert contest.roots == cases.roots
    assert contest.is_pure == cases.is_pure


@given(contests, contests)
def test_contests_are_the_same_when_their_cells_are(one, other):
    assert one.says_the_same_as(other) == (written_out(one).cells == written_out(other).cells)


@given(contests, st.sampled_from([1, -1]), expressions)
def test_the_winner_is_the_extreme_also_when_all_lines_are_moved(contest, sign, step):
    moved = tuple(line + step for line in contest.lines)
    assert contest.is_won_by(moved, contest.sign)
    assert contest.is_won_by(tuple(-line for line in moved), -contest.sign)
    cases = written_out(contest)
    assert contest.is_won_by(moved, sign) == cases.is_won_by(moved, sign)


def test_pieces_inside_of_a_contest_are_seen():
    inner = Linear.of(Piece(Contest(tuple(SYMBOLS), 1), tuple(SYMBOLS)))
    contest = Contest((inner, SYMBOLS[0], Linear()), 1)
    outer = Linear.of(Piece(contest, contest.lines))
    assert not contest.is_pure
    assert len({id(piece) for piece in pieces([outer])}) == 2
    assert roots([outer]) == {next(iter(symbol.terms)) for symbol in SYMBOLS}


def test_the_place_and_the_size_of_the_winner_are_one_question():
    def place_and_size(x, rng):
        noisy = x + rng.laplace(size=len(x))
        return np.argmax(noisy), np.max(noisy)

    (path,) = dpest.trace(place_and_size, 3).paths
    found = pieces([leaf.value for leaf in path.output.leaves])
    assert len({piece.partition for piece in found}) == 1


@pytest.mark.parametrize("choose", [np.argmax, np.argmin, np.max, np.min])
def test_a_thousand_rivals_are_traced_at_once(choose):
    def chosen(x, rng):
        return choose(x + rng.laplace(size=len(x)))

    start = time.process_time()
    program = dpest.trace(chosen, 1_000)
    assert time.process_time() - start < 5
    assert sum(isinstance(v, Noise) for v in program.noises) == 1_000
