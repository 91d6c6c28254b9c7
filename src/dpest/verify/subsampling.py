"""The subsampling argument: coins decide whether an input has a say.

Fix an input x[i] and open the coins that decide whether it is used. With probability g they fall
such that it is, and the mechanism is A(x); else it is O(x), which x[i] does not change. Let

(1) a change of x[i] by t cost at most c = p t in every branch of A: A(x) <= e^c A(x');
(2) every branch of A(x) be handed on to branches of O(x), in shares and at prices such that no
    event is more than K times as likely: A(x) <= K O(x), at every input x of the domain.

For any b between 0 and 1 then P = (1-g) O + g A <= [(1-g) + g K (1-b)] O + g e^c b A', because O is
the same at x and x'. With b = L e^-c both brackets are L times those of P' = (1-g) O + g A', where

    L = [(1-g) + g K] / [(1-g) + g K e^-c] <= e^c.

All other coins fall the same way on both sides. f(t) = ln L is concave, and 0 at 0. An input that
no coin decides loses f(t) = p t. Where several inputs change, they change one after another.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

from flint import arb, ctx, fmpq

from dpest.verify.alignment import ball, read_changes, read_neighbors
from dpest.verify.amplified import Loss, Tangent, total_loss
from dpest.verify.choices import Mechanism, read_mechanism, with_size
from dpest.verify.coverage import coverage
from dpest.verify.mixture import Plan, excess, read_share
from dpest.verify.model import Domain, fields, items, place
from dpest.verify.moves import Prices, Problem, as_model, mentions, step_price, swap_price
from dpest.verify.opening import Branch, Openings, check_closed
from dpest.verify.price import ONE, ZERO, Malformed, Price, largest, rational
from dpest.verify.shift import Wrong, part_price

BITS = 256


@dataclass(frozen=True)
class Share:
    """The branches that use an input and those that do not, with their probabilities."""

    used: Mapping[int, fmpq]
    unused: Mapping[int, fmpq]
    branches: tuple[Branch, ...]

    @property
    def probability(self) -> fmpq:
        """How likely it is that the input is used."""
        return sum(self.used.values(), ZERO)


@dataclass(frozen=True)
class Subsampled:
    """The bound, and the loss of every input with the coins that decide it."""

    price: Price
    losses: tuple[Loss, ...]
    coins: tuple[tuple[int, ...], ...]
    mechanism: Mechanism
    coverage: str


def subsampled(program: Any, neighbors: Any, alignment: Any) -> Subsampled:
    """What the certificate proves; raises where a shift, a plan or the bound is wrong."""
    with ctx.workprec(BITS):
        return _subsampled(program, neighbors, alignment)


def _subsampled(program: Any, neighbors: Any, alignment: Any) -> Subsampled:
    mechanism = read_mechanism(program)
    entries, shifts, tangent, bound = fields(alignment, "inputs", "shifts", "tangent", "bound")
    if len(items(entries)) != mechanism.size:
        raise Malformed("every input needs its coins")
    openings = Openings(mechanism)
    prices = Listed(items(shifts), mechanism.model.domain.integral)
    losses, coins = [], []
    for i, entry in enumerate(entries):
        opened, plan = read_entry(entry, mechanism)
        losses.append(loss_of(mechanism, i, share_of(openings, i, opened), plan, prices))
        coins.append(opened)
    prices.check_all_used()
    price = _bounded(mechanism, neighbors, losses, read_tangent(tangent), rational(bound))
    return Subsampled(price, tuple(losses), tuple(coins), mechanism, coverage(mechanism.model))


def read_entry(data: Any, mechanism: Mechanism) -> tuple[tuple[int, ...], Plan]:
    """The coins of an input and the plan that hands its branches on."""
    coins, plan = fields(data, "coins", "plan")
    opened = tuple(place(j, len(mechanism.model.noise)) for j in items(coins))
    if list(opened) != sorted(set(opened)):
        raise Malformed("coins that are not in order")
    return opened, [read_share(share) for share in items(plan)]


def read_tangent(data: Any) -> Tangent | None:
    if data is None:
        return None
    slope, at = fields(data, "slope", "at")
    return Tangent(rational(slope), tuple(map(rational, items(at))))


class Listed:
    """Shifts by problem, in the order in which the problems are met."""

    def __init__(self, shifts: Sequence[Any], integral: bool) -> None:
        self._shifts = shifts
        self._integral = integral
        self._known: dict[Problem, Price] = {}

    def __call__(self, problem: Problem) -> Price:
        if problem not in self._known:
            if len(self._known) == len(self._shifts):
                raise Malformed("a move without its shifts")
            model, part, near = as_model(problem, self._integral)
            changes = read_changes(self._shifts[len(self._known)], model, with_d=False)
            self._known[problem] = part_price(model, part, near, changes)
        return self._known[problem]

    def check_all_used(self) -> None:
        if len(self._known) != len(self._shifts):
            raise Malformed("shifts for moves that do not occur")


def share_of(openings: Openings, i: int, coins: Sequence[int]) -> Share:
    """The mixture over the faces of the coins, parted by whether x[i] is used."""
    used: dict[int, fmpq] = {}
    unused: dict[int, fmpq] = {}
    found = openings.branches(coins)
    for k, (weight, branch) in enumerate(found):
        check_closed(openings.mechanism, branch, i)
        (used if mentions(branch, i) else unused)[k] = weight
    return Share(used, unused, tuple(branch for _, branch in found))


def loss_of(mechanism: Mechanism, i: int, share: Share, plan: Plan, prices: Prices) -> Loss:
    """What a change of x[i] costs, given the plan; without one, no coin is credited."""
    step = largest(step_price(mechanism, share.branches[u], i, prices) for u in share.used)
    if not plan:
        return Loss(step, ONE if share.used else ZERO, arb(1))
    return Loss(step, share.probability, _factor(mechanism, share, plan, prices))


def _factor(mechanism: Mechanism, share: Share, plan: Plan, prices: Prices) -> arb:
    """How many times as likely an event can be among the branches that use the input."""
    handed = dict.fromkeys(share.used, ZERO)
    known: dict[tuple[int, int], Price] = {}
    for u, v, part in plan:
        if u not in share.used or v not in share.unused or (u, v) in known:
            raise Malformed("a share that is not one of a branch with an input to one without")
        known[u, v] = swap_price(mechanism, share.branches[u], share.branches[v], prices)
        handed[u] += part
    if any(handed[u] * share.probability != weight for u, weight in share.used.items()):
        raise Wrong("a branch is not handed on whole")
    rest = 1 - share.probability
    loads = [excess(plan, known, v, weight / rest) for v, weight in share.unused.items()]
    return reduce(lambda one, other: one.max(other), loads)


def _bounded(
    mechanism: Mechanism, neighbors: Any, losses: Sequence[Loss], tangent: Tangent | None,
    bound: fmpq,
) -> Price:  # fmt: skip
    """The logarithm of the stated bound, if the losses do not come to more."""
    total = total_of(mechanism, neighbors, losses, tangent)
    if bound < 1 or not total.exp() <= arb(bound):
        raise Wrong(f"the inputs lose more than the logarithm of {bound}")
    return Price.ln(bound)


def total_of(
    mechanism: Mechanism, neighbors: Any, losses: Sequence[Loss], tangent: Tangent | None
) -> arb:
    """What all neighbours lose at most."""
    norm, radius, domain = relation_of(mechanism, neighbors)
    return total_loss(losses, norm, radius, domain, tangent)


def relation_of(mechanism: Mechanism, neighbors: Any) -> tuple[str, fmpq, Domain]:
    """The ball that holds all differences of neighbours, and the domain."""
    own = with_size(mechanism)
    relation, extent = read_neighbors(neighbors, own)
    if relation == "pairs":
        raise Malformed("listed pairs are not compared input by input")
    norm, radius = ball(own, relation, extent)
    if radius is None:
        raise Wrong("two neighbours can be arbitrarily far apart")
    return norm, radius, own.domain



