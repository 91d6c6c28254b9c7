"""dpest list: the mechanisms that come with dpest."""

from __future__ import annotations

import argparse

from dpest.cli.output import emit


def add_arguments(_: argparse.ArgumentParser) -> None:
    """None."""


def run(_: argparse.Namespace) -> None:
    """Print the table."""
    from dpest.report.table import listing

    emit(listing())
