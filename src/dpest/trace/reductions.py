"""Functions of whole arrays that fold entries together, along any axes."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import partial, reduce
from typing import Any

import numpy as np

from dpest.trace import order
from dpest.trace import symbol as scalar
from dpest.trace.array import SymbolArray, each, objects, vector, wrap
from dpest.trace.ranks import Ranked
from dpest.trace.refusals import NonAffine, Unsupported
from dpest.trace.symbol import Symbol

Axis = int | tuple[int, ...] | None
_NOTHING: Any = object()


def _along(
    function: Callable[[list[Any]], Any], array: Any, axis: Axis = None, keepdims: bool = False
) -> Any:
    """The function of every row of entries along the axes (all of them by default)."""
    items = objects(array)
    axes = tuple(range(items.ndim)) if axis is None else np.atleast_1d(axis).tolist()
    rows = np.moveaxis(items, axes, range(-len(axes), 0))
    kept = rows.shape[: items.ndim - len(axes)]
    flat = rows.reshape(*kept, -1)
    folded = vector([function(list(flat[place])) for place in np.ndindex(kept)]).reshape(kept)
    return wrap(np.expand_dims(folded, axes) if keepdims else folded)


def _folded(array: Any, where: Any, neutral: Any, initial: Any = _NOTHING) -> list[Any]:
    """The array with what `where` leaves out replaced, and the initial value to start from."""
    kept = array if where is True else scalar_where(where, array, neutral)
    return [kept, [] if initial is _NOTHING else [initial]]


def scalar_where(condition: Any, yes: Any, no: Any) -> Any:
    """np.where, entry by entry."""
    return each(_choose, condition, yes, no)


def _choose(condition: Any, yes: Any, no: Any) -> Any:
    if not isinstance(condition, Symbol):
        return yes if condition else no
    if not (scalar.is_number(yes) and scalar.is_number(no)):
        return yes if condition else no
    truth = scalar.truth(condition)
    with scalar.unrecorded():
        total = scalar.linear_of(truth * yes) + scalar.linear_of(~truth * no)
    result = Symbol(total, scalar.common_kind(yes, no))
    return scalar.record("Branch", (condition, yes, no), result)


def _cast(value: Any, dtype: Any) -> Any:
    if dtype is None:
        return value
    return each(lambda v: scalar.convert(v, scalar.kind_of_dtype(dtype)), value)


def total(
    array: Any, axis: Axis = None, dtype: Any = None, *, keepdims: bool = False,
    initial: Any = 0, where: Any = True,
) -> Any:  # fmt: skip
    array, start = _folded(array, where, 0, initial)
    result = _along(lambda row: reduce(operator.add, map(counted, start + row)), array, axis,
                    keepdims)  # fmt: skip
    return _cast(result, dtype)


def product(
    array: Any, axis: Axis = None, dtype: Any = None, *, keepdims: bool = False,
    initial: Any = 1, where: Any = True,
) -> Any:  # fmt: skip
    array, start = _folded(array, where, 1, initial)
    result = _along(lambda row: reduce(operator.mul, map(counted, start + row)), array, axis,
                    keepdims)  # fmt: skip
    return _cast(result, dtype)


def mean(
    array: Any, axis: Axis = None, dtype: Any = None, *, keepdims: bool = False,
    where: Any = True,
) -> Any:  # fmt: skip
    whole = total(array, axis, keepdims=keepdims, where=where)
    count = np.sum(np.ones(objects(array).shape), axis=axis, keepdims=keepdims,
                   where=_plain_mask(where))  # fmt: skip
    return _cast(whole / count, dtype)


def _plain_mask(mask: Any) -> Any:
    if mask is True:
        return True
    return np.array([bool(v) for v in objects(mask).ravel()]).reshape(np.shape(objects(mask)))


def average(array: Any, axis: Axis = None, weights: Any = None, *, keepdims: bool = False) -> Any:
    if weights is None:
        return mean(array, axis, keepdims=keepdims)
    items, share = objects(array), objects(weights)
    if share.shape != items.shape:
        if not isinstance(axis, int) or share.ndim != 1:
            raise Unsupported("np.average with weights of another shape is not traced")
        share = share.reshape([-1 if k == axis % items.ndim else 1 for k in range(items.ndim)])
    whole = total(np.broadcast_to(share, items.shape), axis, keepdims=keepdims)
    return total(items * share, axis, keepdims=keepdims) / whole


def variance(array: Any, axis: Axis = None, *, ddof: int = 0, keepdims: bool = False) -> Any:
    gaps = each(operator.sub, array, mean(array, axis, keepdims=True))
    count = objects(array).size / max(1, np.size(objects(total(array, axis))))
    return total(each(lambda v: v * v, gaps), axis, keepdims=keepdims) / (count - ddof)


def deviation(array: Any, axis: Axis = None, *, ddof: int = 0, keepdims: bool = False) -> Any:
    return np.sqrt(variance(array, axis, ddof=ddof, keepdims=keepdims))


def counted(value: Any) -> Any:
    """A truth value as the number that it counts for."""
    return scalar.convert(value, "int") if scalar.kind_of(value) == "bool" else value


def _running(
    combine: Callable[[Any, Any], Any], name: str, entry: Callable[[Any], Any] = counted
) -> Callable[..., Any]:
    """Folds that keep every step: prefix sums, running maxima."""

    def accumulate(array: Any, axis: int | None = None, dtype: Any = None) -> Any:
        items = objects(array)
        items = items.ravel() if axis is None else items
        moved = np.moveaxis(objects(each(entry, items)), axis or 0, 0)
        steps = np.empty_like(moved)
        steps[:1] = moved[:1]
        with scalar.unrecorded():
            for k in range(1, len(moved)):
                steps[k : k + 1] = objects(each(combine, steps[k - 1 : k], moved[k : k + 1]))
        for place in np.ndindex(steps.shape):
            row = moved[(slice(place[0] + 1), *place[1:])]
            steps[place] = _recorded(name, list(row), steps[place])
        return _cast(SymbolArray(np.moveaxis(steps, 0, axis or 0)), dtype)

    return accumulate


def _recorded(name: str, row: Sequence[Any], item: Any) -> Any:
    if not isinstance(item, Symbol):
        return item
    return scalar.record(name, row, Symbol(item.value, item.kind))


def _either(left: Any, right: Any) -> Any:
    return scalar.truth(left) | scalar.truth(right)


def _both(left: Any, right: Any) -> Any:
    return scalar.truth(left) & scalar.truth(right)


running_total = _running(operator.add, "PrefixSum")
running_product = _running(operator.mul, "Mul")
running_largest = _running(order.maximum, "Max", lambda v: v)
running_smallest = _running(order.minimum, "Min", lambda v: v)
running_any = _running(_either, "Or", scalar.truth)
running_all = _running(_both, "And", scalar.truth)


def any_true(array: Any, axis: Axis = None, *, keepdims: bool = False) -> Any:
    return _along(lambda row: reduce(_either, row, False), array, axis, keepdims)


def all_true(array: Any, axis: Axis = None, *, keepdims: bool = False) -> Any:
    return _along(lambda row: reduce(_both, row, True), array, axis, keepdims)


def count_nonzero(array: Any, axis: Axis = None, *, keepdims: bool = False) -> Any:
    return total(each(scalar.truth, array), axis, keepdims=keepdims)


def extreme(largest: bool) -> Callable[..., Any]:
    """np.max and np.min."""

    def fold(
        array: Any, axis: Axis = None, *, keepdims: bool = False, initial: Any = _NOTHING,
        where: Any = True,
    ) -> Any:  # fmt: skip
        array, start = _folded(array, where, initial, initial)
        return _along(lambda row: order.extreme(start + row, largest), array, axis, keepdims)

    return fold


def arg_extreme(largest: bool) -> Callable[..., Any]:
    """np.argmax and np.argmin."""

    def fold(array: Any, axis: int | None = None, *, keepdims: bool = False) -> Any:
        return _along(lambda row: order.arg_extreme(row, largest), array, axis, keepdims)

    return fold


largest, smallest = extreme(True), extreme(False)
largest_place, smallest_place = arg_extreme(True), arg_extreme(False)


def spread(array: Any, axis: Axis = None, *, keepdims: bool = False) -> Any:
    return largest(array, axis, keepdims=keepdims) - smallest(array, axis, keepdims=keepdims)


def median(array: Any, axis: Axis = None, *, keepdims: bool = False) -> Any:
    return _along(partial(_quantile, 0.5), array, axis, keepdims)


def quantile(
    array: Any, q: Any, axis: Axis = None, *, method: str = "linear", keepdims: bool = False
) -> Any:
    if method != "linear":
        raise Unsupported(f"np.quantile with method={method!r} is not traced")
    shares = np.ravel(q).tolist()
    found = [objects(_along(partial(_quantile, s), array, axis, keepdims)) for s in shares]
    return wrap(np.stack(found).reshape(np.shape(q) + found[0].shape))


def percentile(array: Any, q: Any, axis: Axis = None, **options: Any) -> Any:
    return quantile(array, np.asarray(q) / 100, axis, **options)


def _quantile(share: float, row: Sequence[Any]) -> Any:
    place = share * (len(row) - 1)
    low = int(place)
    first, *after = Ranked(row, places=False)[low : low + 1 + (place > low)]
    return first + (after[0] - first) * (place - low) if after else first * 1.0


def norm(
    array: Any, ord: Any = None, axis: Axis = None, keepdims: bool = False
) -> Any:
    sizes = each(abs, array)
    if objects(array).ndim > 1 and axis is None and ord is not None:
        raise Unsupported(f"a matrix norm with ord={ord!r} is not traced")
    if ord == 1:
        return total(sizes, axis, keepdims=keepdims)
    if ord in (np.inf, -np.inf):
        return extreme(ord > 0)(sizes, axis, keepdims=keepdims)
    if ord == 0:
        return count_nonzero(array, axis, keepdims=keepdims)
    raise NonAffine("a Euclidean norm is not affine")
