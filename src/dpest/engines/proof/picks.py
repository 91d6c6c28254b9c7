"""Paths that only the input chooses between are one path, with numbers that the input picks.

`if x[0] > 5: count += 1` makes two paths. Where they release the same noise and differ in what it
is added to, the sum is noise plus one of several numbers, and a neighbour may pick another one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dpest.program import Cases, Leaf, Linear, Noise, Path, Piece, Program
from dpest.program.linear import roots


def picked(program: Program) -> Program:
    """The program with one path instead of many, where that says the same."""
    paths = program.paths
    alike = len(paths) > 1 and len({_shape(path) for path in paths}) == 1
    if not alike or any(_is_noisy(*path.conditions) for path in paths):
        return program
    cells = Cases(tuple(path.conditions for path in paths))
    rows = zip(*(path.output.leaves for path in paths), strict=True)
    leaves = tuple(_joined(row, cells) for row in rows)
    return replace(program, paths=(Path((), replace(paths[0].output, leaves=leaves)),))


def _is_noisy(*expressions: object) -> bool:
    return any(isinstance(v, Noise) for v in roots(expressions))  # type: ignore[arg-type]


def _shape(path: Path) -> object:
    noise = tuple((leaf.kind, _noise(leaf)) for leaf in path.output.leaves)
    return path.variant, path.output.skeleton, noise


def _noise(leaf: Leaf) -> Linear:
    """What the number owes to draws."""
    return Linear(terms={v: c for v, c in leaf.value.terms.items() if _is_noisy(Linear.of(v))})


def _joined(row: Sequence[Leaf], cells: Cases) -> Leaf:
    """The number as noise plus what the input picks."""
    noise = _noise(row[0])
    rest = [leaf.value - noise for leaf in row]
    if all(line == rest[0] for line in rest):
        return row[0]
    return replace(row[0], value=noise + Linear.of(Piece(cells, tuple(rest))))
