"""Which draws may come from the same column of random numbers.

Two draws of one law that no run uses both are one column: a run takes a single way through the
diagram, and what it meets there is independent all the same.
"""

from __future__ import annotations

from collections.abc import Sequence

from dpest.engines.sampling.tree import Diagram
from dpest.noise import Law
from dpest.program import Noise
from dpest.program.linear import roots


def columns(diagram: Diagram, outcomes: Sequence[frozenset[Noise]]) -> dict[Noise, int]:
    """The column of every draw; columns are numbered law by law."""
    noises = sorted(_used(diagram, outcomes), key=lambda noise: noise.index)
    apart = _apart(diagram, outcomes, {noise: 1 << k for k, noise in enumerate(noises)})
    members: dict[Law, list[int]] = {}
    place: dict[Noise, tuple[Law, int]] = {}
    for k, noise in enumerate(noises):
        shared = members.setdefault(noise.law, [])
        free = (c for c, taken in enumerate(shared) if not taken & apart[noise])
        column = next(free, len(shared))
        if column == len(shared):
            shared.append(0)
        shared[column] |= 1 << k
        place[noise] = (noise.law, column)
    starts, total = {}, 0
    for law, shared in members.items():
        starts[law] = total
        total += len(shared)
    return {noise: starts[law] + column for noise, (law, column) in place.items()}


def _tested(diagram: Diagram, test: Sequence[int]) -> set[Noise]:
    conditions = [diagram.conditions[abs(literal) - 1] for literal in test]
    return {v for v in roots(conditions) if isinstance(v, Noise)}


def _used(diagram: Diagram, outcomes: Sequence[frozenset[Noise]]) -> set[Noise]:
    tested = {noise for node in diagram.nodes for noise in _tested(diagram, node.test)}
    return tested.union(*outcomes)


def _apart(
    diagram: Diagram, outcomes: Sequence[frozenset[Noise]], bits: dict[Noise, int]
) -> dict[Noise, int]:
    """For every draw the set of those that some way may meet beside it, as bits."""
    apart = dict.fromkeys(bits, 0)
    below: dict[int, int] = {}
    for k, drawn in enumerate(outcomes):
        below[~k] = sum(bits[noise] for noise in drawn)
        for noise in drawn:
            apart[noise] |= below[~k]
    for k, node in enumerate(diagram.nodes):
        tested = _tested(diagram, node.test)
        below[k] = below[node.yes] | below[node.no] | sum(bits[noise] for noise in tested)
        for noise in tested:
            apart[noise] |= below[k]
    for noise, others in list(apart.items()):
        for other, bit in bits.items():
            if others & bit:
                apart[other] |= bits[noise]
    return apart
