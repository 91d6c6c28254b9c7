"""Subsampling: what is lost when coins decide whether an input has a say, input by input.

For every input the coins are found that decide whether it is used; the branches that use it are
handed on to those that do not. See `dpest.verify.subsampling` for what that proves. No domain is
enumerated: what holds at the corners of the box holds inside.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from flint import ctx, fmpq

from dpest.engines.proof.alignment import best_shifts, changes_data
from dpest.engines.proof.choices import choices_data, draws_coins, has_coins
from dpest.engines.proof.clips import clipped
from dpest.engines.proof.deciders import Deciders
from dpest.engines.proof.encode import neighbors_data
from dpest.engines.proof.plans import Plan, above, exactly, shares_of
from dpest.engines.proof.refusal import NoProof
from dpest.engines.proof.rules import Workshop
from dpest.engines.proof.tangents import tangent_of
from dpest.inputs import Integers, Reals
from dpest.neighbors import Neighbors, Pairs
from dpest.program import Program
from dpest.verify.amplified import Loss, Tangent
from dpest.verify.choices import Mechanism, read_mechanism
from dpest.verify.moves import Problem, as_model, gaps_of, involved, matched, swap_price
from dpest.verify.opening import Branch, Openings
from dpest.verify.price import Malformed, Price
from dpest.verify.shift import Wrong
from dpest.verify.subsampling import BITS, Share, loss_of, relation_of, share_of, total_of

MAX_SWAPS = 6_000
FEW = 2
"""Branches are handed on to those that differ from them in so many inputs, where there are some."""


@dataclass(frozen=True)
class SubsamplingProof:
    """The parts of a certificate, and the difference of the inputs that costs most."""

    program: dict[str, Any]
    neighbors: dict[str, Any]
    alignment: dict[str, Any]
    direction: tuple[float, ...]


def prove_subsampling(
    program: Program, inputs: Reals | Integers, neighbors: Neighbors
) -> SubsamplingProof | None:
    """Coins and plans for every input; None where no coin is thrown or none can be credited."""
    if isinstance(neighbors, Pairs) or not draws_coins(program):
        return None
    inside, clip = clipped(program) or (program, None)
    bounded = clip is not None or all(map(math.isfinite, inputs.bounds()))
    if not bounded or not has_coins(inside):
        return None
    data, relation = choices_data(inside, inputs, clip), neighbors_data(neighbors)
    try:
        with ctx.workprec(BITS):
            return _proved(data, relation)
    except (Malformed, Wrong) as reason:
        raise NoProof(str(reason)) from None


def _proved(data: dict[str, Any], relation: dict[str, Any]) -> SubsamplingProof:
    mechanism = read_mechanism(data)
    norm, radius, domain = relation_of(mechanism, relation)
    work = _Workshop(Openings(mechanism))
    found = [work.amplified(i) for i in range(mechanism.size)]
    if not any(one.plan for one in found):
        raise NoProof("no coin decides whether an input has a say")
    losses = [one.loss for one in found]
    tangent = None
    far = min(radius, domain.width) if domain.width is not None else radius
    if norm == "l1" and not domain.integral:
        tangent = tangent_of(losses, radius, far)
    total = total_of(mechanism, relation, losses, tangent)
    if float(total) > _LARGEST:
        raise NoProof("the loss is too large to be written as a ratio")
    alignment = {
        "inputs": [{"coins": list(one.coins), "plan": _plan_data(one.plan)} for one in found],
        "shifts": [], "tangent": _tangent_data(tangent), "bound": str(above(total.exp())),
    }  # fmt: skip
    alignment["shifts"] = work.listed(found)
    return SubsamplingProof(
        data, relation, alignment, _direction(losses, norm, radius, far, tangent)
    )


_LARGEST = 500.0


@dataclass(frozen=True)
class _Amplified:
    """The coins of an input, its plan, and what it loses then."""

    coins: tuple[int, ...]
    plan: Plan
    share: Share
    loss: Loss


@dataclass
class _Workshop:
    """Shifts for all moves that were asked about."""

    openings: Openings
    shifts: dict[Problem, tuple[Price, dict[str, Any]] | None] = field(default_factory=dict)

    @property
    def mechanism(self) -> Mechanism:
        return self.openings.mechanism

    @cached_property
    def deciders(self) -> Deciders:
        """The coins of every input."""
        return Deciders(self.openings)

    def price(self, problem: Problem) -> Price:
        if problem not in self.shifts:
            self.shifts[problem] = self._solved(problem)
        found = self.shifts[problem]
        if found is None:
            raise Wrong("no shift of the noise keeps a path")
        return found[0]

    def _solved(self, problem: Problem) -> tuple[Price, dict[str, Any]] | None:
        model, part, near = as_model(problem, self.mechanism.model.domain.integral)
        try:
            price, changes = best_shifts(Workshop(model), part, near)
        except NoProof:
            return None
        return price, changes_data(changes)

    def amplified(self, i: int) -> _Amplified:
        """With the coins that decide about x[i], if a plan is found for them."""
        for coins in dict.fromkeys((self.deciders.of(i), ())):
            try:
                share = share_of(self.openings, i, coins)
                plan = self._plan(share) if coins else []
                loss = loss_of(self.mechanism, i, share, plan, self.price)
                return _Amplified(coins, plan, share, loss)
            except (NoProof, Wrong, Malformed) as reason:
                why = reason
        raise NoProof(str(why))

    def _plan(self, share: Share) -> Plan:
        """The plan with the smallest factor."""
        if not share.used or not share.unused:
            return []
        prices = self._swaps(share)
        g = share.probability
        used = {u: w / g for u, w in share.used.items()}
        unused = {v: w / (1 - g) for v, w in share.unused.items()}
        if {u for u, _ in prices} != used.keys():
            raise NoProof("a branch that uses an input resembles none that does not")
        factors = [math.exp(float(price)) for price in prices.values()]
        pairs = list(prices)
        return exactly(pairs, shares_of(pairs, factors, used, unused), used)

    def _swaps(self, share: Share) -> dict[tuple[int, int], Price]:
        """What it costs to pass between branches that differ in few inputs."""
        if len(share.used) * len(share.unused) > MAX_SWAPS:
            raise NoProof("the coins leave too many branches")
        found = {}
        for u in share.used:
            apart = {v: self._apart(share.branches[u], share.branches[v]) for v in share.unused}
            near = {v: count for v, count in apart.items() if count is not None}
            most = max(FEW, min(near.values(), default=0))
            for v in (v for v, count in near.items() if count <= most):
                try:
                    one, other = share.branches[u], share.branches[v]
                    found[u, v] = swap_price(self.mechanism, one, other, self.price)
                except (Wrong, Malformed):
                    continue
        return found

    @staticmethod
    def _apart(one: Branch, other: Branch) -> int | None:
        """In how many inputs two branches differ; None where their paths do not correspond."""
        try:
            pairs = matched(one, other)
        except Wrong:
            return None
        return len(involved(gap for pair in pairs for gap in gaps_of(*pair)))

    def listed(self, found: Sequence[_Amplified]) -> list[dict[str, Any]]:
        """The shifts for the moves that the checker meets, in its order."""
        met: dict[Problem, None] = {}

        def price(problem: Problem) -> Price:
            met[problem] = None
            return self.price(problem)

        for i, one in enumerate(found):
            loss_of(self.mechanism, i, one.share, one.plan, price)
        return [self.shifts[problem][1] for problem in met]  # type: ignore[index]


def _plan_data(plan: Plan) -> list[list[Any]]:
    return [[u, v, str(share)] for u, v, share in plan]


def _tangent_data(tangent: Tangent | None) -> Mapping[str, Any] | None:
    if tangent is None:
        return None
    return {"slope": str(tangent.slope), "at": [str(t) for t in tangent.at]}


def _direction(
    losses: Sequence[Loss], norm: str, radius: fmpq, far: fmpq, tangent: Tangent | None
) -> tuple[float, ...]:
    """How far each input goes where neighbours lose most."""
    if tangent is not None:
        return tuple(_float(t) for t in tangent.at)
    if norm != "l1":
        return (_float(far),) * len(losses)
    left, moves = radius, [0.0] * len(losses)
    for i in sorted(range(len(losses)), key=lambda i: -float(losses[i].at(fmpq(1)))):
        moves[i] = _float(min(left, far))
        left -= min(left, far)
    return tuple(moves)


def _float(value: fmpq) -> float:
    return int(value.p) / int(value.q)
