"""A certificate in sentences that can be followed against the source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from flint import arb, fmpq

from dpest.verify.alignment import Aligned, sum_of
from dpest.verify.amplified import Loss
from dpest.verify.couplings import Coupled
from dpest.verify.coverage import PROVED
from dpest.verify.finite import Ratios
from dpest.verify.mixture import Mixed
from dpest.verify.model import Draw, Model
from dpest.verify.price import Price, shown
from dpest.verify.reach import Form, Moves, Neighborhood
from dpest.verify.shift import shift_price
from dpest.verify.subsampling import Subsampled

MANY = 4
LONG = 24
"""What takes more characters is not read to its end."""


def alignment_sentences(
    model: Model, neighbors: Mapping[str, Any], found: Aligned, coverage: str
) -> list[str]:
    """What is shifted on the dearest path, what that costs, and why it is enough."""
    lines = [
        f"Whatever the input, moving to a neighbour ({_relation(neighbors)}) and shifting "
        f"the noise as listed keeps {_count(len(model.paths), 'path')} and what it returns."
    ]
    lines.append(f"The dearest path returns {_short(model.paths[found.path].returns)}. There,")
    listed, total = _shift_lines(model, found.near, found.changes)
    lines += listed
    if found.radius is None and found.price < total:
        cost = said(found.price)
        lines.append(f"no single d makes all of them dearest: together they cost {cost};")
    if found.corners:
        lines.append("every d is a mixture of corners, and the same mixture of shifts serves it.")
    if found.radius is not None:
        lines.append(f"that pays for one unit, and neighbours are {shown(found.radius)} apart.")
    if found.within is not None:
        lines.append(f"No entry can change by more than {shown(found.within)}: then others do.")
    assumed = "" if coverage == PROVED else ", and that the paths are disjoint and cover everything"
    lines.append(
        f"No path costs more than {found.price}, so the privacy loss is at most "
        f"{_again(found.price)}, given that the draws are independent{assumed}."
    )
    return lines


def _again(price: Price, named: str = "that") -> str:
    """A price that was just `named`, also as a decimal where it is not one."""
    exact, decimal = str(price), f"{float(price):.9g}"
    if exact.removeprefix("~") == decimal:
        return exact
    return f"{exact} ({decimal})" if len(exact) <= LONG else f"{named}, about {decimal}"


def said(price: Price) -> str:
    """A price in the middle of a sentence: exact, unless that is too long to be read."""
    return str(price) if len(str(price)) <= LONG else f"about {float(price):.9g}"


def _count(number: int, name: str) -> str:
    return f"the {name}" if number == 1 else f"every one of the {number} {name}s"


def _relation(data: Mapping[str, Any]) -> str:
    if data["kind"] == "pairs":
        return f"one of {len(data['listed'])} listed pairs"
    if data["kind"] == "any":
        return "any other input"
    names = {"linf": "largest entry of", "l1": "sum of the entries of", "l2": "length of"}
    return f"{names[data['kind']]} |d| at most {data['radius']}"


def _shift_lines(
    model: Model, near: Neighborhood, changes: Mapping[int, Form]
) -> tuple[list[str], Price]:
    """What is shifted, and what that costs where every shift is dearest."""
    moves = Moves(model, near, changes)
    changes = {j: _moving(form, moves) for j, form in changes.items()}
    if near.direction:
        ((i, amount), *others) = near.direction.items()
        text = f"x[{i}] changes by {shown(amount)}" + (" (and others)" if others else "")
    else:
        text = "x changes by d"
    lines = [f"where {text}:"]
    groups: dict[tuple[str, str, str], list[tuple[int, Price]]] = {}
    for j, form in changes.items():
        draw = model.noise[j]
        price = shift_price(draw, *moves.span(form))
        key = (_pattern(form), _name(draw), str(price))
        groups.setdefault(key, []).append((j, price))
    for (_, name, _), members in groups.items():
        j, price = members[0]
        shift = form_text(model, changes[j])
        if len(members) == 1:
            lines.append(f"shift {name} by {shift} (cost at most {said(price)});")
        else:
            total = sum_of(p for _, p in members)
            shifts = [form_text(model, changes[k]) for k, _ in members[:MANY]]
            distinct = list(dict.fromkeys(shifts))
            more = ", ..." if len(members) > MANY and len(distinct) > 1 else ""
            cost = f"cost at most {said(price)} each, {said(total)} together"
            lines.append(
                f"shift the {len(members)} draws {_line_of(model.noise[j])}by "
                f"{', '.join(distinct)}{more} ({cost});"
            )
    lines.append("shift no other noise;" if changes else "shift no noise;")
    for name, by in (("extremes that stay between constants", False),
                     ("numbers that the input picks", True)):  # fmt: skip
        found = [w for z, w in moves.confined.items() if bool(model.extremes[z].by) == by]
        if found:
            lines.append(f"{name} move by at most {', '.join(dict.fromkeys(map(shown, found)))};")
    return lines, sum_of(price for members in groups.values() for _, price in members)


def _moving(form: Form, moves: Moves) -> Form:
    """The form without the moves of extremes that stay where they are."""
    still = {z for z in form.delta if all(move.is_zero for move in moves.hull(z))}
    return Form(form.const, form.d, {z: c for z, c in form.delta.items() if z not in still})


def _pattern(form: Form) -> str:
    numbers = [sorted(map(str, terms.values())) for terms in (form.d, form.delta)]
    return f"{form.const} {numbers}"


def kind(draw: Draw) -> str:
    """The name of the law in words."""
    return draw.law.replace("_", " ")


def _line_of(draw: Draw) -> str:
    return f"of {kind(draw)} noise (line {draw.line}) " if draw.line else f"of {kind(draw)} noise "


def _name(draw: Draw) -> str:
    return f"the {kind(draw)} noise" + (f" (line {draw.line})" if draw.line else "")


def form_text(model: Model, form: Form) -> str:
    """How far a draw is shifted, in terms of what changes in the mechanism."""
    parts = [_term(c, f"d[{i}]") for i, c in form.d.items()]
    alike: dict[fmpq, list[str]] = {}
    for z, c in form.delta.items():
        alike.setdefault(c, []).append(extreme_text(model, z))
    parts += [_term(c, _changes(names)) for c, names in alike.items()]
    if form.const != 0 or not parts:
        parts.insert(0, shown(form.const) if parts else _signed(form.const))
    return " + ".join(parts).replace("+ -", "- ")


def _changes(names: Sequence[str]) -> str:
    """The changes of some extremes, all of them added."""
    if len(names) == 1:
        return f"(the change of {names[0]})"
    return f"(the changes of {names[0]} and {len(names) - 1} more like it)"


def extreme_text(model: Model, number: int) -> str:
    """What an extreme is, in terms of the input where that is short."""
    extreme = model.extremes[number]
    if extreme.rank is None:
        return "a number that the input picks"
    size = len(extreme.of)
    name = {0: "min", size - 1: "max"}.get(extreme.rank, "")
    text = f"{name}({', '.join(_line_text(model, k) for k in extreme.of)})"
    if name and len(text) <= LONG + LONG:
        return text
    place = {"min": "the smallest", "max": "the largest"}.get(name, f"number {extreme.rank + 1}")
    return f"{place} of {size} numbers"


def _line_text(model: Model, number: int) -> str:
    line = model.lines[number]
    parts = [_term(c, f"x[{i}]") for i, c in line.inputs.items()]
    parts += [_term(c, "noise") for c in line.noise.values()]
    parts += [_term(c, extreme_text(model, z)) for z, c in line.extremes.items()]
    if line.const != 0 or not parts:
        parts.append(shown(line.const))
    return " + ".join(parts).replace("+ -", "- ")


def _signed(value: fmpq) -> str:
    return f"+{shown(value)}" if value > 0 else shown(value)


def _term(c: fmpq, name: str) -> str:
    if c == 1:
        return name
    return f"-{name}" if c == -1 else f"{shown(c)}*{name}"


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:28]} ... {text[-28:]}"



def finite_sentences(
    ratios: Ratios, pairs: list[tuple[int, int]], price: Price, where: tuple[int, int]
) -> list[str]:
    """Where the largest ratio of exact probabilities is, and how it is made up."""
    names = [member.name for member in ratios.members]
    one, other = where
    blocks = len(ratios.members[one].laws)
    parts = "one part" if blocks == 1 else f"{blocks} independent parts"
    return [
        f"For each of the {len(names)} inputs the output has {parts} with exact rational "
        "probabilities.",
        f"Among the {len(pairs)} pairs of neighbours the largest ratio is that of {names[one]} "
        f"against {names[other]}: the product over the parts of their largest ratios.",
        f"So the privacy loss is at most {_again(price, 'its logarithm')}, given that the draws "
        "are independent.",
    ]


def coupled_sentences(best: Coupled) -> list[str]:
    """The dearest pair, and what is shifted for it."""
    first = (
        f"For each of the {best.pairs} pairs of neighbouring inputs the noise is shifted so that "
        "every path and what it returns stay the same."
    )
    pair = f"The dearest pair is {best.names[0]} and {best.names[1]} (x[0] from 0 to 1 below)."
    neighbors = {"kind": "pairs", "listed": [None]}
    return [first, pair, *alignment_sentences(best.model, neighbors, best.found, best.coverage)]


def mixture_sentences(best: Mixed) -> list[str]:
    """The mixture of the dearest pair, and the plan that leads from one to the other."""
    one, other = best.names
    lines = [
        "What coins decide is looked at as a whole: at every input the mechanism is a mixture of "
        f"branches, {best.weights[0]} at {one} and {best.weights[1]} at {other}.",
        f"Of the {best.pairs} pairs of neighbouring inputs, {one} and {other} are the dearest. "
        "There the branches answer for each other:",
    ]
    for u, v, share in best.plan[:MANY]:
        price = best.prices.get((u, v), Price())
        lines.append(
            f"a share of {float(arb(share)):.6g} of branch {u} goes to branch {v}, at a cost of "
            f"{price};"
        )
    if len(best.plan) > MANY:
        lines.append(f"and {len(best.plan) - MANY} more shares;")
    assumed = "" if best.coverage == PROVED else ", and that the paths are disjoint and cover all"
    lines.append(
        "No branch gets more than e^epsilon times its own probability, so the privacy loss is at "
        f"most {float(best.price):.9g}, given that the draws are independent{assumed}."
    )
    return lines


def subsampling_sentences(best: Subsampled, neighbors: Mapping[str, Any]) -> list[str]:
    """What each input loses, and what they lose together."""
    lines = [
        "Coins decide whether an input has a say; all other coins fall the same way on both sides."
    ]
    if best.mechanism.clip is not None:
        low, high = map(shown, best.mechanism.clip)
        lines.append(f"x stands for the input after it was clipped to [{low}, {high}].")
    alike: dict[str, list[int]] = {}
    for i, (loss, coins) in enumerate(zip(best.losses, best.coins, strict=True)):
        alike.setdefault(_amplified(best, loss, coins), []).append(i)
    for text, members in alike.items():
        names = ", ".join(f"x[{i}]" for i in members[:MANY])
        more = f" and {len(members) - MANY} more" if len(members) > MANY else ""
        lines.append(f"{names}{more}: {text}")
    assumed = "" if best.coverage == PROVED else ", and that the paths are disjoint and cover all"
    lines.append(
        f"Neighbours ({_relation(neighbors)}) change one input after another, and together that "
        f"loses at most {float(best.price):.9g}, given that the draws are independent{assumed}."
    )
    return lines


def _amplified(best: Subsampled, loss: Loss, coins: tuple[int, ...]) -> str:
    """What one input loses."""
    if loss.share == 0:
        return "no path uses it."
    if loss.share == 1:
        return f"a change by t costs at most {loss.step} * t in every branch."
    drawn = [best.mechanism.model.noise[j].line for j in coins]
    where = ", ".join(map(str, dict.fromkeys(line for line in drawn if line)))
    lines = f" (line {where})" if where else ""
    g, k = shown(loss.share), float(loss.factor)
    return (
        f"with probability g = {g} the coins{lines} fall such that it is used; then a change by t "
        f"costs at most {loss.step} * t, and no event is more than K = {k:.9g} times as likely as "
        "where it is not used. So no event becomes more than (1 - g + g K) / (1 - g + g K "
        f"exp(-{loss.step} * t)) times as likely."
    )
