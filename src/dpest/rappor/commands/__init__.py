"""`dpest rappor COMMAND`: a module per command, with `add_arguments(parser)` and `run(args)`.

A command's docstring is its help. Building the parser imports nothing heavy; a command imports what
it needs when it runs.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from dpest.rappor.errors import RapporError

COMMANDS = (
    "params",
    "simulate",
    "encode",
    "count",
    "candidates",
    "decode",
    "assoc",
    "unknown",
    "privacy",
    "advise",
    "study",
)


def add_commands(subparsers: argparse._SubParsersAction) -> None:
    """Add `rappor` and its commands to the subcommands of a program."""
    summary = "collect statistics from clients that each keep their privacy"
    parser = subparsers.add_parser("rappor", help=summary, description=summary)
    sub = parser.add_subparsers(dest="rappor_command", metavar="COMMAND", required=True)
    for name in COMMANDS:
        module = import_module(f"{__name__}.{name}")
        about = str(module.__doc__)
        command = sub.add_parser(
            name, help=_summary(about), description=about, formatter_class=_AsWritten
        )
        module.add_arguments(command)
        command.set_defaults(run=_told(module.run))


_AsWritten = argparse.RawDescriptionHelpFormatter


def _summary(about: str) -> str:
    """The first sentence, as it stands in a list."""
    sentence = about.splitlines()[0].rstrip(".")
    return sentence[0].lower() + sentence[1:]


def _told(run: Callable[[argparse.Namespace], None]) -> Callable[[argparse.Namespace], int]:
    """Run a command; trouble with files is told like any other bad input."""

    def running(args: argparse.Namespace) -> int:
        try:
            _check_outputs(args)
            run(args)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise RapporError(
                f"cannot use {error.filename or 'a file'}: {error.strerror}"
            ) from None
        except MemoryError as error:
            raise RapporError(
                f"there is not enough memory for k, m and the data: {error}"
            ) from None
        except UnicodeDecodeError as error:
            raise RapporError(f"the input is not UTF-8 text: {error}") from None
        return 0

    return running


def _check_outputs(args: argparse.Namespace) -> None:
    from dpest.rappor.wire.streams import check_folder

    outputs = ["output", "metrics", "plot", "html", "checkpoint"]
    if args.rappor_command == "simulate":
        outputs.append("truth")
    for option in outputs:
        if getattr(args, option, None):
            check_folder(Path(getattr(args, option)))
