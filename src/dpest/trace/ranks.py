"""Sorting traced numbers: only the ranks that are used are told apart.

The order of n numbers is one of n!, but code that sorts mostly looks at a few ranks: the top three,
the median. An `Order` of some ranks says which number stands at each of them and which numbers
stand, in whatever order, between them. A sorted array makes its `Order` when its entries are looked
at, and what a path returns is told apart no further than its values differ.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations, pairwise
from typing import Any

import numpy as np

from dpest.program import Condition, Leaf, Linear, Partition, Piece, Source
from dpest.program.linear import Variable, pieces
from dpest.trace.array import SymbolArray, vector
from dpest.trace.fork import active
from dpest.trace.pieces import MAX_CELLS, cases, piece_of
from dpest.trace.refusals import TooManyPaths, Unsupported, user_source
from dpest.trace.symbol import linear_of, pick

Arrangement = tuple[tuple[int, ...], ...]
"""Which numbers stand between, and at, the ranks: groups, every second of them a single number."""


@dataclass(frozen=True)
class Order:
    """All ways in which numbers can stand at some ranks, ties going to the one that comes first."""

    lines: tuple[Linear, ...]
    ranks: tuple[int, ...]
    source: Source | None = field(default=None, compare=False)
    """Where the sorting is done."""

    @property
    def count(self) -> int:
        """The number of arrangements."""
        left, total = len(self.lines), 1
        for start, end in pairwise((-1, *self.ranks)):
            total *= math.comb(left, end - start - 1) * (left - (end - start - 1))
            left -= end - start
        return total

    @cached_property
    def arrangements(self) -> tuple[Arrangement, ...]:
        if self.count > MAX_CELLS:
            raise TooManyPaths(
                f"{len(self.ranks)} ranks of {len(self.lines)} sorted numbers can be taken in "
                f"{self.count} ways",
                "use fewer ranks, e.g. np.sort(noisy)[-2:] or np.median(noisy), or fewer numbers",
                self.source,
            )
        sizes = [end - start - 1 for start, end in pairwise((-1, *self.ranks))]
        return tuple(_arranged(tuple(range(len(self.lines))), sizes))

    @cached_property
    def partition(self) -> Partition:
        """The arrangements as cells."""
        found = cases([self._conditions(a) for a in self.arrangements])
        active().shared.orders[found] = self
        return found

    def _conditions(self, arrangement: Arrangement) -> tuple[Condition, ...]:
        found: list[Condition] = []
        previous: int | None = None
        for group, at in zip(arrangement[::2], (*arrangement[1::2], None), strict=True):
            if previous is not None:
                after = group or (at or ())
                found += [self._precedes(previous, k) for k in after]
            if at is not None:
                found += [self._precedes(k, at[0]) for k in group]
                previous = at[0]
        return tuple(found)

    def _precedes(self, a: int, b: int) -> Condition:
        return Condition(self.lines[b], self.lines[a], a > b)

    def at(self, rank: int) -> list[int]:
        """Which number stands at the rank, in every arrangement."""
        return [a[2 * self.ranks.index(rank) + 1][0] for a in self.arrangements]

    def coarser(self, values: Sequence[Sequence[Any]]) -> Order:
        """The order of as few ranks as tell apart what is told apart here."""
        order = self
        for rank in self.ranks:
            fewer = Order(self.lines, tuple(r for r in order.ranks if r != rank))
            if fewer.ranks and all(_is_constant(fewer.fibres(self), v) for v in values):
                order = fewer
        return order

    def fibres(self, finer: Order) -> list[int]:
        """For every arrangement of a finer order the place of the one here that it belongs to."""
        places = {a: k for k, a in enumerate(self.arrangements)}
        return [places[_merged(a, finer.ranks, self.ranks)] for a in finer.arrangements]


def _arranged(left: tuple[int, ...], sizes: Sequence[int]) -> Iterator[Arrangement]:
    if not sizes:
        yield (left,)
        return
    for group in combinations(left, sizes[0]):
        others = tuple(k for k in left if k not in group)
        for at in others:
            rest = tuple(k for k in others if k != at)
            yield from ((group, (at,), *tail) for tail in _arranged(rest, sizes[1:]))


def _merged(arrangement: Arrangement, ranks: Sequence[int], kept: Sequence[int]) -> Arrangement:
    """The arrangement seen at fewer ranks."""
    groups: list[tuple[int, ...]] = [arrangement[0]]
    for rank, at, group in zip(ranks, arrangement[1::2], arrangement[2::2], strict=True):
        if rank in kept:
            groups += [at, group]
        else:
            groups[-1] = tuple(sorted((*groups[-1], *at, *group)))
    return tuple(groups)


def _is_constant(places: Sequence[int], values: Sequence[Any]) -> bool:
    """Whether equal places have equal values."""
    known: dict[int, Any] = {}
    return all(known.setdefault(p, v) == v for p, v in zip(places, values, strict=True))


class Ranked(SymbolArray):
    """Sorted numbers, or where they stood; told apart at the ranks that are looked at."""

    __slots__ = ("_is_view", "_made", "_places", "_ranks", "_source", "_values")

    def __init__(
        self, values: Sequence[Any], places: bool, ranks: Sequence[int] | None = None,
        source: Source | None = None,
    ) -> None:  # fmt: skip
        self.kind = None
        self._values, self._places = values, places
        self._is_view = ranks is not None
        self._ranks = tuple(range(len(values)) if ranks is None else ranks)
        self._source = source or user_source()
        self._made: np.ndarray[Any, Any] | None = None

    @property
    def items(self) -> np.ndarray[Any, Any]:  # type: ignore[override]
        if self._made is None:
            self._made = vector(self._entries())
        return self._made

    def _entries(self) -> list[Any]:
        if not self._ranks:
            return []
        order = self._order(self._ranks)
        partition, kind = order.partition, "int" if self._places else None
        return [pick(partition, self._shown(order.at(rank)), kind) for rank in self._ranks]

    def _shown(self, at: Sequence[int]) -> Sequence[Any]:
        return at if self._places else [self._values[k] for k in at]

    def _order(self, ranks: Sequence[int]) -> Order:
        lines = tuple(linear_of(value) for value in self._values)
        return Order(lines, tuple(sorted(set(ranks))), self._source)

    def _part(self, ranks: Sequence[int]) -> Ranked:
        return Ranked(self._values, self._places, ranks, self._source)

    def __getitem__(self, key: Any) -> Any:
        if self._made is None:
            if isinstance(key, slice):
                return self._part(self._ranks[key])
            if isinstance(key, int) and self._order(self._ranks).count > MAX_CELLS:
                return self._part((self._ranks[key],)).items[0]
        return super().__getitem__(key)

    def __setitem__(self, key: Any, value: Any) -> None:
        if self._is_view:
            raise Unsupported(
                "writing into a part of a sorted array is not traced",
                "write into a copy: np.sort(x)[:k].copy()",
            )
        super().__setitem__(key, value)

    def __len__(self) -> int:
        return len(self._ranks)

    @property
    def shape(self) -> tuple[int, ...]:
        return (len(self._ranks),)

    @property
    def ndim(self) -> int:
        return 1

    @property
    def size(self) -> int:
        return len(self._ranks)


def coarsened(leaves: Sequence[Leaf]) -> tuple[Leaf, ...]:
    """What a path returns, with orders that tell apart no more than it needs."""
    for partition, order in list(active().shared.orders.items()):
        used = dict.fromkeys(
            p for p in pieces([leaf.value for leaf in leaves]) if p.partition is partition
        )
        if used and all(_is_outermost(p, leaves) for p in used):
            leaves = _replaced(leaves, list(used), order)
    return tuple(leaves)


def _is_outermost(piece: Piece, leaves: Sequence[Leaf]) -> bool:
    """Whether no other piece mentions this one."""
    inner: list[Linear | Condition] = []
    for outer in (v for leaf in leaves for v in leaf.value.terms if isinstance(v, Piece)):
        inner += outer.values
        inner += outer.partition.gaps
    return all(found is not piece for found in pieces(inner))


def _replaced(leaves: Sequence[Leaf], used: Sequence[Piece], order: Order) -> Sequence[Leaf]:
    fewer = order.coarser([piece.values for piece in used])
    if fewer.count == order.count:
        return leaves
    fibres = fewer.fibres(order)
    first = [fibres.index(k) for k in range(len(fewer.arrangements))]
    values: dict[Variable, Linear] = {
        piece: piece_of(fewer.partition, [piece.values[k] for k in first]) for piece in used
    }
    return [Leaf(leaf.value.substitute(values), leaf.kind) for leaf in leaves]
