"""The coupling argument: an alignment for every pair of neighbouring inputs by itself.

Each pair comes with one program of a number t: at t = 0 it is the mechanism on the one input, at
t = 1 on the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from flint import fmpq

from dpest.verify.alignment import Aligned, read_neighbors, total_price
from dpest.verify.coverage import ASSUMED, PROVED, coverage
from dpest.verify.finite import finite_inputs, related
from dpest.verify.model import Model, fields, items, place, read_model, two
from dpest.verify.price import ONE, ZERO, Malformed

UNIT = {"kind": "reals", "size": 1, "low": "0", "high": "1"}
ENDS = {"kind": "pairs", "listed": [[["0"], ["1"]]]}


@dataclass(frozen=True)
class Coupled:
    """The dearest pair and its alignment."""

    names: tuple[str, str]
    model: Model
    found: Aligned
    pairs: int
    coverage: str


def coupled(program: Any, neighbors: Any, alignments: Any) -> Coupled:
    """What the alignments prove; raises where one is wrong or a pair is missing."""
    inputs, members = fields(program, "inputs", "members")
    names, points = finite_inputs(inputs)
    wanted = {frozenset(pair) for pair in related(neighbors, points, len(names))}
    if len(items(alignments)) != len(items(members)):
        raise Malformed("every pair needs its alignment")
    best: Coupled | None = None
    seen: set[frozenset[int]] = set()
    covered = PROVED
    programs: dict[int, Any] = {}
    for member, alignment in zip(members, alignments, strict=True):
        pair, data = fields(member, "pair", "program")
        one, other = (place(k, len(names)) for k in two(pair))
        model = read_model(data)
        same_everywhere(programs, (one, other), model)
        found = total_price(model, read_neighbors(ENDS, model), alignment)
        seen.add(frozenset((one, other)))
        covered = covered if coverage(model) == PROVED else ASSUMED
        if best is None or best.found.price < found.price:
            best = Coupled((names[one], names[other]), model, found, len(members), covered)
    if best is None or not wanted <= seen or len(seen) != len(members):
        raise Malformed("the pairs are not those of the neighbours")
    return Coupled(best.names, best.model, best.found, best.pairs, covered)


def same_everywhere(programs: dict[int, Any], names: tuple[int, int], model: Model) -> None:
    """Note which programs the model joins; refuse one that is another program elsewhere."""
    if model.domain.size != 1 or (model.domain.low, model.domain.high) != (0, 1):
        raise Malformed("a pair whose program is not one of a number from 0 to 1")
    if model.extremes:
        raise Malformed("joined programs have no extremes")
    for name, t in zip(names, (ZERO, ONE), strict=True):
        if programs.setdefault(name, _end(model, t)) != _end(model, t):
            raise Malformed(f"number {name} is not the same program everywhere")


def _end(model: Model, t: fmpq) -> Any:
    """The program at t, written out."""
    lines = [(k.const + t * k.inputs.get(0, ZERO), k.noise) for k in model.lines]

    def part(p: int) -> Any:
        found = model.parts[p]
        return (
            [(lines[left], lines[right], strict) for left, right, strict in found.when],
            [(lines[k], [lines[m] for m in model.groups[group]]) for k, group in found.beats],
            [(place, lines[k]) for place, k in found.out],
        )

    return model.noise, [(path.returns, [part(p) for p in path.parts]) for path in model.paths]
