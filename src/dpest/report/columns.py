"""Plain tables: aligned text and Markdown."""

from __future__ import annotations

import math
from collections.abc import Sequence

Rows = Sequence[Sequence[str]]


def text(header: Sequence[str], rows: Rows, left: Sequence[int] = (0,)) -> str:
    """Aligned columns; numbers to the right, the columns in `left` to the left."""
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]

    def line(cells: Sequence[str]) -> str:
        return "  ".join(
            cell.ljust(width) if k in left else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ).rstrip()

    rule = "  ".join("-" * width for width in widths)
    return "\n".join([line(header), rule, *map(line, rows)])


def markdown(header: Sequence[str], rows: Rows, left: Sequence[int] = (0,)) -> str:
    """A Markdown table."""
    marks = [":--" if k in left else "--:" for k in range(len(header))]
    return "\n".join(
        "| " + " | ".join(cells).replace("\n", " ") + " |" for cells in [header, marks, *rows]
    )


def number(value: float | None, digits: int = 4) -> str:
    """A number for a table: none is a dash, infinity its sign."""
    if value is None:
        return "-"
    if math.isinf(value):
        return "∞"
    return f"{value:.{digits}g}"
