"""Many clients at once: the same responses as `client.Encoder`, vectorised.

    values, cohorts → filters → permanent_many → instantaneous_many → Reports

`report_once` takes both rounds of noise in one step, for clients that report a single time.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

import numpy as np

from dpest.rappor.client.bits import SecureWords, bernoulli_words, compare_digit, digits
from dpest.rappor.client.permanent import check_secret, layout, permanent, prefix, suffix
from dpest.rappor.errors import RapporError
from dpest.rappor.hashing import check_cohorts, positions_many
from dpest.rappor.params import Params
from dpest.rappor.reports import Reports, byte_width

_BLOCK_WORDS = 1 << 14
_BATCH = 1 << 15


def encode(
    values: Sequence[str],
    cohorts: Any,
    params: Params,
    secrets: Sequence[bytes] | np.ndarray | None = None,
    *,
    scheme: str = "dpest",
    salt: str = "",
    metric: str = "",
    words: SecureWords | None = None,
) -> Reports:
    """One report of each `values[i]` by a client of cohort `cohorts[i]`.

    With the clients' secrets the permanent responses are those that these clients always give;
    without, every client is a new one.
    """
    reports = filters(values, cohorts, params, scheme, salt=salt)
    effective = params.effective(scheme)
    if secrets is None:
        return report_once(reports, effective, words)
    fixed = permanent_many(reports, secrets, params, scheme, metric=metric)
    return instantaneous_many(fixed, effective, words)


def filters(
    values: Sequence[str], cohorts: Any, params: Params, scheme: str = "dpest", *, salt: str = ""
) -> Reports:
    """The Bloom filters of `values[i]` in cohort `cohorts[i]`, packed like reports."""
    bits = positions_many(values, cohorts, params, scheme, salt=salt)
    return Reports(params.k, np.asarray(cohorts), pack(bits, params.k))


def pick(table: np.ndarray, values: np.ndarray, cohorts: Any, params: Params) -> Reports:
    """The filters of value number `values[i]` in cohort `cohorts[i]`; `table` is all of them."""
    cohorts = check_cohorts(cohorts, params)
    rows = table.reshape(-1, table.shape[2])
    chosen = rows.view(f"V{rows.shape[1]}").ravel().take(values * table.shape[1] + cohorts)
    return Reports(params.k, cohorts, chosen.view(np.uint8).reshape(len(chosen), -1))


def pack(bits: np.ndarray, k: int) -> np.ndarray:
    """Packed filters from an array of bit positions, a row each."""
    packed = np.zeros((len(bits), byte_width(k)), dtype=np.uint8)
    rows = np.arange(len(bits))
    for column in bits.T:
        packed[rows, column >> 3] |= (1 << (column & 7)).astype(np.uint8)
    return packed


def permanent_many(
    blooms: Reports,
    secrets: Sequence[bytes] | np.ndarray,
    params: Params,
    scheme: str = "dpest",
    *,
    metric: str = "",
) -> Reports:
    """The permanent responses of clients with these secrets to their filters.

    Secrets are bytes, or the rows of an array of uint8.
    """
    keys = secrets if isinstance(secrets, np.ndarray) else list(secrets)
    if len(keys) != len(blooms):
        raise RapporError(f"{len(blooms)} clients need as many secrets, not {len(keys)}")
    starts = range(0, len(blooms), _BATCH)
    parts = [(blooms.packed[at : at + _BATCH], keys[at : at + _BATCH]) for at in starts]
    if scheme.startswith("google"):
        answers = [_google(*part, params, scheme, metric) for part in parts]
    else:
        answers = [part[0] ^ _flips(*part, params, metric) for part in parts]
    return Reports(blooms.k, blooms.cohorts, np.concatenate([blooms.packed[:0], *answers]))


def instantaneous_many(fixed: Reports, params: Params, words: SecureWords | None = None) -> Reports:
    """One instantaneous response to each permanent one."""
    return _noisy(fixed, params.p, params.q, words)


def report_once(blooms: Reports, params: Params, words: SecureWords | None = None) -> Reports:
    """One report of clients that never report again: both rounds of noise at once."""
    return _noisy(blooms, params.p_star, params.q_star, words)


def _noisy(truth: Reports, p: float, q: float, words: SecureWords | None) -> Reports:
    """Report 1 with probability q where the truth has a 1 and p where it has a 0."""
    source = words or SecureWords()
    known = _as_words(truth.packed)
    noisy = np.empty_like(known)
    for at in range(0, len(known), _BLOCK_WORDS):
        block, out = known[at : at + _BLOCK_WORDS], noisy[at : at + _BLOCK_WORDS]
        if p != 0 or q != 1:
            zeros = bernoulli_words(p, len(block), source)
            np.bitwise_xor(zeros, bernoulli_words(q, len(block), source), out=out)
            np.bitwise_and(out, block, out=out)
            np.bitwise_xor(out, zeros, out=out)
        else:
            out[:] = block
    packed = noisy.view(np.uint8)[: truth.packed.size].reshape(truth.packed.shape)
    return Reports(truth.k, truth.cohorts, clear_padding(packed, truth.k))


def clear_padding(packed: np.ndarray, k: int) -> np.ndarray:
    """Set the bits of the last byte that no report has to 0, in place."""
    if k % 8:
        packed[:, -1] &= (1 << k % 8) - 1
    return packed


def _as_words(packed: np.ndarray) -> np.ndarray:
    """The bytes as one row of uint64, filled up with zeros."""
    flat = np.ascontiguousarray(packed).reshape(-1)
    if flat.size % 8:
        flat = np.concatenate([flat, np.zeros(-flat.size % 8, dtype=np.uint8)])
    return flat.view(np.uint64)


def _flips(packed: np.ndarray, secrets: Any, params: Params, metric: str) -> np.ndarray:
    """The bits that the keyed permanent responses flip, each with probability f/2.

    Step by step, only the clients that still have an undecided bit are drawn for.
    """
    messages = _messages(packed, _matrix(secrets, metric, params.k), params.k, metric)
    flips, expansion = np.zeros(packed.shape, dtype=np.uint8), digits(params.f / 2)
    blocks, per_step = layout(packed.shape[1])
    rows, undecided = np.arange(len(packed)), clear_padding(~flips, params.k)
    for step, at in enumerate(range(0, len(expansion), per_step)):
        stream = np.hstack([_digests(messages, step * blocks + block) for block in range(blocks)])
        result = np.zeros_like(undecided)
        for draw, digit in enumerate(expansion[at : at + per_step]):
            uniform = stream[:, draw * packed.shape[1] : (draw + 1) * packed.shape[1]]
            compare_digit(digit, result, undecided, ~uniform)
        flips[rows] |= result
        unfinished = undecided.any(axis=1)
        if not unfinished.any():
            break
        rows, messages, undecided = rows[unfinished], messages[unfinished], undecided[unfinished]
    return flips


def _matrix(secrets: Any, metric: str, k: int) -> np.ndarray:
    """The secrets as the rows of an array of bytes."""
    if not isinstance(secrets, np.ndarray):
        if len({len(secret) for secret in secrets}) > 1:
            raise RapporError("secrets must all be equally long; use 32 bytes for each client")
        secrets = np.frombuffer(b"".join(secrets), dtype=np.uint8).reshape(len(secrets), -1)
    if secrets.dtype != np.uint8 or secrets.ndim != 2:
        raise RapporError("secrets must be bytes, or an array of uint8 with a row per client")
    check_secret(bytes(secrets.shape[1]), "dpest", metric, k)
    return secrets


def _messages(packed: np.ndarray, secrets: np.ndarray, k: int, metric: str) -> np.ndarray:
    """What `permanent` digests for each client, a row each, without the number of the block."""
    start = np.frombuffer(prefix(k, metric) + suffix(bytes(secrets.shape[1]), b""), dtype=np.uint8)
    head = start[: len(start) - secrets.shape[1]]
    return np.hstack([np.broadcast_to(head, (len(packed), len(head))), secrets, packed])


def _digests(messages: np.ndarray, block: int) -> np.ndarray:
    """`permanent.digest` of every row."""
    counter = np.frombuffer(block.to_bytes(4, "little"), dtype=np.uint8)
    full = np.hstack([messages, np.broadcast_to(counter, (len(messages), 4))])
    rows = struct.iter_unpack(f"{full.shape[1]}s", full.data)
    digests = b"".join([blake2b(row).digest() for (row,) in rows])
    return np.frombuffer(digests, dtype=np.uint8).reshape(len(messages), 64)


def _google(
    packed: np.ndarray, secrets: Any, params: Params, scheme: str, metric: str
) -> np.ndarray:
    """google/rappor's permanent responses, one client after the other."""
    k, width = params.k, packed.shape[1]
    answers = []
    for row, secret in zip(packed, secrets, strict=True):
        key = bytes(secret)
        check_secret(key, scheme, metric, k)
        bloom = int.from_bytes(row.tobytes(), "little")
        answer = permanent(bloom, k, params.f, key, scheme, metric=metric)
        answers.append(answer.to_bytes(width, "little"))
    return np.frombuffer(b"".join(answers), dtype=np.uint8).reshape(packed.shape)
