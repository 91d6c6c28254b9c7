"""Find frequent strings without a list of candidates.

dpest rappor unknown --params params.csv --ngram-params ngrams.csv --reports reports.csv
"""

from __future__ import annotations

import argparse

from dpest.rappor.commands.arguments import add_alpha, add_file, add_scheme
from dpest.rappor.errors import RapporError
from dpest.rappor.params import Params


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The reports of strings and n-grams, and what they are made of."""
    add_file(
        parser, "--reports",
        "CSV: client,cohort,string,position1,ngram1,position2,ngram2", required=True,
    )  # fmt: skip
    add_file(parser, "--params", "parameters of the reports of strings", required=True)
    add_file(parser, "--ngram-params", "parameters of the reports of n-grams", required=True)
    parser.add_argument("--size", type=int, default=2, help="characters of an n-gram (2)")
    parser.add_argument(
        "--alphabet", default="abcdefghijklmnopqrstuvwxyz", help="characters that occur (a-z)"
    )
    add_scheme(parser)
    add_alpha(parser)
    add_file(parser, "--output", "results.csv, or .json (a table to standard output)")
    add_file(parser, "--metrics", "metrics.json")


def run(args: argparse.Namespace) -> None:
    """Write the strings that were found."""
    import numpy as np

    from dpest.rappor.commands.output import write_result
    from dpest.rappor.decoding import NgramReports, unknown
    from dpest.rappor.wire.columns import read_columns

    params, ngram_params = Params.read(args.params), Params.read(args.ngram_params)
    positions = ["position1", "position2"]
    table = read_columns(args.reports, ["string", "ngram1", "ngram2", *positions])
    places = np.column_stack([table.numbers(name) for name in positions])
    first, second = (table.reports(name, ngram_params) for name in ("ngram1", "ngram2"))
    ngrams = NgramReports(ngram_params, args.size, places, first, second)
    found = unknown(
        params, table.reports("string", params), ngrams, args.alphabet,
        scheme=args.scheme, salt=args.salt, alpha=args.alpha,
    )  # fmt: skip
    if found.decoding is None:
        raise RapporError(
            "no string stands out from these n-grams; collect more reports or raise --alpha"
        )
    write_result(found.decoding, args)
