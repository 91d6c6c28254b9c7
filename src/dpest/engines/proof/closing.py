"""A program at one input: what the input alone decides is decided before anything is opened."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from dpest.engines.proof.rewriting import Rewriting
from dpest.program import Input, Linear, Noise, Partition, Piece, Program
from dpest.program.linear import Variable


def closed(program: Program, x: Any) -> Program:
    """The program with numbers for the inputs."""
    work = _Closing(program.at(x).numbers)
    return replace(program, inputs=(), paths=tuple(map(work.path, program.paths)))


class _Closing(Rewriting):
    """Puts the numbers in."""

    def __init__(self, numbers: Mapping[Variable, Linear]) -> None:
        super().__init__()
        self.numbers = numbers

    def line(self, line: Linear) -> Linear:
        return super().line(line).substitute(self.numbers)

    def instead(self, piece: Piece) -> Linear | None:
        if not any(isinstance(v, Input) for v in piece.roots):
            return Linear.of(piece)
        if any(isinstance(v, Noise) for v in piece.partition.roots):
            return None
        return self.line(piece.values[self._cell(piece.partition)])

    def _cell(self, partition: Partition) -> int:
        """The cell that the input is in."""
        cells = (map(self.condition, partition.cell(k)) for k in range(len(partition)))
        return next(k for k, cell in enumerate(cells) if all(c.decided() for c in cell))
