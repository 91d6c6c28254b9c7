"""dpest graph MECHANISM: draw a mechanism's computation graph."""

from __future__ import annotations

import argparse
from pathlib import Path

from dpest.cli.mechanism import add_mechanism, inputs_of, params_of, users_errors
from dpest.cli.output import check_output, emit


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """MECHANISM, its inputs, and where the picture goes."""
    add_mechanism(parser)
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="write to a file")


def run(arguments: argparse.Namespace) -> None:
    """Print or write the SVG."""
    from dpest.engines.analytic import traced
    from dpest.neighbors import any_pair
    from dpest.report.drawing import draw
    from dpest.target import target_of

    check_output(arguments.output)
    target = target_of(arguments.mechanism)
    params = params_of(arguments, target)
    inputs = inputs_of(arguments, target)
    with users_errors(target, params):
        program = traced(target.function, inputs, target.neighbors or any_pair(), params)
    shown = ", ".join(f"{name}={value}" for name, value in params.items())
    title = f"{target.title} ({shown})" if shown else target.title
    emit(draw(program.graph, title), arguments.output)
