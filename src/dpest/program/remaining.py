"""Whether noise is left in an expression once the cells of its pieces are known."""

from __future__ import annotations

from collections.abc import Callable

from dpest.program.linear import Linear, Noise, Piece, pieces, roots

_MOST_PIECES = 12
"""In a sum of more pieces the cells are not looked through."""


def keeps_noise(line: Linear, counts: Callable[[Noise], bool]) -> bool:
    """Whether such a draw is left in the line whatever the cells of its pieces.

    A piece may hold the same draw and cancel it: v - max(v, 0) is a number where v is positive.
    """
    inner = roots(value for piece in pieces([line]) for value in piece.values)
    if any(isinstance(v, Noise) and counts(v) and v not in inner for v in line.terms):
        return True
    outer = [v for v in line.terms if isinstance(v, Piece)]
    if not outer or len(outer) > _MOST_PIECES:
        return False
    partition = outer[0].partition
    same = [piece for piece in pieces([line]) if piece.partition is partition]
    return all(
        keeps_noise(line.substitute({piece: piece.values[k] for piece in same}), counts)
        for k in range(len(partition))
    )
