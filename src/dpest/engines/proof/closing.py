"""A program at one input: what the input alone decides is decided before anything is opened."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from dpest.program import (
    Cases,
    Condition,
    Contest,
    Input,
    Leaf,
    Linear,
    Noise,
    Partition,
    Path,
    Piece,
    Program,
)
from dpest.program.linear import Variable


def closed(program: Program, x: Any) -> Program:
    """The program with numbers for the inputs."""
    work = _Closing(program.at(x).numbers)
    return replace(program, inputs=(), paths=tuple(map(work.path, program.paths)))


class _Closing:
    """Puts the numbers in, also inside of pieces; equal pieces stay equal."""

    def __init__(self, numbers: Mapping[Variable, Linear]) -> None:
        self.numbers = numbers
        self._pieces: dict[Piece, Linear] = {}
        self._partitions: dict[Partition, Partition] = {}

    def path(self, path: Path) -> Path:
        leaves = tuple(Leaf(self.line(leaf.value), leaf.kind) for leaf in path.output.leaves)
        conditions = tuple(map(self.condition, path.conditions))
        return replace(path, conditions=conditions, output=replace(path.output, leaves=leaves))

    def line(self, line: Linear) -> Linear:
        found: dict[Variable, Linear] = {
            v: self.piece(v) for v in line.terms if isinstance(v, Piece) and _has_inputs(v)
        }
        return line.substitute(found).substitute(self.numbers)

    def condition(self, condition: Condition) -> Condition:
        left, right = self.line(condition.left), self.line(condition.right)
        return Condition(left, right, condition.strict)

    def piece(self, piece: Piece) -> Linear:
        if piece not in self._pieces:
            self._pieces[piece] = self._closed(piece)
        return self._pieces[piece]

    def _closed(self, piece: Piece) -> Linear:
        if not any(isinstance(v, Noise) for v in piece.partition.roots):
            return self.line(piece.values[self._cell(piece.partition)])
        values = tuple(map(self.line, piece.values))
        return Linear.of(Piece(self._partition(piece.partition), values))

    def _cell(self, partition: Partition) -> int:
        """The cell that the input is in."""
        cells = (map(self.condition, partition.cell(k)) for k in range(len(partition)))
        return next(k for k, cell in enumerate(cells) if all(c.decided() for c in cell))

    def _partition(self, partition: Partition) -> Partition:
        if partition not in self._partitions:
            self._partitions[partition] = self._made(partition)
        return self._partitions[partition]

    def _made(self, partition: Partition) -> Partition:
        if isinstance(partition, Contest):
            return Contest(tuple(map(self.line, partition.lines)), partition.sign)
        cells = (partition.cell(k) for k in range(len(partition)))
        return Cases(tuple(tuple(map(self.condition, cell)) for cell in cells))


def _has_inputs(piece: Piece) -> bool:
    return any(isinstance(v, Input) for v in piece.roots)
