"""The first page of the site: every mechanism in one table."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from dpest.report.columns import number
from dpest.report.html.bounds import Line, sentence
from dpest.report.html.chart import svg
from dpest.report.html.frame import document
from dpest.report.html.markup import Content, Markup, element
from dpest.report.html.peers import marks, seconds, spelled
from dpest.report.measured import Measured, error, figures
from dpest.report.table import Row, verdict_of

_ORDER = ("refuted", "infinite", "unknown", "finite", "holds")
_MEANING = {
    "refuted": "a witness loses more than was claimed",
    "infinite": "none is claimed, and no finite ε covers the loss",
    "unknown": "neither a witness nor a proof decides",
    "finite": "none is claimed, yet ε is finite at this size",
    "holds": "the claim is proved for all neighbours",
}
_HEADER = ("mechanism", "n", "neighbours", "claim", "ε", "verdict", "time")
_WIDTH = 270.0


def index(rows: Sequence[Row]) -> str:
    """The table of all mechanisms, to be sorted and filtered."""
    return document(
        "Privacy loss of the mechanisms",
        element("header",
                element("h1", "How much privacy do they really lose?"),
                element("p", f"{len(rows)} mechanisms, each with an interval for its privacy loss "
                             "ε: a witness from below, a proof from above. Beside it stands what "
                             "other tools measured, and how far that is from the truth.",
                        class_="lead"),
                class_="title"),
        _legend(rows),
        _filter(rows),
        element("div", _table(rows), class_="wide"),
        element("p", element("span", _times(rows)), class_="quiet small"),
    )  # fmt: skip


def _verdicts(rows: Sequence[Row]) -> Counter[str]:
    return Counter(verdict_of(row.report) for row in rows)


def _legend(rows: Sequence[Row]) -> Markup:
    """What the marks in the pictures and the words in the table mean."""
    shapes = [("bound", "bounds (lower to upper; one line where they meet)"), ("claim", "claim"),
              *((f"mark {m.class_}", m.source) for m in figures(rows[0].entry))]  # fmt: skip
    counted = _verdicts(rows)
    found = [verdict for verdict in _ORDER if counted[verdict]]
    return element(
        "details",
        element("summary", "Legend"),
        element("ul", [
            element("li", element("span", class_=f"swatch {class_}", aria_hidden="true"), words)
            for class_, words in shapes
        ], class_="key"),
        element("dl", [
            (element("dt", verdict, class_=f"verdict {verdict}"),
             element("dd", f"{_MEANING[verdict]} ({counted[verdict]} of {len(rows)})"))
            for verdict in found
        ], class_="facts"),
        element("p", "The figures of the other tools are those of the seed documents: two runs of "
                     "their dpest (10⁶ and 10⁵ samples), DP-Sniper, StatDP. Errors are relative to "
                     "the true ε."),
        open=True, class_="legend",
    )  # fmt: skip


def _filter(rows: Sequence[Row]) -> Markup:
    counted = _verdicts(rows)
    options = [element("option", "any verdict", value=""),
               *(element("option", verdict) for verdict in _ORDER if counted[verdict])]  # fmt: skip
    return element(
        "form",
        element("label", "Find ", element("input", type="search", name="words", autocomplete="off",
                                          placeholder="name, author, neighbours")),
        element("label", "Verdict ", element("select", options, name="verdict")),
        element("output", f"{len(rows)} of {len(rows)} shown"),
        class_="filter", data_table="mechanisms", role="search",
    )  # fmt: skip


def _table(rows: Sequence[Row]) -> Markup:
    line = _line(rows)
    others = [m.short for m in figures(rows[0].entry)]
    names = [*_HEADER[:5], None, *_HEADER[5:6], *others, *_HEADER[6:]]
    heads = [_picture_head(line) if name is None else _head(name) for name in names]
    return element(
        "table",
        element("caption", "Every mechanism under its published claim. The headers sort."),
        element("thead", element("tr", heads, role="row"), role="rowgroup"),
        element("tbody", [_row(row, line, others) for row in rows], role="rowgroup"),
        id="mechanisms", class_="sortable cards", role="table",
    )  # fmt: skip


def _head(name: str) -> Markup:
    return element("th", element("button", name, type="button"), scope="col", role="columnheader")


def _line(rows: Sequence[Row]) -> Line:
    """An axis of epsilon by its logs that holds everything finite in the table."""
    values = [v for row in rows for v in (row.report.lower, row.report.upper, row.entry.claim,
              *(m.epsilon for m in figures(row.entry) if m.epsilon is not None))]  # fmt: skip
    finite = [v for v in values if 0 < v < math.inf] or [1.0]
    return Line(min(finite) / 1.3, max(finite) * 1.3, _WIDTH, log=True)


def _picture_head(line: Line) -> Markup:
    return element(
        "th", svg(_WIDTH, 30.0, "Axis of epsilon, by powers of ten", line.ticks(6.0),
                  class_="chart interval"),
        scope="col", role="columnheader", class_="picture",
    )  # fmt: skip


def _row(row: Row, line: Line, others: Sequence[str]) -> Markup:
    entry, report = row.entry, row.report
    verdict = verdict_of(report)
    cells = [
        _cell("n", str(entry.inputs.size), entry.inputs.size, "number"),
        _cell("neighbours", str(entry.neighbors), str(entry.neighbors)),
        _cell("claim", number(entry.claim), _key(entry.claim), "number"),
        _cell("ε", spelled(report.bound), _key(report.lower), "number"),
        _cell("", _picture(row, line), "", "picture"),
        _cell("verdict", verdict, _ORDER.index(verdict), f"verdict {verdict}"),
        *(_measured_cell(m, row) for m in figures(entry)),
        _cell("time", seconds(report.seconds), f"{report.seconds:.4f}", "number"),
    ]
    name = element("th", element("a", entry.title, href=f"{entry.name}.html"),
                   element("span", entry.citation, class_="cite"),
                   scope="row", role="rowheader", data_sort=entry.title.lower())  # fmt: skip
    words = f"{entry.title} {entry.name} {entry.citation} {entry.neighbors} {verdict}".lower()
    return element("tr", name, cells, role="row", data_words=words, data_verdict=verdict)


def _cell(label: str, content: Content, key: object, class_: str | None = None) -> Markup:
    """A cell that knows the header of its column, for narrow screens, and how to sort it."""
    return element("td", content, role="cell", data_label=label, data_sort=key, class_=class_)


def _measured_cell(measured: Measured, row: Row) -> Markup:
    if measured.epsilon is None:
        return _cell(measured.short, "–", "", "number none")
    off = error(measured.epsilon, row.report.bound)
    shown = [number(measured.epsilon, 6), element("span", off, class_="error")]
    return _cell(measured.short, shown, _key(measured.epsilon), "number")


def _key(value: float) -> str:
    return "inf" if math.isinf(value) else repr(value)


def _picture(row: Row, line: Line) -> Markup:
    said = [sentence(row.report.bound), f"claimed: {number(row.entry.claim)}"]
    found = marks(row.entry)
    said += [f"{mark.name}: {number(mark.value, 6)}" for mark in found]
    parts: list[Content] = [line.base(14.0), line.claim(row.entry.claim, 14.0)]
    parts += [line.interval(row.report.bound, 14.0), *(line.mark(mark, 14.0) for mark in found)]
    return svg(_WIDTH, 28.0, "; ".join(said), parts, class_="chart interval")


def _times(rows: Sequence[Row]) -> str:
    own = sum(row.report.seconds for row in rows)
    theirs = sum(row.entry.figures.dpest_seconds for row in rows)
    return f"All audits took {own:.1f} s; the seed documents’ own run took {theirs:.0f} s."
