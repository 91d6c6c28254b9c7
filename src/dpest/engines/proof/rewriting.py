"""The paths of a program with some pieces replaced, also where they stand inside of others."""

from __future__ import annotations

from dataclasses import replace

from dpest.program import (
    Cases,
    Condition,
    Contest,
    Leaf,
    Linear,
    Partition,
    Path,
    Piece,
)
from dpest.program.linear import Variable


class Rewriting:
    """Rewrites everything that mentions what is replaced; equal pieces stay equal."""

    def __init__(self) -> None:
        self._pieces: dict[Piece, Linear] = {}
        self._partitions: dict[Partition, Partition] = {}

    def instead(self, piece: Piece) -> Linear | None:
        """What to put in place of the piece; None where only its inside is rewritten."""
        raise NotImplementedError

    def path(self, path: Path) -> Path:
        leaves = tuple(Leaf(self.line(leaf.value), leaf.kind) for leaf in path.output.leaves)
        conditions = tuple(map(self.condition, path.conditions))
        return replace(path, conditions=conditions, output=replace(path.output, leaves=leaves))

    def condition(self, condition: Condition) -> Condition:
        left, right = self.line(condition.left), self.line(condition.right)
        return Condition(left, right, condition.strict)

    def line(self, line: Linear) -> Linear:
        made: dict[Variable, Linear] = {
            v: self._piece(v) for v in line.terms if isinstance(v, Piece)
        }
        return line.substitute({v: new for v, new in made.items() if v not in new.terms})

    def _piece(self, piece: Piece) -> Linear:
        if piece not in self._pieces:
            new = self.instead(piece)
            self._pieces[piece] = self._inside(piece) if new is None else new
        return self._pieces[piece]

    def _inside(self, piece: Piece) -> Linear:
        partition = self._partition(piece.partition)
        return Linear.of(Piece(partition, tuple(map(self.line, piece.values))))

    def _partition(self, partition: Partition) -> Partition:
        if partition not in self._partitions:
            self._partitions[partition] = self._rebuilt(partition)
        return self._partitions[partition]

    def _rebuilt(self, partition: Partition) -> Partition:
        if isinstance(partition, Contest):
            return Contest(tuple(map(self.line, partition.lines)), partition.sign)
        return Cases(tuple(tuple(map(self.condition, cell)) for cell in partition.cells))
