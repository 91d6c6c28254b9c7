"""From what a mechanism returned to coded outputs.

Coding never depends on other outputs, so blocks coded in different processes fit together. What is
not a number, a string or a container of such is taken apart where that says more than its name:
complex numbers, data classes and plain objects, arrays of other libraries.
"""

from __future__ import annotations

import dataclasses
import decimal
import fractions
import hashlib
import math
import re
from collections.abc import Coroutine, Iterable, Iterator
from itertools import chain, islice
from typing import Any

import numpy as np
import numpy.typing as npt

from dpest.engines.blackbox.outputs import Kind, Outputs, concatenated

WIDTH_LIMIT = 512
"""Entries of an output beyond this many are folded into one hashed entry."""
TEXT_LIMIT = 512
"""Characters of a string that are looked at beside its hash."""
NAMES_LIMIT = 1000
"""Outcomes of a block that can be spelled out."""
EXACT = 2**53
"""Integers beyond this are not all doubles."""
WORD = 64
"""Integers beyond doubles are looked at as this many bits, or a multiple."""
SPELLED_BITS = 4096
"""Longer integers are spelled in hexadecimal."""
PARCEL = 2**22
"""Entries or characters that are held before they are coded."""
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")

Atom = tuple[Kind, float]


class WrongOutputs(ValueError):
    """What a mechanism returned is not an output, or not one per run."""


@dataclasses.dataclass(frozen=True)
class Raised:
    """An exception that stands where an output should be; an observer sees it too."""

    type_name: str
    message: str


_INDEXED = (float, int, str, list, tuple, np.ndarray, Raised, type(None))
"""What has entries by number, or none; anything else is told apart by a first entry."""


@dataclasses.dataclass(frozen=True)
class Words:
    """What the hashed entries of a block stand for."""

    names: dict[float, str] = dataclasses.field(default_factory=dict)
    texts: dict[float, str] = dataclasses.field(default_factory=dict)

    def named(self, name: str) -> float:
        """The hash of a name, which some entries are spelled by."""
        key = hashed(name.encode(errors="surrogatepass"))
        if len(self.names) < NAMES_LIMIT:
            self.names.setdefault(key, name[:80])
        return key

    def text(self, name: str, text: str) -> float:
        """The same for an entry whose characters mean something."""
        key = self.named(name)
        self.texts[key] = text[:TEXT_LIMIT]
        return key


def hashed(data: bytes) -> float:
    """48 bits of a stable hash, which a double holds exactly."""
    return float(int.from_bytes(hashlib.blake2b(data, digest_size=6).digest(), "big"))


def coded(outputs: Any, size: int) -> Outputs:
    """Code what a mechanism returned for `size` runs: one entry of the first axis per run."""
    if not isinstance(outputs, np.ndarray) or not outputs.ndim:
        outputs = _as_array_if_plain(outputs)
    if len(outputs) != size:
        raise WrongOutputs(
            f"the mechanism was asked for size={size} outputs and returned {len(outputs)}; "
            "the first axis of its result must have one entry per run"
        )
    if isinstance(outputs, np.ndarray) and outputs.dtype.kind in "fiubc":
        return _coded_array(outputs.reshape(size, -1))
    return _coded_objects(list(outputs))


def coded_one_by_one(outputs: Iterable[Any]) -> Outputs:
    """Code outputs as they come; of large ones only a few are held uncoded."""
    return concatenated([coded(parcel, len(parcel)) for parcel in _parcels(outputs)])


def _parcels(outputs: Iterable[Any]) -> Iterator[list[Any]]:
    parcel: list[Any] = []
    weight = 0
    for output in outputs:
        parcel.append(output)
        weight += _weight(output)
        if weight > PARCEL:
            yield parcel
            parcel, weight = [], 0
    if parcel:
        yield parcel


def _weight(output: Any) -> int:
    if isinstance(output, (float, int)):
        return 1
    size = getattr(output, "size", None) or getattr(output, "__len__", lambda: 1)()
    return size if isinstance(size, int) else 1


