"""Hash schemes: bit for bit those of others, fast and fair in our own."""

import hashlib
import json
from pathlib import Path

import mmh3
import numpy as np
import pytest

from dpest.rappor import Params, RapporError, positions, positions_many, positions_table
from dpest.rappor.hashing import SCHEMES

VECTORS = json.loads((Path(__file__).parents[1] / "data/rappor/vectors.json").read_text())
WORDS = ["", "a", "apple", "日本語", 'q"q', "\udcff lone surrogate", "x" * 1000]


def _params(k, h, m=64):
    return Params(k, h, m, 0.5, 0.25, 0.75)


def _filter(bits):
    return sum(1 << bit for bit in set(bits))


def test_google_python_vectors():
    cases = VECTORS["python"]["generated"]["bloom"]
    assert len(cases) == 468
    for case in cases:
        params = _params(case["k"], case["h"])
        found = positions(case["word"], case["cohort"], params, "google-python")
        assert list(found) == case["bits"]


def test_google_cpp_vectors():
    cases = VECTORS["cpp"]["generated"]
    assert len(cases) == 756
    for case in cases:
        params = _params(case["k"], case["h"], case["m"])
        expected = case["bloom"] if "bloom" in case else int(case["bloom_bytes_hex"], 16)
        found = positions(case["word"], case["cohort"], params, "google-cpp")
        assert _filter(found) == expected


def test_google_java_vectors():
    for case in VECTORS["java"]["encode_string_no_noise"]:
        params = _params(case["k"], case["h"])
        found = positions(case["word"], case["cohort"], params, "google-java")
        assert _filter(found) == case["bits"]


def test_mmh3_is_the_scheme_of_the_one_time_study():
    params = _params(20, 4, m=1)
    for value in map(str, range(50)):
        expected = tuple(mmh3.hash(value, seed=i) % 20 for i in range(4))
        assert positions(value, 0, params, "mmh3") == expected
    for first, second, distance, _ in VECTORS["privacy_loss_seed000"]["pairs"]:
        filters = [_filter(positions(str(v), 0, params, "mmh3")) for v in (first, second)]
        assert (filters[0] ^ filters[1]).bit_count() == distance


def test_sha256_is_the_scheme_of_the_decoding_study():
    params, salt = _params(128, 3, m=8), "0.25secret"
    for cohort in (0, 7):
        texts = [f"{salt}_{cohort:02d}_{'017'}_{i:02d}" for i in (1, 2, 3)]
        digests = [hashlib.sha256(text.encode()).hexdigest() for text in texts]
        expected = tuple(int(digest, 16) % 128 for digest in digests)
        assert positions("017", cohort, params, "sha256", salt=salt) == expected


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize(("k", "h"), [(1, 1), (16, 2), (100, 3), (256, 8)])
def test_one_value_many_values_and_the_table_agree(scheme, k, h):
    params = _params(k, h, m=5)
    table = positions_table(WORDS, params, scheme)
    assert table.shape == (len(WORDS), 5, h)
    cohorts = np.arange(len(WORDS)) % 5
    many = positions_many(WORDS, cohorts, params, scheme)
    for row, (word, cohort) in enumerate(zip(WORDS, cohorts.tolist(), strict=True)):
        assert tuple(many[row]) == positions(word, cohort, params, scheme)
        assert (table[row, cohort] == many[row]).all()


@pytest.mark.parametrize("k", [7, 100, 128, 1000])
def test_our_scheme_uses_all_bits_alike(k):
    params = Params(k, 2, 16, 0.5, 0.25, 0.75)
    table = positions_table([f"v{i}" for i in range(2000)], params)
    seen = np.bincount(table.ravel(), minlength=k)
    expected = table.size / k
    chi2 = ((seen - expected) ** 2 / expected).sum()
    assert abs(chi2 - (k - 1)) < 5 * np.sqrt(2 * (k - 1))


def test_our_scheme_separates_cohorts_hashes_and_salts():
    params = Params(1 << 16, 2, 64, 0.5, 0.25, 0.75)
    table = positions_table(["a", "b"], params)
    assert len(np.unique(table)) > 0.98 * table.size
    salted = positions_table(["a", "b"], params, salt="other")
    assert (salted == table).mean() < 0.05


def test_our_scheme_never_changes():
    params = Params(128, 2, 64, 0.5, 0.25, 0.75)
    assert positions("example.com", 17, params) == (38, 90)
    assert positions("日本語", 0, params, salt="s") == (38, 54)


@pytest.mark.parametrize(
    ("scheme", "k", "h", "salt", "words"),
    [
        ("md5", 16, 2, "", "scheme='md5' is unknown"),
        ("mmh3", 16, 2, "s", "takes no salt"),
        ("google-python", 512, 2, "", "k=512 is too wide"),
        ("google-python", 128, 17, "", "h=17 is too many hashes"),
        ("google-cpp", 512, 9, "", "h=9 is too many hashes"),
        ("google-java", 128, 9, "", "h=9 is too many hashes"),
    ],
)
def test_what_a_scheme_cannot_do_is_refused(scheme, k, h, salt, words):
    with pytest.raises(RapporError, match=words):
        positions("a", 0, _params(k, h), scheme, salt=salt)


def test_wrong_cohorts_and_values_are_refused():
    params = _params(16, 2, m=4)
    with pytest.raises(RapporError, match="cohort=4 must be between 0 and m - 1 = 3"):
        positions("a", 4, params)
    with pytest.raises(RapporError, match="cohort=-1"):
        positions_many(["a", "b"], [0, -1], params)
    with pytest.raises(RapporError, match=r"cohort=0\.5"):
        positions("a", 0.5, params)
    assert positions("a", np.int64(3), params) == positions("a", 3, params)
    with pytest.raises(RapporError, match="2 values do not match 1 cohorts"):
        positions_many(["a", "b"], [0], params)
    with pytest.raises(RapporError, match="whole numbers"):
        positions_many(["a"], [0.5], params)
    with pytest.raises(RapporError, match="value=7 must be a string"):
        positions(7, 0, params)
