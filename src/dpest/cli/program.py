"""The program: finds the command's module, runs it, turns errors into one line and an exit code.

A command is a module of this folder, named like the command, with `add_arguments(parser)` and
`run(arguments)`; only the module of the command that is meant is imported.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import dpest
from dpest.cli.exits import BAD_INPUT, EPILOG, HOLDS, INTERRUPTED, one_line

COMMANDS = {
    "list": "show the mechanisms that come with dpest",
    "audit": "bound the privacy loss of a mechanism",
    "explain": "tell how a mechanism works, what pays for its loss, and where it is worst",
    "diff": "tell what a change of a mechanism did to its privacy",
    "report": "audit every mechanism of `dpest list`",
    "graph": "draw a mechanism's computation graph as SVG",
    "check": "verify a proof without any engine",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    words = sys.argv[1:] if argv is None else argv
    try:
        arguments = _parser(words).parse_args(words)
        return arguments.run(arguments) or HOLDS
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return HOLDS
    except (ValueError, TypeError, OSError, ImportError) as error:
        print(f"dpest: {one_line(error)}", file=sys.stderr)
        return BAD_INPUT


class _Parser(argparse.ArgumentParser):
    """Errors are one line, like all others."""

    def error(self, message: str) -> Any:
        raise ValueError(f"{message} (see `{self.prog} --help`)")


def _parser(words: Sequence[str]) -> argparse.ArgumentParser:
    parser = _Parser(
        prog="dpest", epilog=EPILOG,
        description="How much privacy does a numpy function really lose?",
    )  # fmt: skip
    parser.add_argument("--version", action="version", version=f"dpest {dpest.__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    meant = words[0] if words else ""
    for name, summary in COMMANDS.items():
        command = commands.add_parser(name, help=summary, description=summary, epilog=EPILOG)
        if name == meant:
            module = import_module(f"dpest.cli.{name}")
            module.add_arguments(command)
            command.set_defaults(run=module.run)
    _add_rappor(commands, meant)
    return parser


def _add_rappor(commands: Any, meant: str) -> None:
    if meant == "rappor":
        from dpest.rappor.commands import add_commands

        add_commands(commands)
    else:
        commands.add_parser("rappor", help="collect statistics with local privacy")
