"""What a command asks about a mechanism, and how the answer ends the program."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from dpest.cli.exits import HOLDS, REFUTED, UNDECIDED
from dpest.cli.mechanism import users_errors

if TYPE_CHECKING:
    from dpest.report.result import Report
    from dpest.target import Target


def add_claim(parser: argparse.ArgumentParser) -> None:
    """--claim."""
    parser.add_argument("--claim", metavar="CLAIM", help="the epsilon to be checked, or "
                        "approx:EPS:DELTA, zcdp:RHO, renyi:ALPHA:EPS")  # fmt: skip


def audited(target: Target, inputs: Any, neighbors: Any, claim: Any, params: Any) -> Report:
    """The audit, with progress on a terminal and the user's errors in the user's words."""
    from dpest.audit import audit
    from dpest.progress import working

    with working(f"auditing {target.title}"), users_errors(target, params):
        return audit(target.function, inputs, neighbors, claim, params=params)


def exit_code(report: Report) -> int:
    """The verdict; a report without a claim holds."""
    if report.claim is None:
        return HOLDS
    return {"holds": HOLDS, "refuted": REFUTED, "unknown": UNDECIDED}[str(report.verdict)]