def _as_array_if_plain(outputs: Any) -> Any:
    _refuse_unfinished(outputs)
    try:
        listed = list(outputs) if not isinstance(outputs, str) else None
    except TypeError:
        listed = None
    if listed is None:
        raise WrongOutputs(
            f"the mechanism takes size= and returned {_shown(outputs):.80}; "
            "it must return an array or list with one output per run"
        )
    if all(type(one) in (float, int, np.float64) and abs(one) <= EXACT for one in listed):
        return np.array(listed, float)
    return listed


def _coded_array(matrix: npt.NDArray[Any]) -> Outputs:
    if matrix.dtype.kind == "c":
        matrix = np.ascontiguousarray(matrix, np.complex128).view(np.float64)
    if matrix.dtype.kind == "b":
        kinds = np.where(matrix, Kind.TRUE, Kind.FALSE).astype(np.int8)
        return _folded_columns(Outputs(kinds, np.zeros(matrix.shape), {}))
    values = matrix.astype(np.float64)
    kinds = np.full(values.shape, Kind.NUMBER, np.int8)
    if matrix.dtype.kind == "f" and not np.isfinite(values).all():
        kinds[np.isnan(values)] = Kind.NAN
        kinds[np.isposinf(values)] = Kind.INF
        kinds[np.isneginf(values)] = Kind.NEG_INF
        values[kinds != Kind.NUMBER] = 0.0
    words = Words()
    if matrix.dtype.kind in "iu":
        for place in zip(*np.nonzero(np.abs(values) >= EXACT), strict=True):
            kinds[place], values[place] = _atom(matrix[place].item(), words)
    return _folded_columns(Outputs(kinds, values, words.names, words.texts))


def _folded_columns(outputs: Outputs) -> Outputs:
    """The same with all entries beyond the limit in one."""
    if outputs.width <= WIDTH_LIMIT:
        return outputs
    rest = Outputs(outputs.kinds[:, WIDTH_LIMIT:], outputs.values[:, WIDTH_LIMIT:], {})
    key = (rest.keys(rest.width) >> np.uint64(16)).astype(np.float64)
    kinds = np.hstack([outputs.kinds[:, :WIDTH_LIMIT], np.full((len(key), 1), Kind.OTHER, np.int8)])
    values = np.hstack([outputs.values[:, :WIDTH_LIMIT], key[:, None]])
    return Outputs(kinds, values, outputs.names, outputs.texts)


def _coded_objects(outputs: list[Any]) -> Outputs:
    words = Words()
    try:
        rows = [_row(output, words) for output in outputs]
    except RecursionError:
        raise WrongOutputs(
            "the mechanism returned something that contains itself or is nested too deeply"
        ) from None
    width = max((len(row) for row in rows), default=1)
    kinds = np.zeros((len(rows), width), np.int8)
    values = np.zeros((len(rows), width))
    for i, row in enumerate(rows):
        for j, (kind, value) in enumerate(row):
            kinds[i, j], values[i, j] = kind, value
    return Outputs(kinds, values, words.names, words.texts)


def _row(output: Any, words: Words) -> list[Atom]:
    if isinstance(output, np.ndarray) and output.size > WIDTH_LIMIT and output.dtype.kind in "fiub":
        return _row_of_large(output, words)
    atoms = iter(_atoms(output, words))
    if not isinstance(output, _INDEXED) and isinstance(_opened(output), list):
        atoms = chain([(Kind.OPEN, 0.0)], atoms)
    row = list(islice(atoms, WIDTH_LIMIT))
    rest = list(islice(atoms, 1))
    if not rest:
        return row
    return [*row, _rest(repr([*rest, *atoms]).encode(), words)]


def _row_of_large(array: npt.NDArray[Any], words: Words) -> list[Atom]:
    flat = array.ravel()
    row = [_atom(entry, words) for entry in flat[:WIDTH_LIMIT].tolist()]
    return [*row, _rest(repr(array.shape).encode() + flat[WIDTH_LIMIT:].tobytes(), words)]


