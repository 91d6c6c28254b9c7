"""A program at one input as a mixture: one branch for every way in which its coins fall.

A coin is a draw with finitely many values, or a uniform draw that is only compared with constants.
Branches that come out as the same program are one branch, and their probabilities add up.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from flint import fmpq

from dpest.engines.proof.closing import closed
from dpest.engines.proof.finite import flat
from dpest.engines.proof.refusal import NoProof
from dpest.engines.proof.split import routes
from dpest.noise import Integers, Table, Uniform
from dpest.program import Condition, Leaf, Linear, Noise, Path, Program
from dpest.program.linear import Variable

MAX_BRANCHES = 512
MAX_FACES = 16
ZERO, ONE = fmpq(0), fmpq(1)
Face = tuple[fmpq, fmpq]
"""A value that stands for a face of a coin, and its probability."""


@dataclass(frozen=True)
class Branch:
    """One program of the mixture, and how likely it is."""

    weight: fmpq
    paths: tuple[Path, ...]


def at(program: Program, x: Any) -> tuple[Path, ...]:
    """The paths that are open at the input, without pieces."""
    found = []
    for route in routes(closed(program, x), False):
        fragments = [flat(fragment, {}) for fragment in route.fragments]
        conditions = [c for fragment in fragments for c in fragment.when]
        lines = dict(pair for fragment in fragments for pair in fragment.out)
        kinds = [leaf.kind for leaf in route.path.output.leaves]
        leaves = tuple(Leaf(lines[k], kind) for k, kind in enumerate(kinds))
        output = replace(route.path.output, leaves=leaves)
        path = _open(Path(tuple(conditions), output))
        if path is not None:
            found.append(path)
    return tuple(found)


def branches(paths: Sequence[Path]) -> list[Branch]:
    """The mixture; a single branch where there is no coin."""
    thrown = coins(paths)
    count = 1
    for faces in thrown.values():
        count *= len(faces)
    if count > MAX_BRANCHES:
        raise NoProof(f"the coins can fall in {count} ways")
    found: dict[tuple[Path, ...], fmpq] = {}
    for picked in itertools.product(*thrown.values()):
        values: dict[Variable, Linear] = {
            coin: Linear(value) for coin, (value, _) in zip(thrown, picked, strict=True)
        }
        weight = ONE
        for _, mass in picked:
            weight *= mass
        kept = tuple(p for path in paths if (p := _open(path.substitute(values))) is not None)
        if weight:
            found[kept] = found.get(kept, ZERO) + weight
    return [Branch(weight, kept) for kept, weight in found.items()]


def _open(path: Path) -> Path | None:
    """The path without what is always true; None where something is false."""
    kept: list[Condition] = []
    for condition in path.conditions:
        truth = condition.decided()
        if truth is False:
            return None
        if truth is None:
            kept.append(condition)
    return replace(path, conditions=tuple(kept), output=path.output.folded)


def coins(paths: Sequence[Path]) -> dict[Noise, list[Face]]:
    """The faces of every coin."""
    alone: dict[Noise, set[fmpq]] = {}
    shared: set[Noise] = set()
    for path in paths:
        for condition in path.conditions:
            terms = condition.gap.terms
            for noise in terms:
                assert isinstance(noise, Noise)
                if len(terms) == 1:
                    alone.setdefault(noise, set()).add(-condition.gap.const / terms[noise])
                else:
                    shared.add(noise)
        shared.update(v for leaf in path.output.leaves for v in leaf.value.terms)  # type: ignore[misc]
    met = {**alone, **_ordered(shared)}
    found = {noise: _faces(noise, alone, noise in shared) for noise in met}
    return {noise: faces for noise, faces in found.items() if faces}


def _ordered(noises: set[Noise]) -> dict[Noise, None]:
    return dict.fromkeys(sorted(noises, key=lambda noise: noise.index))


def _faces(noise: Noise, alone: Mapping[Noise, set[fmpq]], shared: bool) -> list[Face]:
    law = noise.law
    if isinstance(law, Table) and len(law.weights) <= MAX_FACES:
        return [(fmpq(k), weight) for k, weight in enumerate(law.weights)]
    if isinstance(law, Integers) and law.count <= MAX_FACES:
        return [(fmpq(k), 1 / law.count) for k in range(int(law.count.p))]
    if not isinstance(law, Uniform) or shared:
        return []
    cuts = [ZERO, *sorted(t for t in alone[noise] if 0 < t < law.scale), law.scale]
    return [((a + b) / 2, (b - a) / law.scale) for a, b in itertools.pairwise(cuts)]
