"""What stands in for numpy, math and some builtins while a function is traced."""

from __future__ import annotations

import builtins
import functools
import math
import operator
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from dpest.trace import functions, order, reductions, selection
from dpest.trace import symbol as scalar
from dpest.trace.array import SymbolArray, each, has_symbols, objects, wrap
from dpest.trace.symbol import Symbol
from dpest.trace.weights import exponential


class View(types.ModuleType):
    """A module with some names replaced."""

    def __init__(self, module: types.ModuleType, find: Callable[[str], Any]) -> None:
        super().__init__(module.__name__)
        self.__dict__["_find"] = find

    def __getattr__(self, name: str) -> Any:
        return self.__dict__["_find"](name)


# -- numpy ------------------------------------------------------------------------------------


def _maker(function: Callable[..., Any]) -> Callable[..., Any]:
    """An array maker whose result can hold symbols later on."""

    @functools.wraps(function)
    def make(*args: Any, **options: Any) -> Any:
        made = function(*args, **options)
        if made.dtype.kind not in "biuf":
            return made
        return wrap(objects(made), scalar.kind_of_dtype(made.dtype))

    return make


def _full(shape: Any, fill_value: Any, dtype: Any = None, **options: Any) -> Any:
    if not has_symbols(fill_value):
        return _maker(np.full)(shape, fill_value, dtype, **options)
    items = np.empty(shape, dtype=object)
    items[...] = objects(fill_value)
    return wrap(items) if dtype is None else SymbolArray(items).astype(dtype)


def _keeper(function: Callable[..., Any], copy: bool) -> Callable[..., Any]:
    """np.array and its kin: symbols stay symbols."""

    @functools.wraps(function)
    def keep(value: Any, dtype: Any = None, **options: Any) -> Any:
        if has_symbols(value):
            return functions.as_array(value, dtype, options.get("copy", copy))
        made = function(value, dtype, **options)
        return _maker(lambda: made)() if copy else made

    return keep


def _from_iterable(values: Any, dtype: Any, count: int = -1) -> Any:
    return functions.as_array(list(values)[: None if count < 0 else count], dtype)


def _vectorized(function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    plain = np.vectorize(function, **options)
    return lambda *args: each(function, *args) if has_symbols(args) else plain(*args)


def _like(function: Callable[..., Any]) -> Callable[..., Any]:
    """np.zeros_like and its kin."""

    @functools.wraps(function)
    def make(prototype: Any, *args: Any, **options: Any) -> Any:
        if has_symbols(prototype) or has_symbols(args):
            return functions.apply_function(function, (prototype, *args), options)
        return _maker(function)(prototype, *args, **options)

    return make


class _Joined:
    """np.r_ and np.c_."""

    def __init__(self, plain: Any, join: Callable[[Any], Any]) -> None:
        self._plain, self._join = plain, join

    def __getitem__(self, key: Any) -> Any:
        parts = key if isinstance(key, tuple) else (key,)
        if not has_symbols(parts):
            return self._plain[key]
        arrays = [self._plain[p] if isinstance(p, slice) else p for p in parts]
        return functions.apply_function(self._join, (arrays,), {})


class _Dispatcher:
    """A numpy function that also takes plain lists of symbols."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        functools.update_wrapper(self, function)

    def __call__(self, *args: Any, **options: Any) -> Any:
        if not any(isinstance(v, (list, tuple)) and has_symbols(v) for v in args):
            return self._function(*args, **options)
        if isinstance(self._function, np.ufunc):
            return functions.apply_ufunc(self._function, "__call__", args, options)
        return functions.apply_function(self._function, args, options)

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._function, name)
        if name not in ("reduce", "accumulate", "outer"):
            return method
        return functools.partial(self._method, name, method)

    def _method(self, name: str, method: Any, *args: Any, **options: Any) -> Any:
        if has_symbols(args):
            named = dict(zip(("axis", "dtype", "out"), args[1:], strict=False))
            if name == "outer":
                return functions.apply_ufunc(self._function, name, args, options)
            return functions.apply_ufunc(self._function, name, args[:1], named | options)
        return method(*args, **options)


def _dispatched() -> Iterator[tuple[str, Any]]:
    """numpy's functions that are traced, by every name under which users call them."""
    handled = {id(function) for function in (*functions.FUNCTIONS, *functions.UFUNCS)}
    for name in dir(np):
        function = getattr(np, name)
        if id(function) in handled:
            yield name, _Dispatcher(function)


# -- types ------------------------------------------------------------------------------------


class _Lookalike(type):
    """A type that is asked about, called and given as a dtype as in a real run."""

    plain: Any
    kinds: tuple[str, ...]

    def __instancecheck__(cls, value: Any) -> bool:
        if isinstance(value, Symbol):
            return value.kind in cls.kinds
        return isinstance(value, cls.plain)

    def __subclasscheck__(cls, other: type) -> bool:
        return issubclass(getattr(other, "plain", other), cls.plain)

    def __call__(cls, *args: Any) -> Any:
        value = args[0] if args else None
        if isinstance(value, SymbolArray) and value.size == 1:
            value = value.item()
        return scalar.convert(value, cls.kinds[0]) if isinstance(value, Symbol) else (
            cls.plain(*args)
        )  # fmt: skip

    def __getattr__(cls, name: str) -> Any:
        return getattr(cls.plain, name)

    def __eq__(cls, other: object) -> bool:
        return getattr(other, "plain", other) is cls.plain

    def __hash__(cls) -> int:
        return hash(cls.plain)


def _lookalike(plain: type, *kinds: str) -> Any:
    dtype = {} if plain in (np.generic, np.number, np.integer, np.floating) else {
        "dtype": np.dtype(plain)
    }  # fmt: skip
    return _Lookalike(plain.__name__, (), {"plain": plain, "kinds": kinds, **dtype})


class _ArrayLike(type):
    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, (np.ndarray, SymbolArray))


