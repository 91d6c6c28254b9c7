"""Verdicts are ordered by what they establish, and compare with the words that a report prints."""

from itertools import combinations

import pytest

from dpest.evidence import Verdict


def test_refuted_is_below_unknown_is_below_holds():
    for low, high in combinations(("refuted", "unknown", "holds"), 2):
        assert Verdict(low) < Verdict(high)
        assert Verdict(high) > low
        assert Verdict(low) <= high
        assert not Verdict(low) >= high
    assert sorted(Verdict, reverse=True)[0] == "holds"


def test_a_word_that_is_no_verdict_is_refused():
    with pytest.raises(ValueError, match="proved"):
        _ = Verdict.HOLDS < "proved"
