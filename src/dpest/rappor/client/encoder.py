"""The client: a value becomes a report that says little about it.

    value → bloom → permanent → instantaneous → Report

Filters and responses are integers; bit i is `x >> i & 1`. Whole populations are encoded by `fleet`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dpest.rappor.client.bits import bernoulli_int
from dpest.rappor.client.permanent import check_secret, derived_cohort, permanent
from dpest.rappor.errors import RapporError
from dpest.rappor.hashing import check_cohort, check_scheme, positions
from dpest.rappor.params import Params

if TYPE_CHECKING:
    from dpest.rappor.client.memo import Memo

Entropy = Callable[[int], bytes]


@dataclass(frozen=True)
class Report:
    """What a client sends: its cohort and k bits."""

    k: int
    cohort: int
    bits: int

    @property
    def bit_string(self) -> str:
        """The bits as google/rappor writes them, the most significant first."""
        return format(self.bits, f"0{self.k}b")

    def to_bytes(self) -> bytes:
        """The bits in as few bytes as hold them, bit i in byte i // 8."""
        return self.bits.to_bytes(-(-self.k // 8), "little")


class Encoder:
    """A client that reports values under local differential privacy.

    `secret` is the client's own (`secrets.token_bytes(32)`, kept for ever): with it the permanent
    response to a value never changes, and no one else can tell it. `metric` names what is being
    asked, so that one secret serves several questions. The cohort is drawn from the secret unless
    given. With `values`, a value of that known set is a bit of its own and nothing is hashed; with
    a `memo`, permanent responses are drawn once and stored instead of being derived.
    """

    def __init__(
        self,
        params: Params,
        secret: bytes,
        *,
        metric: str = "",
        cohort: int | None = None,
        scheme: str = "dpest",
        salt: str = "",
        values: Iterable[str] | None = None,
        memo: Memo | None = None,
        entropy: Entropy = os.urandom,
    ) -> None:
        check_scheme(params, scheme, salt)
        check_secret(secret, scheme, metric, params.k)
        self.params = params
        self.cohort = _cohort(cohort, params, secret, scheme)
        self._scheme, self._salt, self._metric = scheme, salt, metric
        self._secret, self._memo, self._entropy = secret, memo, entropy
        self._values = None if values is None else _numbered(values, params.k)

    def encode(self, value: str) -> Report:
        """Report a string."""
        return self._report(self.bloom(value))

    def encode_boolean(self, value: bool) -> Report:
        """Report True or False; the only bit is set by True."""
        if self.params.k != 1:
            raise RapporError(f"k={self.params.k} is not the width of a boolean; use k=1")
        if not isinstance(value, bool):
            raise RapporError(f"value={value!r} must be True or False")
        return self._report(int(value))

    def encode_ordinal(self, value: int) -> Report:
        """Report a number between 0 and k - 1; it is a bit of its own."""
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < self.params.k:
            most = self.params.k - 1
            raise RapporError(f"value={value!r} must be a whole number between 0 and {most}")
        return self._report(1 << value)

    def encode_bits(self, bits: int) -> Report:
        """Report k bits of your own making."""
        if isinstance(bits, bool) or not isinstance(bits, int) or bits >> self.params.k:
            raise RapporError(f"bits={bits!r} must be an integer of k={self.params.k} bits")
        return self._report(bits)

    def bloom(self, value: str) -> int:
        """The Bloom filter of a string, which must not leave the client."""
        if self._values is not None:
            if value not in self._values:
                raise RapporError(f"value={value!r} is not one of the {len(self._values)} values")
            return 1 << self._values[value]
        bits = positions(value, self.cohort, self.params, self._scheme, salt=self._salt)
        return sum(1 << bit for bit in set(bits))

    def permanent(self, bloom: int) -> int:
        """The permanent response to a filter, which must not leave the client either."""
        if self._memo is None:
            return self._permanent(bloom, self._secret)
        width = -(-self.params.k // 8)
        key = self._metric.encode() + b"\0" + bloom.to_bytes(width, "little")
        kept = self._memo.recall(
            key, lambda: self._permanent(bloom, self._entropy(64)).to_bytes(width, "little")
        )
        return int.from_bytes(kept, "little")

    def instantaneous(self, fixed: int) -> int:
        """A fresh response to a permanent one."""
        p_bits, q_bits = _MASKS.get(self._scheme, _exact_masks)(self.params, self._entropy)
        return fixed & q_bits | ~fixed & p_bits

    def _permanent(self, bloom: int, secret: bytes) -> int:
        k, f = self.params.k, self.params.f
        return permanent(bloom, k, f, secret, self._scheme, metric=self._metric)

    def _report(self, bloom: int) -> Report:
        bits = self.instantaneous(self.permanent(bloom))
        return Report(self.params.k, self.cohort, bits)


def _cohort(cohort: int | None, params: Params, secret: bytes, scheme: str) -> int:
    if cohort is None:
        return derived_cohort(secret, params.m, params.k, scheme)
    return check_cohort(cohort, params)


def _numbered(values: Iterable[str], k: int) -> dict[str, int]:
    names = list(values)
    numbered = {value: number for number, value in enumerate(names)}
    if len(numbered) != len(names):
        raise RapporError("values must differ from each other")
    if len(names) > k:
        raise RapporError(f"{len(names)} values do not fit k={k} bits; use a larger k")
    return numbered


def _exact_masks(params: Params, entropy: Entropy) -> tuple[int, int]:
    """Noise bits for permanent zeros and ones, with exactly the probabilities p and q."""

    def draws() -> Iterator[int]:
        while True:
            yield int.from_bytes(entropy(-(-params.k // 8)), "little")

    return bernoulli_int(params.p, params.k, draws()), bernoulli_int(params.q, params.k, draws())


def _python_masks(params: Params, entropy: Entropy) -> tuple[int, int]:
    """google/rappor's Python client: a 53-bit float per bit, all of p before all of q."""

    def mask(probability: float) -> int:
        floats = ((int.from_bytes(entropy(7), "big") >> 3) * 2.0**-53 for _ in range(params.k))
        return _integer(uniform < probability for uniform in floats)

    return mask(params.p), mask(params.q)


def _cpp_masks(params: Params, entropy: Entropy) -> tuple[int, int]:
    """google/rappor's C++ client: from the top 32 bits down, a byte per bit for p, then for q."""
    p_bits = q_bits = 0
    for start in reversed(range(0, params.k, 32)):
        p_bits |= _integer(byte < int(256 * params.p) for byte in entropy(32)) << start
        q_bits |= _integer(byte < int(256 * params.q) for byte in entropy(32)) << start
    return p_bits & (1 << params.k) - 1, q_bits & (1 << params.k) - 1


_MASKS = {"google-python": _python_masks, "google-cpp": _cpp_masks}


def _integer(bits: Any) -> int:
    return sum(1 << i for i, bit in enumerate(bits) if bit)
