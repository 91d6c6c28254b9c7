"""Which pieces are the largest, the smallest or another order statistic of some lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from dpest.numbers.rational import ZERO
from dpest.program import Cell, Contest, Linear, Noise, Partition, Piece


class Extreme(NamedTuple):
    """The line that has `rank` others below it; without a rank, the one that inputs pick."""

    lines: tuple[Linear, ...]
    rank: int | None

    @property
    def is_largest(self) -> bool:
        return self.rank == len(self.lines) - 1


@lru_cache(maxsize=10_000)
def winners(partition: Partition) -> tuple[Linear, ...] | None:
    """The lines of which the k-th cell says that the k-th is the largest (smallest: negated)."""
    if isinstance(partition, Contest):
        lines, sign = partition.lines, partition.sign
        return lines if sign > 0 else tuple(-line for line in lines)
    cells = partition.cells
    if len(cells) < 2 or any(len(cell) != len(cells) - 1 for cell in cells):
        return None
    ahead, behind = _sides(cells, largest=True), _sides(cells, largest=False)
    if ahead is not None or behind is None:
        return ahead
    return tuple(-line for line in behind)


def _sides(cells: Sequence[Cell], largest: bool) -> tuple[Linear, ...] | None:
    """The line that stands on the winning side throughout each cell, if the rest fits."""
    lines = [cell[0].left if largest else cell[0].right for cell in cells]
    for k, cell in enumerate(cells):
        others = lines[:k] + lines[k + 1 :]
        for condition, rival in zip(cell, others, strict=True):
            winner, loser = condition.left, condition.right
            if not largest:
                winner, loser = loser, winner
            if not (_same(winner, lines[k]) and _same(loser, rival)):
                return None
    return tuple(lines)


def _same(one: Linear, other: Linear) -> bool:
    return one is other or one == other


@lru_cache(maxsize=1_000)
def largest_of(lines: tuple[Linear, ...]) -> Linear:
    """The largest of the lines as a piece that stays whole."""
    if len(lines) == 1:
        return lines[0]
    return Linear.of(Piece(Contest(lines, 1), lines))


@lru_cache(maxsize=10_000)
def extreme_of(piece: Piece) -> Extreme | None:
    """The order statistic that the piece is, or the choice that inputs make, if it is one."""
    if piece.extreme:
        return Extreme(piece.values, len(piece.values) - 1 if piece.extreme > 0 else 0)
    ranked = not isinstance(piece.partition, Contest) and (_folded(piece) or _ranked(piece))
    return ranked or _picked(piece)


def _picked(piece: Piece) -> Extreme | None:
    """A value that the inputs alone decide."""
    if any(isinstance(v, Noise) for v in piece.roots):
        return None
    return Extreme(piece.values, None)


def _folded(piece: Piece) -> Extreme | None:
    """Two values that meet where one condition turns, as `x if x >= 0 else -x`."""
    cells = piece.partition.cells
    if [len(cell) for cell in cells] != [1, 1]:
        return None
    gap, step = cells[0][0].gap, piece.values[0] - piece.values[1]
    if cells[1][0].gap != -gap or not gap.terms:
        return None
    variable = next(iter(gap.terms))
    slope = step.terms.get(variable, ZERO) / gap.terms[variable]
    if slope == 0 or step != gap.scaled(slope):
        return None
    return Extreme(piece.values, int(slope > 0))


def _ranked(piece: Piece) -> Extreme | None:
    """The value that has equally many lines below it in every cell, and all others above it."""
    lines = _compared(piece.partition)
    if lines is None or not set(piece.values) <= lines.keys():
        return None
    ranks = set()
    for cell, value in zip(piece.partition.cells, piece.values, strict=True):
        below = _beyond(value, [(c.left, c.right) for c in cell])
        above = _beyond(value, [(c.right, c.left) for c in cell])
        if below & above or len(below) + len(above) != len(lines) - 1:
            return None
        ranks.add(len(below))
    return Extreme(tuple(lines), ranks.pop()) if len(ranks) == 1 else None


def _compared(partition: Partition) -> dict[Linear, None] | None:
    """The lines that the cells compare, if every cell compares the same ones."""
    found = [dict.fromkeys(_sides_of(cell)) for cell in partition.cells]
    return found[0] if all(lines.keys() == found[0].keys() for lines in found) else None


def _sides_of(cell: Cell) -> Iterator[Linear]:
    for condition in cell:
        yield condition.left
        yield condition.right


def _beyond(line: Linear, steps: Sequence[tuple[Linear, Linear]]) -> set[Linear]:
    """The lines that steps lead to."""
    found: set[Linear] = set()
    pending = [line]
    while pending:
        at = pending.pop()
        new = {after for before, after in steps if before == at} - found
        found |= new
        pending += new
    return found
