"""Random bits with any probability, from a cryptographic generator, many at a time.

A bit is 1 if a uniform number is below p. Both are compared digit by binary digit, one machine word
of bits at once, so a dyadic p costs as many random words as it has digits and any other p about
eight: most bits are decided early, and only the words that still hold an undecided bit go on. The
result has exactly the probability p of the float.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import lru_cache

import numpy as np

Words = Callable[[int], np.ndarray]
_DENSE_DIGITS = 8


@lru_cache(maxsize=64)
def digits(p: float) -> tuple[bool, ...]:
    """The binary digits of a probability below 1 after the point, up to the last 1."""
    numerator, denominator = float(p).as_integer_ratio()
    length = denominator.bit_length() - 1
    return tuple(bool(numerator >> (length - 1 - i) & 1) for i in range(length))


def bernoulli_int(p: float, k: int, draws: Iterator[int]) -> int:
    """k bits, each 1 with probability p, as an integer; `draws` yields uniform ones."""
    everywhere = (1 << k) - 1
    if p == 1:
        return everywhere
    result, undecided = 0, everywhere
    for digit in digits(p):
        if not undecided:
            break
        below = undecided & ~next(draws)
        result |= below if digit else 0
        undecided = undecided & ~below if digit else below
    return result


def bernoulli_words(p: float, size: int, words: Words) -> np.ndarray:
    """An array of uint64 with every bit 1 with probability p; `words(n)` yields uniform ones.

    The array belongs to the caller until `words` is next asked.
    """
    if p in (0, 1):
        return np.full(size, -int(p) & (1 << 64) - 1, dtype=np.uint64)
    if len(digits(p)) > _DENSE_DIGITS:
        return _compared(p, size, words)
    result = words(size).copy()
    for digit in digits(p)[-2::-1]:
        (np.bitwise_or if digit else np.bitwise_and)(result, words(size), out=result)
    return result


def _compared(p: float, size: int, words: Words) -> np.ndarray:
    """`bernoulli_words` for a probability of many digits."""
    expansion = digits(p)
    result = np.zeros(size, dtype=np.uint64)
    undecided = words(size).copy()
    if expansion[0]:
        result |= undecided
        np.invert(undecided, out=undecided)
    for digit in expansion[1:_DENSE_DIGITS]:
        compare_digit(digit, result, undecided, words(size))
    where = np.flatnonzero(undecided)
    for digit in expansion[_DENSE_DIGITS:]:
        if not len(where):
            break
        few, still = result[where], undecided[where]
        compare_digit(digit, few, still, words(len(where)))
        result[where], undecided[where] = few, still
        where = where[still != 0]
    return result


def compare_digit(digit: bool, result: np.ndarray, undecided: np.ndarray, zero: np.ndarray) -> None:
    """Compare one more digit; a set bit of `zero` says that the uniform number has a 0 there."""
    if digit:
        zero &= undecided
        result |= zero
        undecided ^= zero
    else:
        undecided &= zero


class SecureWords:
    """Uniform 64-bit words from AES-256 in counter mode; without a key it takes a fresh one."""

    def __init__(self, key: bytes | None = None) -> None:
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

        cipher = Cipher(algorithms.AES(key or os.urandom(32)), modes.CTR(bytes(16)))
        self._encryptor = cipher.encryptor()
        self._zeros = b""
        self._buffer = np.empty(0, dtype=np.uint64)

    def __call__(self, size: int) -> np.ndarray:
        """The next `size` words; they are overwritten by the next call."""
        if size * 8 > len(self._zeros):
            self._zeros = bytes(size * 8)
            self._buffer = np.empty(size + 2, dtype=np.uint64)
        zeros = memoryview(self._zeros)[: size * 8]
        self._encryptor.update_into(zeros, self._buffer.view(np.uint8).data)
        return self._buffer[:size]
