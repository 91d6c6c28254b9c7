"""Where the code needs a plain number: a fork over the values that a traced one can have."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from flint import fmpq

from dpest.numbers.rational import to_float
from dpest.program import Condition, Input, Linear, Noise
from dpest.trace.fork import active
from dpest.trace.pieces import cases, piece_of
from dpest.trace.refusals import NeedsConcreteInput, NeedsConcreteNoise, NonAffine

PYTHON: dict[str, Any] = {"bool": bool, "int": int, "float": float}
_MAX_VALUES = 10_000


class Concrete:
    """What a traced number answers to `int`, `float`, `str`, hashing and indexing."""

    __slots__ = ()
    value: Linear
    kind: str

    def plain(self) -> fmpq:
        """The number itself; forks on what decides it, refuses where that is no finite choice."""
        value = active().force(self.value)
        for noise in [v for v in value.terms if isinstance(v, Noise)]:
            value = value.substitute({noise: Linear(_enumerate(noise))})
        if any(isinstance(v, Input) for v in value.terms):
            raise NeedsConcreteInput("the code needs the number itself here, not a symbol")
        return value.const

    def concrete(self) -> bool | int | float:
        """The plain number, of the Python type that a real run would have."""
        number = self.plain()
        return PYTHON[self.kind](int(number.p) if number.q == 1 else to_float(number))

    def __index__(self) -> int:
        number = self.plain()
        if number.q != 1:
            raise TypeError(f"an index must be an integer, got {number}")
        return int(number.p)

    def __int__(self) -> int:
        return int(to_float(self.plain()))

    def __float__(self) -> float:
        return to_float(self.plain())

    def __hash__(self) -> int:
        return hash(to_float(self.plain()))

    def __and__(self, other: Any) -> Any:
        return _bitwise(operator.and_, self, other)

    def __or__(self, other: Any) -> Any:
        return _bitwise(operator.or_, self, other)

    def __xor__(self, other: Any) -> Any:
        return _bitwise(operator.xor, self, other)

    __rand__, __ror__, __rxor__ = __and__, __or__, __xor__

    def __lshift__(self, other: Any) -> Any:
        return on_plain(operator.lshift, self, other)

    def __rlshift__(self, other: Any) -> Any:
        return on_plain(operator.lshift, other, self)

    def __rshift__(self, other: Any) -> Any:
        return on_plain(operator.rshift, self, other)

    def __rrshift__(self, other: Any) -> Any:
        return on_plain(operator.rshift, other, self)

    def __str__(self) -> str:
        return str(self.concrete())

    def __format__(self, spec: str) -> str:
        return format(self.concrete(), spec)


def on_plain(function: Callable[..., Any], *operands: Any) -> Any:
    """A function that is not affine, of operands that take finitely many values."""
    try:
        return function(*(v.concrete() if isinstance(v, Concrete) else v for v in operands))
    except NeedsConcreteNoise:
        raise NonAffine(f"{_NAMES.get(function, 'rounding')} is not affine") from None


def _bitwise(function: Callable[..., Any], left: Any, right: Any) -> Any:
    from dpest.trace.bits import combined

    return combined(function, left, right)


_NAMES: dict[Any, str] = {
    operator.pow: "a power of the input or of noise", operator.mod: "%", operator.floordiv: "//",
    operator.lshift: "<<", operator.rshift: ">>", operator.and_: "&", operator.or_: "|",
    operator.xor: "^",
}  # fmt: skip


def _enumerate(noise: Noise) -> fmpq:
    """Fork over all values of a draw that has finitely many."""
    low, high = noise.law.support
    if not noise.law.lattice or low is None or high is None or high - low > _MAX_VALUES:
        raise NeedsConcreteNoise(f"the code needs the number that {noise.law!r} drew")
    values = [low + k for k in range(int((high - low).p) + 1)]
    line = Linear.of(noise)
    cells = [(Condition(line, Linear(v)), Condition(Linear(v), line)) for v in values]
    return active().force(piece_of(cases(cells), [Linear(v) for v in values])).const
