"""The number that remembers how it was made.

A `Symbol` is an affine expression over inputs, noise and pieces. Operators build new expressions;
comparisons build truth symbols; only `bool()` (and what needs a plain number) forks the run.
"""

from __future__ import annotations

import math
import numbers
import operator
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import reduce
from typing import Any

import numpy as np

from dpest.numbers.rational import ONE, ZERO, exact
from dpest.program import Condition, Linear, Noise, Partition, Piece
from dpest.program.linear import roots
from dpest.trace.concrete import Concrete, on_plain
from dpest.trace.fork import active, is_active
from dpest.trace.pieces import (
    above,
    at_least,
    at_most,
    below,
    cases,
    compare,
    divide,
    divide_into,
    inside,
    multiply,
    piece_of,
    sole_partition,
    subtract_from,
)
from dpest.trace.refusals import (
    NonAffine,
    Unsupported,
)

_RANK = {"bool": 0, "int": 1, "float": 2}


def kind_of(value: Any) -> str:
    """Which Python type a traced or plain number stands for."""
    if isinstance(value, Symbol):
        return value.kind
    if isinstance(value, (bool, np.bool_)):
        return "bool"
    return "int" if isinstance(value, numbers.Integral) else "float"


def linear_of(value: Any) -> Linear:
    """The expression behind a traced or plain number."""
    if isinstance(value, Symbol):
        return active().resolve(value.value)
    constants = active().shared.constants
    key = (type(value), value)
    if key not in constants:
        constants[key] = Linear(exact(value))
    return constants[key]


def is_number(value: Any) -> bool:
    return isinstance(value, (Symbol, numbers.Real, np.bool_))


def kind_of_dtype(dtype: Any) -> str:
    """Which Python type the entries of an array of this dtype stand for."""
    letter = np.dtype(dtype).kind
    if letter not in "biuf":
        raise Unsupported(f"an array of dtype {np.dtype(dtype)} is not traced")
    return {"b": "bool", "f": "float"}.get(letter, "int")


def joint_kind(*operands: Any) -> str:
    kind = max((kind_of(v) for v in operands), key=_RANK.__getitem__)
    return "int" if kind == "bool" else kind


def common_kind(*values: Any) -> str:
    """The kind of a value that is one of these."""
    kinds = set(map(kind_of, values))
    return kinds.pop() if len(kinds) == 1 else joint_kind(*values)


