"""The single client: bit for bit google/rappor's, and the promises of our own."""

import hashlib
import json
import secrets
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpest.rappor import Encoder, Memo, Params, RapporError, Report
from dpest.rappor.client.drbg import HmacDrbg
from dpest.rappor.client.permanent import derived_cohort, permanent

VECTORS = json.loads((Path(__file__).parents[1] / "data/rappor/vectors.json").read_text())
PARAMS = Params(16, 2, 4, 0.5, 0.25, 0.75)
SECRET = b"a secret of 32 bytes, not random"


def _java_secret(text):
    return hashlib.md5(text.encode()).digest() * 3


def _bytes_of(stream):
    """A source of entropy that hands out an endless sequence of bytes."""
    return lambda size: bytes(next(stream) for _ in range(size))


def test_google_python_permanent_responses():
    cases = VECTORS["python"]["generated"]["prr"]
    assert len(cases) == 336
    for case in cases:
        secret = case["secret"].encode()
        found = permanent(case["bloom"], case["k"], case["f"], secret, "google-python")
        assert found == case["prr"]
        params = Params(case["k"], case["h"], 64, 0.5, 0.25, 0.75)
        client = Encoder(params, secret, cohort=case["cohort"], scheme="google-python")
        assert client.bloom(case["word"]) == case["bloom"]


def test_google_cpp_permanent_responses():
    for case in VECTORS["cpp"]["generated"]:
        wide = "bloom" not in case
        bloom = int(case["bloom_bytes_hex"], 16) if wide else case["bloom"]
        expected = int(case["prr_bytes_hex"], 16) if wide else case["prr"]
        params = Params(case["k"], case["h"], case["m"], float(case["f"]), 0.25, 0.75)
        secret = case["secret"].encode()
        client = Encoder(params, secret, metric=case["encoder_id"], scheme="google-cpp")
        assert client.cohort == case["cohort"]
        assert client.bloom(case["word"]) == bloom
        assert client.permanent(bloom) == expected


def test_google_cpp_reports():
    tests = VECTORS["cpp"]["from_tests"]
    metric = tests["encoder_id_effective"]
    for case in tests["cases"]:
        params = Params(case["k"], tests["h"], tests["m"], tests["f"], tests["p"], tests["q"])
        client = Encoder(
            params,
            tests["secret"].encode(),
            metric=metric,
            cohort=case.get("cohort_forced"),
            scheme="google-cpp",
            entropy=_bytes_of((17 * i) % 256 for i in range(1000)),
        )
        assert client.cohort == case.get("cohort", client.cohort)
        report = client.encode(case["word"]) if "word" in case else client.encode_bits(case["bits"])
        wide = bytes(case.get("irr_bytes", ()))
        assert report.bits == case.get("irr", int.from_bytes(wide, "big"))


def test_google_python_reports():
    case = VECTORS["python"]["from_tests"]["encoder"]
    params = Params(*(case[name] for name in "khmfpq"))
    drawn = iter(case["mock_random_cycle"] * params.k)

    def entropy(size):
        return (int(next(drawn) * 2**53) << 3).to_bytes(size, "big")

    client = Encoder(
        params, b"secret", cohort=case["cohort"], scheme="google-python", entropy=entropy
    )
    assert client.encode(case["word"]).bits == case["irr"]


def test_google_python_instantaneous_responses_from_their_masks(monkeypatch):
    for case in VECTORS["python"]["generated"]["irr_fixed_masks"]:
        params = Params(case["k"], case["h"], 64, case["f"], 0.25, 0.75)
        secret = case["secret"].encode()
        client = Encoder(params, secret, cohort=case["cohort"], scheme="google-python")
        masks = {"google-python": lambda *_, case=case: (case["p_mask"], case["q_mask"])}
        monkeypatch.setattr("dpest.rappor.client.encoder._MASKS", masks)
        report = client.encode(case["word"])
        assert (report.bits, report.bit_string) == (case["irr"], case["bit_string"])


def test_google_java_cohorts_and_permanent_responses():
    for text, m, cohort in VECTORS["java"]["cohort"]:
        assert derived_cohort(_java_secret(text), m, 8, "google-java") == cohort
    for case in VECTORS["java"]["prr"]:
        client = Encoder(
            Params(case["k"], 2, 4, case["f"], 0.25, 0.75),
            _java_secret(case["secret_text"]),
            metric=case["encoder_id"],
            scheme="google-java",
        )
        assert client.permanent(case["bits"]) == case["prr"]


