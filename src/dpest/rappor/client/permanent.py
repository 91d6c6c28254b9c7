"""The permanent response: a keyed function of the client's secret and its Bloom filter.

Nothing is stored, yet the same client gives the same answer for ever. Ours flips every bit of the
filter with probability f/2, which is the same law as forgetting it with probability f, and reads
the flips off BLAKE2b digests of secret, filter and a counter. The others are google/rappor's, bit
for bit: a byte of noise per bit, whose low bit is the answer if the other seven are below 128 f.
"""

from __future__ import annotations

import hashlib
import hmac
import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import count

from dpest.rappor.client.bits import bernoulli_int
from dpest.rappor.client.drbg import HmacDrbg
from dpest.rappor.errors import RapporError

_SHORTEST_SECRET = {"google-python": 0, "google-cpp": 0, "google-java": 48}
_NAMELESS = ("google-python",)


def permanent(
    bloom: int, k: int, f: float, secret: bytes, scheme: str = "dpest", *, metric: str = ""
) -> int:
    """The permanent response of a client to a filter, as an integer of k bits."""
    if scheme == "google-python":
        noise = _python_noise(bloom, k, secret)
        return _answer(bloom, noise, math.ceil(Fraction(f) * 128))
    if scheme == "google-cpp":
        return _answer(bloom, _cpp_noise(bloom, k, secret, metric), math.floor(f * 128))
    if scheme == "google-java":
        return _answer(bloom, _java_noise(bloom, k, secret, metric), math.floor(f * 128 + 0.5))
    message = prefix(k, metric) + suffix(secret, bloom.to_bytes(-(-k // 8), "little"))
    return bloom ^ bernoulli_int(f / 2, k, _draws(message, k))


def check_secret(secret: bytes, scheme: str, metric: str, k: int) -> None:
    """Refuse a secret that is too short to hide anything and a name or width out of reach."""
    if not isinstance(secret, bytes):
        raise RapporError("secret must be bytes; use secrets.token_bytes(32) once per client")
    shortest = _SHORTEST_SECRET.get(scheme, 16)
    if len(secret) < shortest:
        raise RapporError(
            f"secret has {len(secret)} bytes; {scheme!r} needs {shortest} or more random ones"
        )
    if scheme in _NAMELESS and metric:
        raise RapporError(f"scheme={scheme!r} has no metric name; leave metric={metric!r} out")
    if scheme == "google-python" and k > 32:
        raise RapporError(f"k={k} is too wide for the permanent response of {scheme!r}; use 32")


def derived_cohort(secret: bytes, m: int, k: int, scheme: str = "dpest") -> int:
    """The cohort that a client draws from its secret, once and for all."""
    most = {"google-cpp": 1 << 32, "google-java": 128}.get(scheme)
    if most and (m & (m - 1) or m > most):
        raise RapporError(f"m={m} must be a power of two up to {most} for {scheme!r}")
    if scheme == "google-cpp":
        return int.from_bytes(_cpp_mac(secret, b"", k)[:4], "little") & (m - 1)
    if scheme == "google-java":
        drawn = HmacDrbg(secret + b"\x00").generate(4)
        return abs(int.from_bytes(drawn, "big", signed=True)) % 128 & (m - 1)
    drawn = digest(b"dpest cohort" + suffix(secret, b""), 0)
    return int.from_bytes(drawn, "little") * m >> 512


def prefix(k: int, metric: str) -> bytes:
    """What all the clients of a metric put in front of their secret."""
    name = metric.encode()
    return b"dpest permanent" + k.to_bytes(4, "little") + len(name).to_bytes(4, "little") + name


def suffix(secret: bytes, bloom: bytes) -> bytes:
    """The client's own part of the message."""
    return len(secret).to_bytes(4, "little") + secret + bloom


def digest(message: bytes, block: int) -> bytes:
    """64 bytes of the endless stream that belongs to a message."""
    return hashlib.blake2b(message + block.to_bytes(4, "little")).digest()


def layout(width: int) -> tuple[int, int]:
    """How many blocks of the stream are taken at a time, and how many draws they are cut into."""
    return -(-width // 64), max(64 // width, 1)


def _draws(message: bytes, k: int) -> Iterator[int]:
    """The stream of a message, cut into integers of at least k bits."""
    width = -(-k // 8)
    blocks, draws = layout(width)
    for first in count(0, blocks):
        stream = b"".join(digest(message, first + block) for block in range(blocks))
        for at in range(0, draws * width, width):
            yield int.from_bytes(stream[at : at + width], "little")


def _answer(bloom: int, noise: bytes, threshold: int) -> int:
    """google/rappor's rule: byte i says whether bit i is forgotten, and what for."""
    uniform = sum((byte & 1) << i for i, byte in enumerate(noise))
    forgotten = sum((byte >> 1 < threshold) << i for i, byte in enumerate(noise))
    return bloom & ~forgotten | uniform & forgotten


def _python_noise(bloom: int, k: int, secret: bytes) -> bytes:
    return hmac.digest(secret, bloom.to_bytes(4, "big"), "sha256")[:k]


def _cpp_noise(bloom: int, k: int, secret: bytes, metric: str) -> bytes:
    width = 4 if k <= 32 else -(-k // 8)
    return _cpp_mac(secret, b"\x01" + metric.encode() + bloom.to_bytes(width, "big"), k)[:k]


def _cpp_mac(secret: bytes, message: bytes, k: int) -> bytes:
    if k <= 32:
        return hmac.digest(secret, message, "sha256")
    return HmacDrbg(secret + message).generate(k)


def _java_noise(bloom: int, k: int, secret: bytes, metric: str) -> bytes:
    filled = b"\x01".ljust(20, b"\x00")
    minimal = bloom.to_bytes(-(-bloom.bit_length() // 8), "little")
    digest = hashlib.sha256(metric.encode() + b"\x00" + minimal + filled).digest()
    return HmacDrbg(secret + b"\x01" + digest[:19]).generate(k)
