"""Where a search starts: groups of outcomes, directions to push in, differences of neighbours."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import fmpq_mat
from numpy.typing import NDArray

from dpest.engines.exact.components import Case, Group
from dpest.inputs import Integers, Reals
from dpest.neighbors import AnyPair, Neighbors, Norm
from dpest.numbers.rational import ZERO, to_float
from dpest.program import Input, Linear, Noise

Array = NDArray[Any]
_ROUTES = 10
_RELEASED = 12
"""So many released numbers are looked at for what they give away together."""


@dataclass(frozen=True)
class Start:
    """A group of outcomes, a direction in which to push, and a difference between neighbours."""

    group: Group
    push: Array
    difference: Array
    place: Array | None = None
    """The input to look at, where it is not a direction that matters."""


class Corners:
    """Differences between neighbours that are as large as the relation and the domain allow."""

    def __init__(self, inputs: Reals | Integers, neighbors: Neighbors, unit: float) -> None:
        self.size, self.integral = inputs.size, inputs.integral
        low, high = inputs.bounds()
        self.width = high - low
        self.kind = neighbors.kind if isinstance(neighbors, Norm) else "linf"
        if isinstance(neighbors, Norm):
            self.radius = neighbors.radius
        else:
            assert isinstance(neighbors, AnyPair)
            self.radius = self.width if math.isfinite(self.width) else 1000 * unit

    @property
    def spread(self) -> Array:
        """The difference that moves all inputs alike."""
        shares = {"l1": self.size, "l2": math.sqrt(self.size)}
        step = min(self.radius / shares.get(self.kind, 1), self.width)
        return np.full(self.size, math.floor(step) if self.integral else step)

    def along(self, slope: Array) -> Array:
        """The difference that goes furthest along a slope; exact but for l2 in a box."""
        signs, order = np.sign(slope), np.argsort(-np.abs(slope), kind="stable")
        if self.kind == "linf":
            return signs * min(self.radius, self.width)
        if self.kind == "l2" and not self.integral:
            length = math.hypot(*slope)
            return slope * (self.radius / length) if length else slope
        left = self.radius if self.kind == "l1" else float(math.floor(self.radius**2 + 1e-9))
        each = self.width if self.kind == "l1" else 1.0
        result = np.zeros(self.size)
        for k in order[: np.count_nonzero(slope)]:
            step = min(each, left)
            result[k] = signs[k] * (math.floor(step) if self.integral else step)
            left -= step
        return result

    def against(self, slope: Array) -> Iterable[Array]:
        """Differences against the slope, the promising ones first."""
        n = self.size
        if self.kind == "l1":
            order = np.argsort(-np.abs(slope), kind="stable")[:_ROUTES].tolist()
            places = dict.fromkeys([*order, 0, n - 1])
            single = [np.eye(n)[k] * (np.sign(slope[k]) or 1.0) for k in places]
            return [-self.along(v) for v in (slope, *single) if np.any(v)]
        signs = np.sign(slope)
        if self.kind == "l2":
            found = [slope, signs, np.ones(n), np.eye(n)[0]]
        else:
            found = [np.where(signs == 0, fill, signs) for fill in (0.0, 1.0, -1.0)]
            found.append(np.ones(n))
        return [-self.along(v) for v in found if np.any(v)]


def starts(
    groups: Sequence[Group], corners: Corners, hint: Sequence[float] | None
) -> Iterator[Start]:
    """Every start once. The hint is a difference that a proof found to be dear."""
    seen: set[tuple[Any, ...]] = set()
    for group, slope in _routes(groups, corners.size):
        hinted = [] if hint is None else [-np.array(hint), np.array(hint)]
        told = [corners.along(v) for v in _given_away(group, corners.size)]
        for difference in (*corners.against(slope), *hinted, *told):
            name = (tuple(np.sign(slope)), tuple(difference), len(group.components))
            if name not in seen:
                seen.add(name)
                size = np.max(np.abs(slope), initial=0.0)
                yield Start(group, -slope / size if size else slope, difference)


def _given_away(group: Group, n: int) -> list[Array]:
    """What the released numbers tell about the inputs, those that no noise covers first."""
    found: list[Array] = []
    for component in group.components:
        for case in component.cases[:1]:
            found += [row for row in _reduced(case.leaves[:_RELEASED], n) if row.any()]
    return found[:_RELEASED]


def _reduced(leaves: Sequence[Linear], n: int) -> list[Array]:
    """The released lines with their noise eliminated as far as it goes, as gradients."""
    order = list(dict.fromkeys(v for leaf in leaves for v in leaf.terms))
    order.sort(key=lambda v: not isinstance(v, Noise))
    if not order:
        return []
    rows = [leaf.terms.get(v, ZERO) for leaf in leaves for v in order]
    echelon, rank = fmpq_mat(len(leaves), len(order), rows).rref()
    return [
        gradient(Linear(ZERO, {v: echelon[r, c] for c, v in enumerate(order)}), n)
        for r in reversed(range(rank))
    ]


def _routes(groups: Sequence[Group], n: int) -> list[tuple[Group, Array]]:
    """Groups with the gradient of their conditions; those that involve most come first."""
    routes = [
        (weight, group, slope)
        for group in groups
        for slope, weight in _slopes(group, n)
    ]
    routes.sort(key=lambda route: -route[0])
    picked: dict[tuple[Any, ...], tuple[Group, Array]] = {}
    for _, group, slope in routes:
        picked.setdefault((len(picked) // _ROUTES, *np.sign(slope)), (group, slope))
        if len(picked) >= _ROUTES:
            break
    return list(picked.values())


def _slopes(group: Group, n: int) -> list[tuple[Array, float]]:
    """For the group's most involved cases: the summed gradient, and how many inputs move."""
    total, weight = np.zeros(n), 0.0
    branches: list[tuple[Array, float]] = []
    for component in group.components:
        found = [_slope(case, n) for case in component.cases]
        if len(found) == 1:
            total, weight = total + found[0][0], weight + found[0][1]
        elif found:
            branches += _spread(found)
    if not branches:
        return [(total, weight)]
    return [(total + slope, weight + own) for slope, own in branches]


def _spread(slopes: list[tuple[Array, float]]) -> list[tuple[Array, float]]:
    """A few of the most involved cases, from one-sided to evenly mixed ones."""
    most = max(weight for _, weight in slopes)
    top = [pair for pair in slopes if pair[1] == most]
    top.sort(key=lambda pair: abs(float(np.sum(np.sign(pair[0])))))
    places = np.unique(np.linspace(0, len(top) - 1, _ROUTES).astype(int))
    return [top[k] for k in places]


def _slope(case: Case, n: int) -> tuple[Array, float]:
    """The summed gradient of the conditions in the inputs, and how many inputs are involved.

    Where no condition looks at an input, what is released says how inputs can move apart.
    """
    total = np.zeros(n)
    lines = [condition.gap for condition in case.conditions]
    for line in lines:
        total += gradient(line, n)
    released = [np.abs(gradient(leaf, n)) for leaf in case.leaves]
    weight = np.count_nonzero(total) + sum(np.count_nonzero(r) for r in released)
    if not total.any() and released:
        total = np.sum(released, axis=0)
    return total, float(weight)


def gradient(line: Linear, n: int) -> Array:
    result = np.zeros(n)
    for variable, coefficient in line.terms.items():
        if isinstance(variable, Input):
            result[variable.index] = to_float(coefficient)
    return result
