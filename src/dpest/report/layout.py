"""Where the boxes of a directed graph go: layers from top to bottom, few crossings, no overlaps.

The classical steps of a layered drawing: turn edges that close a cycle, give every box a layer, let
long edges pass between the boxes of the layers they cross (as invisible lanes), order every layer
by the mean place of its neighbours, and then move boxes over or under their neighbours.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

Edge = tuple[int, int]
Point = tuple[float, float]

BOX_HEIGHT = 44.0
_LAYER_GAP = 54.0
_BOX_GAP = 28.0
_LANE_WIDTH = 14.0
_SWEEPS = 12


@dataclass(frozen=True)
class Layout:
    """The centre of every box, and for every edge the points that it passes through."""

    centres: tuple[Point, ...]
    routes: dict[Edge, tuple[Point, ...]]
    width: float
    height: float


def layered(widths: Sequence[float], edges: Sequence[Edge]) -> Layout:
    """A layout of boxes 0, 1, ... with these widths; an edge (a, b) points from a down to b."""
    return _Layers(widths, edges).layout()


class _Layers:
    def __init__(self, widths: Sequence[float], edges: Sequence[Edge]) -> None:
        self.boxes = len(widths)
        self.widths = list(widths)
        self.turned = _cycle_closers(self.boxes, edges)
        self.layer = _layer_of_each(self.boxes, [self._downward(edge) for edge in edges])
        self.chains = {edge: self._chain(edge) for edge in edges}
        self.above: dict[int, list[int]] = defaultdict(list)
        self.below: dict[int, list[int]] = defaultdict(list)
        for chain in self.chains.values():
            for upper, lower in pairwise(chain):
                self.below[upper].append(lower)
                self.above[lower].append(upper)
        self.rows = _ordered(self._rows(), self.above, self.below)
        self.x = self._places()

    def _downward(self, edge: Edge) -> Edge:
        return edge[::-1] if edge in self.turned else edge

    def _chain(self, edge: Edge) -> list[int]:
        """The boxes at both ends, and a lane in every layer between them."""
        start, end = self._downward(edge)
        chain = [start]
        for layer in range(self.layer[start] + 1, self.layer[end]):
            chain.append(len(self.layer))
            self.layer.append(layer)
            self.widths.append(_LANE_WIDTH)
        return [*chain, end]

    def _rows(self) -> list[list[int]]:
        rows: list[list[int]] = [[] for _ in range(max(self.layer, default=0) + 1)]
        for item, layer in enumerate(self.layer):
            rows[layer].append(item)
        return rows

    def _places(self) -> list[float]:
        """Every item over the mean of its neighbours, as far as its row leaves room."""
        x = [0.0] * len(self.layer)
        for row in self.rows:
            self._spread(row, [0.0] * len(row), x)
        for sweep in range(_SWEEPS):
            down = sweep % 2 == 0
            for row in self.rows if down else self.rows[::-1]:
                near = self.above if down else self.below
                wishes = [_mean([x[k] for k in near[item]], x[item]) for item in row]
                self._spread(row, wishes, x)
        left = min((x[k] - self.widths[k] / 2 for k in range(len(x))), default=0.0)
        return [place - left for place in x]

    def _spread(self, row: Sequence[int], wishes: Sequence[float], x: list[float]) -> None:
        """The places closest to the wishes that keep the order and the gaps."""
        offsets = [0.0]
        for one, other in pairwise(row):
            offsets.append(offsets[-1] + (self.widths[one] + self.widths[other]) / 2 + _BOX_GAP)
        level = _isotonic([w - o for w, o in zip(wishes, offsets, strict=True)])
        for item, base, offset in zip(row, level, offsets, strict=True):
            x[item] = base + offset

    def layout(self) -> Layout:
        centres = tuple((self.x[k], self._y(k)) for k in range(self.boxes))
        width = max((self.x[k] + self.widths[k] / 2 for k in range(len(self.x))), default=0.0)
        height = len(self.rows) * (BOX_HEIGHT + _LAYER_GAP) - _LAYER_GAP
        return Layout(centres, self._routes(), width, height)

    def _y(self, item: int) -> float:
        return self.layer[item] * (BOX_HEIGHT + _LAYER_GAP) + BOX_HEIGHT / 2

    def _routes(self) -> dict[Edge, tuple[Point, ...]]:
        starts = self._ports({edge: chain[:2] for edge, chain in self.chains.items()})
        ends = self._ports({edge: chain[-1:-3:-1] for edge, chain in self.chains.items()})
        half = BOX_HEIGHT / 2
        routes = {}
        for edge, chain in self.chains.items():
            points = [(starts[edge], self._y(chain[0]) + half)]
            for lane in chain[1:-1]:
                x, y = self.x[lane], self._y(lane)
                points += [(x, y - half), (x, y + half)]
            points.append((ends[edge], self._y(chain[-1]) - half))
            routes[edge] = tuple(points[::-1] if edge in self.turned else points)
        return routes

    def _ports(self, ends: dict[Edge, list[int]]) -> dict[Edge, float]:
        """Where along a box each edge leaves or enters, so that edges do not share a point."""
        by_box: dict[int, list[Edge]] = defaultdict(list)
        for edge, (box, _) in ends.items():
            by_box[box].append(edge)
        places = {}
        for box, edges in by_box.items():
            edges.sort(key=lambda edge: self.x[ends[edge][1]])
            step = min(24.0, 0.7 * self.widths[box] / len(edges))
            for k, edge in enumerate(edges):
                places[edge] = self.x[box] + (k - (len(edges) - 1) / 2) * step
        return places


def _cycle_closers(count: int, edges: Sequence[Edge]) -> set[Edge]:
    """Edges that lead back to a box on the way to them, by depth-first search."""
    below = defaultdict(list)
    for start, end in edges:
        below[start].append(end)
    state = [0] * count
    closers: set[Edge] = set()
    for root in range(count):
        stack = [(root, iter(below[root]))] if not state[root] else []
        state[root] = state[root] or 1
        while stack:
            box, rest = stack[-1]
            child = next(rest, None)
            if child is None:
                state[box] = 2
                stack.pop()
            elif state[child] == 1:
                closers.add((box, child))
            elif state[child] == 0:
                state[child] = 1
                stack.append((child, iter(below[child])))
    return closers


def _layer_of_each(count: int, edges: Sequence[Edge]) -> list[int]:
    """The longest way from the top; what nothing leads to sits right above its first use."""
    layer = [0] * count
    for _ in range(count):
        for start, end in edges:
            layer[end] = max(layer[end], layer[start] + 1)
    entered = {end for _, end in edges}
    for box in range(count):
        uses = [layer[end] for start, end in edges if start == box]
        if box not in entered and uses:
            layer[box] = min(uses) - 1
    return layer


def _ordered(
    rows: list[list[int]], above: dict[int, list[int]], below: dict[int, list[int]]
) -> list[list[int]]:
    """The rows in the best order that sweeping down and up finds."""
    best, fewest = rows, _crossings(rows, below)
    for sweep in range(_SWEEPS):
        down = sweep % 2 == 0
        rows = [list(row) for row in rows]
        place = {item: k for row in rows for k, item in enumerate(row)}
        for row in rows if down else rows[::-1]:
            near = above if down else below
            wish = {k: _mean([place[other] for other in near[k]], place[k]) for k in row}
            row.sort(key=wish.__getitem__)
            place.update({item: k for k, item in enumerate(row)})
        crossings = _crossings(rows, below)
        if crossings < fewest:
            best, fewest = rows, crossings
    return best


def _crossings(rows: Sequence[Sequence[int]], below: dict[int, list[int]]) -> int:
    place = {item: k for row in rows for k, item in enumerate(row)}
    total = 0
    for row in rows:
        lines = [(place[item], place[other]) for item in row for other in below[item]]
        total += sum((a - c) * (b - d) < 0 for a, b in lines for c, d in lines) // 2
    return total


def _isotonic(values: Sequence[float]) -> list[float]:
    """The nondecreasing sequence closest to the values, by pooling neighbours."""
    pools: list[tuple[float, int]] = []
    for value in values:
        pools.append((value, 1))
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            (a, m), (b, n) = pools[-2:]
            pools[-2:] = [((a * m + b * n) / (m + n), m + n)]
    return [level for level, size in pools for _ in range(size)]


def _mean(values: Sequence[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise
