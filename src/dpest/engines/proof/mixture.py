"""Mixtures: what is lost when coins choose between programs, as in subsampling.

At an input the mechanism is a mixture of branches. Every pair of branches of two neighbours has
its alignment, and a plan says which share of each branch answers for which branch of the
neighbour; see `dpest.verify.mixture` for what that proves. The best plan is a linear program.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

from flint import fmpq

from dpest.engines.proof.alignment import align
from dpest.engines.proof.branches import Branch, at, branches, coins
from dpest.engines.proof.coupling import MAX_PAIRS, ends_data, joined, name_of
from dpest.engines.proof.plans import Mix, Plan, above, exactly, shares_of
from dpest.engines.proof.refusal import NoProof
from dpest.engines.proof.related import finite_inputs, finite_relation, related
from dpest.inputs import Inputs
from dpest.neighbors import Neighbors
from dpest.program import Linear, Path, Program
from dpest.verify.couplings import ENDS
from dpest.verify.mixture import excess
from dpest.verify.price import Price

MAX_PLAN = 4_000


@dataclass(frozen=True)
class MixtureProof:
    """The parts of a certificate, the bound, and the worst pair."""

    program: dict[str, Any]
    neighbors: dict[str, Any]
    alignment: dict[str, Any]
    pair: tuple[int, int]


def prove_mixture(
    programs: Sequence[tuple[Any, Program]], inputs: Inputs, neighbors: Neighbors
) -> MixtureProof | None:
    """A plan for every pair of neighbours; None where no coin is thrown."""
    listed = related(programs, inputs, neighbors)
    if len(listed) > MAX_PAIRS:
        raise NoProof(f"there are more than {MAX_PAIRS} pairs of neighbours")
    closed = [at(program, x) for x, program in programs]
    if not any(map(coins, closed)):
        return None
    work = _Workshop()
    mixes = _Mixes(work, closed)
    plans, worst, bound = [], listed[0], fmpq(0)
    for one, other in listed:
        plan = work.plan(mixes[one], mixes[other])
        plans.append({"pair": [one, other], **plan})
        if fmpq(plan["bound"]) > bound:
            worst, bound = (one, other), fmpq(plan["bound"])
    mixtures = [[[u, str(w)] for u, w in mixes[k].items()] for k in range(len(closed))]
    return MixtureProof(
        {"inputs": finite_inputs(inputs), "mixtures": mixtures, "joined": work.joined},
        finite_relation([x for x, _ in programs], inputs, neighbors),
        {"shifts": work.shifts, "plans": plans}, worst,
    )  # fmt: skip


class _Mixes:
    """The mixture at each input, made when it is asked for."""

    def __init__(self, work: _Workshop, closed: Sequence[tuple[Path, ...]]) -> None:
        self._work, self._closed = work, closed
        self._known: dict[int, Mix] = {}

    def __getitem__(self, k: int) -> Mix:
        if k not in self._known:
            self._known[k] = self._work.mix(branches(self._closed[k]))
        return self._known[k]


@dataclass
class _Workshop:
    """The branches and their alignments, shared by all pairs of inputs."""

    known: dict[Hashable, int] = field(default_factory=dict)
    programs: list[tuple[Path, ...]] = field(default_factory=list)
    prices: dict[tuple[int, int], Price | None] = field(default_factory=dict)
    plans: dict[Hashable, dict[str, Any]] = field(default_factory=dict)
    joined: list[dict[str, Any]] = field(default_factory=list)
    shifts: list[dict[str, Any]] = field(default_factory=list)

    def mix(self, found: Sequence[Branch]) -> Mix:
        mix: dict[int, fmpq] = {}
        for branch in found:
            key = _signature(branch.paths)
            if key not in self.known:
                self.known[key] = len(self.programs)
                self.programs.append(branch.paths)
            u = self.known[key]
            mix[u] = mix.get(u, fmpq(0)) + branch.weight
        return mix

    def price(self, u: int, v: int) -> Price | None:
        """What moving from one branch to another costs, either way; None where nothing does it."""
        if u == v:
            return Price()
        if (u, v) not in self.prices:
            self.prices[(u, v)] = self.prices[(v, u)] = self._aligned(min(u, v), max(u, v))
        return self.prices[(u, v)]

    def _aligned(self, u: int, v: int) -> Price | None:
        try:
            both = joined(Program((), self.programs[u]), Program((), self.programs[v]))
            data = ends_data(both)
            found = align(data, ENDS)
        except NoProof:
            return None
        self.joined.append({"ends": [u, v], "program": data})
        self.shifts.append(found.data)
        return found.total

    def plan(self, one: Mix, other: Mix) -> dict[str, Any]:
        key = (tuple(one.items()), tuple(other.items()))
        if key not in self.plans:
            forward, there = self._transport(one, other)
            backward, back = self._transport(other, one)
            self.plans[key] = {
                "bound": str(max(there, back)),
                "forward": [[u, v, str(share)] for u, v, share in forward],
                "backward": [[u, v, str(share)] for u, v, share in backward],
            }
        return self.plans[key]

    def _transport(self, one: Mix, other: Mix) -> tuple[Plan, fmpq]:
        """The plan with the smallest bound, in exact shares, and a rational just above it."""
        if len(one) * len(other) > MAX_PLAN:
            raise NoProof("the coins leave too many branches")
        found = {(u, v): self.price(u, v) for u in one for v in other}
        routes_ = [pair for pair, price in found.items() if price is not None]
        factors = [math.exp(float(found[pair])) for pair in routes_]  # type: ignore[arg-type]
        shares = shares_of(routes_, factors, one, other)
        plan = exactly(routes_, shares, one)
        prices = {pair: found[pair] for pair in routes_}
        loads = [excess(plan, prices, v, other[v]) for v in other]  # type: ignore[arg-type]
        return plan, above(max(loads, key=float))


def _signature(paths: Sequence[Path]) -> Hashable:
    """What a branch is, whatever input it was traced at."""
    return tuple(
        (
            path.output.skeleton,
            tuple((_line(c.left), _line(c.right), c.strict) for c in path.conditions),
            tuple((_line(leaf.value), leaf.kind) for leaf in path.output.leaves),
        )
        for path in paths
    )


def _line(line: Linear) -> Hashable:
    terms = sorted(((name_of(v), str(c)) for v, c in line.terms.items()), key=repr)
    return str(line.const), tuple(terms)
