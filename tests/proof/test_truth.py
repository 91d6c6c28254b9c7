"""The proved bound equals what the mechanism really loses, and the checker agrees."""

import math

import pytest

from dpest.check import check


def test_bound_is_the_truth(case, prove_case):
    proof = prove_case(case)
    if case.upper == math.inf:
        assert proof.upper == math.inf
        assert proof.certificate is None
        assert proof.reason
        return
    assert proof.upper == pytest.approx(case.upper, rel=1e-12)
    checked = check(proof.certificate)
    assert checked.ok, checked.reasons
    assert checked.upper == proof.upper
    assert checked.price == proof.price
