"""The mixture argument: coins choose between branches, and neighbours are compared as a whole.

At an input the mechanism is a mixture: branch u with probability w_u. Where an alignment of cost
c_uv leads from branch u to branch v, no event is more than e^c_uv times as likely in u as in v. A
plan hands every branch of one input on to branches of the other: shares T_uv >= 0 that sum to w_u
over v. If for every branch v the shares that it gets, each times e^c_uv, are at most L w'_v, then
P(E) = sum_uv T_uv P_u(E) <= sum_uv T_uv e^c_uv P'_v(E) <= L sum_v w'_v P'_v(E) = L P'(E).

With one coin of probability g that lets a record in or not, this gives ln(1 + g (e^eps - 1)).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flint import arb, ctx, fmpq

from dpest.verify.alignment import read_neighbors, total_price
from dpest.verify.couplings import ENDS, same_everywhere
from dpest.verify.coverage import ASSUMED, PROVED, coverage
from dpest.verify.finite import finite_inputs, related
from dpest.verify.model import fields, items, place, read_model, two
from dpest.verify.price import ONE, ZERO, Malformed, Price, rational
from dpest.verify.shift import Wrong

_BITS = 256
Mix = Mapping[int, fmpq]
Prices = Mapping[tuple[int, int], Price]
Plan = Sequence[tuple[int, int, fmpq]]


@dataclass(frozen=True)
class Mixed:
    """The bound, and the pair of inputs where it is largest with its plan."""

    price: Price
    names: tuple[str, str]
    weights: tuple[int, int]
    plan: Plan
    prices: Prices
    pairs: int
    coverage: str


def mixed(program: Any, neighbors: Any, alignment: Any) -> Mixed:
    """What the plans prove; raises where one is wrong or a pair is missing."""
    inputs, mixtures, joined = fields(program, "inputs", "mixtures", "joined")
    shifts, plans = fields(alignment, "shifts", "plans")
    names, points = finite_inputs(inputs)
    mixes = [_mix(mix) for mix in items(mixtures)]
    if len(mixes) != len(names):
        raise Malformed("the mixtures are not those of the inputs")
    prices, seen = _prices(items(joined), items(shifts))
    best: Mixed | None = None
    done: set[frozenset[int]] = set()
    for entry in items(plans):
        pair, bound, *both = fields(entry, "pair", "bound", "forward", "backward")
        one, other = (place(k, len(names)) for k in two(pair))
        limit = rational(bound)
        read = [[read_share(share) for share in items(plan)] for plan in both]
        _check_plan(read[0], prices, mixes[one], mixes[other], limit)
        _check_plan(read[1], prices, mixes[other], mixes[one], limit)
        done.add(frozenset((one, other)))
        found = Price.ln(max(limit, ONE))
        if best is None or best.price < found:
            best = Mixed(found, (names[one], names[other]), (len(mixes[one]), len(mixes[other])),
                         read[0], prices, len(plans), seen)  # fmt: skip
    wanted = {frozenset(pair) for pair in related(neighbors, points, len(names))}
    if best is None or done != wanted or len(done) != len(plans):
        raise Malformed("the pairs are not those of the neighbours")
    return best


def _mix(data: Any) -> Mix:
    mix: dict[int, fmpq] = {}
    for entry in items(data):
        branch, weight = two(entry)
        if place(branch, 1 << 30) in mix or rational(weight) <= 0:
            raise Malformed("a branch that is listed twice, or without a probability")
        mix[branch] = rational(weight)
    if sum(mix.values(), ZERO) != 1:
        raise Malformed("branches whose probabilities do not sum to one")
    return mix


def read_share(data: Any) -> tuple[int, int, fmpq]:
    if len(items(data)) != 3:
        raise Malformed("a share needs two branches and a number")
    share = rational(data[2])
    if share <= 0:
        raise Malformed("a share that is not positive")
    return place(data[0], 1 << 30), place(data[1], 1 << 30), share


def _prices(joined: list[Any], shifts: list[Any]) -> tuple[dict[tuple[int, int], Price], str]:
    """The price between any two branches that are aligned, and whether the paths cover all."""
    if len(joined) != len(shifts):
        raise Malformed("every two joined branches need their alignment")
    prices: dict[tuple[int, int], Price] = {}
    programs: dict[int, Any] = {}
    covered = PROVED
    for entry, alignment in zip(joined, shifts, strict=True):
        ends, data = fields(entry, "ends", "program")
        u, v = (place(k, 1 << 30) for k in two(ends))
        model = read_model(data)
        same_everywhere(programs, (u, v), model)
        found = total_price(model, read_neighbors(ENDS, model), alignment)
        covered = covered if coverage(model) == PROVED else ASSUMED
        if u == v or (u, v) in prices:
            raise Malformed("two branches that are joined twice, or one with itself")
        prices[(u, v)] = prices[(v, u)] = found.price
    return prices, covered


def _check_plan(plan: Plan, prices: Prices, one: Mix, other: Mix, bound: fmpq) -> None:
    handed = dict.fromkeys(one, ZERO)
    for u, v, share in plan:
        if u not in one or v not in other:
            raise Malformed("a share of a branch that the input does not have")
        if u != v and (u, v) not in prices:
            raise Wrong(f"branch {u} is handed on to branch {v} without an alignment")
        handed[u] += share
    if handed != one:
        raise Wrong("a branch is not handed on whole")
    known = {**prices, **{(u, u): Price() for u in one}}
    for v, weight in other.items():
        if not excess(plan, known, v, weight) <= arb(bound):
            raise Wrong(f"branch {v} gets more than {bound} times its probability")


def excess(plan: Plan, prices: Prices, v: int, weight: fmpq) -> arb:
    """The shares that a branch gets, each times its price, in multiples of its probability."""
    before = ctx.prec
    ctx.prec = _BITS
    try:
        return sum(_loads(plan, prices, v), arb(0)) / arb(weight)
    finally:
        ctx.prec = before


def _loads(plan: Plan, prices: Prices, v: int) -> Iterable[arb]:
    for u, to, share in plan:
        if to == v:
            yield arb(share) * prices[(u, v)].ball().exp()
