"""What a failing privacy test says: what is wrong, how it shows, and what would mend it."""

from __future__ import annotations

import inspect
import math
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpest.claims import ZCDP, Approx, Claim, Pure, Renyi
from dpest.evidence import Verdict
from dpest.report import text
from dpest.report.result import Report
from dpest.testing.mend import Growth, noise_needed

if TYPE_CHECKING:
    from dpest.trace import Refusal


def failure(report: Report) -> str:
    """The message for a claim that is refuted, or that stays undecided."""
    return "\n".join(_refuted(report) if report.verdict is Verdict.REFUTED else _undecided(report))


def refused(name: str, refusal: Refusal) -> str:
    """The message for a mechanism that cannot be audited."""
    lines = [f"{name} cannot be audited as it is written, so nothing is known about its privacy."]
    if refusal.source:
        lines += [f"  {refusal.source}", f"    {refusal.source.text}"]
    rewrite = f"{refusal.rewrite[:1].upper()}{refusal.rewrite[1:]}"
    lines += [f"  {refusal.reason}", "", "What to change:", f"    - {rewrite}."]
    return "\n".join([*lines, f"    - {refusal.more} says more.", f"    - {_STATISTICAL}"])


def only_run(name: str) -> str:
    """The message for a black box, which nobody asked to be sampled."""
    return "\n".join([
        f"{name} is a black box: it can be run, and runs never show that a claim holds.", "",
        "What to change:", "    - Test the function itself, if it is numpy code.",
        f"    - {_STATISTICAL}",
    ])  # fmt: skip


_STATISTICAL = (
    "Or add statistical=True: it is then run many times, and passes unless its outputs refute "
    "the claim, which proves nothing."
)


def late(report: Report, seconds: float) -> str:
    """The message for a check that was stopped, with what was known by then."""
    known = report.bound.lower_status != "none" or report.bound.upper_status != "none"
    lines = [
        f"{text.headline(report)} The budget of {seconds:g} s is used up.",
        *list(_subject(report))[: 2 if known else 1],
        "",
        "What would tell more:" if report.verdict == "refuted" else "What would decide it:",
        "    - More time: a larger --dpest-budget, or none.",
        "    - Fewer inputs: the mistakes of most mechanisms show at 3 to 5 of them.",
        "    - Fewer paths: np.where(noisy > t, a, b) in place of an `if` per element.",
    ]
    if not known:
        lines.append(f"    - Loops that end: every path through {report.mechanism} is followed.")
    return "\n".join(lines)


def _refuted(report: Report) -> Iterator[str]:
    yield report.headline
    yield from _subject(report)
    yield ""
    shown = list(_shown(report))
    if shown:
        yield "Two neighbouring inputs that an observer can tell apart better than claimed:"
        yield from _indented(shown)
        yield ""
    if isinstance(report.claim, Pure) and report.notes:
        yield "Why:"
        yield from _indented(map(_item, report.notes))
        yield ""
    yield "What to change:"
    yield from _indented(f"- {change}" for change in changes(report))
    if shown:
        yield from _snippet(report)


def _shown(report: Report) -> Iterator[str]:
    """The witness, where it speaks against what is claimed."""
    witness = report.witness
    if witness is not None and (isinstance(report.claim, Pure) or witness.shows):
        yield from text.outline(report).named("witness")


def _undecided(report: Report) -> Iterator[str]:
    yield f"{report.headline} A test passes only where the claim is shown to hold."
    yield from _subject(report)
    yield ""
    yield "What would decide it:"
    yield from _indented(_decisions(report))


def _subject(report: Report) -> Iterator[str]:
    yield f"  {text.subject(report)}{_place(report.function)}"
    yield f"  epsilon: {text.established(report)}"


def changes(report: Report) -> Iterator[str]:
    """What would make the claim true, or which claim would be."""
    said = _noise_to_add(report)
    if said:
        yield said
    weaker = _weaker(report)
    if weaker:
        yield f"{'Or claim' if said else 'Claim'} {weaker}."
    if not said and not weaker:
        yield _last_advice(report)


