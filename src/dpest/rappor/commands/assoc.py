"""Estimate how two or more variables go together.

    dpest rappor assoc --reports pairs.csv --var domain domain.csv map.csv \\
        --var secure flag.csv boolean
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from dpest.rappor.commands.arguments import add_alpha, add_effective, add_file
from dpest.rappor.errors import RapporError
from dpest.rappor.params import Params

if TYPE_CHECKING:
    from dpest.rappor.candidates import Candidates


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The reports and their variables."""
    add_file(
        parser, "--reports", "CSV: client,cohort, then a bit string per variable", required=True
    )
    parser.add_argument(
        "--var", action="append", nargs=3, required=True, metavar=("NAME", "PARAMS", "MAP"),
        help="a variable; repeatable; MAP is 'boolean' for one bit of true and false",
    )  # fmt: skip
    add_effective(parser)
    add_alpha(parser)
    add_file(parser, "--output", "assoc-results.csv, or .json (a table to standard output)")
    add_file(parser, "--metrics", "assoc-metrics.json")


def run(args: argparse.Namespace) -> None:
    """Write the joint distribution."""
    from dpest.rappor.commands.output import write_result
    from dpest.rappor.decoding import Variable, associate
    from dpest.rappor.wire.columns import read_columns

    names = [name for name, _, _ in args.var]
    parameters = [Params.read(path).effective(args.scheme) for _, path, _ in args.var]
    table = read_columns(args.reports, names)
    variables = [
        Variable(name, params, _values(source, params), table.reports(name, params))
        for (name, _, source), params in zip(args.var, parameters, strict=True)
    ]
    write_result(associate(variables, alpha=args.alpha), args)


def _values(source: str, params: Params) -> Candidates:
    import numpy as np

    from dpest.rappor.candidates import Candidates

    if source != "boolean":
        return Candidates.read(source, params)
    if params.k != 1:
        raise RapporError(f"k={params.k} is not the width of a boolean; use k=1 or give a map")
    bits = np.full((2, params.m), -1, dtype=np.int32)
    bits[0] = np.arange(params.m)
    return Candidates(("TRUE", "FALSE"), bits)
