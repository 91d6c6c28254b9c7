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

import highspy
import numpy as np
from flint import arb, fmpq

from dpest.engines.proof.alignment import align
from dpest.engines.proof.branches import Branch, at, branches, coins
from dpest.engines.proof.coupling import MAX_PAIRS, ends_data, joined, name_of
from dpest.engines.proof.linear_program import optimum
from dpest.engines.proof.refusal import NoProof
from dpest.engines.proof.related import finite_inputs, finite_relation, related
from dpest.inputs import Inputs
from dpest.neighbors import Neighbors
from dpest.program import Linear, Path, Program
from dpest.verify.couplings import ENDS
from dpest.verify.mixture import excess
from dpest.verify.price import Price

MAX_PLAN = 4_000
_SHARE = 10**12
Mix = dict[int, fmpq]
"""Probabilities by branch."""
Plan = list[tuple[int, int, fmpq]]


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
    mixes = [work.mix(branches(paths)) for paths in closed]
    plans, worst, bound = [], listed[0], fmpq(0)
    for one, other in listed:
        plan = work.plan(mixes[one], mixes[other])
        plans.append({"pair": [one, other], **plan})
        if fmpq(plan["bound"]) > bound:
            worst, bound = (one, other), fmpq(plan["bound"])
    mixtures = [[[u, str(w)] for u, w in mix.items()] for mix in mixes]
    return MixtureProof(
        {"inputs": finite_inputs(inputs), "mixtures": mixtures, "joined": work.joined},
        finite_relation([x for x, _ in programs], inputs, neighbors),
        {"shifts": work.shifts, "plans": plans}, worst,
    )  # fmt: skip


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
        mix: Mix = {}
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
        shares = _shares(routes_, factors, one, other)
        plan = _exactly(routes_, shares, one)
        prices = {pair: found[pair] for pair in routes_}
        loads = [excess(plan, prices, v, other[v]) for v in other]  # type: ignore[arg-type]
        return plan, _above(max(loads, key=float))


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


def _shares(
    pairs: Sequence[tuple[int, int]], factors: Sequence[float], one: Mix, other: Mix
) -> np.ndarray:
    """Shares in floats: every branch is handed on whole, none gets too much."""
    lp = highspy.HighsLp()
    count, rows = len(pairs), len(one) + len(other)
    lp.num_col_, lp.num_row_ = count + 1, rows
    lp.col_cost_ = np.append(np.zeros(count), 1.0)
    lp.col_lower_, lp.col_upper_ = np.zeros(count + 1), np.full(count + 1, np.inf)
    matrix = np.zeros((rows, count + 1))
    for k, ((u, v), factor) in enumerate(zip(pairs, factors, strict=True)):
        matrix[list(one).index(u), k] = 1.0
        matrix[len(one) + list(other).index(v), k] = factor
    given = np.array([float(arb(w)) for w in one.values()])
    matrix[len(one) :, count] = [-float(arb(w)) for w in other.values()]
    lp.row_lower_ = np.concatenate([given, np.full(len(other), -np.inf)])
    lp.row_upper_ = np.concatenate([given, np.zeros(len(other))])
    point = optimum(lp, [[(int(k), float(row[k])) for k in np.flatnonzero(row)] for row in matrix])
    if point is None:
        raise NoProof("no plan carries the branches of one input over to the other's")
    return point[:-1]


def _exactly(pairs: Sequence[tuple[int, int]], shares: np.ndarray, one: Mix) -> Plan:
    """Rational shares that hand on every branch exactly; its largest share takes the rounding."""
    plan: Plan = []
    for u, weight in one.items():
        mine = [(v, share) for (w, v), share in zip(pairs, shares, strict=True) if w == u]
        largest = max(mine, key=lambda item: item[1])[0]
        rest = weight
        for v, share in mine:
            exact = fmpq(round(share * _SHARE), _SHARE)
            if v != largest and 0 < exact < weight:
                plan.append((u, v, exact))
                rest -= exact
        plan.append((u, largest, rest))
    return plan


def _above(ball: arb) -> fmpq:
    """A rational that is surely above, by a share that no printed digit shows."""
    value = float(ball.upper()) * (1 + 1e-14)
    return fmpq(*value.as_integer_ratio())
