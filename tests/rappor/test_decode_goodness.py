"""How well a decoding explains its bits, and how far it is from the truth."""

import json
from pathlib import Path

import numpy as np
import pytest

from dpest.rappor import Candidates, Params, RapporError, compare, decode, population
from dpest.rappor.decoding.comparison import read_truth
from dpest.rappor.simulate import simulate_counts, value_names

VECTORS = json.loads((Path(__file__).parents[1] / "data/rappor/vectors.json").read_text())
PARAMS = Params(32, 2, 8, 0.5, 0.2, 0.8)
NAMES = value_names(30)
SHARES = population("zipf", 30, active=10)
SIZES = [4000] * 6 + [0, 8000]


def decoded(listed=30, method="counts"):
    candidates = Candidates.hashed(NAMES, PARAMS)
    counts, _ = simulate_counts(PARAMS, candidates, SHARES, SIZES, np.random.default_rng(4))
    return decode(PARAMS, candidates.subset(range(30 - listed, 30)), counts, method=method), counts


@pytest.mark.parametrize("method", ["seed", "counts"])
def test_bits_are_explained_up_to_their_noise(method):
    decoding, counts = decoded(method=method)
    bits = decoding.bits
    assert bits.cohorts.tolist() == [0, 1, 2, 3, 4, 5, 7]
    assert bits.sizes.tolist() == [4000] * 6 + [8000]
    rate = counts.ones[bits.cohorts] / bits.sizes[:, None]
    assert bits.observed == pytest.approx((rate - PARAMS.p_star) / (PARAMS.q_star - PARAMS.p_star))
    truth = Candidates.hashed(NAMES, PARAMS).design(PARAMS) @ SHARES
    assert np.abs(bits.expected - truth.reshape(8, 32)[bits.cohorts]).max() < 0.08
    assert bits.residuals.std() == pytest.approx(1, abs=0.15)
    assert bits.chi2 == pytest.approx((bits.residuals**2).sum(axis=1))
    assert decoding.metrics["explained_var"] == bits.explained_var > 0.7
    assert decoding.metrics["missing_var"] == bits.missing_var < 0.1


def test_frequent_strings_that_nobody_listed_show_in_the_bits():
    complete, missing = decoded(30)[0].bits, decoded(25)[0].bits
    assert missing.chi2.sum() > 2 * complete.chi2.sum()
    assert missing.missing_var > complete.missing_var + 0.1


def test_the_cohorts_are_in_the_json():
    decoding, _ = decoded()
    cohorts = json.loads(decoding.to_json())["cohorts"]
    assert [entry["reports"] for entry in cohorts] == decoding.bits.sizes.tolist()
    assert [entry["chi2"] for entry in cohorts] == decoding.bits.chi2.tolist()


def test_candidates_with_the_same_bits_are_told():
    listed = Candidates.hashed(NAMES, PARAMS)
    twins = Candidates((*NAMES, "twin"), np.vstack([listed.positions, listed.positions[0]]))
    shares = np.append(SHARES, 0)
    counts, _ = simulate_counts(PARAMS, twins, shares, SIZES, np.random.default_rng(4))
    decoding = decode(PARAMS, twins, counts)
    assert decoding.metrics["indistinguishable"] == 2
    assert "2 candidates set the same bits" in decoding.to_table()
    assert decoded()[0].metrics["indistinguishable"] == 0


def test_comparison_agrees_with_google():
    case = VECTORS["decode"]["compare_dist"]
    found = compare(case["rappor"], case["actual"])
    assert found.total_variation == pytest.approx(case["total_variation"])
    assert found.found_share == pytest.approx(case["sum_proportion"])
    assert (found.wrong, found.missed) == (("v4",), ("v1",))
    assert found.precision == found.recall == pytest.approx(2 / 3)


def test_a_decoding_is_compared_with_the_truth():
    decoding, _ = decoded()
    comparison = decoding.compared(dict(zip(NAMES, SHARES, strict=True)))
    assert comparison.recall == sum(row.string in NAMES[:10] for row in decoding) / 10
    assert "recall" in str(comparison)
    assert compare({}, {"a": 1.0, "b": 0.0}).missed == ("a",)


def test_the_truth_is_read(tmp_path):
    path = tmp_path / "truth.csv"
    path.write_text('string,count\na,30\n\n"b,c",10\n')
    assert read_truth(path) == {"a": 0.75, "b,c": 0.25}
    for text in ("string,count\na,one\n", "string,count\na,0\n", "string,count\na\n", ""):
        path.write_text(text)
        with pytest.raises(RapporError, match="the truth in"):
            read_truth(path)
