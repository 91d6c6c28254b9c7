"""Outputs of any shape as two small matrices: what kind of thing each entry is, and its number.

Numbers keep their value. Everything else (None, strings, NaN, the end of a list, a raised
exception) becomes a kind, with a hash where the kind alone does not tell outcomes apart. Coding
never depends on other outputs, so blocks coded in different processes fit together.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
import numpy.typing as npt

WIDTH_LIMIT = 512
"""Entries of an output beyond this many are folded into one hashed entry."""
EXACT = 2**53
"""Integers beyond this are not all doubles."""


class WrongOutputs(ValueError):
    """A mechanism that draws many outputs at once did not return one per run."""


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
class Raised:
    """An exception that stands where an output should be; an observer sees it too."""

    type_name: str
    message: str


@dataclass(frozen=True)
class Outputs:
    """`len(kinds)` coded outputs; `names` spells out some of the hashed entries."""

    kinds: npt.NDArray[np.int8]
    values: npt.NDArray[np.float64]
    names: dict[float, str]
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
        return Outputs(np.pad(self.kinds, extra), np.pad(self.values, extra), self.names)

    def rows(self, chosen: Any) -> Outputs:
        return Outputs(self.kinds[chosen], self.values[chosen], self.names)

    def keys(self, width: int) -> npt.NDArray[np.uint64]:
        """One 64-bit hash per output, equal for equal outputs whatever block they came from."""
        wide = self.padded(width)
        keys = np.zeros(len(self), np.uint64)
        for column in range(wide.width):
            bits = (wide.values[:, column] + 0.0).view(np.uint64)
            keys = _mixed(keys ^ bits ^ _mixed(wide.kinds[:, column].astype(np.uint64)))
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


def _mixed(x: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Spread every input bit over all output bits (a 64-bit finaliser)."""
    with np.errstate(over="ignore"):
        x = (x ^ (x >> np.uint64(31))) * np.uint64(0x9E3779B97F4A7C15)
        x = (x ^ (x >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    return x ^ (x >> np.uint64(32))


def concatenated(parts: Sequence[Outputs]) -> Outputs:
    """The outputs of several blocks as one."""
    width = max(part.width for part in parts)
    wide = [part.padded(width) for part in parts]
    names = {key: name for part in parts for key, name in part.names.items()}
    return Outputs(
        np.concatenate([part.kinds for part in wide]),
        np.concatenate([part.values for part in wide]),
        names,
    )


def coded(outputs: Any, size: int) -> Outputs:
    """Code what a mechanism returned for `size` runs: one entry of the first axis per run."""
    if not isinstance(outputs, np.ndarray):
        outputs = _as_array_if_plain(outputs)
    if len(outputs) != size:
        raise WrongOutputs(
            f"the mechanism was asked for size={size} outputs and returned {len(outputs)}; "
            "the first axis of its result must have one entry per run"
        )
    if isinstance(outputs, np.ndarray) and outputs.dtype.kind in "fiub":
        return _coded_array(outputs.reshape(size, -1))
    return _coded_objects(list(outputs))


def _as_array_if_plain(outputs: Any) -> Any:
    try:
        listed = list(outputs)
    except TypeError:
        raise WrongOutputs(
            f"the mechanism takes size= and returned {outputs!r:.80}; "
            "it must return an array or list with one output per run"
        ) from None
    if all(type(one) in (float, int, np.float64) and abs(one) <= EXACT for one in listed):
        return np.array(listed, float)
    return listed


def _coded_array(matrix: npt.NDArray[Any]) -> Outputs:
    if matrix.dtype.kind == "b":
        kinds = np.where(matrix, Kind.TRUE, Kind.FALSE).astype(np.int8)
        return Outputs(kinds, np.zeros(matrix.shape), {})
    values = matrix.astype(np.float64)
    kinds = np.full(values.shape, Kind.NUMBER, np.int8)
    if matrix.dtype.kind == "f" and not np.isfinite(values).all():
        kinds[np.isnan(values)] = Kind.NAN
        kinds[np.isposinf(values)] = Kind.INF
        kinds[np.isneginf(values)] = Kind.NEG_INF
        values[kinds != Kind.NUMBER] = 0.0
    names: dict[float, str] = {}
    if matrix.dtype.kind in "iu":
        for place in zip(*np.nonzero(np.abs(values) >= EXACT), strict=True):
            kinds[place], values[place] = _atom(matrix[place].item(), names)
    return Outputs(kinds, values, names)


def _coded_objects(outputs: list[Any]) -> Outputs:
    names: dict[float, str] = {}
    rows = [_folded(list(_atoms(output, names)), names) for output in outputs]
    width = max((len(row) for row in rows), default=1)
    kinds = np.zeros((len(rows), width), np.int8)
    values = np.zeros((len(rows), width))
    for i, row in enumerate(rows):
        for j, (kind, value) in enumerate(row):
            kinds[i, j], values[i, j] = kind, value
    return Outputs(kinds, values, names)


Atom = tuple[Kind, float]


def _folded(row: list[Atom], names: dict[float, str]) -> list[Atom]:
    if len(row) <= WIDTH_LIMIT:
        return row
    rest = _hashed(repr(row[WIDTH_LIMIT:]))
    names.setdefault(rest, "...")
    return [*row[:WIDTH_LIMIT], (Kind.OTHER, rest)]


def _atoms(output: Any, names: dict[float, str]) -> Iterable[Atom]:
    """Entries of a top-level output: a sequence ends in CLOSE, a single value is itself."""
    if isinstance(output, np.ndarray):
        output = output.tolist()
    if isinstance(output, dict):
        output = [entry for key in sorted(output, key=repr) for entry in (key, output[key])]
    if isinstance(output, (set, frozenset)):
        output = sorted(output, key=repr)
    if not isinstance(output, (list, tuple)):
        yield _atom(output, names)
        return
    for entry in output:
        nested = isinstance(entry, (list, tuple, dict, set, frozenset, np.ndarray))
        if nested:
            yield Kind.OPEN, 0.0
        yield from _atoms(entry, names)
    yield Kind.CLOSE, 0.0


def _atom(value: Any, names: dict[float, str]) -> Atom:
    if value is None:
        return Kind.NONE, 0.0
    if isinstance(value, (bool, np.bool_)):
        return (Kind.TRUE if value else Kind.FALSE), 0.0
    if isinstance(value, (int, float, np.integer, np.floating)):
        return _number(value, names)
    if isinstance(value, str):
        return Kind.STRING, _named(repr(value), names)
    if isinstance(value, Raised):
        return Kind.RAISED, _named(f"raises {value.type_name}", names)
    return Kind.OTHER, _named(f"{type(value).__name__} {value!r}", names)


def _number(value: Any, names: dict[float, str]) -> Atom:
    if isinstance(value, (int, np.integer)) and abs(int(value)) > EXACT:
        return Kind.OTHER, _named(repr(int(value)), names)
    number = float(value)
    if math.isfinite(number):
        return Kind.NUMBER, number
    if math.isnan(number):
        return Kind.NAN, 0.0
    return (Kind.INF if number > 0 else Kind.NEG_INF), 0.0


def _named(name: str, names: dict[float, str], limit: int = 1000) -> float:
    key = _hashed(name)
    if len(names) < limit:
        names.setdefault(key, name[:80])
    return key


def _hashed(text: str) -> float:
    """48 bits of a stable hash, which a double holds exactly."""
    return float(int.from_bytes(hashlib.blake2b(text.encode(), digest_size=6).digest(), "big"))
