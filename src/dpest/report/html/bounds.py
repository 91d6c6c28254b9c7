"""Bounds as intervals on a line of epsilon, with the claim and what others measured."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from dpest.evidence import Bound
from dpest.report.columns import number
from dpest.report.html.chart import Axis, place, shape, svg, tick
from dpest.report.html.markup import Content, Markup, element

_BEYOND = 34.0
"""The width of the place for infinity, behind the end of the axis."""


@dataclass(frozen=True)
class Mark:
    """Something measured: its class says which shape and colour it has."""

    value: float
    class_: str
    name: str


class Line:
    """An axis of epsilon with a place for infinity behind its end."""

    def __init__(self, low: float, high: float, width: float, log: bool, left: float = 8.0) -> None:
        self.width, self.log = width, log
        self.axis = Axis(low, high, left, width - _BEYOND, log)

    def at(self, value: float) -> float:
        """Where the number is; what lies outside is at the nearer end."""
        if math.isinf(value):
            return self.width - 10.0
        return self.axis(min(max(value, self.axis.low), self.axis.high))

    def interval(self, bound: Bound, y: float) -> Markup:
        """The bound: a bar where the sides differ, a point where they meet."""
        low = self.at(bound.lower)
        known = bound.upper_status != "none"
        high = self.at(bound.upper if known else math.inf)
        bar = shape("rect", "bound" if known else "bound open", x=low, y=y - 3.5,
                    width=max(high - low, 0.0), height=7.0)  # fmt: skip
        ends = [shape("rect", "end", x=at - 1.5, y=y - 8, width=3.0, height=16.0)
                for at in ([low, high] if known else [low])]  # fmt: skip
        return element("g", bar, ends)

    def mark(self, mark: Mark, y: float) -> Markup:
        """A measured figure: a shape of its own for every source, so that colour is not needed."""
        x, hint = self.at(mark.value), element("title", f"{mark.name}: {number(mark.value, 6)}")
        return shape("path", f"mark {mark.class_}", hint, d=_shape(mark.class_, x, y))

    def claim(self, value: float, y: float) -> Markup:
        """What is claimed: a tick across the line."""
        return shape("path", "claim", element("title", f"claimed: {number(value)}"),
                     d=f"M{place(self.at(value))} {place(y - 11)} v22")  # fmt: skip

    def base(self, y: float) -> Markup:
        """A faint line to hang marks on."""
        return shape("path", "grid", d=f"M{place(self.axis.start)} {place(y)} H{place(self.width)}")

    def ticks(self, y: float) -> Markup:
        """The axis with its numbers."""
        start, end = place(self.axis.start), place(self.axis.end)
        parts: list[Content] = [shape("path", "axis", d=f"M{start} {place(y)} H{end}")]
        for value in self.axis.ticks():
            at = self.axis(value)
            parts += [
                shape("path", "axis", d=f"M{place(at)} {place(y)} v4"),
                shape("text", "tick", tick(value), x=at, y=y + 16, text_anchor="middle"),
            ]
        parts.append(
            shape("text", "tick", "∞", x=self.at(math.inf), y=y + 16, text_anchor="middle")
        )
        return element("g", parts)


def _shape(class_: str, x: float, y: float) -> str:
    size = 4.5
    a, b, c, d = (place(v) for v in (x - size, x + size, y - size, y + size))
    x_, y_ = place(x), place(y)
    if class_ == "sniper":
        return f"M{x_} {c} L{b} {d} L{a} {d}Z"
    if class_ == "statdp":
        return f"M{a} {c} H{b} V{d} H{a}Z"
    if class_ == "second":
        return f"M{x_} {place(y - 5.5)} l5.5 5.5 l-5.5 5.5 l-5.5 -5.5Z"
    return f"M{a} {y_} a4.5 4.5 0 1 0 9 0 a4.5 4.5 0 1 0 -9 0Z"


def sentence(bound: Bound, name: str = "epsilon") -> str:
    """The bound in words."""
    if bound.lower == math.inf:
        return f"{name} is infinite"
    if bound.is_exact:
        return f"{name} is {number(bound.upper, 6)}"
    low = name if bound.lower_status == "none" else f"{number(bound.lower, 6)} ≤ {name}"
    if bound.upper_status == "none" or math.isinf(bound.upper):
        return f"nothing is known about {name}" if low == name else f"{low}, no upper bound"
    return f"{low} ≤ {number(bound.upper, 6)}"


def picture(
    bound: Bound, claim: float | None, marks: Sequence[Mark] = (), name: str = "epsilon"
) -> Markup:
    """One bound on an axis of its own, from zero to beyond everything that is shown."""
    values = [bound.lower, bound.upper, *(m.value for m in marks), *([claim] if claim else [])]
    most = max((v for v in values if math.isfinite(v)), default=0.0) or 1.0
    line = Line(0.0, 1.15 * most, 400.0, log=False)
    said = "; ".join([sentence(bound, name), *([f"claimed: {number(claim)}"] if claim else []),
                      *(f"{m.name}: {number(m.value, 6)}" for m in marks)])  # fmt: skip
    parts: list[Content] = [line.ticks(34.0), line.interval(bound, 20.0)]
    if claim is not None:
        parts.append(line.claim(claim, 20.0))
    parts += [line.mark(mark, 20.0) for mark in marks]
    return svg(400.0, 56.0, said, parts, class_="chart interval")
