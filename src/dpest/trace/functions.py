"""numpy's functions on traced arrays: the tables that say which of ours stands for which.

What is in no table runs on plain numbers where finitely many are possible, and is refused by
name otherwise. An option that a stand-in does not know is refused too, never ignored.
"""

from __future__ import annotations

import inspect
import math
import operator
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from dpest.trace import bits, order, reductions, selection
from dpest.trace import symbol as scalar
from dpest.trace.array import (
    SymbolArray,
    each,
    has_symbols,
    objects,
    plain_entry,
    plain_key,
    wrap,
)
from dpest.trace.reductions import scalar_where
from dpest.trace.refusals import NeedsConcreteNoise, NonAffine, Unsupported
from dpest.trace.symbol import Symbol
from dpest.trace.weights import Weight, exponential


def unwrapped(value: Any) -> Any:
    """Traced arrays, also in lists, as object arrays."""
    if isinstance(value, (list, tuple)):
        return type(value)(unwrapped(item) for item in value)
    return objects(value) if isinstance(value, (Symbol, SymbolArray)) else value


def wrapped(value: Any) -> Any:
    """Object arrays, also in lists, as traced arrays."""
    if isinstance(value, (list, tuple)):
        return type(value)(map(wrapped, value))
    return wrap(value) if isinstance(value, np.ndarray) and value.dtype == object else value


