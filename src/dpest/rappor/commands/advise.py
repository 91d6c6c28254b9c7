"""Propose parameters for a budget, a population and a goal.

    dpest rappor advise --epsilon 2 --reports 1e6 --detect 0.001
    dpest rappor advise --epsilon 1 --epsilon-infinity 4 --reports 1e7 --detect 0.001 \\
        --output params.csv
"""

from __future__ import annotations

import argparse

from dpest.rappor.commands.arguments import add_file


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The budget, the population and the goal."""
    parser.add_argument("--epsilon", type=float, required=True, help="loss of one report at most")
    parser.add_argument("--reports", type=float, required=True, metavar="N", help="such as 1e6")
    parser.add_argument(
        "--detect", type=float, required=True, metavar="SHARE", help="share to find, such as 0.001"
    )
    parser.add_argument(
        "--epsilon-infinity", type=float, default=float("inf"), metavar="E",
        help="loss of all reports of a value at most (no bound: report a value once)",
    )  # fmt: skip
    parser.add_argument("--candidates", type=int, default=200, metavar="M", help="strings (200)")
    parser.add_argument("--alpha", type=float, default=0.05, help="false discoveries (0.05)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    add_file(parser, "--output", "write the best parameters: params.csv, or JSON by name .json")


def run(args: argparse.Namespace) -> None:
    """Print the proposals."""
    from dpest.rappor.advice import advise

    advice = advise(
        args.epsilon, args.reports, args.detect, epsilon_infinity=args.epsilon_infinity,
        candidates=args.candidates, alpha=args.alpha,
    )  # fmt: skip
    if args.output:
        advice.best.params.write(args.output)
    print(advice.to_json() + "\n" if args.json else advice.to_table(), end="")
