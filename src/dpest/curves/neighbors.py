"""Which pairs speak for a report: its worst pair where one is known, else those that were found."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dpest.claims import Pure
from dpest.curves.additive import worst_pair
from dpest.curves.atoms import Atoms
from dpest.curves.curves import Curves, LossPair, Side
from dpest.curves.law import LossLaw
from dpest.curves.pair import loss_law
from dpest.curves.pure import worst_of_pure
from dpest.engines.exact import ExactLaw, OutOfReach
from dpest.inputs import Inputs, OneOf
from dpest.neighbors import Neighbors, Pairs

if TYPE_CHECKING:
    from dpest.program import Program
    from dpest.report.result import Report

_NEARER = (0.0, 1 / 8)
"""Shares of their distance from the middle of the domain that a witness's inputs are pulled to."""
MAX_PAIRS = 1_000
"""More pairs than this are not enumerated."""


def curves_of(report: Report) -> Curves:
    """The curves that the report's program, witness and proof give."""
    covering = [_pure_side(report.upper)] if math.isfinite(_limit(report)) else []
    above = "upper bounds follow from epsilon" if covering else "no upper bound is known"
    if report.program is None:
        return Curves(None, tuple(covering), f"no program was traced; {above}")
    pairs, complete = _pairs(report)
    if not pairs:
        return Curves(None, tuple(covering), f"no pair of neighbours was found; {above}")
    try:
        law = ExactLaw(report.program)
        laws = [loss_law(law, x, y).capped(_limit(report)) for x, y in pairs]
    except OutOfReach as reason:
        shown = _event_side(report)
        seen = "lower bounds are those of the witness's event" if shown else "none from below"
        return Curves(shown, tuple(covering), f"{seen} ({reason}); {above}")
    shown = replace(_side(one.low for one in laws), places=tuple(pairs))
    if complete:
        return Curves(shown, (_side(one.high for one in laws), *covering), complete)
    more = ", and nearer to the middle" if len(pairs) > 1 else ""
    seen = f"lower bounds are those of the witness's inputs{more}"
    return Curves(shown, tuple(covering), f"{seen}; {above}")


def _side(laws: Iterable[LossLaw]) -> Side:
    return Side(tuple(LossPair.of(law) for law in laws), "numeric")


def _event_side(report: Report) -> Side | None:
    """What is seen of the witness's inputs by whether its event occurs."""
    witness = report.witness
    if witness is None or report.bound.lower_status not in ("certified", "numeric"):
        return None
    with np.errstate(divide="ignore"):
        logs = (np.log(np.array([p, 1 - p])) for p in (witness.p, witness.p_prime))
        return _side([LossLaw((Atoms.of(*logs),))])


def _limit(report: Report) -> float:
    """What no loss exceeds."""
    return math.inf if report.bound.upper_status == "none" else report.upper


def _pure_side(epsilon: float) -> Side:
    return _side([worst_of_pure(epsilon)])


def _pairs(report: Report) -> tuple[list[tuple[Any, Any]], str]:
    """Pairs of neighbours; and if no others are worse, why that is so."""
    program, inputs, neighbors = report.program, report.inputs, report.neighbors
    assert program is not None
    if isinstance(neighbors, Pairs):
        return [(inputs.give(x), inputs.give(y)) for x, y in neighbors], "for the listed pairs"
    worst = worst_pair(program, inputs, neighbors)
    if worst is not None:
        return [worst], "over all neighbours: a worst pair of additive noise is known"
    listed = _enumerated(program, inputs, neighbors)
    if listed is not None:
        return listed, "over all neighbours: all pairs were tried"
    if report.witness is None:
        return [], ""
    return list(_around(report, report.witness.x, report.witness.x_prime)), ""


def _around(report: Report, x: Any, x_prime: Any) -> Iterator[tuple[Any, Any]]:
    """The witness's inputs; where epsilon is not all that is asked, also nearer to the middle.

    The largest loss is often one of outcomes that hardly ever happen.
    """
    inputs, neighbors = report.inputs, report.neighbors
    yield inputs.give(x), inputs.give(x_prime)
    if report.claim is None or isinstance(report.claim, Pure) or isinstance(inputs, OneOf):
        return
    low, high = inputs.bounds()
    middle = (low + high) / 2 if math.isfinite(high - low) else 0.0
    start, moved = (np.ravel(np.asarray(v, float)) for v in (x, x_prime))
    for share in _NEARER:
        near = np.round(middle + share * (start - middle))
        pair = near, near + (moved - start)
        inside = all(((v >= low) & (v <= high)).all() for v in pair)
        if inside and neighbors.relates(*(v.tolist() for v in pair)):
            yield inputs.give(pair[0]), inputs.give(pair[1])


def _enumerated(
    program: Program, inputs: Inputs, neighbors: Neighbors
) -> list[tuple[Any, Any]] | None:
    """All pairs of neighbours of a small finite domain."""
    values: Iterable[Any] | None = program.values or inputs.values()
    if values is None:
        return None
    related = (
        (inputs.give(x), inputs.give(y))
        for x, y in itertools.combinations(values, 2)
        if neighbors.relates(inputs.check(x), inputs.check(y))
    )
    found = list(itertools.islice(related, MAX_PAIRS + 1))
    return found if len(found) <= MAX_PAIRS else None
