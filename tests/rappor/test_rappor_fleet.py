"""The vectorised path: exact probabilities, and the same permanent responses as one client."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpest.rappor import Candidates, Encoder, Params, RapporError, Reports, encode, positions
from dpest.rappor.client.bits import SecureWords, bernoulli_int, bernoulli_words, digits
from dpest.rappor.client.fleet import (
    filters,
    instantaneous_many,
    permanent_many,
    pick,
    report_once,
)

WORDS = ["", "a", "apple", "日本語"]


def _secrets(count, length=16):
    return [index.to_bytes(length, "little") for index in range(count)]


def _whole(row):
    return int.from_bytes(row.tobytes(), "little")


@given(st.floats(0, 1, exclude_max=True))
def test_digits_are_the_number(p):
    value = sum((Fraction(digit, 2 ** (i + 1)) for i, digit in enumerate(digits(p))), Fraction(0))
    assert value == Fraction(p)


@pytest.mark.parametrize("eighths", range(9))
def test_a_dyadic_probability_is_exact_over_all_draws(eighths):
    """Feed every combination of three uniform bits: exactly so many eighths of them give 1."""
    columns = [
        sum(c[i] << n for n, c in enumerate(itertools.product((0, 1), repeat=3))) for i in range(3)
    ]
    drawn = iter(columns)
    words = bernoulli_words(eighths / 8, 1, lambda size: np.array([next(drawn)], np.uint64))
    assert (int(words[0]) & 255).bit_count() == eighths
    assert bernoulli_int(eighths / 8, 8, iter(columns)).bit_count() == eighths


@pytest.mark.parametrize("numerator", [1, 683, 1365, 4094])
def test_a_long_probability_is_exact_over_all_draws(numerator):
    """The same with twelve digits: after eight, only the word that is undecided is asked for."""
    every = np.arange(1 << 12)
    columns = [
        np.packbits(every >> (11 - i) & 1, bitorder="little").view(np.uint64) for i in range(12)
    ]
    undecided = (~numerator & 4095) // 64
    drawn = iter(columns)

    def words(size):
        column = next(drawn)
        assert size in (1, 64)
        return (column if size == 64 else column[undecided : undecided + 1]).copy()

    result = bernoulli_words(numerator / 4096, 64, words)
    assert int(np.bitwise_count(result).sum()) == numerator
    whole = [int.from_bytes(column.tobytes(), "little") for column in columns]
    assert bernoulli_int(numerator / 4096, 4096, iter(whole)).bit_count() == numerator


@pytest.mark.parametrize("p", [0.0, 1.0, 0.5, 0.75, 0.1, 0.5625, 1 / 3, 1e-4, 0.999])
def test_random_words_have_the_probability(p):
    words = bernoulli_words(p, 20_000, SecureWords(bytes(32)))
    bits = 64 * len(words)
    ones = int(np.bitwise_count(words).sum())
    assert abs(ones - bits * p) <= 5 * np.sqrt(bits * p * (1 - p))
    places = np.unpackbits(words.view(np.uint8).reshape(-1, 8), axis=1).mean(axis=0)
    assert np.allclose(places, p, atol=5 * np.sqrt(p * (1 - p) / len(words)) + 1e-12)


def test_secure_words_repeat_with_a_key_and_differ_without():
    assert (SecureWords(bytes(32))(9) == SecureWords(bytes(32))(9)).all()
    assert (SecureWords()(9) != SecureWords()(9)).all()
    source = SecureWords()
    assert (source(9).copy() != source(9)).all()


@pytest.mark.parametrize(("k", "h"), [(8, 2), (13, 3), (128, 2), (130, 4)])
@pytest.mark.parametrize("scheme", ["dpest", "sha256", "google-java"])
def test_filters_are_those_of_the_positions(k, h, scheme):
    params = Params(k, h, 4, 0.5, 0.25, 0.75)
    values, cohorts = WORDS * 2, np.arange(8) % 4
    packed = filters(values, cohorts, params, scheme)
    for row, (value, cohort) in enumerate(zip(values, cohorts.tolist(), strict=True)):
        bits = set(positions(value, cohort, params, scheme))
        assert set(np.flatnonzero(packed.bits[row])) == bits
    table = Candidates.hashed(WORDS, params, scheme).packed_filters(params)
    picked = pick(table, np.arange(8) % len(WORDS), cohorts, params)
    assert (picked.packed == packed.packed).all()


@pytest.mark.parametrize("k", [8, 13, 128])
@pytest.mark.parametrize("f", [0.0, 0.5, 0.3, 0.01])
@pytest.mark.parametrize("metric", ["", "home page"])
def test_permanent_responses_are_those_of_single_clients(k, f, metric):
    params = Params(k, 2, 4, f, 0.25, 0.75)
    clients = [Encoder(params, secret, metric=metric) for secret in _secrets(60)]
    values = [f"v{index % 7}" for index in range(60)]
    expected = [c.permanent(c.bloom(v)) for c, v in zip(clients, values, strict=True)]
    blooms = filters(values, [client.cohort for client in clients], params)
    for secrets in (_secrets(60), np.frombuffer(b"".join(_secrets(60)), np.uint8).reshape(60, 16)):
        answers = permanent_many(blooms, secrets, params, metric=metric)
        assert [_whole(row) for row in answers.packed] == expected


@pytest.mark.parametrize("scheme", ["google-python", "google-cpp"])
def test_google_permanent_responses_are_those_of_single_clients(scheme):
    params = Params(16, 2, 4, 0.3, 0.25, 0.75)
    names = [f"client{index}".encode() for index in range(20)]
    clients = [Encoder(params, name, scheme=scheme) for name in names]
    blooms = filters(["a"] * 20, [client.cohort for client in clients], params, scheme)
    answers = permanent_many(blooms, names, params, scheme)
    assert [_whole(r) for r in answers.packed] == [c.permanent(c.bloom("a")) for c in clients]


@pytest.mark.parametrize(("f", "p", "q"), [(0.5, 0.25, 0.75), (0.0, 0.5, 0.75), (0.3, 0.1, 0.8)])
@pytest.mark.parametrize("k", [13, 64])
def test_reports_have_the_effective_probabilities(f, p, q, k):
    params = Params(k, 2, 4, f, p, q)
    clients = 8000
    cohorts = np.arange(clients) % 4
    blooms = filters(["apple"] * clients, cohorts, params)
    words = SecureWords(bytes(32))
    secrets = np.frombuffer(b"".join(_secrets(clients)), np.uint8).reshape(clients, -1)
    ways = [
        report_once(blooms, params, words),
        instantaneous_many(permanent_many(blooms, secrets, params), params, words),
        encode(["apple"] * clients, cohorts, params, words=words),
        encode(["apple"] * clients, cohorts, params, secrets, words=words),
    ]
    inside = blooms.bits.astype(bool)
    for reports in ways:
        for rate, where in ((params.q_star, inside), (params.p_star, ~inside)):
            size = where.sum()
            assert abs(reports.bits[where].mean() - rate) < 5 * np.sqrt(rate * (1 - rate) / size)
        if k % 8:
            assert not (reports.packed[:, -1] >> k % 8).any()


def test_noise_is_exact_at_the_ends():
    params = Params(13, 2, 4, 0.0, 0.0, 1.0)
    blooms = filters(["apple"] * 100, np.arange(100) % 4, params)
    assert (report_once(blooms, params).packed == blooms.packed).all()


def test_wrong_secrets_are_refused():
    params = Params(16, 2, 4, 0.5, 0.25, 0.75)
    blooms = filters(["a", "b"], [0, 1], params)
    with pytest.raises(RapporError, match="2 clients need as many secrets, not 1"):
        permanent_many(blooms, _secrets(1), params)
    with pytest.raises(RapporError, match="equally long"):
        permanent_many(blooms, [bytes(16), bytes(17)], params)
    with pytest.raises(RapporError, match="secret has 4 bytes"):
        permanent_many(blooms, _secrets(2, 4), params)
    with pytest.raises(RapporError, match="array of uint8"):
        permanent_many(blooms, np.zeros((2, 16)), params)


def test_reports_are_checked_and_cut():
    with pytest.raises(RapporError, match="need packed bytes of shape"):
        Reports(9, np.zeros(2, np.int32), np.zeros((2, 1), np.uint8))
    with pytest.raises(RapporError, match="array of 0 and 1"):
        Reports.from_bits([0], [[0, 2]])
    bits = np.array([[1, 0, 0, 0, 0, 0, 0, 0, 1], [0, 1, 0, 0, 0, 0, 0, 0, 0]])
    reports = Reports.from_bits([2, 3], bits)
    assert reports.packed.tolist() == [[1, 1], [2, 0]]
    assert (Reports.concatenate([reports[:1], reports[1:]]).bits == bits).all()
    with pytest.raises(RapporError, match="different widths"):
        Reports.concatenate([reports, Reports.from_bits([0], [[1]])])
