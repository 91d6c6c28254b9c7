"""Which engine answers: exact and proof where the program allows, samples where only they can."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from dpest.claims import Claim, Pure
from dpest.engines.analytic import examine, proved, traced, witnessed
from dpest.engines.blackbox import BlackBox, Sampling, blackbox, finding_of
from dpest.engines.exact import OutOfReach
from dpest.engines.finding import Finding
from dpest.inputs import Inputs
from dpest.neighbors import Neighbors
from dpest.program import Program
from dpest.trace import Refusal

Engine = Literal["analytic", "proof", "exact", "sampling", "blackbox"]
ENGINES: tuple[str, ...] = get_args(Engine)
_FOREIGN = (TypeError, AttributeError)
"""What code raises that cannot handle a traced number, such as a library written in C."""


@dataclass(frozen=True)
class Question:
    """What is asked: how much does this mechanism lose between these neighbours?"""

    mechanism: Callable[..., Any] | BlackBox
    inputs: Inputs
    neighbors: Neighbors
    params: Mapping[str, Any]
    claim: Claim | None
    sampling: Sampling

    def traced(self) -> Program:
        """The mechanism as a program, or a Refusal."""
        return traced(self.mechanism, self.inputs, self.neighbors, self.params)

    def examined(self, program: Program) -> Finding:
        """Proof and witness together."""
        return examine(
            self.mechanism, program, self.inputs, self.neighbors, self.params, self.claimed
        )

    def sampled(self, program: Program) -> Finding:
        """A bound from draws of the program."""
        from dpest.engines.sampling.mechanism import Traced

        found = finding_of(
            Traced.of(program), self.inputs, self.neighbors, self.claim, self.sampling, "sampling"
        )
        return replace(found, program=program)

    def run_as_blackbox(self) -> Finding:
        """A bound from outputs alone."""
        box = blackbox(self.mechanism).bound_to(self.params)
        return finding_of(box, self.inputs, self.neighbors, self.claim, self.sampling)

    @property
    def claimed(self) -> float | None:
        return self.claim.epsilon if isinstance(self.claim, Pure) else None


def answer(question: Question, engine: str | None) -> Finding:
    """What the engine finds; by itself the surest engine that accepts the mechanism."""
    if isinstance(question.mechanism, BlackBox):
        if engine not in (None, "blackbox"):
            raise ValueError(
                f"engine={engine!r} has to read the mechanism, and a black box is only run; "
                "audit the function itself, or leave engine out"
            )
        return question.run_as_blackbox()
    if engine is None:
        return _automatic(question)
    return _FORCED[engine](question)


def _automatic(question: Question) -> Finding:
    try:
        program = question.traced()
    except Refusal as refusal:
        return _with_note(question.run_as_blackbox(), _refused(refusal))
    except _FOREIGN as error:
        found = question.run_as_blackbox()
        if found.bound.lower_status == "none":
            raise error from None
        return _with_note(found, _refused(f"{type(error).__name__}: {error}"))
    try:
        found = question.examined(program)
    except OutOfReach as reason:
        return _with_note(question.sampled(program), _unreached(reason))
    if found.bound.lower_status == "none" and not _holds(found, question.claim):
        return _beside(found, question.sampled(program))
    return found


def _unreached(reason: object) -> str:
    return f"the exact loss is out of reach, so the traced program was sampled: {reason}"


def _holds(found: Finding, claim: Claim | None) -> bool:
    """Whether the claim is shown to hold without a lower bound."""
    return isinstance(claim, Pure) and found.bound.upper <= claim.epsilon


def _beside(proof: Finding, samples: Finding) -> Finding:
    """What is proved from above and what samples show from below."""
    lower = min(samples.bound.lower, proof.bound.upper)
    bound = replace(proof.bound, lower=lower, lower_status=samples.bound.lower_status)
    method = "proof and sampling" if proof.proof else "sampling"
    return replace(
        samples, bound=bound, method=method, proof=proof.proof, notes=(*proof.notes, *samples.notes)
    )


def _refused(reason: object) -> str:
    return f"it could not be traced, so it was run as a black box: {reason}"


def _with_note(finding: Finding, note: str) -> Finding:
    return replace(finding, notes=(note, *finding.notes))


def _analytic(question: Question) -> Finding:
    return question.examined(question.traced())


def _proof(question: Question) -> Finding:
    return proved(question.traced(), question.inputs, question.neighbors)


def _exact(question: Question) -> Finding:
    program = question.traced()
    return witnessed(program, question.inputs, question.neighbors, question.claimed)


def _sampling(question: Question) -> Finding:
    return question.sampled(question.traced())


_FORCED: dict[str, Callable[[Question], Finding]] = {
    "analytic": _analytic,
    "proof": _proof,
    "exact": _exact,
    "sampling": _sampling,
    "blackbox": Question.run_as_blackbox,
}
