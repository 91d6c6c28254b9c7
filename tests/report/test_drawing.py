"""The pictures of the computation graphs: well-formed, coloured, and nothing overlaps."""

import itertools
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpest.engines.analytic import traced
from dpest.report.drawing import draw
from dpest.report.layout import BOX_HEIGHT, layered
from dpest.trace import trace
from dpest.zoo import ENTRIES

SVG = "{http://www.w3.org/2000/svg}"


def boxes(svg):
    """The frames of the nodes: left, top, right, bottom."""
    for rect in ET.fromstring(svg).iter(f"{SVG}rect"):
        if rect.get("height") == f"{BOX_HEIGHT:.0f}":
            x, y, w, h = (float(rect.get(k)) for k in ("x", "y", "width", "height"))
            yield x, y, x + w, y + h


def overlap(one, other):
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_every_mechanism_of_the_zoo_is_drawn(entry):
    program = traced(entry.function, entry.inputs, entry.neighbors, entry.params)
    svg = draw(program.graph, entry.title)
    frames = list(boxes(svg))
    assert len(frames) == len(program.graph.counts)
    assert not any(overlap(a, b) for a, b in itertools.combinations(frames, 2))
    assert "#b03a2e" in svg, "a random variable is red"
    assert "#1e8449" in svg, "an operation is green"
    assert entry.title in svg


def test_a_loop_that_feeds_itself():
    def walk(x, rng):
        position = x
        for _ in range(3):
            step = rng.laplace(scale=1)
            position = position + step
            position = position * 2
        return position

    svg = draw(trace(walk, 1).graph, "walk")
    frames = list(boxes(svg))
    assert not any(overlap(a, b) for a, b in itertools.combinations(frames, 2))


def test_labels_are_escaped():
    program = trace(lambda x, rng: x + rng.laplace(scale=1), 1)
    assert "a &lt; b" in draw(program.graph, "a < b")


edges = st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=25)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.floats(60, 260), min_size=12, max_size=12), edges)
def test_boxes_never_overlap_and_edges_stay_out_of_them(widths, pairs):
    arrows = list({(a, b): None for a, b in pairs if a != b})
    layout = layered(widths, arrows)
    frames = [
        (x - w / 2, y - BOX_HEIGHT / 2, x + w / 2, y + BOX_HEIGHT / 2)
        for (x, y), w in zip(layout.centres, widths, strict=True)
    ]
    assert not any(overlap(a, b) for a, b in itertools.combinations(frames, 2))
    assert all(left >= -1e-6 and right <= layout.width + 1e-6 for left, _, right, _ in frames)
    for edge in arrows:
        for x, y in layout.routes[edge]:
            for box, (left, top, right, bottom) in enumerate(frames):
                inside = left < x < right and top + 1e-6 < y < bottom - 1e-6
                assert not inside or box in edge
