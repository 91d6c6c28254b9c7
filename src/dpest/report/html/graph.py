"""The computation graph on a page."""

from __future__ import annotations

from dpest.report.drawing import drawing
from dpest.report.html.chart import figure
from dpest.report.html.markup import Markup, element
from dpest.report.html.section import Section, scrolling, section
from dpest.trace.graph import Graph


def graph_section(graph: Graph | None, name: str) -> Section | None:
    """Random variables red, operations green; nothing where nothing was traced."""
    if graph is None or not graph.counts:
        return None
    kinds = [node.kind for node in graph.counts]
    said = (
        f"The computation graph of {name}: {kinds.count('noise')} kinds of random variables and "
        f"{kinds.count('operation')} operations between the input and the output."
    )
    picture = scrolling(Markup(drawing(graph, said)), "The graph, which scrolls where it is wide")
    return section("graph", "Computation graph", figure(picture, _details(graph)))


def _details(graph: Graph) -> Markup:
    """The edges in words: the same graph for those who do not see it."""
    lines = [f"{start.label} → {end.label}" for start, end in graph.edges]
    return element(
        "details", element("summary", "The graph in words"),
        element("ul", [element("li", line) for line in lines]),
    )  # fmt: skip
