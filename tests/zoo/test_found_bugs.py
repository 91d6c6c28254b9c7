"""Bugs found in the wild: the wrong one is refuted with a witness, its twin holds."""

import math

import pytest

import dpest
from dpest.evidence import Verdict
from dpest.zoo.found import BUGS

UNBOUNDED = {"private_batch_size"}
"""Infinite because the loss grows without bound, not because an outcome is impossible."""
ALL_MUST_MOVE = {"compared_score_released"}
"""The loss exceeds the claim only where many entries change."""


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_the_wrong_one_is_refuted(bug):
    report = dpest.audit(bug.wrong, bug.inputs, bug.neighbors, bug.claim)
    assert report.verdict is Verdict.REFUTED
    if bug.name in UNBOUNDED:
        assert report.lower > 10 * bug.claim
        assert math.isinf(report.upper)
        return
    assert report.lower == pytest.approx(bug.loss, rel=1e-6)
    if math.isinf(bug.loss):
        assert report.witness.p > 0
        assert report.witness.p_prime == 0


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_the_twin_holds(bug):
    report = dpest.audit(bug.right, bug.inputs, bug.neighbors, bug.claim)
    assert report.verdict is Verdict.HOLDS
    assert report.lower <= bug.claim * (1 + 1e-9)


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_witnesses_are_short(bug):
    """At most three entries change where that is enough."""
    witness = dpest.audit(bug.wrong, bug.inputs, bug.neighbors, bug.claim).witness
    if len(witness.x) == len(witness.x_prime) and bug.name not in ALL_MUST_MOVE:
        changed = sum(a != b for a, b in zip(witness.x, witness.x_prime, strict=True))
        assert changed <= 3


def test_every_bug_names_its_source():
    for bug in BUGS:
        assert bug.url.startswith("https://github.com/")
        assert bug.wrong.__doc__
        assert bug.right.__doc__
        assert bug.loss > bug.claim
