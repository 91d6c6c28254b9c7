"""The curve delta(epsilon): how much is left over when less than the full loss is granted."""

from __future__ import annotations

import math

import numpy as np

from dpest.engines.exact import OutOfReach
from dpest.evidence import Bound
from dpest.report.columns import number
from dpest.report.html.chart import Chart, figure, key
from dpest.report.html.markup import Content, element
from dpest.report.html.section import Section, section, table
from dpest.report.result import Report

_POINTS = 81
_STEPS = [2.0 ** (k / 2) for k in range(-12, 17)]
"""Where to look for the end of a curve whose end is not known."""
_LEFT, _SMALLEST = 1e-3, 1e-9
"""The share of delta that may be left at the end of a curve; less where it is drawn by its logs."""
_ROWS = (0.0, 0.25, 0.5, 0.75, 1.0)


def curve_section(report: Report) -> Section | None:
    """The least delta for every epsilon, from both sides where both are known."""
    if report.program is None and report.sampled is None:
        return None
    try:
        eps = np.linspace(0.0, _reach(report), _POINTS)
        bounds = report.delta([float(e) for e in eps])
        scope = report.curves.scope
    except OutOfReach as reason:
        return _section(element("p", f"Not drawn: {reason}."))
    return _section(*_drawn(report, [float(e) for e in eps], bounds, scope))


def _section(*content: Content) -> Section:
    return section("delta", "δ over ε", *content)


def _reach(report: Report) -> float:
    """How far to draw: a little beyond the loss, or to where almost nothing of delta is left."""
    if math.isfinite(report.upper) and report.bound.upper_status != "none":
        return 1.2 * report.upper or 1.0
    first, *rest = report.delta([0.0, *_STEPS])
    last = rest[-1].lower
    left = _LEFT if last > 0 else _SMALLEST
    return next((eps for eps, bound in zip(_STEPS, rest, strict=True)
                 if bound.lower - last <= left * (first.lower - last)), _STEPS[-1])  # fmt: skip


def _drawn(report: Report, eps: list[float], bounds: list[Bound], scope: str) -> list[Content]:
    low = [b.lower for b in bounds]
    high = [b.upper for b in bounds]
    known = bounds[0].upper_status != "none"
    top = max(low + (high if known else []))
    if not top > 0:
        return [element("p", f"δ is not known to be above 0 for any ε: {scope}.")]
    falling = math.isinf(report.upper) and min(low) > 0 and low[-1] < 1e-4 * top
    bottom = 10 ** math.floor(math.log10(low[-1])) if falling else 0.0
    chart = Chart((0.0, eps[-1]), (bottom, 1.05 * top), "ε", "δ", log_y=falling)
    entries: list[tuple[str, str]] = []
    same = known and all(b - a <= 1e-9 * max(top, 1e-300) for a, b in zip(low, high, strict=True))
    if known and not same:
        chart.band(list(zip(eps, low, strict=True)), list(zip(eps, high, strict=True)))
        chart.line(zip(eps, high, strict=True), "upper")
        entries.append(("line upper", "upper bound"))
    chart.line(zip(eps, low, strict=True), "lower")
    entries.append(("line lower", "δ" if same else "lower bound"))
    said = f"δ over ε from 0 to {number(eps[-1])}: " + ", ".join(
        f"{_words(bounds[k])} at ε = {number(eps[k])}" for k in _places(eps)
    )
    caption = [f"The least δ for which the mechanism is (ε, δ)-private; {scope}.", key(*entries)]
    rows = [
        (number(eps[k]), number(bounds[k].lower, 6),
         number(bounds[k].upper, 6) if known else "unknown") for k in _places(eps)
    ]  # fmt: skip
    numbers = element(
        "details", element("summary", "Numbers"),
        table("δ at a few values of ε", ("ε", "δ at least", "δ at most"), rows, (0, 1, 2), "plain"),
    )
    return [figure(chart.drawn(said), caption), numbers]


def _places(eps: list[float]) -> list[int]:
    return [round(share * (len(eps) - 1)) for share in _ROWS]


def _words(bound: Bound) -> str:
    if bound.upper_status == "none":
        return f"at least {number(bound.lower)}"
    low, high = number(bound.lower), number(bound.upper)
    return low if low == high else f"between {low} and {high}"
