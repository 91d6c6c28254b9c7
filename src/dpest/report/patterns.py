"""The exact loss of the seven fixed input patterns that the seed documents test."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass

from dpest.report import columns
from dpest.zoo import ENTRIES, Entry
from dpest.zoo.patterns import NAMES, patterns


@dataclass(frozen=True)
class PatternRow:
    """A mechanism and its loss for every pattern that its neighbours allow."""

    entry: Entry
    losses: dict[str, float | None]
    seconds: float


def collect(entries: Sequence[Entry] = ENTRIES) -> list[PatternRow]:
    """The larger loss of the two directions, per mechanism and pattern; None out of reach."""
    from dpest.progress import mapped

    # the longest first, so that no core is left waiting for it
    order = sorted(range(len(entries)), key=lambda k: -entries[k].inputs.size)
    rows = mapped(_row, [entries[k] for k in order], lambda entry: entry.title)
    found = dict(zip(order, rows, strict=True))
    return [found[k] for k in range(len(entries))]


def _row(entry: Entry) -> PatternRow:
    from dpest.engines.analytic import traced
    from dpest.engines.exact import ExactLaw, OutOfReach
    from dpest.neighbors import pairs

    start = time.perf_counter()
    give = entry.inputs.give
    found = patterns(entry.inputs.size, entry.neighbors)
    listed = {name: (give(x), give(y)) for name, (x, y) in found.items()}
    law = ExactLaw(
        traced(entry.function, entry.inputs, pairs(listed.values()), entry.params)
    )
    losses: dict[str, float | None] = {}
    for name, (x, x_prime) in listed.items():
        try:
            pair = law.pair(x, x_prime)
            losses[name] = pair.loss if pair.at_most == pair.loss else None
        except OutOfReach:
            losses[name] = None
    return PatternRow(entry, losses, time.perf_counter() - start)


def render(rows: Sequence[PatternRow], form: str) -> str:
    """The table as text, Markdown ("md") or JSON."""
    if form == "json":
        return json.dumps({"rows": [_plain(row) for row in rows]}, indent=2)
    header = ("algorithm", *(name.replace("_", " ") for name in NAMES), "time")
    cells = [
        (row.entry.title, *(_cell(row, name) for name in NAMES), f"{row.seconds:.2f} s")
        for row in rows
    ]
    table = columns.markdown(header, cells) if form == "md" else _text(cells)
    return f"{table}\n\ntime: {sum(row.seconds for row in rows):.1f} s in all"


def _text(cells: Sequence[Sequence[str]]) -> str:
    """The names of the patterns are long: as text they are numbered."""
    header = ("algorithm", *(str(k) for k in range(1, len(NAMES) + 1)), "time")
    key = [f"{k}: {name}" for k, name in enumerate(NAMES, start=1)]
    return columns.text(header, cells) + "\n\n" + "  ".join(key)


def _cell(row: PatternRow, name: str) -> str:
    if name not in row.losses:
        return ""
    loss = row.losses[name]
    return "?" if loss is None else columns.number(loss, 9)


def _plain(row: PatternRow) -> dict[str, object]:
    losses = {name: "inf" if loss == math.inf else loss for name, loss in row.losses.items()}
    return {"mechanism": row.entry.name, "losses": losses, "seconds": row.seconds}
