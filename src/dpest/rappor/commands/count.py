"""Count reports per cohort and bit.

Counts add, so files, processes and machines merge. What is not a report of these parameters is
left out and named on standard error.

    dpest rappor count --params params.csv monday.csv tuesday.parquet > counts.csv
    dpest rappor count --params params.csv - --add yesterday.csv < today.csv > counts.csv
    dpest rappor count --params params.csv --checkpoint done.json reports/*.bin -o counts.csv
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from dpest.rappor.commands.arguments import add_bad, add_file, add_output, add_params
from dpest.rappor.commands.progress import Progress
from dpest.rappor.errors import RapporError
from dpest.rappor.params import Params

if TYPE_CHECKING:
    from dpest.rappor.counting import Tally


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The reports, and how and where to count them."""
    parser.add_argument(
        "reports", nargs="*", help="files .csv, .csv.gz, .parquet or .bin; - is CSV input"
    )
    add_params(parser)
    add_bad(parser, default="skip")
    parser.add_argument("--jobs", type=int, default=-1, metavar="J", help="processes (all cores)")
    add_file(parser, "--checkpoint", "go on where a killed run was")
    parser.add_argument("--dask", metavar="ADDRESS", help="count on the cluster of this scheduler")
    parser.add_argument(
        "--add", action="append", default=[], metavar="COUNTS", help="add a counts.csv; repeatable"
    )
    parser.add_argument("--sql", metavar="TABLE", help="print the same as SQL over TABLE and stop")
    add_output(parser, "counts.csv (standard output)")


def run(args: argparse.Namespace) -> None:
    """Write the counts; say on standard error what was left out."""
    from dpest.rappor.commands.output import tell_bad
    from dpest.rappor.counting import Counts, counting_sql
    from dpest.rappor.wire.streams import writing

    params = Params.read(args.params)
    if args.sql:
        print(counting_sql(params, args.sql))
        return
    if not args.reports and not args.add:
        raise RapporError("there is nothing to count; name files of reports or --add counts")
    tally = _tally(args, params)
    counts = sum((Counts.read(path, params) for path in args.add), start=tally.counts)
    tell_bad(tally)
    with writing(args.output) as out:
        counts.write(out)


def _tally(args: argparse.Namespace, params: Params) -> Tally:
    from dpest.rappor.counting import Counts, Tally, count_files, count_stream

    if not args.reports:
        return Tally(Counts.none(params))
    if args.reports == ["-"]:
        return count_stream(params, bad=args.bad)
    if "-" in args.reports:
        raise RapporError("- is counted alone; count the files afterwards and --add its counts")
    progress = Progress("counted", "chunks")
    try:
        return count_files(
            args.reports,
            params,
            bad=args.bad,
            jobs=args.jobs,
            checkpoint=args.checkpoint,
            dask=args.dask,
            progress=progress.show,
        )
    finally:
        progress.end()
