"""Growth with the number of inputs, and the three neighbour relations side by side."""

from __future__ import annotations

import math
from collections.abc import Sequence

from dpest.evidence import Bound
from dpest.neighbors import Norm
from dpest.report.columns import number
from dpest.report.html.bounds import Line, sentence
from dpest.report.html.chart import Chart, figure, shape, svg
from dpest.report.html.markup import Content, Markup, element
from dpest.report.html.peers import spelled
from dpest.report.html.section import Section, section, table
from dpest.report.result import Report
from dpest.report.sizes import RELATED, Size, relations

_NAMES = {
    "l1": "the entries change by {} in all",
    "l2": "the change has a length of at most {}",
    "linf": "every entry changes by at most {}",
}


def growth_section(report: Report, found: Sequence[Size]) -> Section | None:
    """The proved bound against the number of inputs."""
    points = [(size.n, size.upper) for size in found if math.isfinite(size.upper)]
    if len(points) < 2:
        return None
    most = max(upper for _, upper in points)
    chart = Chart((0.0, 1.05 * points[-1][0]), (0.0, 1.15 * most or 1.0), "inputs n", "ε",
                  whole_x=True)  # fmt: skip
    chart.line(points, "upper")
    for n, upper in points:
        chart.dot(n, upper, "upper", f"n = {n}: {number(upper, 6)}")
    listed = ", ".join(f"{number(upper)} at n = {n}" for n, upper in points)
    caption = f"The proved bound at smaller sizes and at this one, neighbours {report.neighbors}."
    return section(
        "growth", "Growth with n",
        element("p", _growth_words(points)),
        figure(chart.drawn(f"The proved bound on epsilon: {listed}."), caption),
    )  # fmt: skip


def _growth_words(points: Sequence[tuple[int, float]]) -> str:
    (_, first), (_, last) = points[0], points[-1]
    if last <= first * (1 + 1e-9):
        return "ε does not grow with the number of inputs, as far as was looked."
    n, before = points[-2]
    if last <= before * (1 + 1e-9):
        return f"ε grows at first, and no more from n = {n} to n = {points[-1][0]}."
    return "The proved bound grows with the number of inputs, up to this size."


def relations_section(report: Report) -> Section | None:
    """What is known under other relations between neighbours."""
    found = relations(report)
    if not found:
        return None
    n = min(report.inputs.size, RELATED)
    same = "" if n == report.inputs.size else f", all for {n} inputs"
    rows = [
        (str(norm), _NAMES[norm.kind].format(f"{norm.radius:g}"), spelled(bound))
        for norm, bound in found
    ]
    return section(
        "relations", "Neighbour relations",
        element("p", "The same code has a different ε for every notion of who must look alike"
                     f"{same}."),
        figure(_picture(found, report.neighbors), "The bounds under the three relations."),
        table("Bounds by relation", ("neighbors", "meaning", "ε"), rows, (2,), "plain"),
    )  # fmt: skip


def _picture(found: Sequence[tuple[Norm, Bound]], own: object) -> Markup:
    ends = [v for _, b in found for v in (b.lower, b.upper) if math.isfinite(v)]
    line = Line(0.0, 1.15 * max(ends, default=1.0) or 1.0, 400.0, log=False, left=58.0)
    parts: list[Content] = []
    for k, (norm, bound) in enumerate(found):
        y = 20.0 + 32 * k
        parts += [
            shape("text", "name own" if norm == own else "name", str(norm), x=48.0, y=y + 4,
                  text_anchor="end"),
            line.interval(bound, y),
        ]  # fmt: skip
    bottom = 20.0 + 32 * len(found) - 8
    said = "; ".join(f"under {norm} {sentence(bound)}" for norm, bound in found)
    return svg(400.0, bottom + 24, said, [line.ticks(bottom), *parts], class_="chart interval")
