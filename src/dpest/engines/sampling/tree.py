"""Paths as a decision diagram: which condition to ask first, and which after each answer.

A path is taken where all its conditions hold, and exactly one path is. Where every path that is
left begins with a condition or its negation, that condition is asked. Elsewhere (a way of many,
as after an argmax) the paths that share conditions no other path agrees with are told from the
rest. Equal remainders are one node, so what different answers have in common is asked together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count

from dpest.program import Condition, Path

Literal = int
"""A condition by its number, negative for its negation."""
Trail = tuple[tuple[Literal, ...], int]
"""The conditions that are left of a path, and its outcome."""


@dataclass(frozen=True)
class Node:
    """A question: do all these literals hold? Targets below zero are outcomes, as ~outcome."""

    test: tuple[Literal, ...]
    yes: int
    no: int


@dataclass
class Diagram:
    """Nodes, every one after those that it leads to, and where to start."""

    conditions: list[Condition] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    _numbers: dict[Condition, Literal] = field(default_factory=dict)
    _known: dict[Node, int] = field(default_factory=dict)

    def add(self, paths: Sequence[Path], outcomes: Sequence[int]) -> int:
        """The node (or ~outcome) at which the choice between these paths starts."""
        trails = [
            (tuple(map(self._literal, path.conditions)), outcome)
            for path, outcome in zip(paths, outcomes, strict=True)
        ]
        return self._node(trails)

    def _literal(self, condition: Condition) -> Literal:
        if condition not in self._numbers:
            self.conditions.append(condition)
            self._numbers[condition.negation] = -len(self.conditions)
            self._numbers[condition] = len(self.conditions)
        return self._numbers[condition]

    def _node(self, trails: list[Trail]) -> int:
        """The larger part goes on in the loop, so that no chain of questions is too long."""
        asked = []
        while len(trails) > 1:
            test, inside, rest = _split(trails)
            if not rest:
                trails = inside
                continue
            turned = len(test) == 1 and len(inside) > len(rest)
            if turned:
                inside, rest = rest, inside
            asked.append((test, turned, self._node(inside)))
            trails = rest
        place = ~trails[0][1]
        for test, turned, aside in reversed(asked):
            place = self._joined(Node(test, *((place, aside) if turned else (aside, place))))
        return place

    def _joined(self, node: Node) -> int:
        if node.yes == node.no:
            return node.yes
        if node not in self._known:
            self._known[node] = len(self.nodes)
            self.nodes.append(node)
        return self._known[node]


def _split(trails: list[Trail]) -> tuple[tuple[Literal, ...], list[Trail], list[Trail]]:
    """A test, the trails that pass it without it, and the rest."""
    first = trails[0][0]
    for size in count(1):
        test = first[:size]
        inside = [(left[size:], end) for left, end in trails if left[:size] == test]
        rest = [trail for trail in trails if trail[0][:size] != test]
        if not rest or size >= len(first) or _excluded(test, rest):
            break
    if size == 1:
        rest = [(_without(left, -test[0]), end) for left, end in rest]
    return test, inside, rest


def _excluded(test: tuple[Literal, ...], rest: list[Trail]) -> bool:
    """Whether every other trail contradicts the test."""
    negations = {-literal for literal in test}
    return all(not negations.isdisjoint(left) for left, _ in rest)


def _without(left: tuple[Literal, ...], known: Literal) -> tuple[Literal, ...]:
    return left[1:] if left[:1] == (known,) else tuple(k for k in left if k != known)