class _Array(metaclass=_ArrayLike):
    """np.ndarray."""


_TYPES: dict[str, Any] = (
    {name: _lookalike(getattr(np, name), "float")
     for name in ("floating", "float16", "float32", "float64", "double")}
    | {name: _lookalike(getattr(np, name), "int")
       for name in ("integer", "int8", "int16", "int32", "int64", "int_", "uint8", "uint64")}
    | {"bool_": _lookalike(np.bool_, "bool"), "ndarray": _Array,
       "number": _lookalike(np.number, "float", "int"),
       "generic": _lookalike(np.generic, "float", "int", "bool")}
)  # fmt: skip
NUMPY: dict[str, Any] = (
    dict(_dispatched())
    | {name: _maker(getattr(np, name)) for name in ("zeros", "ones", "empty")}
    | {name: _like(getattr(np, name)) for name in ("zeros_like", "ones_like", "empty_like",
                                                    "full_like")}
    | {name: _keeper(getattr(np, name), name == "array")
       for name in ("array", "asarray", "asanyarray")}
    | {"issubdtype": lambda *kinds: np.issubdtype(*(getattr(k, "plain", k) for k in kinds))}
    | {"isscalar": lambda value: isinstance(value, Symbol) or np.isscalar(value)}
    | {"full": _full, "vectorize": _vectorized, "fromiter": _from_iterable,
       "r_": _Joined(np.r_, np.hstack), "c_": _Joined(np.c_, np.column_stack)}
    | _TYPES
)  # fmt: skip
"""What replaces a name of numpy."""
LINALG: dict[str, Any] = {"norm": _Dispatcher(np.linalg.norm)}


# -- builtins ---------------------------------------------------------------------------------


def _extreme(largest: bool) -> Callable[..., Any]:
    plain = builtins.max if largest else builtins.min

    def pick(*args: Any, **options: Any) -> Any:
        values = list(args[0]) if len(args) == 1 else list(args)
        if "key" not in options and _are_traced_numbers(values):
            return order.extreme(values, largest)
        return plain(values, **options) if len(args) == 1 else plain(*args, **options)

    return pick


def _sorted(values: Any, *, key: Any = None, reverse: bool = False) -> list[Any]:
    values = list(values)
    if key is not None or not _are_traced_numbers(values):
        return builtins.sorted(values, key=key, reverse=reverse)
    ordered = selection.sort(values).tolist()
    return ordered[::-1] if reverse else ordered


def _are_traced_numbers(values: list[Any]) -> bool:
    return has_symbols(values) and all(map(scalar.is_number, values))


BUILTINS: dict[str, Any] = {
    "max": _extreme(True), "min": _extreme(False), "sorted": _sorted,
    "float": _lookalike(float, "float"), "int": _lookalike(int, "int", "bool"),
}  # fmt: skip
"""What replaces a builtin."""


# -- math -------------------------------------------------------------------------------------


def _of_symbols(plain: Callable[..., Any], traced: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(plain)
    def call(*args: Any) -> Any:
        return traced(*args) if has_symbols(args) else plain(*args)

    return call


def _by_ufunc(ufunc: Any) -> Callable[..., Any]:
    return lambda *args: functions.apply_ufunc(ufunc, "__call__", args, {})


_TRACED_MATH: dict[str, Callable[..., Any]] = {
    "fsum": lambda values: reductions.total(list(values)) * 1.0,
    "prod": lambda values: reductions.product(list(values)),
    "exp": exponential, "fabs": lambda v: abs(v) * 1.0,
    "copysign": lambda size, v: functions.UFUNCS[np.copysign](size, v),
    "isnan": lambda v: False, "isinf": lambda v: False, "isfinite": lambda v: True,
    "log": _by_ufunc(np.log), "log2": _by_ufunc(np.log2), "log1p": _by_ufunc(np.log1p),
    "sqrt": _by_ufunc(np.sqrt), "expm1": _by_ufunc(np.expm1), "pow": operator.pow,
}  # fmt: skip
MATH: dict[str, Callable[..., Any]] = {
    name: _of_symbols(getattr(math, name), traced)
    for name, traced in _TRACED_MATH.items()
}
"""What replaces a function of math."""
