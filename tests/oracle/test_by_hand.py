"""Every seed mechanism against the quadrature by hand that the benchmark times it with."""

import ast
import math
from pathlib import Path

import numpy as np
import pytest
from by_hand import BY_HAND

import dpest
from dpest.engines.analytic import traced
from dpest.engines.exact import ExactLaw
from dpest.neighbors import pairs
from dpest.report.patterns import collect
from dpest.zoo import ENTRIES, find, patterns

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
VECTORS = [entry for entry in ENTRIES if entry.inputs.size > 1]


def agrees(loss):
    return pytest.approx(loss, rel=1e-9, abs=1e-11)


def loss(entry, inputs, x, y):
    """What the exact engine says of one pair, which no outcome may exceed."""
    given = inputs.give(x), inputs.give(y)
    law = ExactLaw(traced(entry.function, inputs, pairs([given]), entry.params))
    pair = law.pair(*given)
    assert pair.at_most == pair.loss
    return pair.loss


def test_every_seed_mechanism_has_one():
    assert set(BY_HAND) == {entry.name for entry in ENTRIES}


@pytest.mark.parametrize("module", ["by_hand.py", "quadrature.py"])
def test_nothing_of_dpest_is_in_it(module):
    tree = ast.parse((BENCHMARKS / module).read_text())
    imported = {
        name
        for node in ast.walk(tree)
        for name in (
            [node.module] if isinstance(node, ast.ImportFrom)
            else [alias.name for alias in node.names] if isinstance(node, ast.Import)
            else []
        )
    }  # fmt: skip
    assert not [name for name in imported if name.split(".")[0] == "dpest"]


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_every_pattern(entry):
    (row,) = collect([entry])
    for name, pair in patterns(entry.inputs.size, entry.neighbors).items():
        assert row.losses[name] == agrees(BY_HAND[entry.name](pair)), name


def random_pairs(how_many, n=4):
    """Ties and corners of the box on small integers, and numbers without either, in turn."""
    rng = np.random.default_rng(7)
    for k in range(how_many):
        if k % 2:
            x = rng.normal(scale=10, size=n).round(2)
            yield x.tolist(), (x + rng.uniform(-1, 1, n).round(2)).tolist()
        else:
            x = rng.integers(0, 3, n).astype(float)
            yield x.tolist(), (x + rng.integers(-1, 2, n)).tolist()


@pytest.mark.parametrize("entry", VECTORS, ids=lambda entry: entry.name)
def test_random_neighbours(entry):
    for x, y in random_pairs(6):
        assert loss(entry, dpest.reals(4), x, y) == agrees(BY_HAND[entry.name]((x, y))), (x, y)


@pytest.mark.parametrize("name", ["one_time_rappor", "rappor", "truncated_geometric"])
def test_neighbouring_integers(name):
    entry = find(name)
    for x in range(5):
        by_hand = BY_HAND[name](([x], [x + 1]))
        assert loss(entry, entry.inputs, x, x + 1) == agrees(by_hand)


@pytest.mark.parametrize(
    ("x", "y"),
    [
        ([-2.2, -1.7, -4.1, 1.0], [-1.84, -2.66, -4.55, 1.88]),
        ([-4.75, -0.59, -28.22, -19.79], [-5.54, -0.29, -28.26, -18.8]),
    ],
)
def test_a_supremum_between_the_kinks_of_a_density(x, y):
    """With arb balls the first is 0.018099091967016512782."""
    by_hand = BY_HAND["noisy_max_sum"]((x, y))
    assert loss(find("noisy_max_sum"), dpest.reals(4), x, y) == agrees(by_hand)


def test_infinity_is_argued_and_not_assumed():
    """The two mechanisms with infinite losses have finite ones where the supports agree."""
    same_answers = [3.0, 2.0, 1.0], [3.0, 1.5, 1.5]
    for name in ("report_noisy_max4", "svt5"):
        assert BY_HAND[name](([1.0, 1.0], [1.0, 2.0])) == math.inf
    by_hand = BY_HAND["report_noisy_max4"](same_answers)
    assert by_hand < math.inf
    assert loss(find("report_noisy_max4"), dpest.reals(3), *same_answers) == agrees(by_hand)
    by_hand = BY_HAND["svt5"](([1.0, 5.0], [2.0, 5.5]))
    assert by_hand < math.inf
    assert loss(find("svt5"), dpest.reals(2), [1.0, 5.0], [2.0, 5.5]) == agrees(by_hand)
