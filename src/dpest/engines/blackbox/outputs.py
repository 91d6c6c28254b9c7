"""Outputs of any shape as two small matrices: what kind of thing each entry is, and its number.

Numbers keep their value. Everything else (None, strings, NaN, the end of a list, a raised
exception) becomes a kind, with a hash where the kind alone does not tell outcomes apart; what the
strings say is kept beside. `coding` makes them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

import numpy as np
import numpy.typing as npt


class Kind(IntEnum):
    """What one entry of an output is."""

    ABSENT = 0
    NUMBER = 1
    NONE = 2
    TRUE = 3
    FALSE = 4
    NAN = 5
    INF = 6
    NEG_INF = 7
    STRING = 8
    OPEN = 9
    CLOSE = 10
    RAISED = 11
    OTHER = 12


@dataclass(frozen=True)
class Outputs:
    """`len(kinds)` coded outputs; `names` spells out some of the hashed entries."""

    kinds: npt.NDArray[np.int8]
    values: npt.NDArray[np.float64]
    names: dict[float, str]
    texts: dict[float, str] = field(default_factory=dict)
    """What strings say, by their hash."""
    origin: Any = None
    """The samples of a program that these are, where they are."""

    def __len__(self) -> int:
        return len(self.kinds)

    @property
    def width(self) -> int:
        return self.kinds.shape[1]

    def padded(self, width: int) -> Outputs:
        """The same outputs with absent entries up to `width`."""
        extra = ((0, 0), (0, max(width - self.width, 0)))
        wide = np.pad(self.kinds, extra), np.pad(self.values, extra)
        return Outputs(*wide, self.names, self.texts)

    def rows(self, chosen: Any) -> Outputs:
        return Outputs(self.kinds[chosen], self.values[chosen], self.names, self.texts)

    def keys(self, width: int) -> npt.NDArray[np.uint64]:
        """One 64-bit hash per output, equal for equal outputs whatever block they came from."""
        wide = self.padded(width)
        keys = np.zeros(len(self), np.uint64)
        for column in range(wide.width):
            bits = (wide.values[:, column] + 0.0).view(np.uint64)
            keys = mixed(keys ^ bits ^ mixed(wide.kinds[:, column].astype(np.uint64)))
        return keys

    def spelled(self, row: int) -> str:
        """One output as a person would write it."""
        open_lists: list[list[str]] = [[]]
        for kind, value in zip(self.kinds[row], self.values[row], strict=True):
            if kind == Kind.OPEN:
                open_lists.append([])
            elif kind == Kind.CLOSE:
                closed = f"[{', '.join(open_lists.pop())}]"
                if not open_lists:
                    return closed
                open_lists[-1].append(closed)
            elif kind != Kind.ABSENT:
                open_lists[-1].append(self._entry(Kind(kind), value))
        (entries,) = open_lists
        return entries[0] if len(entries) == 1 else f"[{', '.join(entries)}]"

    def _entry(self, kind: Kind, value: float) -> str:
        words = {
            Kind.NONE: "None",
            Kind.TRUE: "True",
            Kind.FALSE: "False",
            Kind.NAN: "nan",
            Kind.INF: "inf",
            Kind.NEG_INF: "-inf",
        }
        return words.get(kind) or self.names.get(value) or f"{value:.12g}"


def mixed(x: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Spread every input bit over all output bits (a 64-bit finaliser)."""
    with np.errstate(over="ignore"):
        x = (x ^ (x >> np.uint64(31))) * np.uint64(0x9E3779B97F4A7C15)
        x = (x ^ (x >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    return x ^ (x >> np.uint64(32))


def concatenated(parts: Sequence[Outputs]) -> Outputs:
    """The outputs of several blocks as one."""
    width = max(part.width for part in parts)
    wide = [part.padded(width) for part in parts]
    return Outputs(
        np.concatenate([part.kinds for part in wide]),
        np.concatenate([part.values for part in wide]),
        {key: name for part in parts for key, name in part.names.items()},
        {key: text for part in parts for key, text in part.texts.items()},
    )
