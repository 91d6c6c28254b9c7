"""What happens at `if`: decide, remember, and replay the other way.

A `Replay` is one run of the function. Where the code needs a plain truth value (or index), the
replay picks a cell of a partition: first the ones that an earlier run prescribed, then the first
cell that the conditions so far leave possible.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from dpest.program import Cell, Condition, Linear, Noise, Partition, Piece
from dpest.program.linear import pieces
from dpest.trace.feasible import Region
from dpest.trace.refusals import DivergingReplay, EndlessLoop, Refusal

if TYPE_CHECKING:
    from dpest.trace.graph import Graph
    from dpest.trace.ranks import Order

MAX_DEPTH = 5_000
"""Decisions on one path; more is taken for a loop that does not end."""


@dataclass
class Shared:
    """What all runs of one trace have in common, so that a replay repeats no work.

    Equal pieces are one object, and `results` remembers operations by the identity of their
    operands (which it keeps alive).
    """

    pieces: dict[tuple[Partition, tuple[Linear, ...]], Piece] = field(default_factory=dict)
    partitions: dict[Cell, list[Partition]] = field(default_factory=dict)
    constants: dict[tuple[type, Any], Linear] = field(default_factory=dict)
    orders: dict[Partition, Order] = field(default_factory=dict)
    results: dict[tuple[Any, int, int], tuple[Any, Linear, Linear]] = field(default_factory=dict)


class Decision(NamedTuple):
    """A cell that was picked, out of those that were possible."""

    partition: Partition
    picked: int
    possible: tuple[int, ...]


class Replay:
    """One run: the cells that were chosen, what they imply, and the noise drawn so far."""

    def __init__(
        self,
        prescribed: tuple[Decision, ...],
        region: Region,
        shared: Shared,
        graph: Graph | None,
        last: bool = False,
    ) -> None:
        self.prescribed = prescribed
        self.region = region
        self.graph = graph
        self.decisions: list[Decision] = []
        self.conditions: list[Condition] = []
        self.noises: list[Noise] = []
        self._prefer_last = last
        self.shared = shared
        self._cells: dict[Partition, int] = {}

    def resolve(self, value: Linear) -> Linear:
        """The value with every piece replaced whose cell is known."""
        return self._settle(value) if self._cells and value.has_pieces else value

    def _settle(self, value: Linear) -> Linear:
        for variable in list(value.terms):
            if isinstance(variable, Piece) and variable.partition in self._cells:
                picked = variable.values[self._cells[variable.partition]]
                value = value.substitute({variable: self.resolve(picked)})
        return value

    def settled(self, value: Linear) -> Linear:
        """The value at the end of a run: also pieces whose cell follows from what is known."""
        value = self.resolve(value)
        for variable in list(value.terms):
            cell = self._implied(variable.partition) if isinstance(variable, Piece) else None
            if cell is not None:
                assert isinstance(variable, Piece)
                value = value.substitute({variable: self.settled(variable.values[cell])})
        return value

    def _implied(self, partition: Partition) -> int | None:
        """The cell that the code is known to be in, where nothing decides it any more."""
        if not all(self.settled(gap).is_constant for gap in partition.gaps):
            return None
        return next(
            (k for k, cell in enumerate(partition.cells)
             if all(self._at_the_end(condition).decided() for condition in cell)), None
        )  # fmt: skip

    def _at_the_end(self, condition: Condition) -> Condition:
        left, right = self.settled(condition.left), self.settled(condition.right)
        return Condition(left, right, condition.strict)

    def force(self, value: Linear) -> Linear:
        """The value without pieces: the cells of all of them are decided."""
        if len(value.terms) == 1:
            ((variable, coefficient),) = value.terms.items()
            if isinstance(variable, Piece) and coefficient == 1 and value.const == 0:
                return self.force(variable.values[self.choose(variable.partition)])
        value = self.resolve(value)
        while pieces := [v for v in value.terms if isinstance(v, Piece)]:
            self.choose(pieces[0].partition)
            value = self.resolve(value)
        return value

    def choose(self, partition: Partition) -> int:
        """The cell of the partition that this run is in."""
        if partition in self._cells:
            return self._cells[partition]
        cells = partition.cells
        if not partition.is_pure:
            cells = tuple(tuple(self._pure(c) for c in cell) for cell in cells)
        decision = self._decide(partition, cells)
        self.decisions.append(decision)
        self._cells[partition] = decision.picked
        for condition in cells[decision.picked]:
            if self.region.add(condition):
                self.conditions.append(condition)
        return decision.picked

    def _decide(
        self, partition: Partition, cells: tuple[Cell, ...]
    ) -> Decision:
        """The prescribed decision, or a new one among the cells that are still possible."""
        depth = len(self.decisions)
        if depth >= MAX_DEPTH:
            raise EndlessLoop(f"a path makes more than {MAX_DEPTH} decisions")
        if depth < len(self.prescribed):
            known = self.prescribed[depth]
            if known.partition is not partition:
                raise DivergingReplay("a run on the same path asked another question")
            return known
        possible = tuple(k for k, cell in enumerate(cells) if self.region.allows(cell))
        if not possible:
            raise Refusal("no continuation of this path is possible")
        return Decision(partition, possible[-1 if self._prefer_last else 0], possible)

    def _pure(self, condition: Condition) -> Condition:
        """The condition without pieces, but for what inputs pick where noise meets it."""
        settled = self.resolve(condition.gap)
        if _is_noisy(settled) and all(map(_stays_whole, pieces([settled]))):
            return Condition(
                self.resolve(condition.left), self.resolve(condition.right), condition.strict
            )
        left, right = self.force(condition.left), self.force(condition.right)
        return Condition(left, right, condition.strict)


def _is_noisy(line: Linear) -> bool:
    """Whether some noise of its own makes either sign of the line possible."""
    return any(isinstance(v, Noise) and None in v.law.support for v in line.terms)


def _stays_whole(piece: Piece) -> bool:
    return not any(isinstance(v, Noise) for v in piece.roots)


_active: list[Replay] = []


def active() -> Replay:
    """The run in progress."""
    if not _active:
        raise Refusal("a traced value was used after tracing had ended")
    return _active[-1]


def is_active() -> bool:
    return bool(_active)


@contextmanager
def running(replay: Replay) -> Iterator[Replay]:
    _active.append(replay)
    try:
        yield replay
    finally:
        _active.pop()
