"""The command line: dpest list | audit | report | graph | check | rappor."""

from dpest.cli.program import main

__all__ = ["main"]
