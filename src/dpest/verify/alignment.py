"""The alignment argument: what a whole certificate of shifts proves.

On every path the noise is shifted by an invertible map that preserves volume, such that at the
neighbouring input the same path returns the same output. The density changes by at most the price
of the path, so the mechanism loses at most the largest price of a path. This relies on the paths
being disjoint and covering everything, and on independent draws.

rule: shifts that are linear in the difference of the inputs, checked over the whole ball.
steps: shifts for a change of one input, upward or downward; a walk from one input to a neighbour
changes one entry after another, each by no more than the domain is wide, and the prices add up.
corners: shifts for every corner of the box of differences, see `dpest.verify.corners`.
pairs: shifts for every listed pair of inputs, in both directions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cmp_to_key
from typing import Any

from flint import fmpq

from dpest.verify.corners import corner_prices, direction, signs_of, within
from dpest.verify.joint import joint_price
from dpest.verify.model import Model, Terms, fields, flag, items, place, terms, two
from dpest.verify.price import ONE, Malformed, Price, rational
from dpest.verify.reach import Form, Neighborhood
from dpest.verify.shift import Wrong, part_price

Changes = Mapping[int, Form]
Step = tuple[int, bool]


def read_neighbors(data: Any, model: Model) -> tuple[str, Any]:
    """(kind, radius or list of pairs)."""
    kind = data.get("kind") if isinstance(data, Mapping) else None
    if kind in ("l1", "linf", "l2"):
        radius = rational(fields(data, "kind", "radius")[1])
        if radius <= 0:
            raise Malformed("a radius that is not positive")
        return kind, radius
    if kind == "any":
        fields(data, "kind")
        return kind, None
    if kind != "pairs":
        raise Malformed(f"{kind!r} is not a neighbour relation")
    listed = items(fields(data, "kind", "listed")[1])
    return kind, [tuple(_input(x, model) for x in two(pair)) for pair in listed]


def _input(data: Any, model: Model) -> list[fmpq]:
    numbers = [rational(x) for x in items(data)]
    domain = model.domain
    if len(numbers) != domain.size:
        raise Malformed("an input of the wrong size")
    for x in numbers:
        outside = (domain.low is not None and x < domain.low) or (
            domain.high is not None and x > domain.high
        )
        if outside or (domain.integral and x.q != 1):
            raise Malformed(f"the input {x} is not in the domain")
    return numbers


def ball(model: Model, kind: str, radius: fmpq | None) -> tuple[str, fmpq | None]:
    """The smallest ball of a norm that holds every difference of neighbouring inputs."""
    domain = model.domain
    if kind == "any":
        return "linf", domain.width
    assert radius is not None
    if domain.integral and (kind != "l2" or domain.size == 1):
        radius = fmpq(radius.floor())
    if domain.width is not None and (kind == "linf" or domain.size == 1):
        radius = min(radius, domain.width)
    if domain.width is not None and kind == "l2" and radius**2 >= domain.size * domain.width**2:
        return "linf", domain.width
    return ("linf" if domain.size == 1 else kind), radius


def directions(listed: Iterable[tuple[list[fmpq], list[fmpq]]]) -> list[Terms]:
    """The differences of the pairs, each in both directions."""
    result = []
    for x, y in listed:
        for a, b in ((x, y), (y, x)):
            moves = {i: q - p for i, (p, q) in enumerate(zip(a, b, strict=True))}
            result.append({i: d for i, d in moves.items() if d != 0})
    return result


# -- reading shifts ---------------------------------------------------------------------------


def read_changes(data: Any, model: Model, with_d: bool) -> Changes:
    """The shift of every draw that is shifted."""
    if not isinstance(data, Mapping):
        raise Malformed("expected shifts by draw")
    result = {}
    for key, value in data.items():
        (j,) = terms({key: "1"}, len(model.noise))
        const, d, extremes = fields(value, "const", optional=("d", "extremes"))
        form = Form(
            rational(const), terms(d or {}, model.domain.size),
            terms(extremes or {}, len(model.extremes)),
        )  # fmt: skip
        if form.is_zero or (form.d and not with_d):
            raise Malformed("a shift by nothing, or one that depends on what is fixed")
        result[j] = form
    return result


def _read_steps(data: Any, model: Model) -> dict[Step, Changes]:
    result = {}
    for entry in items(data):
        if len(items(entry)) != 3:
            raise Malformed("a step needs an input, a direction and shifts")
        step = (place(entry[0], model.domain.size), flag(entry[1]))
        if step in result:
            raise Malformed("a step is listed twice")
        result[step] = read_changes(entry[2], model, with_d=False)
    return result


# -- the totals -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Aligned:
    """What an alignment proves, and the dearest path with its shifts."""

    price: Price
    path: int
    near: Neighborhood
    changes: Changes
    radius: fmpq | None = None
    """How far apart neighbours are, where the shifts are those of a step by one."""
    within: fmpq | None = None
    """How far an entry can change, where that limits the price."""
    corners: bool = False
    """Whether the shifts are those of one corner, and others are mixtures of them."""


def total_price(model: Model, neighbors: tuple[str, Any], data: Any) -> Aligned:
    """What the alignment proves; raises `Wrong` or `Malformed` where it does not hold."""
    kind, shifts = fields(data, "kind", "shifts")
    if len(items(shifts)) != len(model.parts):
        raise Malformed("every part needs its shifts")
    relation, extent = neighbors
    if (kind == "pairs") != (relation == "pairs"):
        raise Malformed("shifts for pairs belong to neighbours that are pairs")
    if kind == "pairs":
        return _pairs_total(model, directions(extent), shifts)
    norm, radius = ball(model, relation, extent)
    if kind == "rule":
        return _rule_total(model, Neighborhood(norm, radius), shifts)
    if kind == "corners" and norm == "linf" and radius is not None:
        return _corners_total(model, radius, shifts)
    if kind != "steps":
        raise Malformed(f"{kind!r} is not a kind of alignment")
    if norm != "l1" and model.domain.size > 1:
        raise Malformed("a walk in single steps is for neighbours in the sum of differences")
    return _steps_total(model, radius, shifts)


def _rule_total(model: Model, near: Neighborhood, shifts: list[Any]) -> Aligned:
    read = [read_changes(data, model, with_d=True) for data in shifts]
    prices = [part_price(model, p, near, c) for p, c in zip(model.parts, read, strict=True)]
    price, path = worst_rule(model, near, prices, read)
    return Aligned(price, path, near, _on_path(model, path, read))


def _on_path(model: Model, path: int, changes: Sequence[Changes]) -> Changes:
    return {j: form for p in model.paths[path].parts for j, form in changes[p].items()}


def worst_path(model: Model, prices: list[Price]) -> tuple[Price, int]:
    """The dearest path and its price, given the price of every part."""
    best, where = Price(), 0
    for number, path in enumerate(model.paths):
        price = sum_of(prices[p] for p in path.parts)
        if best < price:
            best, where = price, number
    return best, where


def worst_rule(
    model: Model, near: Neighborhood, prices: list[Price], changes: Sequence[Changes]
) -> tuple[Price, int]:
    """The dearest path; one difference of the inputs has to serve all shifts of a path."""
    if near.norm not in ("l2", "linf") or near.direction is not None:
        return worst_path(model, prices)
    best, where = Price(), 0
    for number, path in enumerate(model.paths):
        price = sum_of(prices[p] for p in path.parts)
        if not best < price:
            continue
        joint = joint_price(model, near, _on_path(model, number, changes))
        if joint is not None and joint < price:
            price = joint
        if best < price:
            best, where = price, number
    return best, where


def sum_of(prices: Iterable[Price]) -> Price:
    total = Price()
    for price in prices:
        total = total + price
    return total


def _steps_total(model: Model, radius: fmpq | None, shifts: list[Any]) -> Aligned:
    read = [_read_steps(data, model) for data in shifts]
    prices = [step_prices(model, p, listed) for p, listed in zip(model.parts, read, strict=True)]
    total, path, step = worst_walk(model, prices, radius)
    if step is None or radius is None:
        return Aligned(Price(), path, Neighborhood("step", None, {}), {}, radius)
    near = Neighborhood("step", None, {step[0]: fmpq(1 if step[1] else -1)})
    changes = _on_path(model, path, [listed.get(step, {}) for listed in read])
    width = model.domain.width
    within = width if width is not None and width < radius else None
    return Aligned(total, path, near, changes, radius, within)


def step_prices(model: Model, part: Any, listed: Mapping[Step, Changes]) -> dict[Step, Price]:
    """The price of every step that moves a line of the part; the others need no shift."""
    inputs = inputs_of(model, part)
    steps = {(i, up) for i in inputs for up in (False, True)}
    if not listed.keys() <= steps:
        raise Malformed("shifts for a step that does not touch the part")
    result = {}
    for i, up in sorted(steps):
        near = Neighborhood("step", None, {i: fmpq(1 if up else -1)})
        result[(i, up)] = part_price(model, part, near, listed.get((i, up), {}))
    return result


def inputs_of(model: Model, part: Any) -> set[int]:
    found: set[int] = set()
    pending = list(model.line_ids(part))
    seen: set[int] = set()
    while pending:
        k = pending.pop()
        if k in seen:
            continue
        seen.add(k)
        found.update(model.lines[k].inputs)
        for z in model.lines[k].extremes:
            found.update(model.extremes[z].by)
            pending += model.extremes[z].of
    return found


def worst_walk(
    model: Model, prices: list[dict[Step, Price]], radius: fmpq | None
) -> tuple[Price, int, Step | None]:
    """The price of the dearest walk, its path, and the dearest step of that path."""
    best, where, which = Price(), 0, None
    for number, path in enumerate(model.paths):
        totals: dict[Step, Price] = {}
        for p in path.parts:
            for step, price in prices[p].items():
                totals[step] = totals[step] + price if step in totals else price
        for step, price in _walks(totals, radius, model.domain.width):
            if best < price:
                best, where, which = price, number, step
    if radius is None and which is not None:
        raise Wrong("two neighbours can be arbitrarily far apart")
    return best, where, which


def _walks(
    totals: Mapping[Step, Price], radius: fmpq | None, width: fmpq | None
) -> Iterable[tuple[Step, Price]]:
    """The price of the whole way in one entry; of one walk where no entry can go that far.

    On that walk the dearest entries change first, as far as the domain and the relation let them.
    """
    if radius is None or width is None or width >= radius:
        way = ONE if radius is None else radius
        return ((step, price if way == 1 else price.scaled(way)) for step, price in totals.items())
    entries: dict[int, tuple[Step, Price]] = {}
    for step, price in totals.items():
        if step[0] not in entries or entries[step[0]][1] < price:
            entries[step[0]] = (step, price)
    order = cmp_to_key(lambda one, other: (other[1] - one[1]).sign())  # type: ignore[index]
    dearest = sorted(entries.values(), key=order)
    total, left = Price(), radius
    for _, price in dearest:
        total, left = total + price.scaled(min(width, left)), left - min(width, left)
    return [(dearest[0][0], total)] if dearest else []


def _corners_total(model: Model, radius: fmpq, shifts: list[Any]) -> Aligned:
    read: list[dict[str, Changes]] = []
    for data in shifts:
        if not isinstance(data, Mapping):
            raise Malformed("expected shifts by corner")
        read.append({c: read_changes(value, model, with_d=False) for c, value in data.items()})
    prices = [
        corner_prices(model, part, inputs_of(model, part), radius, listed)
        for part, listed in zip(model.parts, read, strict=True)
    ]
    total, path, near, own = worst_corner(model, prices, radius)
    changes = {
        j: form
        for p, signs in own.items()
        for j, form in read[p].get(signs, {}).items()
    }
    return Aligned(total, path, near, changes, corners=True)


def worst_corner(
    model: Model, prices: list[dict[str, Price]], radius: fmpq
) -> tuple[Price, int, Neighborhood, dict[int, str]]:
    """The dearest path and corner, and what the corner is for each of its parts."""
    inputs = [inputs_of(model, part) for part in model.parts]
    best, where, near, own = Price(), 0, Neighborhood("pair", None, {}), dict[int, str]()
    for number, path in enumerate(model.paths):
        met = set().union(*(inputs[p] for p in path.parts))
        for signs in signs_of(met):
            kept = {p: within(signs, met, inputs[p]) for p in path.parts}
            price = sum_of(prices[p][corner] for p, corner in kept.items())
            if best < price:
                best, where, own = price, number, kept
                near = Neighborhood("pair", None, direction(met, signs, radius))
    return best, where, near, own


def _pairs_total(model: Model, moves: list[Terms], shifts: list[Any]) -> Aligned:
    if any(len(items(row)) != len(moves) for row in shifts):
        raise Malformed("every direction of every pair needs its shifts")
    best: Aligned | None = None
    for column, d in enumerate(moves):
        near = Neighborhood("pair", None, d)
        found = _rule_total(model, near, [row[column] for row in shifts])
        if best is None or best.price < found.price:
            best = found
    if best is None:
        raise Malformed("no pairs are listed")
    return best
