"""Reports in memory: a cohort and k bits each, the bits packed into bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpest.rappor.errors import RapporError

_BATCH_BYTES = 1 << 24


@dataclass(frozen=True, eq=False)
class Reports:
    """Many reports: `cohorts[i]`, and bit j of report i is bit `j % 8` of `packed[i, j // 8]`."""

    k: int
    cohorts: np.ndarray
    packed: np.ndarray

    def __post_init__(self) -> None:
        if self.packed.shape != (len(self.cohorts), byte_width(self.k)):
            raise RapporError(
                f"{len(self.cohorts)} reports of k={self.k} bits need packed bytes of shape "
                f"{(len(self.cohorts), byte_width(self.k))}, not {self.packed.shape}"
            )

    def __len__(self) -> int:
        return len(self.cohorts)

    def __getitem__(self, which: Any) -> Reports:
        """The reports of a slice, an index array or a mask."""
        return Reports(self.k, self.cohorts[which], self.packed[which])

    @property
    def bits(self) -> np.ndarray:
        """The bits as an array of 0 and 1 of shape (N, k)."""
        return np.unpackbits(self.packed, axis=1, count=self.k, bitorder="little")

    @classmethod
    def from_bits(cls, cohorts: Any, bits: Any) -> Reports:
        """Pack an array of 0 and 1 of shape (N, k)."""
        array = np.asarray(bits)
        if array.ndim != 2 or not np.isin(array, (0, 1)).all():
            raise RapporError("bits must be an array of 0 and 1 with a row per report")
        packed = np.packbits(array.astype(np.uint8), axis=1, bitorder="little")
        return cls(array.shape[1], np.asarray(cohorts), packed)

    @classmethod
    def concatenate(cls, parts: Sequence[Reports]) -> Reports:
        """All the reports of the parts, in order; the parts must be equally wide."""
        if len({part.k for part in parts}) != 1:
            raise RapporError("reports of different widths cannot be put together")
        cohorts = np.concatenate([part.cohorts for part in parts])
        return cls(parts[0].k, cohorts, np.concatenate([part.packed for part in parts]))


def byte_width(k: int) -> int:
    """How many bytes hold k bits."""
    return -(-k // 8)


def batch_size(k: int, most: int) -> int:
    """How many reports to handle at a time: so many, or fewer of wide ones."""
    return max(min(most, _BATCH_BYTES // byte_width(k)), 1)
