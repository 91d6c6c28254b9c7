"""A report as Markdown."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from dpest.report.text import Fact, outline

if TYPE_CHECKING:
    from dpest.report.result import Report


def markdown(report: Report) -> str:
    """The headline in bold, then every fact as an item; aligned lines stay aligned."""
    told = outline(report)
    head = [f"**{_escaped(told.headline)}**", "", _escaped(told.subject), ""]
    return "\n".join([*head, *(line for fact in told.facts for line in _item(fact))]) + "\n"


def _item(fact: Fact) -> list[str]:
    first, *rest = fact.lines
    if not rest:
        return [f"- {fact.name}: {_escaped(first)}"]
    if fact.prose:
        return [f"- {fact.name}:", *(f"  - {_escaped(line)}" for line in fact.lines)]
    return [f"- {fact.name}:", "", "  ```text", *(f"  {line}" for line in fact.lines), "  ```"]


def _escaped(line: str) -> str:
    """The line with everything that Markdown would read as markup taken literally."""
    return re.sub(r"([\\`*_\[\]<>|~#])", r"\\\1", line)
