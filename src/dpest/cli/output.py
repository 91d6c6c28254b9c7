"""Where a command's text goes."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dpest.explain import Section


def check_output(output: Path | None) -> None:
    """Refuse a file that cannot be written before the work is done, not after."""
    if output is not None and not output.resolve().parent.is_dir():
        raise FileNotFoundError(f"no such directory: {output.parent}")


def emit(text: str, output: Path | None = None) -> None:
    """Print, or write to the file."""
    if output is None:
        print(text.rstrip("\n"))
        sys.stdout.flush()
    else:
        output.write_text(text if text.endswith("\n") else text + "\n", encoding="utf-8")


def emit_sections(sections: list[Section]) -> None:
    """Print titles and what stands below them; on a terminal with the titles in bold."""
    from dpest.explain import folded, plain

    if not sys.stdout.isatty():
        emit(plain(sections))
        return
    from rich.console import Console

    console = Console(highlight=False, soft_wrap=True)
    for number, section in enumerate(sections):
        console.print("\n" * (number > 0) + section.title, style="bold", markup=False)
        for line in section.lines:
            for row in folded(line):
                console.print(row, markup=False)
