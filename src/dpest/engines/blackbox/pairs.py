"""Which pairs of neighbouring inputs a mechanism is run on, when only its outputs are known.

Listed pairs are taken as they are, and all pairs of a small finite domain. Elsewhere the seven
patterns of StatDP (Ding et al. 2018) are tried, at the scale of the radius and inside the domain.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpest.inputs import Inputs, Integers, OneOf, Reals
from dpest.neighbors import Neighbors, Norm, Pairs

MAX_PAIRS = 32
"""More pairs would leave too few samples for each."""
MAX_VALUES = 128
"""Domains of more values are not enumerated."""
PLACES = 4
"""Places at which a single entry is changed; of longer inputs the first, the last and some."""

Pair = tuple[Any, Any]
Vector = NDArray[np.floating[Any]]


def pairs_to_try(inputs: Inputs, neighbors: Neighbors) -> tuple[list[Pair], str]:
    """Pairs of neighbours as the mechanism gets them, and which they are, in words."""
    if isinstance(neighbors, Pairs):
        found = [(inputs.give(x), inputs.give(y)) for x, y in neighbors]
        return found, "the listed pairs"
    related = list(_enumerated(inputs, neighbors))
    if 0 < len(related) <= MAX_PAIRS:
        return related, "all pairs of neighbours"
    patterns = [] if isinstance(inputs, OneOf) else list(_patterns(inputs, neighbors))
    more = MAX_PAIRS - len(patterns)
    spread = [related[k] for k in np.linspace(0, len(related) - 1, more).astype(int) if related]
    if related:
        return patterns + spread, f"{MAX_PAIRS} pairs of neighbours, spread over {inputs}"
    return patterns, f"the input patterns that fit {inputs} and {neighbors}"


def _enumerated(inputs: Inputs, neighbors: Neighbors) -> Iterator[Pair]:
    """All pairs of neighbours of a small finite domain; none of another."""
    values = list(itertools.islice(inputs.values() or (), MAX_VALUES + 1))
    if len(values) > MAX_VALUES and not isinstance(inputs, OneOf):
        return
    for x, y in itertools.combinations(values, 2):
        if neighbors.relates(inputs.check(x), inputs.check(y)):
            yield inputs.give(x), inputs.give(y)


def _patterns(inputs: Reals | Integers, neighbors: Neighbors) -> Iterator[Pair]:
    """The patterns inside the domain; those that change nothing are left out."""
    scale = _scale(inputs, neighbors)
    seen = set()
    for start, change in _moves(inputs.size, neighbors):
        x, step = start * scale, change * scale
        if inputs.integral:
            x, step = np.trunc(x), np.trunc(step)
        x = _inside(x, step, inputs)
        pair = (tuple(x.tolist()), tuple((x + step).tolist()))
        if step.any() and frozenset(pair) not in seen:
            seen.add(frozenset(pair))
            yield inputs.give(pair[0]), inputs.give(pair[1])


def _scale(inputs: Reals | Integers, neighbors: Neighbors) -> float:
    """How far an entry of a pattern moves at most."""
    low, high = inputs.bounds()
    scale = min(neighbors.radius if isinstance(neighbors, Norm) else math.inf, high - low)
    if math.isinf(scale):
        raise ValueError(
            f"neighbors={neighbors} on {inputs} leaves no pair to try first: bound the domain, "
            "as in dpest.reals(n, low, high), or list pairs with dpest.pairs([...])"
        )
    return scale


def _inside(x: Vector, step: Vector, inputs: Reals | Integers) -> Vector:
    """The nearest start from which the step stays in the domain."""
    low, high = inputs.bounds()
    return np.minimum(np.maximum(x, low - np.minimum(step, 0)), high - np.maximum(step, 0))


def _moves(n: int, neighbors: Neighbors) -> Iterator[tuple[Vector, Vector]]:
    """(x, x' - x) of every pattern at a scale of one."""
    kind = neighbors.kind if isinstance(neighbors, Norm) else "linf"
    ones, first = np.ones(n), np.arange(n) == 0
    if kind == "linf":
        early, late = np.arange(n) < n // 2, np.arange(n) >= n // 2
        sooner = np.arange(n) < n - n // 2
        yield ones, 1.0 * first
        yield ones, -1.0 * first
        yield ones, np.where(first, 1.0, -1.0)
        yield ones, np.where(first, -1.0, 1.0)
        yield ones, np.where(sooner, -1.0, 1.0)
        yield ones, ones
        yield 1.0 * early, 1.0 * late - early
        return
    for place in np.unique(np.linspace(0, n - 1, min(n, PLACES)).astype(int)):
        for sign in (1.0, -1.0):
            yield ones, sign * (np.arange(n) == place)
    if kind == "l2":
        yield ones, ones / math.sqrt(n)
        yield ones, np.where(first, 1.0, -1.0) / math.sqrt(n)
