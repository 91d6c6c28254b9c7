"""Association of variables and strings that nobody listed."""

import csv
import io
import json

import numpy as np
import pytest

from dpest.rappor import Candidates, Params, Reports
from dpest.rappor.client.bits import SecureWords
from dpest.rappor.client.fleet import encode
from dpest.rappor.decoding import NgramReports, Variable, associate, unknown

PARAMS = Params(16, 2, 8, 0.0, 0.25, 0.75)
BOOLEAN = Params(1, 1, 1, 0.0, 0.25, 0.75)
FLAGS = Candidates(("TRUE", "FALSE"), np.array([[0], [-1]]))
NAMES = ["google", "yahoo", "bing"]
LISTED = Candidates.hashed([*NAMES, *(f"x{i}" for i in range(12))], PARAMS)
TRUTH = np.array([[0.4, 0.1], [0.1, 0.1], [0.2, 0.1]])


def reported(values, params, rng, salt=""):
    """A fresh client's report of each string."""
    cohorts = rng.integers(0, params.m, len(values))
    return encode(list(values), cohorts, params, salt=salt, words=SecureWords(rng.bytes(32)))


def flagged(values, rng):
    """A fresh client's report of each boolean."""
    bits = rng.random(len(values)) < np.where(values, BOOLEAN.q, BOOLEAN.p)
    return Reports.from_bits(np.zeros(len(values), int), bits[:, None])


