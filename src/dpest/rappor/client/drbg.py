"""HMAC_DRBG with SHA-256, the deterministic generator of NIST SP 800-90A."""

from __future__ import annotations

import hmac


class HmacDrbg:
    """A generator seeded once with entropy, nonce and personalization put together."""

    def __init__(self, seed: bytes) -> None:
        self._key, self._value = bytes(32), b"\x01" * 32
        self._update(seed)

    def generate(self, size: int) -> bytes:
        """The next `size` bytes."""
        output = b""
        while len(output) < size:
            self._value = self._mac(self._value)
            output += self._value
        self._update(b"")
        return output[:size]

    def _update(self, data: bytes) -> None:
        for marker in b"\x00\x01" if data else b"\x00":
            self._key = self._mac(self._value + bytes([marker]) + data)
            self._value = self._mac(self._value)

    def _mac(self, message: bytes) -> bytes:
        return hmac.digest(self._key, message, "sha256")
