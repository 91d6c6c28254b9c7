"""The loss over outputs: a bar per outcome, or a curve over the released number."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from dpest.engines.exact import OutOfReach
from dpest.report.columns import number
from dpest.report.html.chart import Chart, figure, key, place, shape
from dpest.report.html.markup import Content, Markup, element
from dpest.report.html.section import Section, section, table
from dpest.report.html.witness import shortened
from dpest.report.losses import Curve, Form, Losses, Outcome, losses
from dpest.report.result import Report
from dpest.report.text import vector

_MOST = 12
"""So many outcomes are listed."""
_NOTHING = 5e-13
"""A loss below this is rounding."""


def loss_section(report: Report) -> Section | None:
    """Which outputs of the witness's inputs give how much away."""
    if report.witness is None or report.program is None:
        return None
    x, x_prime = (report.inputs.give(v) for v in (report.witness.x, report.witness.x_prime))
    try:
        found = losses(report.program, x, x_prime)
    except OutOfReach as reason:
        return _section(element("p", f"Not drawn: {reason}."))
    return _section(*_drawn(found, report.upper))


def _section(*content: Content) -> Section:
    return section("loss", "Loss over outputs", *content)


def _drawn(found: Losses, upper: float) -> list[Content]:
    pieces: list[Content] = []
    if found.outcomes:
        pieces += [_outcomes(found.outcomes)]
    if found.forms:
        pieces += [_forms(found)]
    if found.curve is not None and len(found.curve.y) > 1:
        pieces += [_curve(found.curve, upper)]
    return pieces


def _outcomes(found: Sequence[Outcome]) -> Markup:
    """The outcomes with the largest losses either way; the others are counted."""
    half = _MOST // 2
    few = len(found) <= _MOST + 1
    shown = list(found) if few else [*found[:half], *found[-half:]]
    most = max((abs(o.loss) for o in shown if math.isfinite(o.loss)), default=0.0)
    rows: list[Sequence[Content]] = [
        (_output(o.output), number(math.exp(o.log_p), 3), number(math.exp(o.log_q), 3),
         _bar(o.loss, most), _signed(o.loss))
        for o in shown
    ]  # fmt: skip
    if not few:
        rows.insert(half, (f"… {len(found) - _MOST} outcomes between", "", "", "", ""))
    said = "Every outcome" if few else f"The extremes of {len(found)} outcomes"
    return table(
        f"{said} for the witness’s inputs, and its loss ln(P/P′)",
        ("outcome", "P", "P′", element("span", "Bar", class_="hidden"), "loss"), rows, (1, 2, 4),
        "losses",
    )  # fmt: skip


def _forms(found: Losses) -> Markup:
    telling = [f for f in found.forms if max(abs(f.forward), abs(f.backward)) > _NOTHING]
    shown = sorted(telling, key=lambda form: -max(form.forward, form.backward))[:_MOST]
    finite = [abs(v) for f in shown for v in (f.forward, f.backward) if math.isfinite(v)]
    most = max(finite, default=0.0)
    rows = [
        (_output(form.output), _range_bar(form, most), _signed(-form.backward),
         _signed(form.forward))
        for form in shown
    ]  # fmt: skip
    what = "independent part of the output" if found.parts else "form of output"
    more = found.all_forms - len(shown)
    verb = "has a smaller loss" if more == 1 else "have smaller losses"
    rest = f"; {more} more {verb} or none" if more > 0 else ""
    added = "; the losses of all parts add up" if found.parts and found.all_forms > 1 else ""
    return table(
        f"The least and the largest loss of every {what}{rest}{added}",
        ("part" if found.parts else "form", element("span", "Range", class_="hidden"), "from",
         "to"), rows, (2, 3), "losses",
    )  # fmt: skip


def _output(output: Any) -> Markup:
    written = output if isinstance(output, str) else vector(output)
    return element("code", shortened(written, 120))


def _signed(loss: float) -> str:
    """A loss with its sign."""
    if math.isinf(loss):
        return "∞" if loss > 0 else "−∞"
    return f"{loss:+.4g}".replace("-", "−") if abs(loss) > _NOTHING else "0"


_BAR, _MIDDLE = 160.0, 80.0


def _bar(loss: float, most: float) -> Markup:
    return _span(min(loss, 0.0), max(loss, 0.0), most)


def _range_bar(form: Form, most: float) -> Markup:
    return _span(-form.backward, form.forward, most)


def _span(low: float, high: float, most: float) -> Markup:
    """A bar from one loss to another, zero in the middle; an infinite end leaves the picture."""
    left, right = (_MIDDLE + (_MIDDLE - 8) * _share(v, most) for v in (low, high))
    ends = [
        shape("path", "beyond", d=f"M{place(_MIDDLE + side * 73)} 2 l{6 * side} 5 l{-6 * side} 5Z")
        for side, loss in ((-1, low), (1, high))
        if loss * side == math.inf
    ]
    return element(
        "svg",
        shape("path", "axis", d=f"M{place(_MIDDLE)} 0 v14"),
        shape("rect", "bar loss" if high > 0 else "bar gain", x=left, y=2.0,
              width=max(right - left, 1.0), height=10.0),
        ends,
        class_="meter", viewBox="0 0 160 14", width=place(_BAR), height="14", aria_hidden="true",
    )  # fmt: skip


def _share(value: float, most: float) -> float:
    if math.isinf(value):
        return math.copysign(0.9, value)
    return value / most if most > 0 else 0.0


def _curve(curve: Curve, upper: float) -> Markup:
    """The loss where it is finite; where only one input can give the number it has no line."""
    finite = [loss for loss in curve.loss if math.isfinite(loss)]
    most = max(map(abs, finite), default=0.0)
    near = math.isfinite(upper) and upper <= 3 * most
    low, high = min([0.0, *finite]), max([0.0, *finite, *([upper] if near else [])])
    room = 0.1 * (high - low) or 1.0
    bottom = low - room if low < 0 else 0.0
    chart = Chart((curve.y[0], curve.y[-1]), (bottom, high + room), curve.name, "loss ln(P/P′)")
    entries = [("line loss", "loss")]
    chart.level(0.0, "zero")
    if near:
        chart.level(upper, "limit")
        entries.append(("line limit", f"upper bound {number(upper)}"))
    for piece in _pieces(curve):
        chart.line(piece, "loss")
    impossible = len(finite) < len(curve.loss)
    rest = " Where there is no line, only one of the inputs can give the number." if (
        impossible) else ""
    said = (
        f"The loss over {curve.name}, between {number(low)} and {number(high)} for numbers from "
        f"{number(curve.y[0])} to {number(curve.y[-1])}."
    )
    caption = [f"The loss over {curve.name} for the witness’s inputs.{rest}", key(*entries)]
    return figure(chart.drawn(said), caption)


def _pieces(curve: Curve) -> list[list[tuple[float, float]]]:
    """The stretches of finite loss."""
    pieces: list[list[tuple[float, float]]] = [[]]
    for y, loss in zip(curve.y, curve.loss, strict=True):
        if math.isfinite(loss):
            pieces[-1].append((y, loss))
        elif pieces[-1]:
            pieces.append([])
    return pieces
