"""The evidence against a claim about another measure than epsilon."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from dpest.claims import Claim, Pure
from dpest.evidence import Bound, Verdict
from dpest.report.result import Report

if TYPE_CHECKING:
    from dpest.program import Program


def against(report: Report) -> Report:
    """The report with a witness that refutes what is claimed, whatever measure that limits.

    An event of a large epsilon may be too rare to say anything about delta.
    """
    claim = report.claim
    if claim is None or isinstance(claim, Pure) or report.program is None:
        return report
    if report.sampled is not None or report.verdict is not Verdict.REFUTED:
        return report
    return _refuting(report, claim, report.program)


def _refuting(report: Report, claim: Claim, program: Program) -> Report:
    from dpest.engines.breach import breach
    from dpest.engines.exact import ExactLaw

    worst = report.curves.worst_inputs(claim.bound)
    law = ExactLaw(program)
    found = worst and breach(law, *worst, claim.shown, claim.level)
    if not found:
        return report
    label, excess = claim.excess()
    seen = claim.shown(found.p, found.p_prime)
    if label and seen > claim.limit:
        told = f"{label} = {seen:.6g}, and at most {claim.limit:g} is claimed"
        return replace(report, witness=replace(found, shows=told, excess=excess))
    told = _in_all(claim, claim.bound(report))
    return replace(report, witness=replace(found, shows=told))


def _in_all(claim: Claim, bound: Bound) -> str:
    """What all outcomes for the two inputs show together."""
    return (
        f"over all outputs, {claim.measure} is at least {bound.lower:.6g}, "
        f"and at most {claim.limit:g} is claimed"
    )