def test_google_java_population():
    case = VECTORS["java"]["prr_population"]
    ones = [0] * case["k"]
    for user in range(10_000):
        secret = _java_secret(f"User{user}")
        answer = permanent(
            case["bits"], case["k"], case["f"], secret, "google-java", metric=case["encoder_id"]
        )
        ones = [total + (answer >> bit & 1) for bit, total in enumerate(ones)]
    assert ones == case["counts_of_ones_bit0_to_7"]


def test_nist_and_cpp_generators():
    for case in VECTORS["java"]["hmac_drbg_nist"]:
        seed = bytes.fromhex(case["entropy"] + case["nonce"] + case["personalization"])
        generator = HmacDrbg(seed)
        generator.generate(128)
        assert generator.generate(128).hex() == case["second_1024bit_output"]
    (case,) = VECTORS["cpp"]["from_tests"]["hmac_drbg"]
    seed = (case["key"] + case["value"]).encode()
    assert HmacDrbg(seed).generate(case["n"]).hex() == case["out"]


@given(st.binary(min_size=16, max_size=64), st.text(max_size=10), st.sampled_from([0.1, 0.5, 0.3]))
def test_the_permanent_response_is_permanent(secret, value, f):
    params = Params(20, 2, 4, f, 0.25, 0.75)
    first, second = Encoder(params, secret), Encoder(params, secret)
    assert first.cohort == second.cohort
    answers = {client.permanent(client.bloom(value)) for client in (first, second, first)}
    assert len(answers) == 1


def test_the_permanent_response_never_changes_between_versions():
    client = Encoder(Params(32, 2, 8, 0.5, 0.25, 0.75), SECRET, metric="home page")
    assert (client.cohort, client.permanent(client.bloom("example.com"))) == (2, 2965932548)


@pytest.mark.parametrize(("f", "k"), [(0.5, 16), (0.3, 13), (0.0, 16), (0.97, 8)])
def test_the_permanent_response_flips_bits_with_half_f(f, k):
    clients, bloom = 3000, 0b1001
    flips = [
        permanent(bloom, k, f, index.to_bytes(16, "little")) ^ bloom for index in range(clients)
    ]
    rates = [sum(flip >> bit & 1 for flip in flips) / clients for bit in range(k)]
    assert max(flips) < 1 << k
    assert np.allclose(rates, f / 2, atol=5 * np.sqrt(f / 2 * (1 - f / 2) / clients))


def test_secrets_metrics_and_filters_separate_permanent_responses():
    def answer(bloom, secret, metric):
        return permanent(bloom, 64, 0.5, secret, metric=metric) ^ bloom

    noises = [
        answer(3, SECRET, ""),
        answer(5, SECRET, ""),
        answer(3, SECRET[::-1], ""),
        answer(3, SECRET, "home page"),
    ]
    assert len(set(noises)) == 4


@pytest.mark.parametrize(("p", "q"), [(0.5, 0.75), (0.1, 0.9), (0.0, 1.0), (0.3, 0.55)])
def test_the_instantaneous_response_has_probabilities_p_and_q(p, q):
    generator = np.random.default_rng(5)
    client = Encoder(Params(16, 2, 4, 0.5, p, q), SECRET, entropy=generator.bytes)
    fixed = 0x0F0F
    ones = np.zeros(16)
    for _ in range(4000):
        bits = client.instantaneous(fixed)
        ones += [bits >> i & 1 for i in range(16)]
    rates = ones.reshape(4, 4).mean(axis=1) / 4000
    assert np.allclose(rates, [q, p, q, p], atol=5 * 0.5 / np.sqrt(16_000))


def test_reports_in_all_their_forms():
    report = Report(12, 3, 0b1000_0000_0101)
    assert report.bit_string == "100000000101"
    assert report.to_bytes() == bytes([0b101, 0b1000])
    assert Report(4, 0, 1).bit_string == "0001"


