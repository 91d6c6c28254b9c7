"""Inputs that are clipped before anything else: the program of the clipped numbers."""

from __future__ import annotations

from dataclasses import replace

from flint import fmpq

from dpest.engines.proof.extremes import extreme_of
from dpest.engines.proof.rewriting import Rewriting
from dpest.program import Condition, Input, Linear, Path, Piece, Program
from dpest.program.linear import roots

Clip = tuple[fmpq, fmpq]


def clipped(program: Program) -> tuple[Program, Clip] | None:
    """The program whose inputs are the clipped numbers, if nothing else of the inputs is used."""
    work = _Clips()
    paths = tuple(map(work.path, program.paths))
    rows = [row for path in paths for row in _rows(path)]
    if work.bounds is None or roots(rows) & set(program.inputs):
        return None
    return replace(program, paths=paths), work.bounds


def _rows(path: Path) -> list[Linear | Condition]:
    return [*path.conditions, *(leaf.value for leaf in path.output.leaves)]


class _Clips(Rewriting):
    """Replaces clips by symbols for the clipped numbers; all clips have the same bounds."""

    def __init__(self) -> None:
        super().__init__()
        self.bounds: Clip | None = None
        self._inputs: dict[int, Linear] = {}

    def instead(self, piece: Piece) -> Linear | None:
        """The symbol for the clipped number that the piece is."""
        outer = _limit(piece)
        inner = outer and len(outer[0].terms) == 1 and _limit(next(iter(outer[0].terms)))
        if not outer or not inner or outer[2] == inner[2] or outer[0] != Linear.of(inner[3]):
            return None
        low, high = sorted((outer[1], inner[1]))
        (symbol,) = inner[0].terms if len(inner[0].terms) == 1 else (None,)
        if not isinstance(symbol, Input) or inner[0] != Linear.of(symbol):
            return None
        if (low if outer[2] else high) != inner[1] or (self.bounds or (low, high)) != (low, high):
            return None
        self.bounds = (low, high)
        return self._inputs.setdefault(symbol.index, Linear.of(Input(symbol.index)))


def _limit(piece: object) -> tuple[Linear, fmpq, bool, Piece] | None:
    """(line, constant, whether the line may not pass it upward, piece) of `min(line, constant)`."""
    found = extreme_of(piece) if isinstance(piece, Piece) else None
    if found is None or found.rank is None or not isinstance(piece, Piece):
        return None
    if len(set(found.lines)) != 2:
        return None
    constants = [line for line in found.lines if not line.terms]
    lines = [line for line in found.lines if line.terms]
    if len(constants) != 1 or len(lines) != 1 or len(found.lines) != 2:
        return None
    return lines[0], constants[0].const, not found.is_largest, piece
