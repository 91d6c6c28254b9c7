"""Paths that return the same are joined where the conditions they share tell them from all others.

A loop that keeps the best so far asks about every rival it meets, so many paths lead to one winner.
What all of these paths imply is a relaxation of their union. Where the relaxations of different
outputs exclude each other, and the paths cover everything, each relaxation is that union.

Implications and contradictions are read off a graph of comparisons: a >= b and b > c say a > c.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce

from dpest.program import Condition, Linear, Path

MAX_COMPARED = 200_000
"""So many pairs of outputs are looked at."""
MAX_SIDES = 128
"""So many different expressions are compared."""


@dataclass(frozen=True)
class Closure:
    """Everything that some comparisons imply: for every side the sides below it, as bits."""

    at_least: tuple[int, ...]
    above: tuple[int, ...]

    def __and__(self, other: Closure) -> Closure:
        pairs = zip(self.at_least, other.at_least, strict=True)
        strict = zip(self.above, other.above, strict=True)
        return Closure(tuple(a & b for a, b in pairs), tuple(a & b for a, b in strict))

    def joined(self, other: Closure) -> Closure:
        """What both imply together."""
        pairs = zip(self.at_least, other.at_least, strict=True)
        strict = zip(self.above, other.above, strict=True)
        return closed([a | b for a, b in pairs], [a | b for a, b in strict])

    def says(self, left: int, right: int, strict: bool) -> bool:
        return bool((self.above if strict else self.at_least)[left] >> right & 1)

    @cached_property
    def not_below(self) -> tuple[int, ...]:
        """For every side the sides that are at least as large."""
        return _turned(self.at_least)

    @cached_property
    def beneath(self) -> tuple[int, ...]:
        """For every side the sides that are above it."""
        return _turned(self.above)

    @property
    def is_contradiction(self) -> bool:
        """Whether something would have to be above itself."""
        return any(row >> k & 1 for k, row in enumerate(self.above))


def _turned(rows: Sequence[int]) -> tuple[int, ...]:
    """The columns of a square of bits as rows."""
    return tuple(
        sum(1 << i for i, row in enumerate(rows) if row >> k & 1) for k in range(len(rows))
    )


def closed(at_least: list[int], above: list[int]) -> Closure:
    """The transitive closure; a chain is strict where one of its links is."""
    for k in range(len(at_least)):
        bit = 1 << k
        for i in range(len(at_least)):
            if at_least[i] & bit:
                above[i] |= above[k] | (at_least[k] if above[i] & bit else 0)
                at_least[i] |= at_least[k]
    return Closure(tuple(at_least), tuple(above))


class Sides:
    """The expressions that are compared, numbered; the order of constants is known."""

    def __init__(self, paths: Iterable[Path]) -> None:
        self._place: dict[Linear, int] = {}
        for path in paths:
            for condition in path.conditions:
                for line in (condition.left, condition.right):
                    self._place.setdefault(line, len(self._place))
        self._known = sorted((line.const, k) for line, k in self._place.items() if line.is_constant)

    def __len__(self) -> int:
        return len(self._place)

    def of(self, condition: Condition) -> tuple[int, int, bool]:
        return self._place[condition.left], self._place[condition.right], condition.strict

    def closure(self, conditions: Iterable[Condition]) -> Closure:
        at_least, above = [0] * len(self), [0] * len(self)
        for (_, low), (_, high) in zip(self._known, self._known[1:], strict=False):
            at_least[high] |= 1 << low
            above[high] |= 1 << low
        for condition in conditions:
            left, right, strict = self.of(condition)
            at_least[left] |= 1 << right
            above[left] |= strict << right
        return closed(at_least, above)

    def comparisons(self, region: Closure) -> Iterator[Condition]:
        """Everything that the closure says, the stronger of two statements first."""
        lines = list(self._place)
        for strict in (True, False):
            for i, left in enumerate(lines):
                for j, right in enumerate(lines):
                    if i != j and region.says(i, j, strict):
                        yield Condition(left, right, strict)


@dataclass(frozen=True)
class _Group:
    """The paths with one output, and what each of them implies."""

    paths: tuple[Path, ...]
    closures: tuple[Closure, ...]

    @property
    def is_joined(self) -> bool:
        return len(self.closures) < len(self.paths)

    @property
    def joined(self) -> _Group:
        """The group as one region: what all of its paths imply."""
        return _Group(self.paths, (reduce(Closure.__and__, self.closures),))


def merged(paths: Sequence[Path]) -> tuple[Path, ...]:
    """The paths with those of one output joined, where that is exact."""
    outputs: dict[object, list[Path]] = {}
    for path in paths:
        outputs.setdefault((path.variant, path.output), []).append(path)
    if len(outputs) == len(paths) or len(outputs) * len(paths) > MAX_COMPARED:
        return tuple(paths)
    sides = Sides(paths)
    if len(sides) > MAX_SIDES:
        return tuple(paths)
    groups = [
        _Group(tuple(same), tuple(sides.closure(path.conditions) for path in same))
        for same in outputs.values()
    ]
    return tuple(path for group in _disjoint(groups) for path in _shown(group, sides))


def _disjoint(groups: Sequence[_Group]) -> list[_Group]:
    """The groups, as many of them joined as leaves all regions apart."""
    found = [group.joined if len(group.paths) > 1 else group for group in groups]
    pending = [k for k, group in enumerate(found) if group.is_joined]
    while pending:
        k = pending.pop()
        if not found[k].is_joined or all(
            _apart(found[k], other) for j, other in enumerate(found) if j != k
        ):
            continue
        found[k] = groups[k]
        pending = [j for j, group in enumerate(found) if group.is_joined]
    return found


def _apart(one: _Group, other: _Group) -> bool:
    return all(
        _excludes(a, b) or a.joined(b).is_contradiction
        for a in one.closures
        for b in other.closures
    )


def _excludes(one: Closure, other: Closure) -> bool:
    """Whether a comparison of one is denied by a comparison of the other."""
    rows = zip(one.at_least, one.above, other.not_below, other.beneath, strict=True)
    return any(above & reached or at_least & under for at_least, above, reached, under in rows)


def _shown(group: _Group, sides: Sides) -> tuple[Path, ...]:
    if not group.is_joined:
        return group.paths
    return (replace(group.paths[0], conditions=_conditions(group, sides)),)


def _conditions(group: _Group, sides: Sides) -> tuple[Condition, ...]:
    """Comparisons that say what the region says, those of the code first, none of them idle."""
    (region,) = group.closures
    asked = dict.fromkeys(c for path in group.paths for c in path.conditions)
    kept = [c for c in asked if region.says(*sides.of(c))]
    known = sides.closure(kept)
    for condition in sides.comparisons(region):
        if not known.says(*sides.of(condition)):
            kept.append(condition)
            known = sides.closure(kept)
    for condition in list(kept):
        others = [c for c in kept if c is not condition]
        if sides.closure(others).says(*sides.of(condition)):
            kept = others
    return tuple(kept)
