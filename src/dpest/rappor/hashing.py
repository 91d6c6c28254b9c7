"""A string and a cohort become bit positions, by a named scheme.

    scheme         bits of a value in a cohort                            limits
    dpest          BLAKE2b of the value, keyed by the salt, mixed with    none
                   the cohort and the number of the hash
    mmh3           MurmurHash3 of the value, seed cohort * h + hash       no salt
    sha256         SHA-256 of `salt_cohort_value_hash`, hash from 01      none
    google-python  one byte of MD5(cohort, value) per hash                k <= 256, h <= 16
    google-cpp     as many little-endian bytes of it as k needs           h * bytes <= 16
    google-java    two big-endian bytes of it                             h <= 8

All but the first reduce modulo k; choose a power of two there. A value sets at most `h` bits: two
of its hashes may fall on one bit.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from dpest.rappor.errors import RapporError
from dpest.rappor.params import Params

if TYPE_CHECKING:
    import numpy as np

SCHEMES = ("dpest", "mmh3", "sha256", "google-python", "google-cpp", "google-java")
_SALTED = ("dpest", "sha256")
_MASK = (1 << 64) - 1
_STEP = 0x9E3779B97F4A7C15


def positions(
    value: str, cohort: int, params: Params, scheme: str = "dpest", *, salt: str = ""
) -> tuple[int, ...]:
    """The `h` bit positions of a value in a cohort; some may be equal."""
    check_scheme(params, scheme, salt)
    checked = check_cohort(cohort, params)
    return tuple(_positions(value, checked, params.k, params.h, scheme, salt))


def positions_many(
    values: Sequence[str],
    cohorts: Any,
    params: Params,
    scheme: str = "dpest",
    *,
    salt: str = "",
) -> np.ndarray:
    """The positions of `values[i]` in cohort `cohorts[i]`, an integer array of shape (N, h)."""
    import numpy as np

    check_scheme(params, scheme, salt)
    cohorts = check_cohorts(cohorts, params)
    if len(cohorts) != len(values):
        raise RapporError(f"{len(values)} values do not match {len(cohorts)} cohorts")
    if scheme == "dpest":
        return _mixed(_digests(values, salt), cohorts, params)
    rows = [
        _positions(value, cohort, params.k, params.h, scheme, salt)
        for value, cohort in zip(values, cohorts.tolist(), strict=True)
    ]
    return np.array(rows, dtype=np.int32).reshape(len(values), params.h)


def positions_table(
    values: Sequence[str], params: Params, scheme: str = "dpest", *, salt: str = ""
) -> np.ndarray:
    """The positions of every value in every cohort, an integer array of shape (M, m, h)."""
    import numpy as np

    cohorts = np.arange(params.m)
    if scheme == "dpest":
        check_scheme(params, scheme, salt)
        return _mixed(_digests(values, salt)[:, None], cohorts[None, :], params)
    pairs = [value for value in values for _ in range(params.m)]
    flat = positions_many(pairs, np.tile(cohorts, len(values)), params, scheme, salt=salt)
    return flat.reshape(len(values), params.m, params.h)


def check_scheme(params: Params, scheme: str, salt: str) -> None:
    """Refuse an unknown scheme, a salt that it would ignore, and widths that it cannot reach."""
    if scheme not in SCHEMES:
        raise RapporError(f"scheme={scheme!r} is unknown; use one of {', '.join(SCHEMES)}")
    if salt and scheme not in _SALTED:
        raise RapporError(f"scheme={scheme!r} takes no salt; use {' or '.join(_SALTED)}")
    widest = {"google-python": 256, "google-java": 65536}.get(scheme)
    if widest and params.k > widest:
        raise RapporError(f"k={params.k} is too wide for {scheme!r}; use k <= {widest}")
    if scheme.startswith("google") and params.h > (most := 16 // _hash_bytes(params.k, scheme)):
        raise RapporError(f"h={params.h} is too many hashes for {scheme!r}; use h <= {most}")


def check_cohort(cohort: Any, params: Params) -> int:
    """The cohort as a Python integer; any outside 0..m-1 is refused."""
    if not hasattr(cohort, "__index__") or not 0 <= cohort < params.m:
        raise RapporError(f"cohort={cohort} must be between 0 and m - 1 = {params.m - 1}")
    return int(cohort)


def check_cohorts(cohorts: Any, params: Params) -> np.ndarray:
    """The cohorts as a one-dimensional integer array; any outside 0..m-1 is refused."""
    import numpy as np

    array = np.asarray(cohorts)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise RapporError("cohorts must be a list of whole numbers, one per value")
    if array.size and not 0 <= array.min() <= array.max() < params.m:
        wrong = array[(array < 0) | (array >= params.m)][0]
        raise RapporError(f"cohort={wrong} must be between 0 and m - 1 = {params.m - 1}")
    return array


def _positions(value: str, cohort: int, k: int, h: int, scheme: str, salt: str) -> list[int]:
    """The positions by a scheme that has been checked."""
    data = _utf8(value)
    if scheme == "dpest":
        low, high = _halves(data, salt)
        steps = (((cohort << 16) + i) * _STEP for i in range(h))
        return [(_mix(low ^ _mix(high + step & _MASK)) >> 32) * k >> 32 for step in steps]
    if scheme == "mmh3":
        import mmh3

        return [mmh3.hash(data, seed=(cohort * h + i) & 0xFFFFFFFF) % k for i in range(h)]
    if scheme == "sha256":
        texts = (f"{salt}_{cohort:02d}_{value}_{i:02d}" for i in range(1, h + 1))
        return [int.from_bytes(hashlib.sha256(_utf8(text)).digest(), "big") % k for text in texts]
    digest = hashlib.md5(cohort.to_bytes(4, "big") + data, usedforsecurity=False).digest()
    size, order = _hash_bytes(k, scheme), "little" if scheme == "google-cpp" else "big"
    parts = (digest[i * size : (i + 1) * size] for i in range(h))
    return [int.from_bytes(part, order) % k for part in parts]  # type: ignore[arg-type]


def _hash_bytes(k: int, scheme: str) -> int:
    """How many bytes of the MD5 digest google/rappor's clients spend on one hash."""
    if scheme == "google-cpp":
        return (max((k - 1).bit_length(), 1) - 1) // 8 + 1
    return 2 if scheme == "google-java" else 1