class Symbol(Concrete):
    """One traced number."""

    __slots__ = ("kind", "node", "value")

    def __init__(self, value: Linear, kind: str = "float", node: Any = None) -> None:
        self.value = value
        self.kind = kind
        self.node = node

    # -- arithmetic ---------------------------------------------------------------------------

    def __add__(self, other: Any) -> Any:
        if self.kind == kind_of(other) == "bool":
            raise NonAffine(
                "the sum of two truth values is an `or` in numpy and a number in Python",
                "write a | b, or int(a) + int(b)",
            )
        return _binary("Add", self, other, operator.add)

    def __sub__(self, other: Any) -> Any:
        return _binary("Add", self, other, operator.sub)

    def __rsub__(self, other: Any) -> Any:
        return _binary("Add", self, other, subtract_from)

    def __mul__(self, other: Any) -> Any:
        kind = "bool" if self.kind == kind_of(other) == "bool" else ""
        return _binary("Mul", self, other, multiply, kind)

    def __truediv__(self, other: Any) -> Any:
        return _binary("Mul", self, other, divide, kind="float")

    def __rtruediv__(self, other: Any) -> Any:
        return _binary("Mul", self, other, divide_into, kind="float")

    def __pow__(self, other: Any) -> Any:
        if isinstance(other, (int, np.integer)) and 1 <= other <= 8:
            base = convert(self, "int") if self.kind == "bool" else self
            return reduce(operator.mul, [base] * int(other))
        return on_plain(operator.pow, self, other)

    def __rpow__(self, other: Any) -> Any:
        return on_plain(operator.pow, other, self)

    def __mod__(self, other: Any) -> Any:
        return on_plain(operator.mod, self, other)

    def __rmod__(self, other: Any) -> Any:
        return on_plain(operator.mod, other, self)

    def __floordiv__(self, other: Any) -> Any:
        return on_plain(operator.floordiv, self, other)

    def __rfloordiv__(self, other: Any) -> Any:
        return on_plain(operator.floordiv, other, self)

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> Any:
        return other // self, other % self

    def __round__(self, digits: int | None = None) -> Any:
        if digits is None or self.kind != "float":
            return convert(rounded(self), "int")
        return on_plain(round, self, digits)

    def __floor__(self) -> Any:
        return convert(rounded(self, math.floor), "int")

    def __ceil__(self) -> Any:
        return convert(rounded(self, math.ceil), "int")

    def __trunc__(self) -> Any:
        return convert(rounded(self, math.trunc), "int")

    def __neg__(self) -> Symbol:
        return record("Affine", [self], Symbol(-linear_of(self), joint_kind(self)))

    def __pos__(self) -> Symbol:
        return self

    def __abs__(self) -> Any:
        from dpest.trace.order import maximum

        return maximum(self, -self)

    def __radd__(self, other: Any) -> Any:
        return self.__add__(other)

    def __rmul__(self, other: Any) -> Any:
        return self.__mul__(other)

    # -- comparison and truth -----------------------------------------------------------------

    def __ge__(self, other: Any) -> Any:
        return _comparison(self, other, at_least)

    def __gt__(self, other: Any) -> Any:
        return _comparison(self, other, above)

    def __le__(self, other: Any) -> Any:
        return _comparison(self, other, at_most)

    def __lt__(self, other: Any) -> Any:
        return _comparison(self, other, below)

    def __eq__(self, other: Any) -> Any:
        return equal(self, other) if is_number(other) else NotImplemented

    def __ne__(self, other: Any) -> Any:
        return ~truth(equal(self, other)) if is_number(other) else NotImplemented

    def __invert__(self) -> Symbol:
        if self.kind == "float":
            raise TypeError("bad operand type for unary ~: 'float'")
        if self.kind == "int":
            return -self - 1
        return Symbol(Linear(ONE) - linear_of(self), "bool", self.node)

    def __bool__(self) -> bool:
        decided = active().force(linear_of(truth(self)))
        return bool(decided.const != 0)

    # -- what a numpy scalar also offers ------------------------------------------------------

    def __repr__(self) -> str:
        return repr(self.concrete()) if is_active() else f"Symbol({self.value!r})"

    __hash__ = Concrete.__hash__

    def __copy__(self) -> Symbol:
        return self

    def __deepcopy__(self, _: Any) -> Symbol:
        return self

    shape: tuple[int, ...] = ()
    ndim = 0
    size = 1

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(self.kind)

    def astype(self, dtype: Any, copy: bool = True) -> Symbol:
        return convert(self, kind_of_dtype(dtype))

    def item(self, *_: Any) -> Symbol:
        return self

    tolist = conjugate = item

    def clip(self, low: Any = None, high: Any = None) -> Any:
        from dpest.trace.order import clip

        return clip(self, low, high)

    def __getitem__(self, key: Any) -> Symbol:
        if key in (0, -1, (), Ellipsis):
            return self
        raise IndexError(f"the input is one number; it has no entry {key!r}")

    def __len__(self) -> int:
        return 1

    def __iter__(self) -> Iterator[Symbol]:
        return iter((self,))

    def __getattr__(self, name: str) -> Any:
        from dpest.trace.array import as_one

        return getattr(as_one(self), name)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        from dpest.trace.functions import apply_ufunc

        return apply_ufunc(ufunc, method, inputs, options)

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        from dpest.trace.functions import apply_function

        return apply_function(function, args, options)


@contextmanager
def unrecorded() -> Iterator[None]:
    """Steps that are part of one operation of the user's code stay out of the graph."""
    replay = active()
    graph, replay.graph = replay.graph, None
    try:
        yield
    finally:
        replay.graph = graph


