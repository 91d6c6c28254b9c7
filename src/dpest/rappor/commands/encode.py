"""Report the values of many clients.

A client's secret is derived from its name and --secret-file; the name alone protects nobody.

    dpest rappor encode --params params.csv values.csv --output reports.parquet
    dpest rappor encode --params params.csv --secret-file key - < values.csv > reports.csv
"""

from __future__ import annotations

import argparse

from dpest.rappor.commands.arguments import add_file, add_output, add_params, add_scheme
from dpest.rappor.commands.progress import Progress
from dpest.rappor.options import KINDS
from dpest.rappor.params import Params


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The values, and what their clients know."""
    parser.add_argument("values", help="CSV with columns client,cohort,value or client,value; or -")
    add_params(parser)
    add_scheme(parser)
    add_file(parser, "--map", "take the bits of values from a map.csv")
    parser.add_argument(
        "--kind", choices=KINDS, default="strings",
        help="what the values are: true or false, numbers below k, or bit strings (strings)",
    )  # fmt: skip
    parser.add_argument("--metric", default="", help="the name of what is being asked")
    add_file(parser, "--secret-file", "derive the clients' secrets from this file as well")
    add_output(parser, "reports, by name .csv, .parquet or .bin (CSV to standard output)")


def run(args: argparse.Namespace) -> None:
    """Write a report per value."""
    from dpest.rappor.client.values import LARGEST_BATCH, Fleet, value_batches
    from dpest.rappor.reports import batch_size
    from dpest.rappor.wire import open_writer
    from dpest.rappor.wire.google_csv import StreamWriter
    from dpest.rappor.wire.streams import reading, standard_output

    params = Params.read(args.params)
    fleet = Fleet(
        params, args.scheme, args.salt, args.metric, args.secret_file, args.map, args.kind
    )
    progress, size = Progress("encoded", "values"), batch_size(params.k, LARGEST_BATCH)
    writer = open_writer(args.output, params) if args.output else StreamWriter(standard_output())
    try:
        with reading(args.values) as lines:
            for batch in value_batches(lines, args.values, size):
                writer.write(fleet.report(batch), batch.clients)
                progress.add(len(batch.clients))
        writer.close()
    finally:
        progress.end()
        writer.discard()
