"""dpest audit MECHANISM: bound the privacy loss of a mechanism."""

from __future__ import annotations

import argparse
import json
import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dpest.cli.exits import HOLDS, REFUTED, UNDECIDED
from dpest.cli.mechanism import (
    add_mechanism,
    add_neighbors,
    inputs_of,
    neighbors_of,
    params_of,
    users_errors,
)
from dpest.cli.output import emit

if TYPE_CHECKING:
    from dpest.engines.blackbox import BlackBox
    from dpest.report.result import Report
    from dpest.target import Target


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """MECHANISM, its inputs and neighbours, the claim, the engine and how it samples."""
    add_mechanism(parser, optional=True)
    parser.add_argument("--command", dest="program", metavar="PROGRAM",
                        help="audit a program that answers JSON lines with JSON lines")  # fmt: skip
    add_neighbors(parser)
    parser.add_argument("--claim", metavar="CLAIM", help="the epsilon to be checked, or "
                        "approx:EPS:DELTA, zcdp:RHO, renyi:ALPHA:EPS")  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--save", metavar="FILE", help="write the report as well: .html is a page "
                        "with pictures; .md, .json or .txt")  # fmt: skip
    parser.add_argument("--engine", help="analytic, proof, exact, sampling or blackbox; by "
                        "default the surest that accepts the mechanism")  # fmt: skip
    _add_sampling(parser.add_argument_group("where samples are drawn"))


def _add_sampling(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--samples", type=_whole, metavar="N", help="the most runs on either input")
    group.add_argument("--confidence", type=float, metavar="P", help="of the bound, e.g. 0.95")
    group.add_argument("--seed", type=_whole, metavar="N", help="the result depends on it")
    group.add_argument("--jobs", type=int, metavar="N", help="processes; -1 for all cores")
    group.add_argument("--time-limit", type=_seconds, metavar="SECONDS",
                       help="for all runs; none runs the mechanism in this process")  # fmt: skip
    group.add_argument("--backend", help="dask, together with --scheduler")
    group.add_argument("--scheduler", metavar="ADDRESS", help="e.g. tcp://host:8786")
    group.add_argument("--low-bits", action="store_true",
                       help="as a black box, the last bits of doubles included")  # fmt: skip


def _whole(text: str) -> int:
    """1000000 or 1e6."""
    number = float(text)
    if number != int(number):
        raise ValueError
    return int(number)


_whole.__name__ = "whole number"


def _seconds(text: str) -> float:
    return math.inf if text == "none" else float(text)


_seconds.__name__ = "seconds"
_SAMPLING = ("samples", "confidence", "seed", "jobs", "time_limit", "backend", "scheduler")


def run(arguments: argparse.Namespace) -> int:
    """Print the report; the exit code is the verdict."""
    from dpest import spec
    from dpest.report.save import check_target

    target = _target(arguments)
    params = params_of(arguments, target)
    inputs = inputs_of(arguments, target)
    neighbors = neighbors_of(arguments, target, inputs)
    claim = spec.claim_of(arguments.claim) if arguments.claim else target.claim
    if arguments.save is not None:
        check_target(arguments.save)
    report = _audited(target, inputs, neighbors, claim, params, _options(arguments))
    if arguments.save is not None:
        report.save(arguments.save)
    emit(json.dumps(report.to_json(), indent=2) if arguments.json else str(report))
    return _exit_code(report)


def _target(arguments: argparse.Namespace) -> Target:
    """The mechanism that is named, or the program of --command."""
    from dpest.target import Target, target_of

    if (arguments.mechanism is None) == (arguments.program is None):
        raise ValueError("say which mechanism: MECHANISM, or --command PROGRAM, and one of them")
    if arguments.program is None:
        target = target_of(arguments.mechanism)
        if not arguments.low_bits and arguments.engine != "blackbox":
            return target
        return replace(target, function=_box(arguments, mechanism=target.function))
    box = _box(arguments, command=arguments.program)
    return Target(box, box.name, "")


def _box(arguments: argparse.Namespace, **what: Any) -> BlackBox:
    from dpest.engines.blackbox import blackbox

    return blackbox(**what, low_bits=arguments.low_bits)


def _options(arguments: argparse.Namespace) -> dict[str, Any]:
    """Engine and sampling as typed; what was not typed is left to `audit`."""
    named = {name: getattr(arguments, name) for name in ("engine", *_SAMPLING)}
    typed = {name: value for name, value in named.items() if value is not None}
    return typed | ({"time_limit": None} if typed.get("time_limit") == math.inf else {})


def _audited(
    target: Target, inputs: Any, neighbors: Any, claim: Any, params: Any, options: dict[str, Any]
) -> Report:
    from dpest.audit import audit
    from dpest.progress import working

    with working(f"auditing {target.title}"), users_errors(target, params, True):
        return audit(target.function, inputs, neighbors, claim, params=params, **options)


def _exit_code(report: Report) -> int:
    if report.claim is None:
        return HOLDS
    return {"holds": HOLDS, "refuted": REFUTED, "unknown": UNDECIDED}[str(report.verdict)]
