"""A report in words: the verdict, the bounds, the witness, the proof, what is not covered."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

from dpest.claims import Claim, Pure
from dpest.evidence import Bound, Counted, Verdict, Witness
from dpest.neighbors import Pairs

if TYPE_CHECKING:
    from dpest.report.result import Report

_LOOSE = 1.05
"""A claim that exceeds the bound by less than this factor is not called loose."""
_SAME = 1e-6
"""A witness that shows all but this share of the loss shows it."""
_MANY = 6
"""A vector of more entries is written with its repetitions counted."""


@dataclass(frozen=True)
class Fact:
    """One thing that a report says: what it is about, and the lines that say it."""

    name: str
    lines: tuple[str, ...]
    prose: bool = False
    """Whether the lines are sentences; else they are aligned with each other."""


@dataclass(frozen=True)
class Outline:
    """What a report says, in order, before any form is given to it."""

    headline: str
    subject: str
    facts: tuple[Fact, ...]

    def named(self, name: str) -> tuple[str, ...]:
        """The lines of every fact of this name."""
        return tuple(line for fact in self.facts if fact.name == name for line in fact.lines)


def outline(report: Report) -> Outline:
    """The whole report: text, Markdown and HTML all tell this."""
    facts = [Fact("epsilon", (established(report),))]
    if report.claim is not None and not isinstance(report.claim, Pure):
        known = f"{_trusted(report.claim.bound(report))}, {report.curves.scope}"
        facts.insert(0, Fact(report.claim.measure, (known,)))
    if report.witness is not None:
        lines = (*_witness(report.witness), *_simpler(report.witness, report.bound))
        facts.append(Fact("witness", lines))
    if report.proof is not None and str(report.proof):
        facts.append(Fact("proof", tuple(str(report.proof).splitlines()), prose=True))
    facts += [Fact("note", (note,), prose=True) for note in report.notes]
    facts += [Fact("not covered", (gap,), prose=True) for gap in not_covered(report)]
    return Outline(headline(report), subject(report), tuple(facts))


def plain(report: Report) -> str:
    """The report as text."""
    told = outline(report)
    lines = [told.headline, f"  {told.subject}"]
    for fact in told.facts:
        first, *rest = fact.lines
        if fact.prose and rest:
            lines += [f"  {fact.name}:", *(f"    {line}" for line in fact.lines)]
        else:
            hang = " " * len(f"  {fact.name}: ")
            lines += [f"  {fact.name}: {first}", *(hang + line for line in rest)]
    return "\n".join(lines)


def headline(report: Report) -> str:
    """The answer in one line."""
    claim, bound = report.claim, report.bound
    if claim is None:
        return f"{known(bound).capitalize()}."
    if not isinstance(claim, Pure):
        bound = claim.bound(report)
    if math.isinf(claim.limit):
        yet = "yet" if math.isfinite(bound.upper) else "and"
        return f"No finite epsilon is claimed, {yet} {known(bound)}."
    if report.verdict is Verdict.HOLDS:
        return f"The claim of {claim} holds{_looseness(claim, bound.upper)}."
    if report.verdict is Verdict.REFUTED:
        how = _confidence(report.witness)
        return f"The claim of {claim} is refuted{how}: {known(bound, claim.measure, below=True)}."
    return f"The claim of {claim} is undecided: {known(bound, claim.measure)}."


def _confidence(witness: Witness | None) -> str:
    """How sure a verdict is that comes from samples."""
    if witness is None or witness.counted is None:
        return ""
    return f" with {100 * witness.counted.confidence:g}% confidence"


def subject(report: Report) -> str:
    """What was audited."""
    name = called(report.mechanism, report.params)
    return f"{name} on {report.inputs}, neighbors {report.neighbors}"


def called(name: str, params: Mapping[str, Any]) -> str:
    """The mechanism with its parameters."""
    shown = ", ".join(f"{key}={value!r}" for key, value in params.items())
    return f"{name}({shown})" if shown else name


def established(report: Report) -> str:
    """The bound, how far either side can be trusted, and where it comes from."""
    return f"{_trusted(report.bound)}, by {report.method}"


def _trusted(bound: Bound) -> str:
    """The bound and how far either side can be trusted."""
    low, high = bound.lower_status, bound.upper_status
    status = low if low == high else f"{low} from below, {high} from above"
    return f"{bound} ({status})"


def not_covered(report: Report) -> list[str]:
    """What the bounds say nothing about."""
    found = []
    if isinstance(report.neighbors, Pairs):
        several = len(report.neighbors.listed) > 1
        found.append(f"inputs other than the listed pair{'s' if several else ''}")
    if report.sampled is not None and report.bound.upper_status == "none":
        found.append("inputs and events that were not tried: samples prove no upper bound")
    elif report.method != "none":
        found.append("how floating-point numbers round: draws and sums are taken as exact")
    return found


def vector(x: Any) -> str:
    """An input as Python would read it; a long vector with its repetitions counted."""
    if not isinstance(x, list) or len(x) <= _MANY:
        return repr(x)
    runs = [(value, len(list(same))) for value, same in groupby(x)]
    if len(runs) > len(x) // 2:
        return repr(x)
    return " + ".join(f"[{v!r}] * {times}" if times > 1 else f"[{v!r}]" for v, times in runs)


def known(bound: Bound, measure: str = Pure.measure, below: bool = False) -> str:
    """The privacy loss as the bound knows it; `below` leaves out what is above."""
    if bound.lower == math.inf:
        return f"{measure} is infinite"
    if bound.is_exact:
        return f"{measure} is {bound.upper:.6g}"
    if below or math.isinf(bound.upper):
        if bound.lower_status == "none":
            return f"nothing is known about {measure}"
        return f"{measure} is at least {bound.lower:.6g}"
    low, high = f"{bound.lower:.6g}", f"{bound.upper:.6g}"
    return f"{measure} is {high} to six digits" if low == high else (
        f"{measure} is between {low} and {high}"
    )


def _looseness(claim: Claim, upper: float) -> str:
    """What to add where far less than claimed is lost."""
    if upper <= 0 or claim.limit <= upper * _LOOSE:
        return ""
    measure = "epsilon" if isinstance(claim, Pure) else claim.measure
    return (
        f", and is loose: {measure} is {upper:.6g}, the claim {claim.limit:g}, "
        f"{claim.limit / upper:.3g} times as much"
    )


def _simpler(witness: Witness, bound: Bound) -> list[str]:
    """Why the inputs that are shown lose less than the bound says."""
    if not max(witness.loss, 0) < bound.lower * (1 - _SAME) < math.inf or witness.shows:
        return []
    if witness.unbounded:
        return ["(events further out show more, and happen less; this one refutes the claim)"]
    return [
        f"(the largest loss, {bound.lower:.6g}, needs other inputs; "
        "these are simpler and refute the claim all the same)"
    ]


def _witness(witness: Witness) -> list[str]:
    return [
        f"x  = {vector(witness.x)}",
        f"x' = {vector(witness.x_prime)}",
        *(_counted(witness, witness.counted) if witness.counted else _known(witness)),
    ]


def _known(witness: Witness) -> list[str]:
    p, p_prime = probabilities(witness)
    found = [f"{witness.event}: P = {p}, P' = {p_prime}, ln(P/P') = {witness.loss:.6g}"]
    return [*found, witness.shows] if witness.shows else found


def probabilities(witness: Witness) -> tuple[str, str]:
    """Both probabilities; one too small for a double as it was enclosed."""
    balls = witness.balls or ("", "")
    return _probability(witness.p, balls[0]), _probability(witness.p_prime, balls[1])


def _probability(value: float, ball: str) -> str:
    """Six digits; of a ball where the double has become zero and the ball is not."""
    middle = ball.strip("[]").partition(" +/-")[0]
    number, _, exponent = middle.partition("e")
    if value > 0 or not exponent:
        return f"{value:.6g}"
    return f"{float(number):.6g}e{int(exponent)}"


def _counted(witness: Witness, counted: Counted) -> list[str]:
    return [
        witness.event,
        f"seen in {counted.hits:,} of {counted.runs:,} runs on x and in {counted.hits_prime:,} "
        f"of {counted.runs:,} on x'",
        f"so the loss is at least {witness.loss:.6g} "
        f"with {100 * counted.confidence:g}% confidence",
    ]
