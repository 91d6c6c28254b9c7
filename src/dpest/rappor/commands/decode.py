"""Estimate how frequent candidate strings are.

    dpest rappor decode --params params.csv --map map.csv --counts counts.csv
    dpest rappor decode --params params.csv --map map.csv --reports reports.parquet \\
        --output results.csv --metrics metrics.json
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dpest.rappor.commands.arguments import add_alpha, add_bad, add_effective, add_file, add_params
from dpest.rappor.commands.progress import Progress
from dpest.rappor.errors import RapporError
from dpest.rappor.options import CORRECTIONS, METHODS
from dpest.rappor.params import Params

if TYPE_CHECKING:
    from dpest.rappor.counting import Counts
    from dpest.rappor.reports import Reports


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What was collected, the candidates, and the method."""
    add_params(parser)
    add_file(parser, "--map", "the candidates, map.csv; - is standard input", required=True)
    add_file(parser, "--counts", "counts.csv; - is standard input")
    parser.add_argument(
        "--reports", nargs="+", metavar="FILE",
        help="files .csv, .csv.gz, .parquet or .bin; - is CSV input",
    )  # fmt: skip
    add_bad(parser, default="refuse")
    parser.add_argument(
        "--method", choices=METHODS, default="auto", help="auto: reports if given, else counts"
    )
    add_alpha(parser)
    parser.add_argument(
        "--correction", choices=CORRECTIONS, help="for many strings (seed: none, else fdr)"
    )
    add_effective(parser)
    parser.add_argument(
        "--reports-per-client", type=float, default=1, metavar="R", help="on average (1)"
    )
    parser.add_argument("--all", action="store_true", help="write every candidate, not the found")
    add_file(parser, "--output", "results.csv, or everything as .json (a table to standard output)")
    add_file(parser, "--metrics", "metrics.json")
    add_file(parser, "--html", "a page with the strings, the fit and the life of a report")
    add_file(parser, "--truth", "CSV string,count, in simulations: say how far the result is off")


def run(args: argparse.Namespace) -> None:
    """Write what was found."""
    from dpest.rappor.candidates import Candidates
    from dpest.rappor.commands.output import write_result
    from dpest.rappor.counting import Counts, count
    from dpest.rappor.decoding import decode
    from dpest.rappor.decoding.comparison import read_truth

    if not (args.counts or args.reports):
        raise RapporError("there is nothing to decode; give --counts FILE or --reports FILE")
    written = Params.read(args.params)
    params = written.effective(args.scheme)
    candidates = Candidates.read(args.map, params)
    whole = args.reports and args.method in ("reports", "auto")
    reports = _whole(args, written) if whole else None
    counts = Counts.read(args.counts, params) if args.counts else None
    truth = read_truth(args.truth) if args.truth else None
    if counts is None and reports is None:
        counts = _counted(args, written)
    progress = Progress("decoding", "reports")
    if reports is not None:
        progress.show(len(reports))
    decoding = decode(
        params, candidates, counts, reports, method=args.method, alpha=args.alpha,
        correction=args.correction, reports_per_client=args.reports_per_client,
    )  # fmt: skip
    progress.end()
    if truth:
        comparison = decoding.compared(truth)
        decoding.metrics["truth"] = comparison.metrics
    if args.html:
        from dpest.rappor.wire.streams import writing
        from dpest.report.html.rappor import Collection, page

        if counts is None:
            assert reports is not None
            counts = count(reports, params)
        collection = Collection(
            params, candidates, counts, decoding, truth, args.reports_per_client
        )
        with writing(args.html) as out:
            out.write(page(collection))
    write_result(decoding, args, decoding.to_csv(args.all))
    if truth:
        print(comparison)


def _counted(args: argparse.Namespace, params: Params) -> Counts:
    """The counts of the files of reports, in bounded memory."""
    from dpest.rappor.counting import Counts, count

    parts = (count(reports, params) for reports in _reports(args, params))
    return sum(parts, start=Counts.none(params))


def _whole(args: argparse.Namespace, params: Params) -> Reports:
    """All the reports of the files."""
    from dpest.rappor.reports import Reports
    from dpest.rappor.wire.files import empty

    return Reports.concatenate([empty(params), *_reports(args, params)])


def _reports(args: argparse.Namespace, params: Params) -> Iterator[Reports]:
    """The good reports of the files; says on standard error what was left out."""
    from dpest.rappor.commands.output import tell_bad
    from dpest.rappor.counting import Counts, Tally, good_reports
    from dpest.rappor.wire import iterate_reports

    if args.bad == "refuse":
        for path in args.reports:
            yield from iterate_reports(path, params)
        return
    tally = Tally(Counts.none(params))
    yield from good_reports(args.reports, params, tally)
    tell_bad(tally)
