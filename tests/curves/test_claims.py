"""Claims: what they say, how they are typed, what they refuse."""

import pytest

import dpest
from dpest import spec

TYPED = {
    "0.1": dpest.pure(0.1),
    "inf": dpest.pure(float("inf")),
    "approx:1:1e-05": dpest.approx(1, 1e-5),
    "zcdp:0.5": dpest.zcdp(0.5),
    "renyi:2:1": dpest.renyi(2, 1),
}


@pytest.mark.parametrize(("text", "claim"), TYPED.items())
def test_spelling_is_what_is_typed(text, claim):
    assert spec.claim_of(text) == claim
    assert claim.spelling == text


@pytest.mark.parametrize("text", ["approx:1", "zcdp:1:2", "renyi:2", "approx:a:b", "pure"])
def test_bad_text(text):
    with pytest.raises(ValueError, match="number"):
        spec.claim_of(text)


@pytest.mark.parametrize(
    ("make", "values", "message"),
    [
        (dpest.approx, (1, 2), "must be a probability, got 2"),
        (dpest.approx, (-1, 0.1), "epsilon of an approximate claim must be a number >= 0, got -1"),
        (dpest.approx, (float("inf"), 0.1), "must be finite, got inf"),
        (dpest.renyi, (1, 1), "must be above 1, got 1"),
        (dpest.renyi, ("two", 1), "must be a number >= 0, got 'two'"),
        (dpest.zcdp, (float("nan"),), "must be a number >= 0, got nan"),
    ],
)
def test_bad_claims(make, values, message):
    with pytest.raises(ValueError, match=message):
        make(*values)
