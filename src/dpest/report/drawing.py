"""The computation graph as SVG: random variables red, operations green, input and output grey."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

from dpest.report.layout import BOX_HEIGHT, Edge, Layout, Point, layered
from dpest.trace.graph import Graph, Node

_LEGEND = (
    ("noise", "random variable"), ("operation", "operation"), ("input", "input and output"),
)  # fmt: skip
_STYLE = """\
text { font: 13px 'DejaVu Sans', Verdana, Helvetica, sans-serif; fill: #1b2631; }
.heading { font-size: 15px; } .small, .note { font-size: 11px; } .small { fill: #566573; }
.box { fill: #eaecee; stroke: #566573; stroke-width: 1.5; }
.box.noise { fill: #fadbd8; stroke: #b03a2e; }
.box.operation { fill: #d5f5e3; stroke: #1e8449; }
.edge { fill: none; stroke: #808b96; stroke-width: 1.4; } .decides { stroke-dasharray: 5 4; }
.arrow { fill: #808b96; }"""
_CHARACTER = 8.2
_MARGIN = 24.0
_HEAD = 76.0


def draw(graph: Graph, title: str = "") -> str:
    """The graph as a self-contained SVG picture."""
    layout, parts, decisions = _laid_out(graph)
    legend, legend_width = _legend(decisions)
    inner = max(layout.width, legend_width, 9.2 * len(title))
    width, height = inner + 2 * _MARGIN, layout.height + _HEAD + _MARGIN
    shift = _MARGIN + (inner - layout.width) / 2
    return "\n".join([
        _open(width, height), f"<style>{_STYLE}</style>", _ARROW,
        "<rect width='100%' height='100%' fill='white'/>",
        _text(width / 2, 26, title, "heading"),
        f"<g transform='translate({_MARGIN + (inner - legend_width) / 2:.0f} 52)'>", *legend,
        "</g>", f"<g transform='translate({shift:.1f} {_HEAD:.0f})'>", *parts, "</g>", "</svg>", "",
    ])  # fmt: skip


def drawing(graph: Graph, label: str) -> str:
    """The graph as a part of a page, whose style sheet gives colours to its classes."""
    layout, parts, decisions = _laid_out(graph)
    legend, legend_width = _legend(decisions)
    width = max(layout.width, legend_width) + 8
    return "\n".join([
        _open(width, layout.height + 48, f" class='graph' role='img' aria-label='{escape(label)}'"),
        _ARROW, "<g transform='translate(4 16)'>", *legend, "</g>",
        f"<g transform='translate({(width - layout.width) / 2:.1f} 44)'>", *parts, "</g>", "</svg>",
    ])  # fmt: skip


def _laid_out(graph: Graph) -> tuple[Layout, list[str], bool]:
    """Where everything is, the picture's parts, and whether some decide the output."""
    nodes = list(graph.counts)
    widths = [_width(_lines(node, graph.counts[node])) for node in nodes]
    place = {node: k for k, node in enumerate(nodes)}
    data = [(place[a], place[b]) for a, b in graph.edges if a in place and b in place]
    control = _decisions(nodes, data)
    layout = layered(widths, [*data, *control])
    parts = [
        *(_edge(layout.routes[edge], dashed=edge in control) for edge in [*data, *control]),
        *(_box(node, graph.counts[node], layout.centres[k], widths[k])
          for k, node in enumerate(nodes)),
    ]  # fmt: skip
    return layout, parts, bool(control)


def _decisions(nodes: Sequence[Node], data: Sequence[Edge]) -> list[Edge]:
    """Comparisons whose value goes nowhere: the code branched on them."""
    used = {start for start, _ in data}
    output = [k for k, node in enumerate(nodes) if node.kind == "output"]
    return [
        (k, end)
        for k, node in enumerate(nodes) if node.label == "Geq" and k not in used
        for end in output
    ]  # fmt: skip


def _lines(node: Node, count: int) -> tuple[str, str]:
    """What a box says: its label, and below how many and where."""
    label = re.sub(r"\d+\.\d{5,}", lambda number: f"{float(number[0]):.6g}", node.label)
    times = f"× {count}" if count > 1 else ""
    where = f"line {node.line}" if node.kind in ("noise", "operation") and node.line else ""
    return label, ", ".join(filter(None, (times, where)))


def _width(lines: Sequence[str]) -> float:
    return max(72.0, 24 + _CHARACTER * max(map(len, lines)))


def _box(node: Node, count: int, centre: Point, width: float) -> str:
    (x, y), (label, small) = centre, _lines(node, count)
    rounding = BOX_HEIGHT / 2 if node.kind == "noise" else 6
    frame = (
        f"<rect class='box {node.kind}' x='{x - width / 2:.1f}' y='{y - BOX_HEIGHT / 2:.1f}' "
        f"width='{width:.1f}' height='{BOX_HEIGHT:.0f}' rx='{rounding:.0f}'/>"
    )
    if not small:
        return frame + _text(x, y + 5, label, "label")
    return frame + _text(x, y - 2, label, "label") + _text(x, y + 14, small, "small")


def _text(x: float, y: float, content: str, class_: str) -> str:
    return (
        f"<text class='{class_}' x='{x:.1f}' y='{y:.1f}' text-anchor='middle'>"
        f"{escape(content)}</text>"
    )


def _edge(points: Sequence[Point], dashed: bool) -> str:
    (x, y), *rest = points
    path = [f"M {x:.1f} {y:.1f}"]
    for next_x, next_y in rest:
        bend = (next_y - y) / 2
        path.append(
            f"C {x:.1f} {y + bend:.1f} {next_x:.1f} {next_y - bend:.1f} {next_x:.1f} {next_y:.1f}"
        )
        x, y = next_x, next_y
    class_ = "edge decides" if dashed else "edge"
    return f"<path class='{class_}' d='{' '.join(path)}' marker-end='url(#arrow)'/>"


def _legend(legend_of_dashes: bool) -> tuple[list[str], float]:
    """The key to the colours, and how wide it is."""
    parts, x = [], 0.0
    for kind, words in _LEGEND:
        parts.append(
            f"<rect class='box {kind}' x='{x:.0f}' y='-11' width='14' height='14' rx='3'/>"
            + _note(x + 20, words)
        )
        x += 40 + 6.6 * len(words)
    if legend_of_dashes:
        words = "decides the output"
        parts.append(f"<path class='edge decides' d='M {x:.0f} -4 h 22'/>" + _note(x + 28, words))
        x += 48 + 6.6 * len(words)
    return parts, x


def _note(x: float, words: str) -> str:
    return f"<text class='note' x='{x:.0f}' y='0'>{words}</text>"


def _open(width: float, height: float, attributes: str = "") -> str:
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' width='{width:.0f}' height='{height:.0f}' "
        f"viewBox='0 0 {width:.0f} {height:.0f}'{attributes}>"
    )


_ARROW = (
    "<defs><marker id='arrow' viewBox='0 0 10 10' refX='9' refY='5' markerWidth='7' "
    "markerHeight='7' orient='auto'><path class='arrow' d='M 0 0 L 10 5 L 0 10 z'/></marker></defs>"
)