def _last_advice(report: Report) -> str:
    """What is left to say where no factor and no other claim is known."""
    endless = report.lower == math.inf or (report.witness and report.witness.unbounded)
    if endless:
        return "Change what is released, or how noise enters it: more of the same is not enough."
    return f"Add noise, or claim more: no epsilon below {report.lower:.6g} is true."


def _noise_to_add(report: Report) -> str:
    growth = noise_needed(report)
    if growth is not None:
        return f"{_more_noise(growth)}; the proof then gives exactly what is claimed."
    return "" if isinstance(report.claim, Pure) else "Add more noise."


def _weaker(report: Report) -> str:
    """The smallest claim of the same kind that holds, and how that is known."""
    assert report.claim is not None
    bound = report.claim.bound(report)
    if bound.upper_status == "none" or math.isinf(bound.upper):
        return _with_delta(report) if isinstance(report.claim, Pure) else ""
    how = "proved" if bound.upper_status == "proved" else "computed in floating point"
    return f"{_spelled(report.claim, _above(bound.upper))}: that is {how}"


def _with_delta(report: Report) -> str:
    """The claim with a delta that holds, where no epsilon alone is known to."""
    assert isinstance(report.claim, Pure)
    bound = report.delta(report.claim.epsilon) if report.program else None
    if bound is None or bound.upper_status == "none" or not 0 < bound.upper < 1:
        return ""
    weaker = _spelled(Approx(report.claim.epsilon, bound.upper), _above(bound.upper))
    return f"{weaker}, which allows a delta: that is computed in floating point"


def _spelled(claim: Claim, limit: str) -> str:
    """The claim with another limit, as one would say it."""
    if isinstance(claim, Pure):
        return f"epsilon={limit}"
    if isinstance(claim, ZCDP):
        return f"dpest.zcdp({limit})"
    if isinstance(claim, Renyi):
        return f"dpest.renyi({claim.alpha:g}, {limit})"
    assert isinstance(claim, Approx)
    return f"dpest.approx({claim.epsilon:g}, {limit})"


def _more_noise(growth: Growth) -> str:
    lines = ", ".join(map(str, growth.lines))
    where = f" in line{'s' if len(growth.lines) > 1 else ''} {lines}" if lines else ""
    noise = " and ".join(growth.laws).replace("_", " ")
    return f"Multiply the scale of the {noise} noise{where} by {growth.factor:g}"


def _decisions(report: Report) -> Iterator[str]:
    yield from map(_item, report.notes)
    weaker = _weaker(report)
    if weaker:
        yield f"- The larger claim {weaker}."
    yield (
        "- A smaller or bounded domain (dpest.reals(n, low, high)), or the pairs of inputs that "
        "matter (neighbors=dpest.pairs([...])): for listed pairs the loss is computed exactly."
    )


def _item(note: str) -> str:
    """The note as a sentence in a list."""
    return f"- {note[:1].upper()}{note[1:].rstrip('.')}."


def _above(limit: float) -> str:
    """A short decimal that is not below the limit."""
    short = f"{limit:.6g}"
    if float(short) < limit:
        short = f"{limit + 10.0 ** (math.floor(math.log10(limit)) - 5):.6g}"
    return short


def _place(function: Any) -> str:
    """The file and line of the mechanism, where it is plain Python."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    if code is None:
        return ""
    path, here = Path(code.co_filename), Path.cwd()
    shown = path.relative_to(here) if path.is_relative_to(here) else path
    return f", {shown}:{code.co_firstlineno}"


def _snippet(report: Report) -> Iterator[str]:
    try:
        code = report.repro()
    except ValueError as reason:
        yield f"There is no snippet to run: {reason}."
        return
    yield ""
    yield "See it happen without dpest (save and run; it needs numpy only):"
    yield from _indented(code.splitlines())


def _indented(lines: Any) -> Iterator[str]:
    yield from (textwrap.indent(line, "    ") for line in lines)
