"""The strings found, as bars with their intervals, and the truth beside them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from dpest.rappor.decoding.results import Row
from dpest.report.html.bounds import Line, Mark
from dpest.report.html.chart import Chart, figure, key, place, shape
from dpest.report.html.markup import Content, Markup, element
from dpest.report.html.rappor.page import Collection, percent
from dpest.report.html.section import Section, scrolling, section, table
from dpest.report.html.witness import shortened

_MOST = 1_000
"""So many strings are listed."""
_WIDTH, _HEIGHT = 220.0, 18.0


def strings_section(found: Collection) -> Section:
    """Every string found, the most frequent first."""
    rows = found.decoding.rows
    if not rows:
        return section("strings", "Strings", element("p", "No string stands out from the noise: "
                       "collect more reports, or look for other strings."))  # fmt: skip
    shown = rows[:_MOST]
    rest = f" The {len(rows) - _MOST} rarest are left out." if len(rows) > _MOST else ""
    entries = [("bar", "share"), ("whisker", "95 % interval")]
    if found.truth is not None:
        entries.append(("truth", "true share"))
    return section(
        "strings", "Strings",
        element("p", f"The strings found, with the share of all reports that hold them.{rest}"),
        key(*entries), _filter(len(shown)), scrolling(_table(found, shown), "Strings found"),
    )  # fmt: skip


def _filter(count: int) -> Markup:
    return element(
        "form",
        element("label", "Find ", element("input", type="search", name="words",
                                          autocomplete="off")),
        element("output", f"{count} of {count} shown"),
        class_="filter", data_table="strings-table", role="search",
    )  # fmt: skip


def _table(found: Collection, rows: Sequence[Row]) -> Markup:
    names = ["string", None, "share", "95 % interval", "estimate"]
    if found.truth is not None:
        names.append("truth")
    heads = [
        element("th", element("button", name, type="button") if name else
                element("span", "Picture", class_="hidden"), scope="col")
        for name in names
    ]  # fmt: skip
    most = max([row.prop_high_95 for row in rows if math.isfinite(row.prop_high_95)] or [1.0])
    return element(
        "table",
        element("caption", "Strings found. The headers sort."),
        element("thead", element("tr", heads)),
        element("tbody", [_row(row, found, most) for row in rows]),
        id="strings-table", class_="sortable strings",
    )  # fmt: skip


def _row(row: Row, found: Collection, most: float) -> Markup:
    true = None if found.truth is None else found.truth.get(row.string, 0.0)
    cells = [
        element("td", _bar(row, true, most), data_sort=""),
        _number(percent(row.proportion), row.proportion),
        _number(f"{percent(row.prop_low_95)} to {percent(row.prop_high_95)}", row.prop_low_95),
        _number(f"{row.estimate:,.0f}", row.estimate),
    ]
    if true is not None:
        cells.append(_number(percent(true), true))
    return element(
        "tr", element("th", shortened(row.string, 80), scope="row", data_sort=row.string.lower()),
        cells, data_words=row.string.lower(),
    )  # fmt: skip


def _number(text: str, value: float) -> Markup:
    return element("td", text, class_="number", data_sort=value if math.isfinite(value) else "")


def _bar(row: Row, truth: float | None, most: float) -> Markup:
    """The share as a bar, its interval as a whisker, the truth as a diamond."""
    full, middle = _WIDTH - 8, _HEIGHT / 2

    def at(share: float) -> float:
        return full * min(max(share, 0.0), most) / most if math.isfinite(share) else 0.0

    low, high = at(row.prop_low_95), at(row.prop_high_95)
    line = f"M{place(low)} {middle:g} H{place(high)} M{place(low)} 5 v8 M{place(high)} 5 v8"
    parts: list[Content] = [
        shape("rect", "bar", x=0.0, y=4.0, width=at(row.proportion), height=10.0),
        shape("path", "whisker", d=line),
    ]
    if truth is not None:
        parts.append(Line(0.0, most, full + 34, log=False, left=0.0).mark(
            Mark(truth, "sniper", "true share"), middle))  # fmt: skip
    return element(
        "svg", parts, class_="meter", viewBox=f"0 0 {_WIDTH:g} {_HEIGHT:g}", width=place(_WIDTH),
        height=place(_HEIGHT), aria_hidden="true",
    )  # fmt: skip


# -- the truth --------------------------------------------------------------------------------


def truth_section(found: Collection) -> Section | None:
    """Estimates against the truth, what was missed and what was imagined."""
    if found.truth is None:
        return None
    compared = found.decoding.compared(found.truth)
    missed = sorted(compared.missed, key=lambda string: -found.truth[string])  # type: ignore[index]
    return section(
        "truth", "Truth beside estimate",
        element("p", f"Of the strings that occur {percent(compared.recall)} were found "
                     f"(recall); of those found {percent(compared.precision)} occur (precision). "
                     f"The shares are off by {compared.total_variation:.3g} in total variation."),
        _scatter(found, found.truth),
        _missed(missed, found.truth),
        element("p", "Found, but absent: ",
                element("code", shortened(", ".join(compared.wrong)))) if compared.wrong else None,
    )  # fmt: skip


def _scatter(found: Collection, truth: Mapping[str, float]) -> Markup | None:
    points = [(truth.get(row.string, 0.0), row) for row in found.decoding.rows]
    if not points:
        return None
    most = 1.08 * max(max(true, row.proportion) for true, row in points)
    chart = Chart((0.0, most), (0.0, most), "true share", "estimated share", height=330.0)
    chart.line([(0.0, 0.0), (most, most)], "upper")
    for true, row in points:
        chart.dot(true, min(max(row.proportion, 0.0), most), "estimate",
                  f"{row.string}: true {percent(true)}, estimated {percent(row.proportion)}")
    caption = "Every string found; on the dashed line estimate and truth agree."
    return figure(chart.drawn(f"Estimated against true shares of {len(points)} strings"), caption)


def _missed(missed: Sequence[str], truth: Mapping[str, float]) -> Markup | None:
    if not missed:
        return None
    rows = [(shortened(string, 80), percent(truth[string])) for string in missed[:10]]
    return element(
        "details", element("summary", f"The {len(missed)} strings that were missed"),
        table("The most frequent of them", ("string", "share"), rows, (1,), "plain"),
    )  # fmt: skip
