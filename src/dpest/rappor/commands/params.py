"""Check parameters, show their privacy, write them to a file.

Client and server must use the same file.

    dpest rappor params --k 128 --h 2 --m 64 --f 0.5 --p 0.25 --q 0.75 --output params.csv
    dpest rappor params --params params.csv --reports 10
"""

from __future__ import annotations

import argparse
import json
import math
from dataclasses import asdict, replace

from dpest.rappor.commands.arguments import add_file, add_output, add_scheme
from dpest.rappor.errors import RapporError
from dpest.rappor.params import Params

_MEANINGS = {
    "k": "bits per report",
    "h": "hash functions",
    "m": "cohorts",
    "f": "probability that the permanent response forgets a bit",
    "p": "probability that a permanent 0 is reported as 1",
    "q": "probability that a permanent 1 is reported as 1",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The six parameters, or a file of them."""
    add_file(parser, "--params", "start from the parameters in this file")
    for name, meaning in _MEANINGS.items():
        parser.add_argument(f"--{name}", type=int if name in "khm" else float, help=meaning)
    parser.add_argument("--reports", type=int, metavar="R", help="show epsilon after R reports too")
    parser.add_argument("--json", action="store_true", help="print JSON")
    add_scheme(parser)
    add_output(parser, "write the parameters: params.csv, or JSON if it ends in .json")


def run(args: argparse.Namespace) -> None:
    """Print the parameters and what they cost."""
    given = {name: getattr(args, name) for name in _MEANINGS if getattr(args, name) is not None}
    if args.params:
        params = replace(Params.read(args.params), **given)
    elif len(given) == len(_MEANINGS):
        params = Params(**given)
    else:
        missing = ", ".join(f"--{name}" for name in _MEANINGS if name not in given)
        raise RapporError(f"parameters are missing: give {missing}, or --params FILE")
    figures = _figures(params, params.effective(args.scheme), args.reports)
    if args.output:
        params.write(args.output)
    print(json.dumps(figures) if args.json else _listed(figures))


def _figures(params: Params, effective: Params, reports: int | None) -> dict[str, object]:
    figures: dict[str, object] = asdict(params)
    if effective != params:
        figures |= {f"effective {name}": getattr(effective, name) for name in "fpq"}
    losses = {name: getattr(effective, name) for name in ("p_star", "q_star", "eps_1")}
    losses["eps_infinity"] = effective.eps_infinity
    if reports is not None:
        losses[f"epsilon after {reports} reports"] = effective.epsilon_after(reports)
    return figures | {
        name: value if math.isfinite(value) else "inf" for name, value in losses.items()
    }


def _listed(figures: dict[str, object]) -> str:
    width = max(map(len, figures))
    return "\n".join(f"{name:<{width}}  {_short(value)}" for name, value in figures.items())


def _short(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
