"""Charts: round ticks, places inside the picture, golden markup."""

import math
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpest.evidence import Bound
from dpest.report.html.bounds import Line, Mark, picture, sentence
from dpest.report.html.chart import Axis, Chart, key, tick

numbers = st.floats(-1e6, 1e6).filter(lambda v: v == 0 or abs(v) > 1e-6)


@given(numbers, numbers)
def test_ticks_are_few_and_inside(one, other):
    low, high = sorted((one, other))
    if high - low < 1e-9 * max(abs(low), abs(high), 1e-6):
        return
    ticks = Axis(low, high, 0, 100).ticks()
    room = 1e-6 * (high - low)
    assert 1 <= len(ticks) <= 11
    assert all(low - room <= v <= high + room for v in ticks)


def test_ticks():
    assert Axis(0, 1, 0, 1).ticks() == [0, 0.2, 0.4, 0.6, 0.8, 1]
    assert Axis(-0.11, 0.11, 0, 1).ticks() == [-0.1, -0.05, 0, 0.05, 0.1]
    assert Axis(0, 10.5, 0, 1, whole=True).ticks() == [0, 5, 10]
    assert Axis(0, 3, 0, 1, whole=True).ticks() == [0, 1, 2, 3]
    assert Axis(0.05, 30, 0, 1, log=True).ticks() == [0.1, 1, 10]
    assert len(Axis(1e-12, 1, 0, 1, log=True).ticks()) <= 7


@pytest.mark.parametrize(
    ("value", "said"),
    [(0, "0"), (-2.5, "−2.5"), (2.5e-5, "2.5·10⁻⁵"), (1e-12, "10⁻¹²"), (0.125, "0.125"),
     (300000, "3·10⁵")],
)  # fmt: skip
def test_tick_labels(value, said):
    assert tick(value) == said


def test_axis_by_logs():
    axis = Axis(0.1, 10, 0, 100, log=True)
    assert axis(1) == pytest.approx(50)
    assert axis(0.1) == 0


def test_a_chart_is_one_picture_with_words():
    chart = Chart((0, 2), (0, 1), "x", "y < 1")
    chart.line([(0, 0), (1, 1), (2, 0.5)], "lower")
    chart.band([(0, 0), (2, 0)], [(0, 1), (2, 1)])
    chart.dot(1, 1, "upper", "the <top>")
    chart.upright(1.5, "claim", "claimed")
    chart.level(0.5, "limit")
    root = ET.fromstring(chart.drawn("a & b"))
    assert root.get("role") == "img"
    assert root.get("aria-label") == "a & b"
    assert "y < 1" in [e.text for e in root.iter("{http://www.w3.org/2000/svg}text")]


def test_the_mark_of_infinity_lies_behind_the_axis():
    line = Line(0.1, 10, 300, log=True)
    assert line.at(10) < line.at(math.inf) < 300
    assert line.at(1e9) == line.at(10)
    assert line.at(1e-9) == line.at(0.1)


BOUNDS = {
    "epsilon is 0.1": Bound(0.1, 0.1, "certified", "proved"),
    "epsilon is infinite": Bound(math.inf, math.inf, "certified", "certified"),
    "0.5 ≤ epsilon ≤ 2": Bound(0.5, 2, "numeric", "proved"),
    "0.5 ≤ epsilon, no upper bound": Bound(0.5, math.inf, "statistical", "none"),
    "epsilon ≤ 2": Bound(0, 2, "none", "proved"),
    "nothing is known about epsilon": Bound(0, math.inf),
}


@pytest.mark.parametrize("said", BOUNDS)
def test_bounds_in_words_and_as_pictures(said):
    assert sentence(BOUNDS[said]) == said
    drawn = picture(BOUNDS[said], 0.3, [Mark(math.inf, "sniper", "another tool")])
    root = ET.fromstring(drawn)
    assert root.get("aria-label") == f"{said}; claimed: 0.3; another tool: ∞"
    assert "nan" not in drawn
    assert "inf" not in drawn.replace("infinite", "").replace("inf\"", "")


def test_a_bound_drawn():
    """Golden: the markup of the smallest picture."""
    line = Line(0, 1, 142, log=False)
    assert line.interval(Bound(0.25, 0.75, "numeric", "proved"), 10) == (
        '<g><rect class="bound" x="33" y="6.5" width="50" height="7"></rect>'
        '<rect class="end" x="31.5" y="2" width="3" height="16"></rect>'
        '<rect class="end" x="81.5" y="2" width="3" height="16"></rect></g>'
    )


def test_a_key_hides_its_swatches_from_readers():
    assert key(("bound", "bounds & more")) == (
        '<ul class="key"><li><span class="swatch bound" aria-hidden="true"></span>'
        "bounds &amp; more</li></ul>"
    )
