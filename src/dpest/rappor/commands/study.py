"""Repeat a study of the seed documents.

dpest rappor study precision-recall --plot scores.png
dpest rappor study normal --plot shape.png --output shape.csv
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Any

from dpest.rappor.commands.arguments import add_file
from dpest.rappor.commands.progress import Progress
from dpest.rappor.errors import RapporError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Either study."""
    studies = parser.add_subparsers(dest="study", metavar="STUDY", required=True)
    summary = "decoders compared for several h"
    scores = studies.add_parser("precision-recall", help=summary, description=summary)
    scores.add_argument("--h", type=int, nargs="+", metavar="H", help="hashes (1 2 4 8 16 32)")
    scores.add_argument("--runs", type=int, default=16, help="runs for each h (16)")
    summary = "the shape of a normal distribution"
    shapes = studies.add_parser("normal", help=summary, description=summary)
    shapes.add_argument("--sizes", type=float, nargs="+", metavar="N", help="reports (1e4 1e5 1e6)")
    for study in (scores, shapes):
        study.add_argument("--seed", type=int, default=0, help="of the random numbers (0)")
        add_file(study, "--plot", "draw a picture, .png or .svg")
        add_file(study, "--output", "write .csv or .json (a table is printed in any case)")


def run(args: argparse.Namespace) -> None:
    """Print a table, write what was asked for."""
    (_normal if args.study == "normal" else _precision_recall)(args)


def _precision_recall(args: argparse.Namespace) -> None:
    from dpest.rappor.studies.plots import plot_scores
    from dpest.rappor.studies.scores import HASHES, precision_recall, scores_csv, scores_table

    progress = Progress("decoded", "runs")
    scores = precision_recall(args.h or HASHES, args.runs, args.seed, progress.show)
    progress.end()
    _show(args, scores, scores_table(scores), scores_csv(scores), plot_scores)


def _normal(args: argparse.Namespace) -> None:
    from dpest.rappor.studies.plots import plot_shapes
    from dpest.rappor.studies.shapes import SIZES, normal_shape, shapes_csv, shapes_table

    shapes = normal_shape([_whole(size) for size in args.sizes or SIZES], args.seed)
    _show(args, shapes, shapes_table(shapes), shapes_csv(shapes), plot_shapes)


def _whole(size: float) -> int:
    if not 1 <= size < 1e15 or size != int(size):
        raise RapporError(f"--sizes {size:g} must be whole numbers, 1 or more")
    return int(size)


def _show(
    args: argparse.Namespace,
    results: Sequence[Any],
    table: str,
    rows: str,
    plot: Callable[[str, Any], None],
) -> None:
    from dpest.rappor.commands.output import is_csv
    from dpest.rappor.studies.files import as_json
    from dpest.rappor.wire.streams import writing

    if args.plot:
        plot(args.plot, results)
    if args.output:
        with writing(args.output) as out:
            out.write(rows if is_csv(args.output) else as_json(results) + "\n")
    print(table, end="")