def by_objects(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that only moves, adds and multiplies entries: numpy's own, on object arrays."""

    def apply(*args: Any, **options: Any) -> Any:
        plain = {name: unwrapped(value) for name, value in options.items()}
        return wrapped(function(*map(unwrapped, args), **plain))

    return apply


def _first_objects(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same, where the first argument may also be a list of numbers."""

    def apply(array: Any, *args: Any, **options: Any) -> Any:
        plain = {name: plain_key(value) for name, value in options.items()}
        return wrapped(function(objects(array), *map(plain_key, args), **plain))

    return apply


def _all_objects(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same for a list of arrays."""

    def apply(arrays: Any, *args: Any, **options: Any) -> Any:
        return by_objects(function)([objects(a) for a in arrays], *args, **options)

    return apply


def dot(left: Any, right: Any) -> Any:
    return wrap(np.dot(objects(left), objects(right)))


def insert(array: Any, index: Any, values: Any, axis: int | None = None) -> Any:
    return wrap(np.insert(objects(array), plain_key(index), objects(values), axis=axis))


def append(array: Any, values: Any, axis: int | None = None) -> Any:
    return wrap(np.append(objects(array), np.atleast_1d(objects(values)), axis=axis))


def like(maker: Callable[..., Any], fill: float | None = None) -> Callable[..., Any]:
    """np.zeros_like and its kin."""

    def make(prototype: Any, fill_value: Any = fill, dtype: Any = None, shape: Any = None) -> Any:
        items = objects(prototype)
        kind = scalar.kind_of_dtype(dtype or SymbolArray(items).dtype)
        value = scalar.convert(fill_value, kind)
        result = np.empty(items.shape if shape is None else shape, dtype=object)
        result[...] = value if isinstance(fill_value, Symbol) else plain_entry(value)
        return wrap(result)

    return make


def as_array(value: Any, dtype: Any = None, copy: Any = True, **_: Any) -> Any:
    """np.array and np.asarray."""
    made = wrap(objects(value).copy() if copy else objects(value))
    return made if dtype is None else made.astype(dtype)


def _round(array: Any, decimals: int = 0) -> Any:
    return each(lambda v: round(v, decimals) if decimals else scalar.rounded(v), array)


def _is_near(left: Any, right: Any, rtol: float = 1e-05, atol: float = 1e-08) -> Any:
    return each(lambda a, b: abs(a - b) <= atol + rtol * abs(b), left, right)


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.sum: reductions.total, np.nansum: reductions.total, np.prod: reductions.product,
    np.mean: reductions.mean, np.nanmean: reductions.mean, np.average: reductions.average,
    np.var: reductions.variance, np.std: reductions.deviation, np.ptp: reductions.spread,
    np.cumsum: reductions.running_total, np.cumprod: reductions.running_product,
    np.max: reductions.largest, np.amax: reductions.largest, np.nanmax: reductions.largest,
    np.min: reductions.smallest, np.amin: reductions.smallest, np.nanmin: reductions.smallest,
    np.argmax: reductions.largest_place, np.argmin: reductions.smallest_place,
    np.any: reductions.any_true, np.all: reductions.all_true,
    np.count_nonzero: reductions.count_nonzero, np.linalg.norm: reductions.norm,
    np.median: reductions.median, np.quantile: reductions.quantile,
    np.percentile: reductions.percentile,
    np.where: selection.where, np.nonzero: selection.nonzero, np.select: selection.select,
    np.flatnonzero: selection.flat_nonzero, np.argwhere: selection.places_of_true,
    np.extract: selection.extract, np.compress: selection.compress, np.choose: selection.choose,
    np.sort: selection.sort, np.argsort: selection.argsort, np.partition: selection.partition,
    np.argpartition: selection.partition, np.take: selection.take,
    np.take_along_axis: selection.take_along, np.searchsorted: selection.search_sorted,
    np.digitize: selection.digitize, np.histogram: selection.histogram, np.isin: selection.is_in,
    np.diff: selection.difference,
    np.clip: lambda a, a_min=None, a_max=None, *, min=None, max=None: each(
        order.clip, a, a_min if min is None else min, a_max if max is None else max
    ),
    np.dot: dot, np.append: append, np.insert: insert, np.copy: as_array,
    np.round: _round, np.around: _round,
    np.zeros_like: like(np.zeros, 0), np.ones_like: like(np.ones, 1),
    np.empty_like: like(np.empty, 0), np.full_like: like(np.full),
    np.shape: lambda a: objects(a).shape, np.ndim: lambda a: objects(a).ndim,
    np.size: lambda a, axis=None: np.size(objects(a), axis),
    np.real: lambda a: a, np.isrealobj: lambda a: True, np.nan_to_num: lambda a: a,
    np.array_equal: lambda a, b: reductions.all_true(each(operator.eq, a, b)),
    np.isclose: _is_near, np.allclose: lambda *a, **o: reductions.all_true(_is_near(*a, **o)),
} | {
    f: _first_objects(f)
    for f in (np.reshape, np.ravel, np.squeeze, np.transpose, np.flip, np.fliplr, np.flipud,
              np.roll, np.rot90, np.tile, np.repeat, np.resize, np.expand_dims, np.broadcast_to,
              np.moveaxis, np.swapaxes, np.delete, np.pad, np.diag, np.diagonal,
              np.trace, np.triu, np.tril, np.split, np.array_split, np.hsplit, np.vsplit,
              np.atleast_1d, np.atleast_2d, np.ediff1d)
} | {
    f: _all_objects(f)
    for f in (np.concatenate, np.stack, np.hstack, np.vstack, np.dstack, np.column_stack)
} | {
    f: by_objects(f)
    for f in (np.outer, np.inner, np.vdot, np.tensordot, np.kron, np.convolve, np.correlate,
              np.einsum, np.broadcast_arrays, np.polyval)
}  # fmt: skip
if hasattr(np, "cumulative_sum"):
    FUNCTIONS[np.cumulative_sum] = reductions.running_total

METHODS: dict[str, Callable[..., Any]] = {
    f.__name__: FUNCTIONS[f]
    for f in (np.sum, np.prod, np.mean, np.var, np.std, np.cumsum, np.cumprod, np.max, np.min,
              np.argmax, np.argmin, np.any, np.all, np.clip, np.dot, np.argsort, np.take,
              np.nonzero, np.choose, np.searchsorted, np.round, np.ravel, np.squeeze, np.repeat,
              np.transpose, np.swapaxes, np.diagonal, np.trace)
} | {
    "compress": lambda array, condition, axis=None: selection.compress(condition, array, axis),
    "conj": lambda array: array, "conjugate": lambda array: array,
}  # fmt: skip


def _signed(value: Any) -> Any:
    return scalar.convert((value > 0) * 1 - (value < 0) * 1, scalar.kind_of(value))


UFUNCS: dict[Any, Callable[..., Any]] = {
    np.add: operator.add, np.subtract: operator.sub, np.multiply: operator.mul,
    np.true_divide: operator.truediv, np.floor_divide: operator.floordiv,
    np.remainder: operator.mod, np.negative: operator.neg, np.positive: operator.pos,
    np.absolute: abs, np.fabs: abs, np.power: operator.pow, np.float_power: operator.pow,
    np.square: lambda v: v**2, np.reciprocal: lambda v: 1 / v, np.sign: _signed,
    np.greater: operator.gt, np.greater_equal: operator.ge, np.less: operator.lt,
    np.less_equal: operator.le, np.equal: operator.eq, np.not_equal: operator.ne,
    np.maximum: order.maximum, np.minimum: order.minimum, np.fmax: order.maximum,
    np.fmin: order.minimum,
    np.logical_and: lambda a, b: scalar.truth(a) & scalar.truth(b),
    np.logical_or: lambda a, b: scalar.truth(a) | scalar.truth(b),
    np.logical_xor: lambda a, b: scalar.truth(a) ^ scalar.truth(b),
    np.logical_not: lambda a: ~scalar.truth(a), np.invert: bits.inverted,
    np.bitwise_and: operator.and_, np.bitwise_or: operator.or_, np.bitwise_xor: operator.xor,
    np.left_shift: operator.lshift, np.right_shift: operator.rshift,
    np.heaviside: lambda v, half: scalar_where(v > 0, 1.0, scalar_where(v == 0, half, 0.0)),
    np.signbit: lambda v: v < 0, np.exp: exponential, np.conjugate: lambda v: v,
    np.copysign: lambda size, v: abs(size) * scalar_where(v < 0, -1.0, 1.0),
    np.rint: lambda v: scalar.rounded(v), np.floor: lambda v: scalar.rounded(v, math.floor),
    np.ceil: lambda v: scalar.rounded(v, math.ceil),
    np.trunc: lambda v: scalar.rounded(v, math.trunc),
    np.isnan: lambda v: False, np.isfinite: lambda v: True, np.isinf: lambda v: False,
}  # fmt: skip
_REDUCTIONS: dict[Any, Callable[..., Any]] = {
    np.add: reductions.total, np.multiply: reductions.product, np.maximum: reductions.largest,
    np.minimum: reductions.smallest, np.logical_and: reductions.all_true,
    np.logical_or: reductions.any_true,
}  # fmt: skip
_RUNNING: dict[Any, Callable[..., Any]] = {
    np.add: reductions.running_total, np.multiply: reductions.running_product,
    np.maximum: reductions.running_largest, np.minimum: reductions.running_smallest,
    np.logical_or: reductions.running_any, np.logical_and: reductions.running_all,
}  # fmt: skip


def apply_ufunc(ufunc: Any, method: str, inputs: Sequence[Any], options: dict[str, Any]) -> Any:
    """numpy's elementwise functions on traced operands."""
    target = _target(ufunc, options.pop("out", None))
    dtype = options.pop("dtype", None)
    result = _ufunc_result(ufunc, method, inputs, options)
    if dtype is not None:
        result = wrap(objects(result)).astype(dtype)
    if target is None:
        return result
    target.items[...] = objects(result)
    return target


def _target(function: Any, out: Any) -> SymbolArray | None:
    out = out[0] if isinstance(out, tuple) else out
    if out is not None and not isinstance(out, SymbolArray):
        raise Unsupported(
            f"np.{function.__name__} into a plain array is not traced",
            "make a new array, x = x + noise instead of x += noise",
        )
    return out


def _ufunc_result(ufunc: Any, method: str, inputs: Sequence[Any], options: dict[str, Any]) -> Any:
    if method == "reduce" and ufunc in _REDUCTIONS:
        array, axis = inputs[0], options.pop("axis", 0)
        return _checked(ufunc, _REDUCTIONS[ufunc], (array, axis), options)
    if method == "accumulate" and ufunc in _RUNNING:
        return _RUNNING[ufunc](inputs[0], options.get("axis", 0))
    if method == "outer":
        left, right = map(objects, inputs)
        return _ufunc_result(
            ufunc, "__call__", (left.reshape(left.shape + (1,) * right.ndim), right), options
        )
    if options or method != "__call__":
        raise Unsupported(_with_options(ufunc, options))
    if ufunc is np.matmul:
        return wrap(np.matmul(*map(objects, inputs)))
    if ufunc in UFUNCS:
        return each(UFUNCS[ufunc], *inputs)
    return _elementwise(ufunc, inputs)


def _elementwise(ufunc: Any, inputs: Sequence[Any]) -> Any:
    """Any other function of one entry or two, where they take finitely many values."""

    def one(*values: Any) -> Any:
        for value in values:
            if isinstance(value, Weight):
                value.refuse()
        try:
            result = ufunc(*map(plain_entry, values))
            return result.item() if isinstance(result, np.generic) else result
        except NeedsConcreteNoise:
            raise NonAffine(f"np.{ufunc.__name__} is not affine") from None

    return each(one, *inputs)


def _with_options(function: Any, options: dict[str, Any]) -> str:
    named = f" with {', '.join(options)}" if options else ""
    return f"np.{function.__name__}{named} is not traced"


@cache
def _signature(handler: Callable[..., Any]) -> inspect.Signature:
    return inspect.signature(handler)


def _checked(
    function: Any, handler: Callable[..., Any], args: Sequence[Any], options: dict[str, Any]
) -> Any:
    """The handler's result; an option that it does not know is refused."""
    options = {k: v for k, v in options.items() if v is not np._NoValue}
    try:
        _signature(handler).bind(*args, **options)
    except TypeError:
        raise Unsupported(_with_options(function, options)) from None
    return handler(*args, **options)


def apply_function(function: Any, args: Sequence[Any], options: dict[str, Any]) -> Any:
    """numpy's other functions on traced operands."""
    handler = FUNCTIONS.get(function)
    if handler is None:
        return _on_plain_numbers(function, args, options)
    target = _target(function, options.pop("out", None))
    result = _checked(function, handler, args, options)
    if target is None:
        return result
    target.items[...] = objects(result)
    return target


def _on_plain_numbers(function: Any, args: Sequence[Any], options: dict[str, Any]) -> Any:
    try:
        plain = [_plain_argument(value) for value in args]
    except NeedsConcreteNoise:
        raise Unsupported(f"np.{function.__name__} is not traced") from None
    return function(*plain, **{name: _plain_argument(v) for name, v in options.items()})


def _plain_argument(value: Any) -> Any:
    if isinstance(value, (list, tuple)) and has_symbols(value):
        return type(value)(map(_plain_argument, value))
    if isinstance(value, SymbolArray):
        return np.asarray(value)
    return plain_entry(value)