def test_booleans_ordinals_sets_and_raw_bits():
    exact = {"f": 0.0, "p": 0.0, "q": 1.0}
    boolean = Encoder(Params(1, 1, 1, **exact), SECRET)
    assert [boolean.encode_boolean(v).bits for v in (True, False)] == [1, 0]
    wide = Encoder(Params(5, 1, 1, **exact), SECRET)
    assert [wide.encode_ordinal(v).bits for v in (0, 4)] == [1, 16]
    assert wide.encode_bits(0b10110).bits == 0b10110
    colours = Encoder(Params(5, 1, 1, **exact), SECRET, values=["red", "green"])
    assert [colours.encode(v).bits for v in ("red", "green")] == [1, 2]


@pytest.mark.parametrize(
    ("action", "words"),
    [
        (lambda: Encoder(PARAMS, b"short"), "secret has 5 bytes; 'dpest' needs 16"),
        (lambda: Encoder(PARAMS, "text" * 8), "secret must be bytes"),
        (lambda: Encoder(PARAMS, b"x" * 47, scheme="google-java"), "needs 48"),
        (lambda: Encoder(PARAMS, b"x", scheme="google-python", metric="m"), "has no metric name"),
        (lambda: Encoder(PARAMS, SECRET, cohort=4), "cohort=4 must be between 0 and"),
        (lambda: Encoder(PARAMS, SECRET, values=["a", "a"]), "values must differ"),
        (lambda: Encoder(PARAMS, SECRET, values=map(str, range(17))), "17 values do not fit"),
        (lambda: Encoder(PARAMS, SECRET, values=["a"]).encode("b"), "value='b' is not one of"),
        (lambda: Encoder(PARAMS, SECRET).encode(7), "value=7 must be a string"),
        (lambda: Encoder(PARAMS, SECRET).encode_boolean(True), "k=16 is not the width"),
        (lambda: Encoder(PARAMS, SECRET).encode_ordinal(16), "value=16 must be a whole number"),
        (lambda: Encoder(PARAMS, SECRET).encode_ordinal(True), "value=True must be"),
        (lambda: Encoder(PARAMS, SECRET).encode_bits(1 << 16), "must be an integer of k=16 bits"),
        (lambda: Encoder(PARAMS, SECRET).encode_bits(-1), "must be an integer of k=16 bits"),
    ],
)
def test_wrong_use_is_told_in_a_sentence(action, words):
    with pytest.raises(RapporError, match=words):
        action()


def test_google_schemes_refuse_what_they_cannot_do():
    with pytest.raises(RapporError, match="k=64 is too wide"):
        Encoder(Params(64, 2, 4, 0.5, 0.25, 0.75), b"x", scheme="google-python")
    with pytest.raises(RapporError, match="m=6 must be a power of two"):
        Encoder(Params(16, 2, 6, 0.5, 0.25, 0.75), b"x", scheme="google-cpp")


def test_a_memo_keeps_the_first_answer(tmp_path):
    first = Encoder(PARAMS, SECRET, memo=Memo(tmp_path / "memo.sqlite"))
    answers = [first.permanent(bloom) for bloom in range(20)]
    second = Encoder(PARAMS, SECRET, memo=Memo(tmp_path / "memo.sqlite"))
    assert [second.permanent(bloom) for bloom in range(20)] == answers
    assert answers != [Encoder(PARAMS, SECRET).permanent(bloom) for bloom in range(20)]
    other = Encoder(PARAMS, SECRET, memo=Memo(tmp_path / "memo.sqlite"), metric="other")
    assert [other.permanent(bloom) for bloom in range(20)] != answers


def test_a_memo_that_is_no_database_is_refused(tmp_path):
    (tmp_path / "memo").write_text("this is not a database, and it is long enough to see" * 50)
    with pytest.raises(RapporError, match="cannot use"):
        Memo(tmp_path / "memo")


def test_cohorts_of_random_secrets_are_spread_evenly():
    generator = np.random.default_rng(3)
    drawn = [derived_cohort(generator.bytes(16), 10, 16) for _ in range(5000)]
    assert np.allclose(np.bincount(drawn, minlength=10), 500, atol=5 * np.sqrt(500))


def test_the_default_entropy_is_the_operating_system():
    client = Encoder(Params(128, 2, 4, 0.0, 0.5, 1.0), secrets.token_bytes(32))
    assert len({client.encode("a").bits for _ in range(20)}) == 20