def _rest(data: bytes, words: Words) -> Atom:
    key = hashed(data)
    words.names.setdefault(key, "...")
    return Kind.OTHER, key


def _atoms(output: Any, words: Words) -> Iterable[Atom]:
    """Entries of a top-level output: a sequence ends in CLOSE, a single value is itself."""
    output = _opened(output)
    if not isinstance(output, (list, tuple)):
        yield _atom(output, words)
        return
    for entry in output:
        entry = _opened(entry)
        if isinstance(entry, (list, tuple)):
            yield Kind.OPEN, 0.0
        yield from _atoms(entry, words)
    yield Kind.CLOSE, 0.0


def _opened(output: Any) -> Any:
    """A container of any kind as a list; anything else as it is."""
    if output is None or isinstance(output, (float, int, str, list, tuple, Raised)):
        return output
    if isinstance(output, np.ndarray):
        return output.tolist()
    if isinstance(output, dict):
        return list(chain.from_iterable((k, output[k]) for k in sorted(output, key=_shown)))
    if isinstance(output, (set, frozenset)):
        return sorted(output, key=_shown)
    if isinstance(output, complex):
        return [output.real, output.imag]
    return list(output) if isinstance(output, range) else _taken_apart(output)


def _taken_apart(output: Any) -> Any:
    """What is inside an object that does not say so itself."""
    _refuse_unfinished(output)
    if isinstance(output, np.generic) or not hasattr(output, "__dict__"):
        return output
    if dataclasses.is_dataclass(output) and not isinstance(output, type):
        fields = [field.name for field in dataclasses.fields(output)]
        return [type(output).__name__, *(getattr(output, name) for name in fields)]
    if hasattr(output, "__array__"):
        return np.asarray(output).tolist()
    if type(output).__repr__ is object.__repr__ and vars(output):
        inside = sorted(vars(output).items())
        return [type(output).__name__, *chain.from_iterable(inside)]
    return output


def _refuse_unfinished(output: Any) -> None:
    """A generator or coroutine holds no result before it has run."""
    if isinstance(output, Coroutine):
        output.close()
        raise WrongOutputs(
            "the mechanism returned a coroutine, which has not run; wrap it in a function that "
            "calls asyncio.run"
        )
    if isinstance(output, Iterator):
        raise WrongOutputs(
            f"the mechanism returned a {type(output).__name__}, which has not run; "
            "return list(...) of it"
        )


def _atom(value: Any, words: Words) -> Atom:
    if value is None:
        return Kind.NONE, 0.0
    if isinstance(value, (bool, np.bool_)):
        return (Kind.TRUE if value else Kind.FALSE), 0.0
    if isinstance(value, (int, np.integer)):
        return _whole(int(value), words)
    if isinstance(value, (float, np.floating, decimal.Decimal, fractions.Fraction)):
        return _number(float(value))
    if isinstance(value, str):
        return Kind.STRING, words.text(repr(str(value)), value)
    if isinstance(value, (bytes, bytearray)):
        return Kind.OTHER, words.text(repr(bytes(value)), value.decode("latin-1"))
    if isinstance(value, Raised):
        return Kind.RAISED, words.named(f"raises {value.type_name}")
    return Kind.OTHER, words.named(f"{type(value).__name__} {_shown(value)}")


def _whole(value: int, words: Words) -> Atom:
    if abs(value) <= EXACT:
        return Kind.NUMBER, float(value)
    width = WORD * -(-value.bit_length() // WORD)
    name = str(value) if width < SPELLED_BITS else hex(value)
    return Kind.OTHER, words.text(name, f"{abs(value):0{width}b}")


def _number(number: float) -> Atom:
    if math.isfinite(number):
        return Kind.NUMBER, number
    if math.isnan(number):
        return Kind.NAN, 0.0
    return (Kind.INF if number > 0 else Kind.NEG_INF), 0.0


def _shown(value: Any) -> str:
    """What an object says of itself, less where it lies in memory."""
    try:
        return _ADDRESS.sub("", repr(value))
    except Exception:
        return "(cannot be shown)"
