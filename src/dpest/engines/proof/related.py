"""Which values of a finite domain are neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from dpest.engines.proof.encode import domain_data, neighbors_data
from dpest.engines.proof.refusal import NoProof
from dpest.inputs import Inputs, OneOf
from dpest.neighbors import AnyPair, Neighbors, Norm, Pairs
from dpest.program import Program


def related(
    programs: Sequence[tuple[Any, Program]], inputs: Inputs, neighbors: Neighbors
) -> list[tuple[int, int]]:
    """The pairs of positions that are neighbours, each of them once."""
    values = [x for x, _ in programs]
    if isinstance(neighbors, Pairs):
        listed = [(position(values, x), position(values, y)) for x, y in neighbors.listed]
        return list({frozenset(pair): pair for pair in listed}.values())
    everything = list(combinations(range(len(values)), 2))
    if isinstance(neighbors, AnyPair):
        return everything
    checked = [inputs.check(x) for x in values]
    return [(a, b) for a, b in everything if neighbors.relates(checked[a], checked[b])]


def one_by_one(inputs: Inputs, neighbors: Neighbors) -> bool:
    """Whether the inputs share one distance, so that only the dearest of them counts."""
    return inputs.size == 1 or (isinstance(neighbors, Norm) and neighbors.kind == "l1")


def position(values: Sequence[Any], x: Any) -> int:
    """Where an input stands in the list of all inputs."""
    for k, value in enumerate(values):
        if value is x or np.array_equal(np.ravel(value), np.ravel(x)):
            return k
    raise NoProof(f"{x!r} is not in the domain")


def finite_inputs(inputs: Inputs) -> dict[str, Any]:
    if isinstance(inputs, OneOf):
        return {"kind": "one_of", "options": [ascii(value) for value in inputs.options]}
    return domain_data(inputs)


def finite_relation(values: list[Any], inputs: Inputs, neighbors: Neighbors) -> dict[str, Any]:
    if not isinstance(neighbors, Pairs):
        return neighbors_data(neighbors)
    listed = [[position(values, x), position(values, y)] for x, y in neighbors.listed]
    return {"kind": "listed", "listed": listed}
