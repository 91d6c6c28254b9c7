"""The site: an index and a page per mechanism, which open from a file without any network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from dpest.report.html.index import index
from dpest.report.html.mechanism import page
from dpest.report.html.proof import certificate_name, certificate_text
from dpest.report.table import Row, audited, hardest_first
from dpest.zoo import ENTRIES, Entry

HOME = "index.html"


@dataclass(frozen=True)
class _Page:
    """A row of the index, and the text of the page behind it."""

    row: Row
    text: str


def build(folder: Path, entries: Sequence[Entry] = ENTRIES) -> None:
    """Audit the entries and write the site into the folder, which is made where it is missing."""
    folder.mkdir(parents=True, exist_ok=True)
    pages = hardest_first(_page, entries)
    for one in pages:
        (folder / address(one.row.entry)).write_text(one.text, encoding="utf-8")
        report = one.row.report
        if report.proof is not None:
            certificate = folder / certificate_name(report)
            certificate.write_text(certificate_text(report.proof), encoding="utf-8")
    (folder / HOME).write_text(index([one.row for one in pages]), encoding="utf-8")


def address(entry: Entry) -> str:
    """The page of a mechanism."""
    return f"{entry.name}.html"


def _page(entry: Entry) -> _Page:
    report = audited(entry)
    return _Page(Row(entry, replace(report, program=None)), page(report, home=HOME))
