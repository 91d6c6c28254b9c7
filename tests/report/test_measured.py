"""Errors of other tools' figures, relative to what is known."""

import math

import pytest

from dpest.evidence import Bound
from dpest.report.measured import entry_of, error, figures
from dpest.report.table import audited
from dpest.zoo import find

EXACT = Bound(0.1, 0.1, "certified", "proved")
INFINITE = Bound(math.inf, math.inf, "certified", "certified")
BETWEEN = Bound(0.5, 1.0, "certified", "proved")


@pytest.mark.parametrize(
    ("estimate", "bound", "said"),
    [
        (None, EXACT, ""),
        (0.1069, EXACT, "+6.9 %"),
        (0.092, EXACT, "−8.0 %"),
        (0.1, EXACT, "0 %"),
        (0.5001, EXACT, "+400 %"),
        (math.inf, EXACT, "is finite"),
        (math.inf, INFINITE, "right"),
        (8.7, INFINITE, "misses ∞"),
        (0.25, BETWEEN, "at most −50.0 %"),
        (1.5, BETWEEN, "at least +50.0 %"),
        (0.7, BETWEEN, "possible"),
        (math.inf, BETWEEN, "is finite"),
        (0.7, Bound(0.5, math.inf, "statistical", "none"), "possible"),
        (0.1, Bound(0.0, 0.0, "numeric", "proved"), "is 0"),
    ],
)
def test_errors(estimate, bound, said):
    assert error(estimate, bound) == said


def test_a_report_on_a_registered_mechanism_knows_it():
    entry = find("report_noisy_max1")
    report = audited(entry)
    assert entry_of(report) is entry
    assert [m.epsilon for m in figures(entry)] == [0.1069, 0.104, 0.092, 0.092]
    assert [m.seconds for m in figures(entry)] == [2.75, None, 22.0, 46.0]


def test_other_parameters_are_another_mechanism():
    import dpest

    entry = find("laplace_mechanism")
    report = dpest.audit(entry.function, entry.inputs, entry.neighbors, params={"eps": 0.2})
    assert entry_of(report) is None
