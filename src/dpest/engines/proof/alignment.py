"""Find an alignment for every part, and price the whole."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cmp_to_key
from typing import Any

from flint import fmpq

from dpest.engines.proof.layout import Setting
from dpest.engines.proof.refusal import NoProof
from dpest.engines.proof.rules import MAX_DENSE, Workshop
from dpest.verify.alignment import (
    ball,
    directions,
    inputs_of,
    read_neighbors,
    worst_corner,
    worst_path,
    worst_rule,
    worst_walk,
)  # fmt: skip
from dpest.verify.corners import MAX_INPUTS, direction, signs_of
from dpest.verify.model import Model, Part, Terms, read_model
from dpest.verify.price import Malformed, Price
from dpest.verify.reach import Form, Neighborhood
from dpest.verify.shift import EITHER_WAY, UPWARD, Wrong, part_price

Changes = Mapping[int, Form]
Found = tuple[Price, Changes]


@dataclass(frozen=True)
class Alignment:
    """Shifts for a program, their total price, and where it is highest."""

    model: Model
    data: dict[str, Any]
    total: Price
    path: int
    direction: Terms | None
    radius: fmpq | None
    programs: int


def align(program: dict[str, Any], neighbors: dict[str, Any]) -> Alignment:
    """The cheapest alignment that is found; raises `NoProof` where a part has none."""
    model = read_model(program)
    relation, extent = read_neighbors(neighbors, model)
    work = Workshop(model)
    if relation == "pairs":
        return _for_pairs(work, directions(extent))
    norm, radius = ball(model, relation, extent)
    if norm != "l1" and model.domain.size > 1:
        return _for_ball(work, norm, radius)
    if not any(_is_limited(model, z, radius) for z in range(len(model.extremes))):
        return _for_steps(work, radius)
    return _cheaper(
        lambda: _for_ball(work, norm, radius), lambda: _for_steps(Workshop(model), radius)
    )


def _is_limited(model: Model, z: int, radius: fmpq | None) -> bool:
    """Whether the extreme moves less than neighbours do, or not along with them."""
    width = model.width(z)
    narrow = width is not None and (radius is None or width < radius)
    return narrow or bool(model.extremes[z].by)


def _cheaper(*attempts: Callable[[], Alignment]) -> Alignment:
    found = []
    for attempt in attempts:
        try:
            found.append(attempt())
        except NoProof as reason:
            why = reason
    if not found:
        raise why
    return min(found, key=cmp_to_key(_compared))


def _compared(one: Alignment, other: Alignment) -> int:
    return (one.total - other.total).sign()


def _for_ball(work: Workshop, norm: str, radius: fmpq | None) -> Alignment:
    near = Neighborhood(norm, radius)
    scale = fmpq(1) if radius is None else radius
    found = [
        _best(work, part, near, None, lambda rule: _scaled(rule, scale))
        for part in work.model.parts
    ]
    total, path = worst_rule(
        work.model, near, [price for price, _ in found], [changes for _, changes in found]
    )
    shifts = [changes_data(changes) for _, changes in found]
    data = {"kind": "rule", "shifts": shifts}
    return Alignment(work.model, data, total, path, None, radius, work.programs)


MAX_CORNERS = 2_000


def by_corners(found: Alignment) -> Alignment:
    """A shift for every corner of the box, where that is cheaper than the rule that was found."""
    model, radius = found.model, found.radius
    if found.data["kind"] != "rule" or radius is None or not _has_corners(model):
        return found
    work = Workshop(model)
    prices: list[dict[str, Price]] = []
    shifts: list[dict[str, Any]] = []
    for part in model.parts:
        inputs = inputs_of(model, part)
        best = {}
        for signs in signs_of(inputs):
            d = direction(inputs, signs, radius)
            best[signs] = _best(work, part, Neighborhood("pair", None, d), d, lambda rule: rule)
        prices.append({signs: price for signs, (price, _) in best.items()})
        shifts.append({signs: changes_data(made) for signs, (_, made) in best.items() if made})
    total, path, near, _ = worst_corner(model, prices, radius)
    if not total < found.total:
        return found
    data = {"kind": "corners", "shifts": shifts}
    return Alignment(model, data, total, path, near.direction, radius, work.programs)


def _has_corners(model: Model) -> bool:
    """Whether all is linear and real, and the corners are few."""
    inputs = [inputs_of(model, part) for part in model.parts]
    paths = [set().union(*(inputs[p] for p in path.parts)) for path in model.paths]
    return (
        not model.extremes
        and not any(draw.lattice for draw in model.noise)
        and max(map(len, paths)) <= MAX_INPUTS
        and sum(2 ** len(met) for met in inputs) <= MAX_CORNERS
    )


def _scaled(rule: Changes, radius: fmpq) -> Changes:
    return {j: Form(form.const * radius, form.d, form.delta) for j, form in rule.items()}


def _for_steps(work: Workshop, radius: fmpq | None) -> Alignment:
    prices, shifts = [], []
    for part in work.model.parts:
        costs, listed = {}, []
        for i in sorted(inputs_of(work.model, part)):
            for up in (False, True):
                near = Neighborhood("step", None, {i: fmpq(1 if up else -1)})
                price, changes = _best(work, part, near, near.direction, lambda rule: rule)
                costs[(i, up)] = price
                if changes:
                    listed.append([i, up, changes_data(changes)])
        prices.append(costs)
        shifts.append(listed)
    try:
        total, path, step = worst_walk(work.model, prices, radius)
    except Wrong as reason:
        raise NoProof(str(reason)) from None
    direction = None if step is None else {step[0]: (radius or fmpq(1)) * (1 if step[1] else -1)}
    data = {"kind": "steps", "shifts": shifts}
    return Alignment(work.model, data, total, path, direction, radius, work.programs)


def _for_pairs(work: Workshop, moves: list[Terms]) -> Alignment:
    table: list[list[Found]] = []
    for part in work.model.parts:
        table.append(
            [
                _best(work, part, Neighborhood("pair", None, d), d, lambda rule: rule)
                for d in moves
            ]
        )
    best, path, which = Price(), 0, 0
    for column in range(len(moves)):
        price, where = worst_path(work.model, [row[column][0] for row in table])
        if best < price:
            best, path, which = price, where, column
    shifts = [[changes_data(changes) for _, changes in row] for row in table]
    data = {"kind": "pairs", "shifts": shifts}
    return Alignment(work.model, data, best, path, moves[which], None, work.programs)


def _best(
    work: Workshop, part: Part, near: Neighborhood, direction: Terms | None,
    adapt: Callable[[Changes], Changes],
) -> Found:  # fmt: skip
    """The cheapest rule that passes the exact check."""
    best: Found | None = None
    for setting in _settings(work.model, part, near, direction):
        if best is not None and setting.dense:
            break
        for rule in work.rules(part, setting):
            changes = adapt(rule)
            try:
                price = part_price(work.model, part, near, changes)
            except (Wrong, Malformed):
                continue
            if best is None or price < best[0]:
                best = (price, changes)
            break
    if best is None:
        raise NoProof(why_not(work.model, part))
    return best


def best_shifts(work: Workshop, part: Part, near: Neighborhood) -> Found:
    """The cheapest shifts for one direction."""
    return _best(work, part, near, near.direction, lambda rule: rule)


def _settings(
    model: Model, part: Part, near: Neighborhood, direction: Terms | None
) -> list[Setting]:
    with_extremes = any(model.lines[k].extremes for k in model.line_ids(part))
    any_length = near.norm == "step"
    radius = fmpq(1) if direction is not None else near.radius
    found = [Setting(direction, any_length, frozen=True, radius=radius)]
    if with_extremes:
        found.append(Setting(direction, any_length, frozen=False, radius=radius))
    size = len(model.noise_of(part)) * len(inputs_of(model, part))
    if direction is None and size <= MAX_DENSE:
        found += [replace(setting, dense=True) for setting in list(found)]
    return found


def changes_data(changes: Changes) -> dict[str, Any]:
    """Shifts as plain data."""
    return {str(j): _form_data(form) for j, form in sorted(changes.items())}


def _form_data(form: Form) -> dict[str, Any]:
    data: dict[str, Any] = {"const": str(form.const)}
    if form.d:
        data["d"] = {str(i): str(c) for i, c in sorted(form.d.items())}
    if form.delta:
        data["extremes"] = {str(z): str(c) for z, c in sorted(form.delta.items())}
    return data


def why_not(model: Model, part: Part) -> str:
    """One clause on why no shift of the noise keeps the part."""
    noise = sorted(model.noise_of(part))
    inputs = inputs_of(model, part)
    where = "returns" if part.out else "compares"
    names = ", ".join(f"x[{i}]" for i in sorted(inputs)[:3])
    if not noise:
        return f"a path {where} {names} without noise"
    for j in noise:
        draw = model.noise[j]
        line = "" if draw.line is None else f" of line {draw.line}"
        kind = draw.law.replace("_", " ")
        if draw.law not in EITHER_WAY | UPWARD:
            return f"no shift of the {kind} noise{line} has a finite price"
        if draw.law in UPWARD:
            return (
                f"the {kind} noise{line} has an edge and can only be shifted upward, which "
                "is not enough"
            )
    return f"no shift of the noise keeps what a path {where} about {names} for every neighbour"

