"""The exact loss of every seed mechanism on the StatDP patterns, against reference values."""

import json
import math
from pathlib import Path

import pytest

from dpest.neighbors import any_pair, l1, linf
from dpest.report import patterns as table
from dpest.zoo import ENTRIES, find, patterns

TRUTH = json.loads((Path(__file__).parents[1] / "data" / "truth.json").read_text())["mechanisms"]


def number(value):
    return math.inf if value == "inf" else value


@pytest.fixture(scope="module", params=ENTRIES, ids=lambda entry: entry.name)
def row(request):
    return table.collect([request.param])[0]


def test_loss_of_every_pattern(row):
    truth = TRUTH[row.entry.title]
    for name, value in truth.get("patterns", {}).items():
        assert row.losses[name] == pytest.approx(number(value), rel=1e-9)


def test_largest_loss_and_its_pattern(row):
    truth = TRUTH[row.entry.title]
    if "patterns_max" not in truth:
        assert all(loss is not None for loss in row.losses.values())
        return
    largest = max(row.losses.values())
    assert largest == pytest.approx(number(truth["patterns_max"]), rel=1e-9)
    if "worst_pattern" in truth:
        assert row.losses[truth["worst_pattern"]] == pytest.approx(largest, rel=1e-9)


def test_no_pattern_exceeds_the_supremum(row):
    supremum = number(TRUTH[row.entry.title]["sup"])
    assert max(row.losses.values()) <= supremum * (1 + 1e-9)


def test_register_agrees_with_the_reference_file():
    assert [entry.title for entry in ENTRIES] == sorted(
        TRUTH, key=[entry.title for entry in ENTRIES].index
    )
    for entry in ENTRIES:
        truth, seed = TRUTH[entry.title], TRUTH[entry.title]["seed"]
        assert entry.claim == number(truth["claim"])
        assert entry.params == truth["params"]
        assert entry.inputs.size == truth["n"]
        assert entry.figures.dpest_run1 == number(seed["dpest_run1"])
        assert entry.figures.dpest_run2 == number(seed["dpest_run2"])
        assert entry.figures.dp_sniper == seed["dp_sniper"]
        assert entry.figures.statdp == seed["statdp"]
        assert entry.figures.dpest_seconds == seed["dpest_seconds"]


def test_patterns_are_neighbours():
    for n in (1, 2, 5, 10):
        for relation in (l1(1), linf(1)):
            for x, x_prime in patterns(n, relation).values():
                assert len(x) == len(x_prime) == n
                assert relation.relates(x, x_prime)


def test_patterns_that_a_relation_allows():
    assert len(patterns(5, linf(1))) == 7
    assert list(patterns(5, l1(1))) == ["one_above", "one_below"]
    assert patterns(1, any_pair()) == {"one_above": ([1.0], [2.0]), "one_below": ([1.0], [0.0])}
    assert patterns(5, linf(1))["half_half"] == ([1.0] * 5, [0.0, 0.0, 0.0, 2.0, 2.0])
    assert patterns(4, linf(1))["x_shape"] == ([1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0])


def test_a_loss_that_grows_without_bound_towards_an_edge():
    """Five entries that start at 1 give a density like t^4 above 1, four give t^3."""
    row = table.collect([find("report_noisy_max4")])[0]
    assert row.losses["one_below"] == math.inf
