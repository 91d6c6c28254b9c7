"""The computation graph kept along the way.

A node is an operation on one line of the user's code, so a vector of ten draws is one node that
says so; edges are the values that flow between them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from dpest.program import Noise
from dpest.trace.refusals import user_source


class Node(NamedTuple):
    """An operation (or a draw) on a line of the source."""

    kind: str  # "input", "noise", "operation" or "output"
    label: str
    line: int
    file: str = ""
    text: str = ""


@dataclass
class Graph:
    """Nodes with how many numbers each stands for, and the edges between them."""

    counts: dict[Node, int] = field(default_factory=dict)
    edges: dict[tuple[Node, Node], None] = field(default_factory=dict)
    _this_run: dict[Node, int] = field(default_factory=dict)

    def begin(self) -> None:
        """A new run starts; counts are the most that one run saw."""
        self._this_run = {}

    def draw(self, noise: Noise) -> Node:
        return self._enter(Node("noise", repr(noise.law), *_place()), ())

    def input(self, count: int) -> Node:
        node = Node("input", "x", 0)
        self.counts[node] = count
        return node

    def operation(self, name: str, operands: Sequence[Any]) -> Node:
        node = Node("operation", name, *_place())
        return self._enter(node, [getattr(v, "node", None) for v in operands])

    def output(self, leaves: Sequence[Any]) -> None:
        node = Node("output", "output", 1_000_000)
        self.counts.setdefault(node, 1)
        self._connect([getattr(v, "node", None) for v in leaves], node)

    def _enter(self, node: Node, parents: Sequence[Node | None]) -> Node:
        self._this_run[node] = self._this_run.get(node, 0) + 1
        self.counts[node] = max(self.counts.get(node, 0), self._this_run[node])
        self._connect(parents, node)
        return node

    def _connect(self, parents: Sequence[Node | None], node: Node) -> None:
        for parent in parents:
            if parent is not None and parent != node:
                self.edges[(parent, node)] = None


def _place() -> tuple[int, str, str]:
    """The line that is running, its file and its text."""
    source = user_source()
    return (source.line, source.file, source.text) if source else (0, "", "")