def _utf8(text: str) -> bytes:
    if not isinstance(text, str):
        raise RapporError(f"value={text!r} must be a string")
    return text.encode("utf-8", "surrogatepass")


@lru_cache(maxsize=16)
def _key(salt: str) -> bytes:
    return hashlib.blake2b(_utf8(salt)).digest()


def _halves(data: bytes, salt: str) -> tuple[int, int]:
    digest = hashlib.blake2b(data, key=_key(salt), digest_size=16).digest()
    return int.from_bytes(digest[:8], "little"), int.from_bytes(digest[8:], "little")


def _digests(values: Sequence[str], salt: str) -> np.ndarray:
    """The two halves of every value's digest, as a structured array (low, high)."""
    import numpy as np

    key = _key(salt)
    digests = (hashlib.blake2b(_utf8(v), key=key, digest_size=16).digest() for v in values)
    return np.frombuffer(b"".join(digests), dtype=[("low", "<u8"), ("high", "<u8")])


def _mixed(digests: np.ndarray, cohorts: np.ndarray, params: Params) -> np.ndarray:
    """The scheme "dpest" for digests and cohorts that broadcast; one axis of h is added."""
    import numpy as np

    hashes = np.arange(params.h, dtype=np.uint64)
    index = (cohorts.astype(np.uint64)[..., None] << np.uint64(16)) + hashes
    inner = _mix(digests["high"][..., None] + index * np.uint64(_STEP))
    spread = _mix(digests["low"][..., None] ^ inner) >> np.uint64(32)
    return (spread * np.uint64(params.k) >> np.uint64(32)).astype(np.int32)


def _mix(x: Any) -> Any:
    """The finaliser of splitmix64, for a Python integer or an array of uint64."""
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & _MASK
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB & _MASK
    return x ^ (x >> 31)
