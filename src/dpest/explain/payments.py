"""Which noise pays for what: the price of a certificate, draw by draw."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flint import fmpq

from dpest.evidence import Certificate
from dpest.verify.alignment import Aligned, Changes, read_changes, read_neighbors, total_price
from dpest.verify.couplings import coupled
from dpest.verify.finite import read_blocks, read_finite
from dpest.verify.model import LAWS, Draw, Model, items, read_draw, read_model
from dpest.verify.price import ONE, Price, shown
from dpest.verify.reach import Moves
from dpest.verify.sentences import form_text
from dpest.verify.shift import part_price, shift_price

_TIED = 1e-12
"""Paths whose prices differ by less, relative to the dearest, are equally dear."""
_FEW = 3


@dataclass(frozen=True)
class Payment:
    """Draws of one kind: how they are moved for a neighbour, and what that costs."""

    lines: tuple[int, ...]
    noise: str
    draws: int
    moved: str
    each: Price
    total: Price


@dataclass(frozen=True)
class Bill:
    """What is paid where the loss is largest, and for what."""

    where: str
    payments: tuple[Payment, ...]
    price: Price
    """The bound; Euclidean neighbours may pay less than the sum, for they share their distance."""
    unit: str = ""
    """Of which change of the input this is the price, where it is paid several times over."""


def bill_of(proof: Certificate, event: str = "") -> Bill | None:
    """The bill of a certificate; of equally dear paths, that of the event.

    None where the certificate does not pay draw by draw.
    """
    content = proof.content
    if content["argument"] == "alignment":
        model = read_model(content["program"])
        near = read_neighbors(content["neighbors"], model)
        found = total_price(model, near, content["alignment"])
        return _aligned(model, _like(model, content["alignment"], found, event))
    if content["argument"] == "couplings":
        best = coupled(content["program"], content["neighbors"], content["alignment"])
        one, other = best.names
        bill = _aligned(best.model, best.found)
        return Bill(f"between the inputs {one} and {other}", bill.payments, bill.price)
    return _finite(content) if content["argument"] == "finite" else None


# -- alignments -------------------------------------------------------------------------------


def _like(model: Model, data: Mapping[str, Any], found: Aligned, event: str) -> Aligned:
    """The same for the path of the event, where that is as dear as the dearest."""
    path = next((k for k, p in enumerate(model.paths) if _returns(p.returns, event)), found.path)
    if path == found.path or data["kind"] != "rule" or found.near.norm == "l2":
        return found
    parts = model.paths[path].parts
    read = [read_changes(data["shifts"][p], model, with_d=True) for p in parts]
    prices = [part_price(model, model.parts[p], found.near, c)
              for p, c in zip(parts, read, strict=True)]  # fmt: skip
    if sum(map(float, prices)) < float(found.price) * (1 - _TIED):
        return found
    changes: Changes = {j: form for each in read for j, form in each.items()}
    return Aligned(found.price, path, found.near, changes)


def _returns(returns: str, event: str) -> bool:
    """Whether the event is that this is returned; a dot stands for a number."""
    said = event.removeprefix("the output is ").split(" with ")[0]
    return re.fullmatch(re.escape(returns).replace("·", r"[^,\[\]()]+"), said) is not None


def _aligned(model: Model, found: Aligned) -> Bill:
    path = model.paths[found.path]
    moves = Moves(model, found.near, found.changes)
    times = found.radius if found.radius is not None else ONE
    groups: dict[tuple[Any, ...], list[tuple[str, Price]]] = {}
    for j in sorted({j for p in path.parts for j in model.noise_of(model.parts[p])}):
        form, draw = found.changes.get(j), model.noise[j]
        price = Price() if form is None else shift_price(draw, *moves.span(form)).scaled(times)
        key = (draw.line, _noise(draw), f"{float(price):.9g}", form is None)
        groups.setdefault(key, []).append(("" if form is None else form_text(model, form), price))
    payments = [
        Payment((line,) if line else (), noise, len(moved), _moves([m for m, _ in moved]),
                moved[0][1], moved[0][1].scaled(fmpq(len(moved))))
        for (line, noise, *_), moved in groups.items()
    ]  # fmt: skip
    says_something = len(model.paths) > 1 and re.search(r"\w", path.returns)
    where = f"on the path that returns {_short(path.returns)}" if says_something else ""
    return Bill(where, _sorted(payments), found.price, _direction(found))


def _sorted(payments: Iterable[Payment]) -> tuple[Payment, ...]:
    """In the order of the source; on one line, the dearest first."""
    return tuple(sorted(payments, key=lambda p: (p.lines, -float(p.total))))


def _direction(found: Aligned) -> str:
    """Which change of the input was taken, where it was one."""
    direction = found.near.direction
    if not direction or found.near.norm != "step":
        return ""
    ((k, amount),) = direction.items()
    sign = "" if amount > 0 else "-"
    return f"x[{k}] changes by {sign}{shown(found.radius or ONE)}"


def _moves(moved: Sequence[str]) -> str:
    """How several draws are moved, in few words."""
    distinct = list(dict.fromkeys(text for text in moved if text))
    if len(distinct) > _FEW:
        return f"{distinct[0]}, ..., {distinct[-1]}"
    return ", ".join(distinct) or "not moved"


def _noise(draw: Draw) -> str:
    if draw.weights:
        return f"{draw.law} of {len(draw.weights)}"
    value = int(draw.parameter.p) / int(draw.parameter.q)
    return f"{draw.law}({LAWS[draw.law]}={value:.6g})"


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:28]} ... {text[-28:]}"


# -- exact probabilities ----------------------------------------------------------------------


def _finite(content: Mapping[str, Any]) -> Bill | None:
    """What the independent parts of the output contribute, with the draws that decide them."""
    program = content["program"]
    ratios, pairs = read_finite(program, content["neighbors"])
    price, (one, other) = ratios.price(pairs)
    assert price is not None
    draws = [read_draw(draw) for draw in items(program["noise"])]
    mine, theirs = (
        {b.places: b for b in read_blocks(program["members"][k], draws, program["size"])}
        for k in (one, other)
    )
    if mine.keys() != theirs.keys():
        return None
    laws = [dict(ratios.members[k].laws) for k in (one, other)]
    groups: dict[tuple[Any, ...], list[Price]] = {}
    for places, block in mine.items():
        factor = max(p / laws[1][places][y] for y, p in laws[0][places].items())
        own = Price.ln(factor)
        used = [draws[j] for b in (block, theirs[places]) for j in sorted(b.draws)]
        lines = tuple(sorted({draw.line for draw in used if draw.line}))
        names = " and ".join(dict.fromkeys(map(_noise, used))) or "no noise"
        groups.setdefault((lines, names, f"{float(own):.9g}"), []).append(own)
    payments = [
        Payment(lines, names, len(prices), "", prices[0], prices[0].scaled(fmpq(len(prices))))
        for (lines, names, _), prices in groups.items()
    ]
    ends = [ratios.members[k].name for k in (one, other)]
    return Bill(f"between the inputs {ends[0]} and {ends[1]}", _sorted(payments), price)
