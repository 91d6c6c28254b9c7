"""Arguments that several commands share."""

from __future__ import annotations

import argparse

from dpest.rappor.hashing import SCHEMES


def add_file(
    parser: argparse.ArgumentParser, name: str, what: str, *, required: bool = False
) -> None:
    """An option that names a file."""
    parser.add_argument(name, metavar="FILE", help=what, required=required)


def add_params(parser: argparse.ArgumentParser) -> None:
    """--params."""
    add_file(parser, "--params", "params.csv or JSON", required=True)


def add_scheme(parser: argparse.ArgumentParser) -> None:
    """--scheme and --salt."""
    parser.add_argument("--scheme", choices=SCHEMES, default="dpest", help="hash scheme (dpest)")
    parser.add_argument("--salt", default="", help="salt of the schemes dpest and sha256")


def add_effective(parser: argparse.ArgumentParser) -> None:
    """--scheme where nothing is hashed."""
    parser.add_argument(
        "--scheme", choices=SCHEMES, default="dpest",
        help="the clients' hash scheme, which may round probabilities (dpest)",
    )  # fmt: skip


def add_output(parser: argparse.ArgumentParser, what: str) -> None:
    """--output."""
    parser.add_argument("--output", "-o", metavar="FILE", help=what)


def add_bad(parser: argparse.ArgumentParser, default: str) -> None:
    """--bad."""
    parser.add_argument(
        "--bad", choices=("skip", "refuse"), default=default,
        help=f"bad records: skip and name them, or refuse them all ({default})",
    )  # fmt: skip


def add_alpha(parser: argparse.ArgumentParser) -> None:
    """--alpha."""
    parser.add_argument("--alpha", type=float, default=0.05, help="error level (0.05)")