def record(operation: str, operands: Sequence[Any], result: Symbol) -> Symbol:
    """Enter the operation in the computation graph, where this run keeps one."""
    graph = active().graph
    if graph is not None:
        result.node = graph.operation(operation, operands)
    return result


def _binary(
    name: str, left: Any, right: Any, combine: Callable[[Linear, Linear], Linear], kind: str = ""
) -> Any:
    if not is_number(right):
        return NotImplemented
    if not isinstance(right, Symbol):
        name = "Affine"
    line = _remembered(combine, linear_of(left), linear_of(right))
    return record(name, (left, right), Symbol(line, kind or joint_kind(left, right)))


def _remembered(function: Callable[[Linear, Linear], Any], a: Linear, b: Linear) -> Any:
    """function(a, b), computed once per trace for the same two objects."""
    results = active().shared.results
    key = (function, id(a), id(b))
    if key not in results:
        results[key] = (function(a, b), a, b)
    return results[key][0]


def convert(symbol: Any, kind: str) -> Any:
    """The same number as another Python type; only where that keeps the value."""
    symbol = lift(symbol)
    if kind == "bool":
        return truth(symbol)
    if kind == "int" and symbol.kind == "float":
        return lift(int(symbol.concrete()))
    return Symbol(symbol.value, kind, symbol.node)


def rounded(value: Any, function: Callable[[Any], Any] = round) -> Any:
    """The whole number next to the value, as a float."""
    if not isinstance(value, Symbol):
        return float(function(value))
    if value.kind != "float":
        return convert(value, "float")
    return float(on_plain(function, value))


def lift(value: Any) -> Symbol:
    return value if isinstance(value, Symbol) else Symbol(linear_of(value), kind_of(value))


def pick(
    partition: Partition, values: Sequence[Any], kind: str | None = None
) -> Symbol:
    """The value of whichever cell holds."""
    linear = piece_of(partition, [linear_of(value) for value in values])
    return Symbol(linear, kind or common_kind(*values))


def truth(value: Any) -> Any:
    """The number as a truth value, without forking."""
    if isinstance(value, Symbol):
        return value if value.kind == "bool" else value != 0
    return Symbol(Linear(ONE if value else ZERO), "bool")


def _comparison(left: Any, right: Any, make: Callable[[Linear, Linear], Linear]) -> Any:
    if not is_number(right):
        return NotImplemented
    if isinstance(right, numbers.Real) and not math.isfinite(right):
        return make is at_least or make is above if right < 0 else make in (at_most, below)
    line = _remembered(make, linear_of(left), linear_of(right))
    return record("Geq", (left, right), Symbol(line, "bool"))


def equal(left: Any, right: Any) -> Any:
    """Equality; of continuous noise it has probability zero and is taken to be false."""
    if isinstance(right, numbers.Real) and not math.isfinite(right):
        return False
    a, b = linear_of(left), linear_of(right)
    gap = a - b
    if any(isinstance(v, Noise) and not v.law.lattice for v in roots([gap])):
        return _where_equal(gap)
    at_least, at_most = Condition(a, b), Condition(b, a)
    if sole_partition(gap) is not None or gap.is_constant:
        return Symbol(multiply(compare(at_least), compare(at_most)), "bool")
    cells = [(at_least, at_most), (Condition(a, b, True),), (Condition(b, a, True),)]
    return record("Geq", (left, right), pick(cases(cells), [True, False, False]))


def _where_equal(gap: Linear) -> Any:
    """Where the gap is constantly zero: elsewhere, with continuous noise, it almost never is."""
    if not any(isinstance(v, Piece) for v in gap.terms):
        return gap == Linear() if not any(isinstance(v, Noise) for v in gap.terms) else False
    partition = next(v.partition for v in gap.terms if isinstance(v, Piece))
    values = [_where_equal(inside(gap, partition, k)) for k in range(len(partition))]
    return pick(partition, values, "bool")
