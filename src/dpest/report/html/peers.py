"""The seeds' figures beside the bounds: estimate, error and time."""

from __future__ import annotations

import math
from collections.abc import Sequence

from dpest.evidence import Bound
from dpest.report.columns import number
from dpest.report.html.bounds import Mark
from dpest.report.html.markup import Content, element
from dpest.report.html.section import Section, section, table
from dpest.report.measured import entry_of, error, figures
from dpest.report.result import Report
from dpest.zoo import Entry


def peers_section(report: Report) -> Section | None:
    """What the seed documents print for this mechanism, and how far that is from the truth."""
    entry = entry_of(report)
    if entry is None:
        return None
    rows: list[Sequence[Content]] = [
        (m.source, number(m.epsilon, 6), error(m.epsilon, report.bound), seconds(m.seconds))
        for m in figures(entry) if m.epsilon is not None
    ]  # fmt: skip
    rows.append((element("strong", "these bounds"), spelled(report.bound), _own_error(report.bound),
                 seconds(report.seconds)))  # fmt: skip
    silent = [m.source for m in figures(entry) if m.epsilon is None]
    rest = f" They give no figure of {' or '.join(silent)}." if silent else ""
    return section(
        "peers", "Beside other tools",
        table("Estimates of ε, their errors relative to the truth, and times",
              ("tool", "ε", "error", "time"), rows, (1, 2, 3), "plain"),
        element("p", f"Figures of the other tools are those of the seed documents.{rest}",
                class_="quiet"),
    )  # fmt: skip


def marks(entry: Entry) -> list[Mark]:
    """The figures as marks on a line of epsilon."""
    return [Mark(m.epsilon, m.class_, m.source) for m in figures(entry) if m.epsilon is not None]


def spelled(bound: Bound) -> str:
    """The bound as a number, or as two."""
    lower = number(bound.lower, 6)
    upper = number(bound.upper, 6) if bound.upper_status != "none" else "?"
    return upper if lower == upper else f"[{lower}, {upper}]"


def seconds(time: float | None) -> str:
    """A time in seconds, as precise as it matters."""
    if time is None:
        return "–"
    return f"{time:.0f} s" if time >= 10 else f"{time:.2f} s"


def _own_error(bound: Bound) -> str:
    if bound.lower == bound.upper:
        return "0"
    known = bound.upper_status != "none" and math.isfinite(bound.upper) and bound.lower > 0
    return f"at most {number(100 * (bound.upper / bound.lower - 1), 2)} %" if known else "–"
