"""The worst pair of neighbours of a mechanism that adds independent noise to linear queries.

Moving the input by d moves the draws by `W d`, whatever the input. Where the noise is log-concave
and symmetric, a larger move of any draw is worse in every measure, so a difference that moves all
draws as far as they can go is a worst one. For Gaussian noise only the Euclidean length of the
moves counts. Moves of draws of one kind along different inputs are no worse than the sum of the
moves of a single draw (its trade-off functions form a semigroup), which settles histograms under
l1. Sums of log-concave draws are log-concave, so all of this holds for numbers with several draws
each.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat
from numpy.typing import NDArray

from dpest.inputs import Inputs, OneOf
from dpest.neighbors import AnyPair, Neighbors, Norm
from dpest.noise import Law
from dpest.numbers.rational import ONE, ZERO, to_float
from dpest.program import Input, Linear, Noise, Program

Array = NDArray[np.float64]
_SYMMETRIC = {"laplace", "normal", "logistic", "discrete_laplace", "discrete_gaussian", "uniform"}
_LOG_CONCAVE = _SYMMETRIC | {"exponential", "gumbel", "geometric", "integers"}
_CORNERS = 12
"""Up to so many inputs all corners of a box are tried."""
_CLOSE = 1 - 1e-12


def worst_pair(program: Program, inputs: Inputs, neighbors: Neighbors) -> tuple[Any, Any] | None:
    """Two neighbours that are at least as bad as any others; None where none are known."""
    if isinstance(inputs, OneOf) or not isinstance(neighbors, (Norm, AnyPair)):
        return None
    moves = _moves(program)
    radius = _radius(inputs, neighbors)
    if moves is None or radius is None:
        return None
    matrix, laws = moves
    if not _keeps_lattices(matrix, laws, inputs.integral):
        return None
    kind = neighbors.kind if isinstance(neighbors, Norm) else "linf"
    difference = _worst(matrix, laws, kind, inputs.integral)
    if difference is None:
        return None
    return _placed(radius * difference, inputs)


@dataclass(frozen=True)
class _Drawn:
    """What is known of the noise in one direction of the output."""

    width: float
    symmetric: bool
    log_concave: bool
    normal: bool
    lattice: bool
    kind: Hashable
    """Noise of one kind differs in nothing but its width (on the integers: in nothing)."""

    @classmethod
    def of(cls, law: Law) -> _Drawn:
        """A single draw."""
        return cls(
            law.width, law.name in _SYMMETRIC, law.name in _LOG_CONCAVE, law.name == "normal",
            law.lattice, law if law.lattice else law.name,
        )  # fmt: skip

    @classmethod
    def summed(cls, terms: Mapping[Noise, fmpq]) -> _Drawn:
        """A sum of draws; sums of log-concave draws are log-concave, on one lattice too."""
        parts = [cls.of(noise.law) for noise in terms]
        sizes = [abs(coefficient) for coefficient in terms.values()]
        lattice = any(part.lattice for part in parts)
        alike = not lattice or (all(part.lattice for part in parts) and len(set(sizes)) == 1)
        widths = [to_float(size) * part.width for size, part in zip(sizes, parts, strict=True)]
        return cls(
            float(np.linalg.norm(widths)), all(part.symmetric for part in parts),
            alike and all(part.log_concave for part in parts),
            all(part.normal for part in parts), lattice,
            frozenset(Counter(zip((noise.law for noise in terms), sizes, strict=True)).items()),
        )  # fmt: skip


Moves = tuple[Array, list[_Drawn]]
"""How far every draw moves per unit of each input."""


def _moves(program: Program) -> Moves | None:
    """The moves of a program whose every output is noise plus inputs."""
    if len(program.paths) != 1 or program.paths[0].conditions or not program.inputs:
        return None
    leaves = [leaf.value for leaf in program.paths[0].output.leaves]
    noises = program.paths[0].noises
    known = set(noises) | set(program.inputs)
    if any(v not in known for line in leaves for v in line.terms):
        return None
    return _solved(program, leaves, noises) or _separate(program, leaves)


def _solved(program: Program, leaves: Sequence[Linear], noises: Sequence[Noise]) -> Moves | None:
    """The output shows every draw, given the input."""
    if len(leaves) != len(noises):
        return None
    try:
        solved = _matrix(leaves, noises).solve(_matrix(leaves, program.inputs))
    except ZeroDivisionError:
        return None
    rows = [[to_float(-entry) for entry in row] for row in solved.tolist()]
    return np.array(rows), [_Drawn.of(noise.law) for noise in noises]


def _separate(program: Program, leaves: Sequence[Linear]) -> Moves | None:
    """Every released number has noise of its own: a sum of draws."""
    terms = [{v: c for v, c in line.terms.items() if isinstance(v, Noise)} for line in leaves]
    used = [noise for noises in terms for noise in noises]
    if len(set(used)) != len(used) or not all(terms):
        return None
    drawn = [_Drawn.summed(noises) for noises in terms]
    units = [
        abs(next(iter(noises.values()))) if sum_.lattice else ONE
        for noises, sum_ in zip(terms, drawn, strict=True)
    ]
    matrix = _matrix(leaves, program.inputs).tolist()
    rows = [[to_float(v / unit) for v in row] for row, unit in zip(matrix, units, strict=True)]
    return np.array(rows), drawn


def _keeps_lattices(matrix: Array, laws: list[_Drawn], integral: bool) -> bool:
    """Whether integer noise moves by whole numbers only: any other move gives it away."""
    rows = matrix[[law.lattice for law in laws]]
    return not rows.any() or (integral and bool((rows == np.rint(rows)).all()))


def _matrix(leaves: Iterable[Linear], variables: Iterable[Input | Noise]) -> fmpq_mat:
    return fmpq_mat([[line.terms.get(v, ZERO) for v in variables] for line in leaves])


def _radius(inputs: Any, neighbors: Neighbors) -> float | None:
    """How far neighbours can be apart, where the domain leaves that to the relation."""
    low, high = inputs.bounds()
    if isinstance(neighbors, AnyPair):
        return high - low if math.isfinite(high - low) else None
    assert isinstance(neighbors, Norm)
    radius = float(math.floor(neighbors.radius)) if inputs.integral else neighbors.radius
    if neighbors.kind == "linf" or inputs.size == 1:
        return min(radius, high - low)
    return radius if radius <= high - low else None


def _worst(matrix: Array, laws: list[_Drawn], kind: str, integral: bool) -> Array | None:
    """A difference of size one that is worst."""
    size = matrix.shape[1]
    if size == 1:
        return np.ones(1) if all(law.log_concave for law in laws) else None
    if not all(law.symmetric and law.log_concave for law in laws) or (kind == "l2" and integral):
        return None
    scaled = matrix / np.array([law.width for law in laws])[:, None]
    farthest = _farthest(scaled, kind)
    for difference in _extremes(scaled, kind):
        if (np.abs(scaled @ difference) >= farthest * _CLOSE).all():
            return difference
    if all(law.normal for law in laws):
        return _longest(scaled, kind)
    one_each = (np.count_nonzero(matrix, axis=0) <= 1).all()
    if kind == "l1" and one_each and len({law.kind for law in laws}) == 1:
        return np.eye(size)[np.argmax(np.abs(scaled).max(axis=0))]
    return None


def _farthest(scaled: Array, kind: str) -> Array:
    """The largest move of every draw on its own."""
    order = {"l1": np.inf, "linf": 1, "l2": 2}[kind]
    return np.asarray(np.linalg.norm(scaled, ord=order, axis=1))


def _extremes(scaled: Array, kind: str) -> Iterator[Array]:
    """For every draw a difference that moves it farthest."""
    for row in scaled:
        if kind == "l1":
            yield np.eye(len(row))[np.argmax(np.abs(row))]
        elif kind == "linf":
            yield np.where(row == 0, 1.0, np.sign(row))
            yield np.sign(row)
        elif np.any(row):
            yield row / np.linalg.norm(row)
    if kind == "linf":
        yield np.where(scaled.sum(axis=0) < 0, -1.0, 1.0)


def _longest(scaled: Array, kind: str) -> Array | None:
    """The difference whose moves are longest in the Euclidean norm."""
    size = scaled.shape[1]
    if kind == "l2":
        return np.asarray(np.linalg.svd(scaled)[2][0])
    if kind == "l1":
        return np.eye(size)[np.argmax(np.linalg.norm(scaled, axis=0))]
    if size > _CORNERS:
        return None
    corners = np.array(list(itertools.product((1.0, -1.0), repeat=size)))
    return corners[np.argmax(np.linalg.norm(corners @ scaled.T, axis=1))]


def _placed(difference: Array, inputs: Any) -> tuple[Any, Any]:
    """Two inputs of the domain that differ by that much."""
    low, high = inputs.bounds()
    x = np.zeros(len(difference))
    if math.isfinite(low) or math.isfinite(high):
        at_low = difference >= 0 if math.isfinite(low) else np.zeros(len(difference), bool)
        x = np.where(at_low, low, high if math.isfinite(high) else low - difference)
    return inputs.give(x), inputs.give(np.clip(x + difference, low, high))
