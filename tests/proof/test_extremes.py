"""Order statistics are recognised from the cells of a piece, and only those."""

import numpy as np
import pytest

import dpest.inputs as domains
from dpest.engines.proof.extremes import extreme_of
from dpest.program import Piece
from dpest.trace import trace


def piece_of(function, size):
    (path,) = trace(function, domains.reals(size)).paths
    (piece,) = [v for v in path.output.leaves[0].value.terms if isinstance(v, Piece)]
    return piece


@pytest.mark.parametrize("size", range(2, 6))
def test_every_rank_is_recognised(size):
    for rank in range(size):
        piece = piece_of(lambda x, rng, k=rank: np.sort(2 * x)[k] + rng.laplace(), size)
        found = extreme_of(piece)
        assert found.rank == rank
        assert sorted(map(str, found.lines)) == [f"2*x[{k}]" for k in range(size)]


@pytest.mark.parametrize(
    "function",
    [
        lambda x, rng: (x + 1)[np.argsort(x)[1]] + rng.laplace(),
        lambda x, rng: x[np.argsort(-2 * x)[1]] + rng.laplace(),
        lambda x, rng: np.argsort(x)[1] + rng.laplace(),
    ],
)
def test_another_choice_has_no_rank(function):
    assert extreme_of(piece_of(function, 3)).rank is None


def test_values_in_the_wrong_cells_have_no_rank():
    piece = piece_of(lambda x, rng: np.sort(x)[1] + rng.laplace(), 3)
    assert extreme_of(Piece(piece.partition, piece.values[1:] + piece.values[:1])).rank is None


def test_what_noise_chooses_is_no_choice_of_the_input():
    def noisy(x, rng):
        return x[np.argmin(x + rng.laplace(size=3))] + rng.laplace()

    assert extreme_of(piece_of(noisy, 3)) is None


def test_what_is_recognised_is_the_value():
    """On random numbers, ties among them, the line at the rank is the value of the true cell."""
    rng = np.random.default_rng(0)
    piece = piece_of(lambda x, rng: np.sort(x)[2] + rng.laplace(), 4)
    found = extreme_of(piece)
    for _ in range(200):
        x = rng.integers(0, 4, 4)

        def at(line, x=x):
            return int(line.const) + sum(int(c) * x[v.index] for v, c in line.terms.items())

        cells = [
            k
            for k, cell in enumerate(piece.partition.cells)
            if all(at(c.gap) > 0 or (at(c.gap) == 0 and not c.strict) for c in cell)
        ]
        (cell,) = cells
        assert at(piece.values[cell]) == sorted(map(at, found.lines))[found.rank]
