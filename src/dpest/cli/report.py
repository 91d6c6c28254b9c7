"""dpest report: audit every mechanism of `dpest list`."""

from __future__ import annotations

import argparse
from pathlib import Path

from dpest.cli.output import check_output, emit


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The form of the report and where it goes."""
    parser.add_argument("--format", choices=("text", "md", "json"), default="text",
                        help="how the table is written (text)")  # fmt: skip
    parser.add_argument("--output", type=Path, metavar="FILE", help="write to a file")
    parser.add_argument("--html", type=Path, metavar="FOLDER",
                        help="write a site: an index and a page for every mechanism")  # fmt: skip
    parser.add_argument("--patterns", action="store_true",
                        help="the exact loss of seven fixed input patterns instead")  # fmt: skip


def run(arguments: argparse.Namespace) -> None:
    """Print or write the report."""
    from dpest.report import patterns, table

    if arguments.html is not None:
        _write_site(arguments.html)
        return
    source = patterns if arguments.patterns else table
    check_output(arguments.output)
    emit(source.render(source.collect(), arguments.format), arguments.output)


def _write_site(folder: Path) -> None:
    """Audit everything and write the pages; say where they begin."""
    from dpest.report.html import build

    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(f"--html needs a folder, and {folder} is a file")
    build(folder)
    print(folder / "index.html")
