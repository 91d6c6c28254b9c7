"""The traced array: numpy's shapes and indexing around symbols, by numpy's own protocols.

`SymbolArray` holds an object array of symbols and plain numbers. NEP 13 (`__array_ufunc__`) and
NEP 18 (`__array_function__`) send numpy's functions to the tables in `functions`;
what is in none of them is refused by name.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from dpest.program import Piece
from dpest.trace import bits
from dpest.trace import symbol as scalar
from dpest.trace.fork import is_active
from dpest.trace.refusals import Unsupported
from dpest.trace.symbol import Symbol


def has_symbols(value: Any) -> bool:
    """Whether a nested list, tuple or array holds a traced number."""
    if isinstance(value, (Symbol, SymbolArray)):
        return True
    if isinstance(value, np.ndarray):
        return value.dtype == object and any(map(has_symbols, value.ravel()))
    return isinstance(value, (list, tuple)) and any(map(has_symbols, value))


def objects(value: Any) -> np.ndarray[Any, Any]:
    """The entries as an object array."""
    if isinstance(value, SymbolArray):
        return value.items
    if isinstance(value, (list, tuple)) and has_symbols(value):
        rows = [objects(item) for item in value]
        return np.stack(rows) if rows[0].ndim else vector([row[()] for row in rows])
    if isinstance(value, Symbol):
        return _scalar(value)
    if isinstance(value, np.ndarray) and value.dtype == object:
        return value
    plain = np.asarray(value)
    result = np.empty(plain.shape, dtype=object)
    result[...] = plain.tolist() if plain.ndim else plain.item()
    return result


def _scalar(value: Any) -> np.ndarray[Any, Any]:
    result = np.empty((), dtype=object)
    result[()] = value
    return result


def vector(values: Sequence[Any]) -> np.ndarray[Any, Any]:
    """A one-dimensional object array, whatever the entries are."""
    result = np.empty(len(values), dtype=object)
    for k, value in enumerate(values):
        result[k] = value
    return result


def wrap(items: Any, kind: str | None = None) -> Any:
    """A traced array, or the single number of a zero-dimensional one."""
    if not isinstance(items, np.ndarray):
        return items
    return SymbolArray(items, kind) if items.ndim else items[()]


def as_one(value: Any) -> SymbolArray:
    """A number as an array without dimensions, which has the methods of an array."""
    return SymbolArray(_scalar(value))


def each(function: Callable[..., Any], *operands: Any) -> Any:
    """The function of every entry, with numpy's broadcasting."""
    count = len(operands)
    return wrap(np.frompyfunc(function, count, 1)(*map(objects, operands)))


