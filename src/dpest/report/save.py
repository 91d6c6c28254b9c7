"""Writing a report to a file, in the form that the file's name asks for."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dpest.report.result import Report


def save(report: Report, path: str | Path) -> Path:
    """Write the report; the path's suffix says how."""
    target = check_target(path)
    target.write_text(_FORMS[target.suffix.lower()](report), encoding="utf-8")
    return target


def check_target(path: str | Path) -> Path:
    """The path, refused where no report can be written there."""
    target = Path(path)
    if target.suffix.lower() not in _FORMS:
        known = ", ".join(_FORMS)
        raise ValueError(f"a report is saved as {known}; {str(path)!r} has none of these endings")
    if not target.resolve().parent.is_dir():
        raise FileNotFoundError(f"no such directory: {target.parent}")
    return target


def _html(report: Report) -> str:
    from dpest.report.html import page

    return page(report)


def _json(report: Report) -> str:
    return json.dumps(report.to_json(), indent=2) + "\n"


_FORMS: dict[str, Callable[[Report], str]] = {
    ".html": _html,
    ".md": lambda report: report.to_markdown(),
    ".json": _json,
    ".txt": lambda report: f"{report}\n",
}
