"""Data at the edges of what can be decoded: a single report, no noise, more strings than bits."""

import warnings

import numpy as np
import pytest

from dpest.rappor import Candidates, Params, population
from dpest.rappor.decoding import decode
from dpest.rappor.simulate import simulate_reports, value_names

PARAMS = [
    Params(4, 1, 1, 0, 0.25, 0.75),
    Params(4, 4, 2, 0, 0.25, 0.75),
    Params(8, 2, 16, 0.5, 0.25, 0.75),
    Params(16, 2, 2, 0, 0.0, 1.0),
    Params(16, 2, 2, 0.3, 0.0, 1.0),
    Params(1, 1, 1, 0, 0.3, 0.6),
    Params(200, 1, 3, 0, 0.6, 0.2),
    Params(8, 2, 4, 0.99, 0.49, 0.51),
    Params(64, 4, 2, 0, 1e-6, 0.999),
]


@pytest.mark.parametrize("params", PARAMS, ids=str)
@pytest.mark.parametrize("method", ["seed", "counts", "reports"])
def test_whatever_comes_the_answer_is_finite_and_says_so_without_warnings(params, method):
    for strings in (1, 2, 5, 50, 300):
        for size in (1, 5, 100, 3000):
            candidates = Candidates.hashed(value_names(strings), params)
            rng = np.random.default_rng(strings + size)
            shares = population("zipf", strings)
            reports, _ = simulate_reports(params, candidates, shares, size, rng)
            with warnings.catch_warnings():
                warnings.simplefilter("error", RuntimeWarning)
                decoding = decode(params, candidates, reports=reports, method=method)
            assert np.isfinite(decoding.proportion).all()
            assert (decoding.prop_low_95 <= decoding.prop_high_95).all()
            assert method == "seed" or (np.abs(decoding.proportion[decoding.detected]) < 3).all()
            assert decoding.to_table()


def test_a_candidate_without_bits_is_refused():
    nothing = Candidates(("void",), np.full((1, 16), -1))
    params = Params(16, 2, 8, 0, 0.25, 0.75)
    reports, _ = simulate_reports(params, nothing, np.ones(1), 10, np.random.default_rng(0))
    with pytest.raises(ValueError, match="'void' sets no bit"):
        decode(params, nothing, reports=reports)