def _operator(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda self, other: each(function, self, other)


def _in_place(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def assign(self: SymbolArray, other: Any) -> SymbolArray:
        self[...] = each(function, self, other)
        return self

    return assign


def _reflected(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda self, other: each(function, other, self)


class SymbolArray:
    """An array of traced numbers; one that was made with a dtype keeps to that `kind`."""

    __slots__ = ("items", "kind")

    def __init__(self, items: np.ndarray[Any, Any], kind: str | None = None) -> None:
        self.items = items
        self.kind = kind

    __add__, __radd__ = _operator(operator.add), _reflected(operator.add)
    __sub__, __rsub__ = _operator(operator.sub), _reflected(operator.sub)
    __mul__, __rmul__ = _operator(operator.mul), _reflected(operator.mul)
    __truediv__, __rtruediv__ = _operator(operator.truediv), _reflected(operator.truediv)
    __pow__, __rpow__ = _operator(operator.pow), _reflected(operator.pow)
    __mod__, __rmod__ = _operator(operator.mod), _reflected(operator.mod)
    __floordiv__, __rfloordiv__ = _operator(operator.floordiv), _reflected(operator.floordiv)
    __ge__, __gt__ = _operator(operator.ge), _operator(operator.gt)
    __le__, __lt__ = _operator(operator.le), _operator(operator.lt)
    __eq__, __ne__ = _operator(operator.eq), _operator(operator.ne)
    __and__, __rand__ = _operator(operator.and_), _reflected(operator.and_)
    __or__, __ror__ = _operator(operator.or_), _reflected(operator.or_)
    __xor__, __rxor__ = _operator(operator.xor), _reflected(operator.xor)
    __lshift__, __rlshift__ = _operator(operator.lshift), _reflected(operator.lshift)
    __rshift__, __rrshift__ = _operator(operator.rshift), _reflected(operator.rshift)
    __iadd__, __isub__ = _in_place(operator.add), _in_place(operator.sub)
    __imul__, __itruediv__ = _in_place(operator.mul), _in_place(operator.truediv)
    __iand__, __ior__ = _in_place(operator.and_), _in_place(operator.or_)
    __ixor__, __ipow__ = _in_place(operator.xor), _in_place(operator.pow)
    __hash__ = None  # type: ignore[assignment]

    def __neg__(self) -> Any:
        return each(operator.neg, self)

    def __pos__(self) -> Any:
        return self

    def __abs__(self) -> Any:
        return each(abs, self)

    def __invert__(self) -> Any:
        return each(bits.inverted, self)

    def __matmul__(self, other: Any) -> Any:
        return np.matmul(self, other)

    def __rmatmul__(self, other: Any) -> Any:
        return np.matmul(other, self)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.items.shape

    @property
    def ndim(self) -> int:
        return self.items.ndim

    @property
    def size(self) -> int:
        return self.items.size

    @property
    def dtype(self) -> np.dtype[Any]:
        ranks = {"bool": 0, "int": 1, "float": 2}
        kinds = [self.kind] if self.kind else [scalar.kind_of(v) for v in self.items.ravel()]
        return np.dtype(max(kinds, key=ranks.__getitem__, default="float"))

    @property
    def itemsize(self) -> int:
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        return self.size * self.itemsize

    @property
    def T(self) -> SymbolArray:
        return SymbolArray(self.items.T, self.kind)

    @property
    def real(self) -> SymbolArray:
        return self

    @property
    def flat(self) -> SymbolArray:
        return self.ravel()

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[Any]:
        return (wrap(item, self.kind) for item in self.items)

    def __bool__(self) -> bool:
        if self.size != 1:
            raise ValueError("the truth value of an array is ambiguous: use any() or all()")
        return bool(self.items.ravel()[0])

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, Symbol) and key.kind != "bool" and self.ndim == 1:
            return pick_entry(self.items, key)
        if isinstance(key, SymbolArray) and key.dtype != bool and self.ndim == 1:
            return SymbolArray(np.frompyfunc(self.__getitem__, 1, 1)(key.items))
        return wrap(self.items[plain_key(key)], self.kind)

    def __setitem__(self, key: Any, value: Any) -> None:
        if self.kind is not None:
            kind = self.kind
            value = each(lambda v: scalar.convert(v, kind), value)
        masked = isinstance(key, SymbolArray) and key.dtype == bool and key.shape == self.shape
        if masked and np.ndim(value) == 0:
            self.items[...] = objects(np.where(key, value, self))  # type: ignore[call-overload]
            return
        self.items[plain_key(key)] = objects(value) if np.ndim(value) else value

    def __float__(self) -> float:
        return float(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __repr__(self) -> str:
        return repr(np.asarray(self)) if is_active() else f"SymbolArray({self.items.tolist()!r})"

    def astype(self, dtype: Any, copy: bool = True) -> Any:
        kind = scalar.kind_of_dtype(dtype)
        return wrap(objects(each(lambda v: scalar.convert(v, kind), self)), kind)

    def sort(self, axis: int = -1) -> None:
        """Put the entries in rising order, in place."""
        self.items[...] = objects(np.sort(self, axis))  # type: ignore[call-overload]

    def item(self, *index: Any) -> Any:
        if not index and self.size != 1:
            raise ValueError(f"item() needs an index: the array has {self.size} entries")
        return self.items.item(*index)

    def tolist(self) -> Any:
        return self.items.tolist()

    def copy(self, *_: Any) -> SymbolArray:
        return SymbolArray(self.items.copy(), self.kind)

    __copy__ = __deepcopy__ = copy

    def reshape(self, *shape: Any) -> Any:
        return wrap(self.items.reshape(*shape), self.kind)

    def ravel(self, *_: Any) -> SymbolArray:
        return SymbolArray(self.items.ravel(), self.kind)

    def flatten(self, *_: Any) -> SymbolArray:
        return SymbolArray(self.items.flatten(), self.kind)

    def fill(self, value: Any) -> None:
        self[...] = value

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        from dpest.trace.functions import apply_ufunc

        return apply_ufunc(ufunc, method, inputs, options)

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        from dpest.trace.functions import apply_function

        return apply_function(function, args, options)

    def __array__(self, *_: Any, **__: Any) -> Any:
        return np.array([plain_entry(v) for v in self.items.ravel()]).reshape(self.shape)

    def __getattr__(self, name: str) -> Any:
        from dpest.trace.functions import METHODS

        function = METHODS.get(name)
        if function is None:
            if hasattr(np.ndarray, name) and not name.startswith("_"):
                raise Unsupported(f"the array method {name} is not traced")
            raise AttributeError(f"a traced array has no {name!r}")
        return lambda *args, **options: function(self, *args, **options)


def plain_entry(value: Any) -> Any:
    """A traced number as a plain one of its kind; the run forks over its values."""
    return value.concrete() if isinstance(value, Symbol) else value


def plain_key(key: Any) -> Any:
    """An index as plain numbers; the run forks over every entry of a traced mask."""
    if isinstance(key, tuple):
        return tuple(plain_key(part) for part in key)
    if isinstance(key, Symbol):
        return bool(key) if key.kind == "bool" else operator.index(key)
    if isinstance(key, SymbolArray):
        give = bool if key.dtype == bool else operator.index
        return np.array([give(v) for v in key.items.ravel()]).reshape(key.shape)
    return key


def pick_entry(items: np.ndarray[Any, Any], index: Symbol) -> Any:
    """`items[index]` without forking, where the index comes from an argmax or the like."""
    value = scalar.linear_of(index)
    if len(value.terms) == 1 and value.const == 0:
        ((piece, coefficient),) = value.terms.items()
        if coefficient == 1 and isinstance(piece, Piece) and piece.discrete:
            places = [int(v.const.p) for v in piece.values]
            if all(v.is_constant for v in piece.values):
                return scalar.pick(piece.partition, [items[k] for k in places])
    return items[operator.index(index)]
