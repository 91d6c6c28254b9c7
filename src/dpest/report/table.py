"""The privacy-loss report: every seed mechanism, beside what others measured for it."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, TypeVar

from dpest.report import columns
from dpest.report.result import Report
from dpest.zoo import ENTRIES, Entry

T = TypeVar("T")
HEADER = (
    "algorithm", "n", "neighbors", "claim", "epsilon", "verdict", "method", "time",
    "dpest 1", "dpest 2", "Sniper", "StatDP",
)  # fmt: skip
_LEFT = (0, 2, 5, 6)
_LEGEND = """\
epsilon: what is known about the loss over all neighbors, [lower, upper] where the two differ.
verdict: of the claim, which is the published epsilon. Where that is ∞: "finite" if epsilon is
  finite at this input size after all, "infinite" if no epsilon covers the loss.
dpest 1, dpest 2, Sniper, StatDP: what the seed documents print for their two runs of dpest
  (10^6 and 10^5 samples), for DP-Sniper and for StatDP."""


@dataclass(frozen=True)
class Row:
    """One mechanism of the register and its audit."""

    entry: Entry
    report: Report


def collect(entries: Sequence[Entry] = ENTRIES) -> list[Row]:
    """Audit every entry under its published claim."""
    return hardest_first(_row, entries)


def hardest_first(work: Callable[[Entry], T], entries: Sequence[Entry]) -> list[T]:
    """work(entry) for all entries on all cores, in their order.

    Those with the most inputs start first, so that no core is left waiting for them.
    """
    from dpest.progress import mapped

    order = sorted(range(len(entries)), key=lambda k: -entries[k].inputs.size)
    results = mapped(work, [entries[k] for k in order], lambda entry: entry.title)
    found = dict(zip(order, results, strict=True))
    return [found[k] for k in range(len(entries))]


def _row(entry: Entry) -> Row:
    report = _beside_the_other_norm(entry, audited(entry))
    return Row(entry, replace(report, program=None))


def audited(entry: Entry) -> Report:
    """The audit of one entry; what cannot be audited is reported as such."""
    from dpest.audit import audit
    from dpest.claims import pure
    from dpest.evidence import Bound

    try:
        return audit(
            entry.function, entry.inputs, entry.neighbors, entry.claim, params=entry.params
        )
    except ValueError as reason:
        return Report(
            entry.name, entry.inputs, entry.neighbors, entry.params, pure(entry.claim),
            Bound(0.0, math.inf), "none", 0.0, notes=(str(reason),),
        )  # fmt: skip


def _beside_the_other_norm(entry: Entry, report: Report) -> Report:
    """With a note on what the loss is where every entry may differ, not one unit in all."""
    from dpest.audit import audit
    from dpest.neighbors import Norm, linf

    relation = entry.neighbors
    refused = report.function is None
    if refused or not isinstance(relation, Norm) or relation.kind != "l1" or entry.inputs.size == 1:
        return report
    other = linf(relation.radius)
    bound = audit(entry.function, entry.inputs, other, params=entry.params).bound
    note = f"under {relation} epsilon is {report.bound}, under {other} it is {bound}"
    return replace(report, notes=(*report.notes, note))


def render(rows: Sequence[Row], form: str) -> str:
    """The report as text, Markdown ("md") or JSON."""
    if form == "json":
        return json.dumps(_plain(rows), indent=2)
    table = columns.markdown if form == "md" else columns.text
    cells = [cells_of(row) for row in rows]
    return "\n".join([table(HEADER, cells, _LEFT), "", *_remarks(rows, form)])


def listing() -> str:
    """What `dpest list` prints."""
    rows = [
        (e.name, e.title, str(e.inputs), str(e.neighbors), columns.number(e.claim), e.citation)
        for e in ENTRIES
    ]
    return columns.text(
        ("name", "title", "inputs", "neighbors", "claim", "published in"), rows, (0, 1, 2, 3, 5)
    )


def cells_of(row: Row) -> tuple[str, ...]:
    """What the table says of a mechanism, as HEADER names it."""
    entry, report, figures = row.entry, row.report, row.entry.figures
    measured = (figures.dpest_run1, figures.dpest_run2, figures.dp_sniper, figures.statdp)
    return (
        entry.title, str(entry.inputs.size), str(entry.neighbors), columns.number(entry.claim),
        _epsilon(report), verdict_of(report), report.method, f"{report.seconds:.2f} s",
        *(columns.number(value, 6) for value in measured),
    )  # fmt: skip


def _epsilon(report: Report) -> str:
    lower, upper = columns.number(report.lower), columns.number(report.upper)
    if lower == upper:
        return upper
    return f"[{lower}, {upper if report.bound.upper_status != 'none' else '?'}]"


def verdict_of(report: Report) -> str:
    """The verdict; a published infinity is no claim, so it says what epsilon is instead."""
    if report.claim is None or math.isfinite(report.claim.limit):
        return str(report.verdict)
    if math.isinf(report.lower):
        return "infinite"
    known = math.isfinite(report.upper) and report.bound.upper_status != "none"
    return "finite" if known else "unknown"


def _remarks(rows: Sequence[Row], form: str) -> list[str]:
    """Legend, total time, what was refuted and what failed."""
    seconds = sum(row.report.seconds for row in rows)
    theirs = sum(row.entry.figures.dpest_seconds for row in rows)
    lines = [
        *_LEGEND.splitlines(),
        f"time: {seconds:.1f} s in all; the seed documents' own run took {theirs:.0f} s.",
    ]
    for row in rows:
        if verdict_of(row.report) == "refuted":
            lines.append(f"{row.entry.title}: {row.report.headline}")
        lines += [f"{row.entry.title}: {note}" for note in row.report.notes]
    return [f"{line}  " for line in lines] if form == "md" else lines


def _plain(rows: Sequence[Row]) -> dict[str, Any]:
    return {
        "rows": [row.report.to_json() for row in rows],
        "seed": {row.entry.name: _finite(asdict(row.entry.figures)) for row in rows},
    }


def _finite(figures: dict[str, Any]) -> dict[str, Any]:
    return {name: "inf" if value == math.inf else value for name, value in figures.items()}
