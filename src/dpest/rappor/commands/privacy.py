"""Show what reports give away.

dpest rappor privacy --params params.csv
dpest rappor privacy --params params.csv --map map.csv --pair rabbit hare --rounds 1 10
"""

from __future__ import annotations

import argparse
import math
from typing import TYPE_CHECKING, Any

from dpest.rappor.commands.arguments import add_effective, add_file, add_params
from dpest.rappor.errors import RapporError
from dpest.rappor.params import Params

if TYPE_CHECKING:
    from dpest.rappor.candidates import Candidates
    from dpest.rappor.privacy import PairLoss


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The parameters, and the values whose pairs are asked for."""
    add_params(parser)
    add_file(parser, "--map", "candidates, for the worst pair and the pairs given")
    parser.add_argument(
        "--pair", action="append", nargs=2, default=[], metavar=("A", "B"),
        help="two candidates; repeatable",
    )  # fmt: skip
    parser.add_argument(
        "--rounds", type=int, nargs="+", default=[1, 2, 5, 10], metavar="R",
        help="numbers of reports of one value (1 2 5 10)",
    )  # fmt: skip
    parser.add_argument(
        "--audit", action="store_true", help="check the pairs given by auditing the encoder itself"
    )
    add_effective(parser)
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> None:
    """Print the losses."""
    from dpest.rappor.candidates import Candidates
    from dpest.rappor.commands.output import as_json
    from dpest.rappor.privacy import pair_loss, worst_pair

    params = Params.read(args.params).effective(args.scheme)
    rounds: list[float] = [*args.rounds, math.inf]
    figures: dict[str, Any] = {
        "eps_1": params.eps_1,
        "eps_infinity": params.eps_infinity,
        "after": {str(r): params.epsilon_after(r) for r in args.rounds},
    }
    if args.map:
        candidates = Candidates.read(args.map, params)
        figures["worst_pair"] = {str(r): vars(worst_pair(params, candidates, r)) for r in rounds}
        losses = [pair_loss(params, candidates, a, b) for a, b in args.pair]
        figures["pairs"] = [vars(loss) for loss in losses]
        if args.audit:
            figures["pairs"] = [vars(loss) | _audit(loss, params, candidates) for loss in losses]
    elif args.pair or args.audit:
        raise RapporError("--pair and --audit need the bits of values; give --map FILE")
    if args.audit and not args.pair:
        raise RapporError("--audit needs pairs to audit; give --pair A B")
    print(as_json(figures) if args.json else _text(figures), end="")


def _audit(loss: PairLoss, params: Params, candidates: Candidates) -> dict[str, Any]:
    """What auditing the encoder says of a pair, given the bits that the map says they set."""
    from dpest.rappor.privacy import audited

    pair = loss.first, loss.second
    report = audited(params, *pair, cohort=loss.cohort, candidates=candidates)
    return {"audited": report.lower}


def _text(figures: dict[str, Any]) -> str:
    lines = [f"any two values, one report         {_loss(figures['eps_1'])}"]
    for rounds, loss in figures["after"].items():
        lines.append(f"any two values, {rounds:>4} reports       {_loss(loss)}")
    lines.append(f"any two values, all reports ever   {_loss(figures['eps_infinity'])}")
    for rounds, worst in figures.get("worst_pair", {}).items():
        lines.append(f"worst pair of the map, {rounds:>4} reports {_pair(worst)}")
    lines += [f"one report: {_pair(pair)}" for pair in figures.get("pairs", [])]
    return "\n".join(lines) + "\n"


def _pair(pair: dict[str, Any]) -> str:
    audited = f" (audited: {_loss(pair['audited'])})" if "audited" in pair else ""
    return (
        f"{_loss(pair['epsilon'])}{audited}  {pair['first']!r} and {pair['second']!r} differ in "
        f"{pair['distance']} bits of cohort {pair['cohort']}"
    )


def _loss(epsilon: float) -> str:
    return "infinite" if math.isinf(epsilon) else f"{epsilon:.6g}"