def two_variables(truth, size, seed):
    """Reports of a string and a boolean with this joint distribution."""
    rng = np.random.default_rng(seed)
    cell = rng.choice(truth.size, size, p=truth.ravel())
    names = np.array(NAMES)[cell // 2]
    return [
        Variable("domain", PARAMS, LISTED, reported(names, PARAMS, rng)),
        Variable("secure", BOOLEAN, FLAGS, flagged(cell % 2 == 0, rng)),
    ]


def test_joint_shares_and_dependence_are_found():
    found = associate(two_variables(TRUTH, 20_000, 1))
    shares = {cell.values: cell for cell in found.cells}
    for i, name in enumerate(NAMES):
        for j, flag in enumerate(("TRUE", "FALSE")):
            cell = shares[name, flag]
            assert abs(cell.proportion - TRUTH[i, j]) < 4 * cell.prop_std_error
    assert found.proportion.sum() == pytest.approx(1)
    assert found.p_value < 1e-4


def test_independence_is_refused_as_often_as_the_p_value_says_and_intervals_cover():
    truth = np.outer([0.5, 0.2, 0.3], [0.7, 0.3])
    small, covered = 0, []
    for seed in range(40):
        found = associate(two_variables(truth, 4000, seed))
        small += found.p_value < 0.1
        for cell in found.cells:
            if cell.values[0] in NAMES:
                share = truth[NAMES.index(cell.values[0]), int(cell.values[1] != "TRUE")]
                covered.append(cell.prop_low_95 <= share <= cell.prop_high_95)
    assert small <= 10
    assert 0.90 <= np.mean(covered) <= 0.99


def test_string_times_string_times_boolean():
    rng = np.random.default_rng(3)
    first, second, third = rng.integers(0, 2, (3, 12_000))
    second = np.where(rng.random(12_000) < 0.6, first, second)
    listed = LISTED.subset([0, 1])
    variables = [
        Variable("a", PARAMS, listed, reported(np.array(NAMES)[first], PARAMS, rng)),
        Variable("b", PARAMS, listed, reported(np.array(NAMES)[second], PARAMS, rng)),
        Variable("c", BOOLEAN, FLAGS, flagged(third == 1, rng)),
    ]
    found = associate(variables)
    assert found.proportion.shape == (3, 3, 2)
    assert found.p_value < 1e-6
    both = {cell.values: cell.proportion for cell in found.cells}
    assert both["google", "google", "TRUE"] == pytest.approx(0.2, abs=0.05)


def test_association_is_written_as_csv_json_and_table():
    found = associate(two_variables(TRUTH, 5000, 2))
    rows = list(csv.DictReader(io.StringIO(found.to_csv())))
    assert len(rows) == found.proportion.size
    assert float(rows[0]["proportion"]) >= float(rows[-1]["proportion"])
    assert list(rows[0])[:3] == ["domain", "secure", "proportion"]
    assert json.loads(found.to_json())["metrics"]["num_reports"] == 5000
    assert "Independence: chi2" in found.to_table()


def test_variables_that_do_not_belong_together_are_refused():
    one, two = two_variables(TRUTH, 100, 0)
    with pytest.raises(ValueError, match="two or more"):
        associate([one])
    with pytest.raises(ValueError, match="same name"):
        associate([one, one])
    with pytest.raises(ValueError, match="every client"):
        associate([one, two._replace(reports=two.reports[:50])])


def ngrams_of(words, size, rng, params, salt=""):
    """Two of the first three n-grams of each word, as a client would report them."""
    places = np.array([rng.choice([0, size, 2 * size], 2, replace=False) for _ in words])
    padded = [word.ljust(3 * size) for word in words]
    slots = [
        [word[at : at + size] for word, at in zip(padded, column, strict=True)]
        for column in places.T
    ]
    return NgramReports(params, size, places, *(reported(s, params, rng, salt) for s in slots))


def test_unlisted_strings_are_put_together_from_ngrams():
    rng = np.random.default_rng(1)
    params = Params(32, 2, 8, 0.0, 0.1, 0.9)
    words = rng.choice(["abc", "bca", "ca"], 6000, p=[0.5, 0.3, 0.2])
    ngrams = ngrams_of(words, 1, rng, params)
    found = unknown(params, reported(words, params, rng), ngrams, "abcd")
    assert {row.string for row in found.decoding.rows} == {"abc", "bca", "ca"}
    assert abs(found.decoding["abc"].proportion - 0.5) < 0.05


def test_the_salt_of_the_clients_is_needed_to_find_their_strings():
    rng = np.random.default_rng(4)
    params = Params(64, 1, 4, 0.0, 0.05, 0.9)
    words = rng.choice(["parrot", "falcon"], 8000)
    strings = reported(words, params, rng, salt="pepper")
    ngrams = ngrams_of(words, 2, rng, params, salt="pepper")
    alphabet = "".join(sorted({*"parrotfalcon"}))
    found = unknown(params, strings, ngrams, alphabet, salt="pepper")
    assert {row.string for row in found.decoding.rows} == {"parrot", "falcon"}
    blind = unknown(params, strings, ngrams, alphabet)
    assert blind.decoding is None or not blind.decoding.rows


def test_intervals_hold_the_shares_they_belong_to():
    rng = np.random.default_rng(8)
    variables = [
        Variable(str(i), PARAMS, Candidates.hashed(["a", "b", "c"], PARAMS),
                 reported(rng.choice(["a", "b"], 3000), PARAMS, rng))
        for i in range(3)
    ]  # fmt: skip
    for cell in associate(variables, select=False).cells:
        assert cell.prop_low_95 <= cell.proportion <= cell.prop_high_95


def test_noise_makes_no_strings():
    rng = np.random.default_rng(2)
    params = Params(32, 2, 8, 0.0, 0.25, 0.75)
    words = ["".join(rng.choice(list("abcdefgh"), 3)) for _ in range(1500)]
    ngrams = ngrams_of(words, 1, rng, params)
    assert unknown(params, reported(words, params, rng), ngrams, "xyz").decoding is None


def test_unknown_refuses_what_makes_no_sense():
    rng = np.random.default_rng(0)
    words = ["abc"] * 10
    ngrams = ngrams_of(words, 1, rng, PARAMS)
    reports = reported(words, PARAMS, rng)
    with pytest.raises(ValueError, match="alphabet"):
        unknown(PARAMS, reports, ngrams, "  ")
    with pytest.raises(ValueError, match="each client needs"):
        unknown(PARAMS, reports[:5], ngrams, "abc")
