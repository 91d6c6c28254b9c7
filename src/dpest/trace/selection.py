"""Functions that pick, sort and place entries."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np

from dpest.trace import symbol as scalar
from dpest.trace.array import SymbolArray, each, objects, plain_key, vector, wrap
from dpest.trace.ranks import Ranked
from dpest.trace.reductions import scalar_where, total
from dpest.trace.refusals import Unsupported


def where(condition: Any, *branches: Any) -> Any:
    return scalar_where(condition, *branches) if branches else nonzero(condition)


def nonzero(array: Any) -> tuple[Any, ...]:
    """The places of the true entries; what is not known forks."""
    return np.nonzero(plain_key(each(scalar.truth, array)))


def flat_nonzero(array: Any) -> Any:
    return nonzero(objects(array).ravel())[0]


def places_of_true(array: Any) -> Any:
    return np.transpose(nonzero(array))


def extract(condition: Any, array: Any) -> Any:
    return SymbolArray(objects(array).ravel())[each(scalar.truth, np.ravel(objects(condition)))]


def compress(condition: Any, array: Any, axis: int | None = None) -> Any:
    places = flat_nonzero(condition)
    items = objects(array)
    return wrap(np.take(items.ravel() if axis is None else items, places, axis=axis or 0))


def select(conditions: Sequence[Any], choices: Sequence[Any], default: Any = 0) -> Any:
    pairs = list(zip(conditions, choices, strict=True))
    return reduce(lambda rest, pair: scalar_where(pair[0], pair[1], rest), pairs[::-1], default)


def choose(index: Any, choices: Sequence[Any]) -> Any:
    def one(place: Any, *values: Any) -> Any:
        return SymbolArray(vector(values))[place]

    return each(one, index, *choices)


def sort(array: Any, axis: int | None = -1, *, kind: Any = None, stable: Any = None) -> Any:
    return _sorted(array, axis, places=False)


def argsort(array: Any, axis: int | None = -1, *, kind: Any = None, stable: Any = None) -> Any:
    return _sorted(array, axis, places=True)


def _sorted(array: Any, axis: int | None, places: bool) -> Any:
    items = objects(array)
    items = items.ravel() if axis is None else items
    if items.ndim == 1:
        return Ranked(list(items), places)
    moved = np.moveaxis(items, -1 if axis is None else axis, -1)
    result = np.empty_like(moved)
    for place in np.ndindex(moved.shape[:-1]):
        result[place] = Ranked(list(moved[place]), places).items
    return SymbolArray(np.moveaxis(result, -1, -1 if axis is None else axis))


def partition(*_: Any, **__: Any) -> Any:
    raise Unsupported(
        "np.partition leaves the order of the other entries open",
        "ask for one rank, np.sort(v)[k], or for the best, np.argsort(-v)[:k]",
    )


def take(array: Any, indices: Any, axis: int | None = None) -> Any:
    items = objects(array)
    if items.ndim == 1:
        return SymbolArray(items)[indices]
    places = plain_key(indices)
    return wrap(np.take(items.ravel() if axis is None else items, places, axis=axis or 0))


def take_along(array: Any, indices: Any, axis: int | None = -1) -> Any:
    items, places = objects(array), objects(indices)
    if items.ndim == 1:
        return SymbolArray(items)[SymbolArray(places)]
    rows = np.moveaxis(items, axis or 0, -1)
    wanted = np.moveaxis(places, axis or 0, -1)
    result = np.empty(wanted.shape, dtype=object)
    for place in np.ndindex(wanted.shape):
        result[place] = SymbolArray(rows[place[:-1]])[wanted[place]]
    return SymbolArray(np.moveaxis(result, -1, axis or 0))


def search_sorted(edges: Any, values: Any, side: str = "left") -> Any:
    """The number of edges below (or, from the right, not above) each value."""
    passed = operator.lt if side == "left" else operator.le

    def one(value: Any) -> Any:
        return total([passed(edge, value) for edge in objects(edges).tolist()])

    return each(one, values)


def digitize(values: Any, bins: Any, right: bool = False) -> Any:
    steps = np.diff(np.asarray(bins, float))
    if (steps < 0).any():
        raise Unsupported("np.digitize with falling bins is not traced", "sort the bins")
    return search_sorted(bins, values, "left" if right else "right")


def histogram(values: Any, bins: Any = 10, range: Any = None) -> Any:
    if np.ndim(bins) == 0 and range is None:
        raise Unsupported("np.histogram without fixed bins is not traced", "give the edges")
    edges = np.histogram_bin_edges([], bins, range)
    row = objects(values).ravel()

    def count(low: float, high: float, last: bool) -> Any:
        return total([(v >= low) & ((v <= high) if last else (v < high)) for v in row])

    pairs = list(itertools.pairwise(edges.tolist()))
    counts = [count(a, b, k == len(pairs) - 1) for k, (a, b) in enumerate(pairs)]
    return SymbolArray(vector(counts)), edges


def is_in(values: Any, listed: Any) -> Any:
    def one(value: Any) -> Any:
        return reduce(operator.or_, [scalar.truth(value == v) for v in objects(listed).ravel()])

    return each(one, values)


def difference(
    array: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None
) -> Any:
    items = objects(array)
    ends = [_end(prepend, items, axis), items, _end(append, items, axis)]
    items = np.concatenate([end for end in ends if end is not None], axis=axis)
    for _ in range(n):
        moved = np.moveaxis(items, axis, 0)
        items = np.moveaxis(moved[1:] - moved[:-1], 0, axis)
    return SymbolArray(items)


def _end(value: Any, items: np.ndarray[Any, Any], axis: int) -> Any:
    if value is None:
        return None
    end = objects(value)
    if end.ndim:
        return end
    shape = list(items.shape)
    shape[axis] = 1
    return np.broadcast_to(end, shape)
