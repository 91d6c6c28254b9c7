"""The witness: both inputs as bars, the event, and its two probabilities."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

from dpest.evidence import Witness
from dpest.report.columns import number
from dpest.report.html.chart import Axis, figure, path, place, shape, svg
from dpest.report.html.markup import Content, Markup, element
from dpest.report.html.section import Section, section, table
from dpest.report.result import Report
from dpest.report.text import vector

_WIDTH, _ROW, _LEFT, _RIGHT = 400.0, 62.0, 40.0, 66.0
_MOST_BARS = 400
BALL = re.compile(r"\[(\S+e\S+) \+/- (\S+)\]")
"""A ball around a number that is written with an exponent: its middle and its radius."""
_LONGEST = 400
"""An input whose text is longer than this is cut."""


def witness_section(report: Report) -> Section:
    """What the lower bound rests on."""
    if report.witness is None:
        return section("witness", "Witness", element("p", "There is no witness: no two inputs were "
                       "found whose outputs differ more than others do."))  # fmt: skip
    witness = report.witness
    return section(
        "witness", "Witness",
        element("p", "Two neighbouring inputs, and an event that is likelier under the first "
                     "than under the second."),
        _inputs(witness),
        element("p", element("strong", "Event: "), witness.event, ".", class_="event"),
        _probabilities(witness),
        _shown(witness),
        element("p", _trust(witness), class_="quiet"),
    )  # fmt: skip


def shortened(text: str, most: int = _LONGEST) -> str:
    """The text, its middle left out where it is long."""
    return text if len(text) <= most else f"{text[: most // 2]} … {text[-most // 2 :]}"


def _inputs(witness: Witness) -> Markup:
    rows = [("x", witness.x), ("x′", witness.x_prime)]
    words = element("dl", [
        (element("dt", name), element("dd", element("code", shortened(vector(value)))))
        for name, value in rows
    ], class_="inputs")  # fmt: skip
    x, x_prime = (_numbers(value) for _, value in rows)
    if not 2 <= len(x) <= _MOST_BARS or len(x_prime) != len(x):
        return words
    difference = [b - a for a, b in zip(x, x_prime, strict=True)]
    caption = f"The {len(x)} entries of both inputs, and how they differ."
    return element("div", figure(_bars([("x", x), ("x′", x_prime), ("x′ − x", difference)]),
                                 caption), words)  # fmt: skip


def _numbers(value: Any) -> list[float]:
    """A vector of finite numbers; nothing where the input is something else."""
    if not isinstance(value, (list, tuple)):
        return []
    plain = all(isinstance(v, (int, float)) and math.isfinite(v) for v in value)
    return [float(v) for v in value] if plain else []


def _bars(rows: Sequence[tuple[str, list[float]]]) -> Markup:
    parts = [_row(name, values, k * _ROW) for k, (name, values) in enumerate(rows)]
    said = "; ".join(f"{name}: {shortened(vector(values), 120)}" for name, values in rows)
    return svg(_WIDTH, _ROW * len(rows), said, parts, class_="chart bars")


def _row(name: str, values: list[float], top: float) -> Markup:
    """One vector as bars from zero; its largest and smallest entries are written beside it."""
    low, high = min(0.0, *values), max(0.0, *values)
    axis = Axis(low, high, top + _ROW - 10, top + 10)
    step = (_WIDTH - _LEFT - _RIGHT) / len(values)
    gap = min(0.2 * step, 3.0)
    zero = axis(0.0)
    bars = [
        shape("rect", "bar changed" if name == "x′ − x" else "bar", x=_LEFT + k * step + gap / 2,
              y=min(zero, axis(value)) if value else zero - 0.5, width=step - gap,
              height=max(abs(axis(value) - zero), 1.0))
        for k, value in enumerate(values)
    ]  # fmt: skip
    line = path([(_LEFT, zero), (_WIDTH - _RIGHT, zero)])
    return element(
        "g",
        shape("text", "name", name, x=_LEFT - 8, y=top + _ROW / 2 + 4, text_anchor="end"),
        bars, shape("path", "axis", d=line), _ends(low, high, axis),
    )  # fmt: skip


def _ends(low: float, high: float, axis: Axis) -> Content:
    shown = [value for value in (low, high) if value != 0] or [0.0]
    return [
        shape("text", "tick", number(value, 4).replace("-", "−"), x=_WIDTH - _RIGHT + 8,
              y=axis(value) + 4)
        for value in shown
    ]  # fmt: skip


def _probabilities(witness: Witness) -> Markup:
    balls = witness.balls or ("", "")
    digits = 4 if witness.counted else 8
    rows: list[Sequence[Content]] = [
        (name, _meter(share), _probability(p, ball) if ball else number(p, digits),
         element("code", ball) if ball else "")
        for name, share, p, ball in (
            ("under x", 1.0, witness.p, balls[0]),
            ("under x′", _relative(witness), witness.p_prime, balls[1]),
        )
    ]
    name = "frequency" if witness.counted else "probability"
    header = ["input", element("span", "Relative size", class_="hidden"), name,
              "enclosed in"]  # fmt: skip
    if witness.balls is None:
        header, rows = header[:-1], [row[:-1] for row in rows]
    return table("How likely the event is", header, rows, (2,), "plain")


def _shown(witness: Witness) -> Content:
    """What the event says about the claim, where another measure than epsilon is claimed."""
    told = witness.shows
    return element("p", f"{told[:1].upper()}{told[1:]}.") if told else ""


def _relative(witness: Witness) -> float:
    """How likely the event is under the second input, relative to the first."""
    if witness.p > 0:
        return witness.p_prime / witness.p
    return math.exp(-max(witness.loss, 0.0))


def _probability(p: float, ball: str) -> str:
    """The probability; where it is too small for a double, as the ball has it."""
    if p > 0 or not (match := BALL.search(ball)):
        return number(p, 8)
    mantissa, exponent = match[1].split("e")
    return f"{float(mantissa):.8g}e{exponent}"


def _meter(share: float) -> Markup:
    """A bar of some share of the full length."""
    full = 120.0
    width = max(full * min(share, 1.0), 0.5 if share > 0 else 0.0)
    return element(
        "svg", shape("rect", "bar", x=0.0, y=0.0, width=width, height=12.0), class_="meter",
        viewBox="0 0 120 12", width=place(full), height="12", aria_hidden="true",
    )  # fmt: skip


def _trust(witness: Witness) -> str:
    if counted := witness.counted:
        return (
            f"Seen in {counted.hits:,} of {counted.runs:,} runs on x and in {counted.hits_prime:,} "
            f"of {counted.runs:,} on x′: the loss is at least {number(witness.loss, 6)} with "
            f"{100 * counted.confidence:g} % confidence."
        )
    ratio = f"ln(P/P′) = {number(witness.loss, 8)}"
    how = (
        "Both probabilities are enclosed in rigorous balls" if witness.certified
        else "The probabilities are floating-point numbers, good to about 12 digits"
    )  # fmt: skip
    if witness.unbounded:
        return f"{ratio}. {how}. Events further out show any loss, however large."
    further = "" if witness.attained else " The supremum is approached, not attained."
    return f"{ratio}. {how}.{further}"
