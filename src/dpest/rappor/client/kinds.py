"""Values that are not strings: written in a file as text, encoded as bits of their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from dpest.rappor.client.fleet import pack
from dpest.rappor.errors import RapporError
from dpest.rappor.hashing import check_cohorts
from dpest.rappor.params import Params
from dpest.rappor.reports import Reports

_BOOLEANS = {"true": 1, "1": 1, "false": 0, "0": 0}


def unhashed(kind: str, values: Sequence[str], cohorts: np.ndarray, params: Params) -> Reports:
    """The filters of booleans (k=1), of ordinals below k, or of strings of k bits.

    They are those that `Encoder.encode_boolean`, `encode_ordinal` and `encode_bits` report.
    """
    packed = _PACKED[kind](values, params.k)
    return Reports(params.k, check_cohorts(cohorts, params), packed)


def _booleans(values: Sequence[str], k: int) -> np.ndarray:
    if k != 1:
        raise RapporError(f"k={k} is not the width of a boolean; use k=1")
    bits = [_BOOLEANS.get(value.strip().lower(), -1) for value in values]
    _refuse(values, [bit < 0 for bit in bits], "true or false")
    return np.array(bits, dtype=np.uint8)[:, None]


def _ordinals(values: Sequence[str], k: int) -> np.ndarray:
    wanted = f"a whole number between 0 and {k - 1}"
    _refuse(values, [not (v.isascii() and v.isdigit() and len(v) < 10) for v in values], wanted)
    numbers = np.array(values, dtype=np.int64)
    _refuse(values, (numbers >= k).tolist(), wanted)
    return pack(numbers[:, None], k)


def _bits(values: Sequence[str], k: int) -> np.ndarray:
    wrong = [len(value) != k or bool(value.strip("01")) for value in values]
    _refuse(values, wrong, f"k={k} bits, the most significant first")
    digits = np.frombuffer("".join(values).encode(), dtype=np.uint8).reshape(len(values), k)
    return np.packbits(digits[:, ::-1] - ord("0"), axis=1, bitorder="little")


_PACKED: dict[str, Callable[[Sequence[str], int], np.ndarray]] = {
    "booleans": _booleans,
    "ordinals": _ordinals,
    "bits": _bits,
}


def _refuse(values: Sequence[str], wrong: Sequence[bool], wanted: str) -> None:
    for value, is_wrong in zip(values, wrong, strict=True):
        if is_wrong:
            raise RapporError(f"value {value[:80]!r} must be {wanted}")
