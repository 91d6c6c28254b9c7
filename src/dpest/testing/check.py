"""One question, and what came out of it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from dpest.claims import Claim
from dpest.evidence import Bound
from dpest.inputs import Inputs
from dpest.neighbors import Neighbors

if TYPE_CHECKING:
    from dpest.engines.blackbox import BlackBox
    from dpest.report.result import Report


@dataclass(frozen=True)
class Outcome:
    """What a check found: the verdict in a word, and why it fails; an empty message passes."""

    verdict: str
    message: str
    measured: Bound
    """What is known about the quantity that the claim limits."""
    report: Report | None = None
    cached: bool = False
    late: bool = False
    """Whether it was stopped, so that more might be found in more time."""


@dataclass(frozen=True)
class Check:
    """Does the mechanism keep the claim?"""

    mechanism: Callable[..., Any] | BlackBox
    inputs: Inputs
    neighbors: Neighbors
    claim: Claim
    params: Mapping[str, Any] = field(default_factory=dict)
    sampling: Mapping[str, Any] | None = None
    """How to sample where nothing else answers; None where samples are no answer."""

    @classmethod
    def of(
        cls, mechanism: Callable[..., Any] | BlackBox, inputs: Inputs, neighbors: Neighbors,
        claim: Claim, params: Mapping[str, Any] | None, sampling: Mapping[str, Any] | None = None,
    ) -> Check:  # fmt: skip
        """A partial of a mechanism is the mechanism and its parameters, which reports can name."""
        given = dict(params or {})
        while isinstance(mechanism, functools.partial) and not mechanism.args:
            given = {**mechanism.keywords, **given}
            mechanism = mechanism.func
        return cls(mechanism, inputs, neighbors, claim, given, sampling)

    @property
    def name(self) -> str:
        named = getattr(self.mechanism, "__name__", None) or getattr(self.mechanism, "name", None)
        return named or type(self.mechanism).__name__

    def run(self) -> Outcome:
        """Audit the mechanism; what its own code raises is not caught."""
        from dpest.audit import audit
        from dpest.engines.blackbox import BlackBox
        from dpest.testing import message
        from dpest.trace import Refusal

        how = {"engine": "analytic"} if self.sampling is None else self.sampling
        if self.sampling is None and isinstance(self.mechanism, BlackBox):
            return Outcome("refused", message.only_run(self.name), UNKNOWN)
        try:
            report = audit(
                self.mechanism, self.inputs, self.neighbors, self.claim, params=self.params, **how
            )
        except Refusal as refusal:
            return Outcome("refused", message.refused(self.name, refusal), UNKNOWN)
        verdict = _verdict(report)
        text = "" if verdict in PASSES else message.failure(report)
        return Outcome(verdict, text, self.claim.bound(report), report)

    def stopped(self, bound: Bound, seconds: float) -> Outcome:
        """What is decided by a bound that was known when time was up."""
        from dpest.report.result import Report
        from dpest.testing import message

        report = Report(
            bound=bound, method="engines that were stopped", seconds=seconds, **self._own()
        )
        verdict = str(report.verdict)
        text = "" if verdict == "holds" else message.late(report, seconds)
        return Outcome(verdict, text, self.claim.bound(report), report, late=True)

    def restored(self, outcome: Outcome) -> Outcome:
        """An outcome from elsewhere, with what did not come along with its report."""
        if outcome.report is None:
            return outcome
        return replace(outcome, report=replace(outcome.report, **self._own()))

    def _own(self) -> dict[str, Any]:
        return {
            "mechanism": self.name, "inputs": self.inputs, "neighbors": self.neighbors,
            "params": dict(self.params), "claim": self.claim,
            "function": getattr(self.mechanism, "callable", self.mechanism),
        }  # fmt: skip


def _verdict(report: Report) -> str:
    """The verdict in a word; samples that refute nothing are a word of their own."""
    sampled = report.bound.lower_status == "statistical"
    return "unrefuted" if sampled and report.verdict == "unknown" else str(report.verdict)


PASSES = ("holds", "unrefuted")
UNKNOWN = Bound(0.0, float("inf"))
"""Nothing is known."""
