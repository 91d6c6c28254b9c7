"""explain(report) -> sections: how it works, what pays, where it is worst, what would mend it."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass

from dpest.claims import Pure
from dpest.evidence import Verdict
from dpest.explain.payments import Bill, Payment, bill_of
from dpest.explain.walk import inputs_sentence, paths_sentences, steps
from dpest.neighbors import Pairs
from dpest.report import columns, text
from dpest.report.result import Report
from dpest.testing import message

WIDTH = 96
_EPSILONS = (0.5, 1.0, 2.0, 4.0)


@dataclass(frozen=True)
class Section:
    """A title and the lines below it; a line that starts with a space is not broken."""

    title: str
    lines: tuple[str, ...]


def explain(report: Report) -> list[Section]:
    """Everything there is to tell about an audited mechanism."""
    sections = [
        Section(report.headline, (text.subject(report), f"epsilon: {text.established(report)}")),
        Section("How it works", tuple(_works(report))),
        Section(_paying(report), tuple(_pays(report))),
        Section("Where it is worst", tuple(worst(report))),
    ]
    if report.claim is not None and report.verdict is Verdict.REFUTED:
        advice = tuple(f"- {change}" for change in message.changes(report))
        sections.append(Section("What would mend it", advice))
    return [section for section in sections if section.lines]


def plain(sections: list[Section]) -> str:
    """The sections as text of a readable width."""
    return "\n\n".join(
        "\n".join([section.title, *(row for line in section.lines for row in folded(line))])
        for section in sections
    )


def folded(line: str) -> list[str]:
    """The line below its title, broken where it is prose."""
    if line.startswith(" "):
        return [f"  {line[1:]}"]
    hang = "    " if line.startswith("- ") else "  "
    return textwrap.wrap(line, WIDTH, initial_indent="  ", subsequent_indent=hang)


# -- how it works -----------------------------------------------------------------------------


def _works(report: Report) -> Iterator[str]:
    yield inputs_sentence(report)
    program = report.program
    if program is None:
        return
    for step in steps(program):
        yield f" line {step.line:<4} {step.text}"
        yield f"           {'; '.join(step.does)}"
    yield from paths_sentences(program)


# -- what pays --------------------------------------------------------------------------------


def _paying(report: Report) -> str:
    if report.proof is not None:
        return f"What pays for epsilon = {report.upper:.6g}"
    if math.isinf(report.lower):
        return "Why no epsilon covers it"
    exact = isinstance(report.neighbors, Pairs) and math.isfinite(report.upper)
    return "What pays" if exact else "Why no epsilon is proved"


def _pays(report: Report) -> Iterator[str]:
    if report.proof is None:
        yield from _unproved(report)
        return
    bill = bill_of(report.proof, report.witness.event if report.witness else "")
    if bill is None:
        yield from str(report.proof).splitlines()
        return
    yield _what_is_paid(bill, report.proof.content["argument"])
    yield ""
    yield from (f" {row}" for row in table(bill).splitlines())
    total = sum(float(payment.total) for payment in bill.payments)
    if total > float(bill.price) * (1 + 1e-9):
        yield ""
        yield (
            f"Together that is {total:.6g}, but a neighbour at a Euclidean distance cannot change "
            f"everything at once: {float(bill.price):.6g} is enough."
        )


def _what_is_paid(bill: Bill, argument: str) -> str:
    if argument == "finite":
        return (
            f"The loss is largest {bill.where}. The output falls into independent parts; each "
            "contributes the logarithm of its largest ratio of probabilities."
        )
    when = bill.unit or "x changes by d" if argument == "alignment" else "one becomes the other"
    dearest = f" It is dearest {bill.where}." if bill.where else ""
    return f"When {when}, moving the noise as listed keeps what is returned.{dearest}"


def table(bill: Bill) -> str:
    """A row for all draws that are moved alike, without the columns that say nothing."""
    total = sum(float(payment.total) for payment in bill.payments)
    rows = [_row(payment, total) for payment in bill.payments]
    moved = any(payment.moved for payment in bill.payments)
    header = ("line", "noise", "draws" if moved else "parts", "moved by", "cost each", "together",
              "share")  # fmt: skip
    keep = [k for k in range(len(header)) if moved or k != 3]
    picked = [tuple(row[k] for k in keep) for row in rows]
    return columns.text(tuple(header[k] for k in keep), picked, (0, 1, 3) if moved else (0, 1))


def _row(payment: Payment, total: float) -> tuple[str, ...]:
    cost = float(payment.total)
    return (
        ", ".join(map(str, payment.lines)), payment.noise, str(payment.draws), payment.moved,
        f"{float(payment.each):.6g}", f"{cost:.6g}", f"{cost / total:.0%}" if total else "",
    )  # fmt: skip


def _unproved(report: Report) -> Iterator[str]:
    """Why there is no finite bound, and what is known instead."""
    if isinstance(report.neighbors, Pairs) and math.isfinite(report.upper):
        yield "The loss of listed pairs is computed from exact probabilities, not draw by draw."
    yield from (f"{note[:1].upper()}{note[1:].rstrip('.')}." for note in report.notes)
    if math.isinf(report.lower) or report.program is None:
        return
    known = [(eps, report.delta(eps)) for eps in _EPSILONS]
    if all(bound.upper_status != "none" for _, bound in known):
        instead = " instead" if math.isinf(report.upper) else ""
        yield f"There is a curve{instead} ({report.curves.scope}):"
        yield from (f"   delta({eps:g}) = {bound}" for eps, bound in known)
        rho = report.zcdp()
        if rho.upper_status != "none" and math.isfinite(rho.upper):
            yield f"   rho = {rho} (zero-concentrated)"


# -- where it is worst ------------------------------------------------------------------------


def worst(report: Report) -> Iterator[str]:
    """The witness, and what it means where nothing else is possible."""
    if report.witness is None:
        return
    lines = text.outline(report).named("witness")
    yield from (f" {line}" for line in lines[:2])
    yield from lines[2:]
    if report.witness.loss == math.inf:
        yield "Under x' this never happens: whoever sees it knows that the input was not x'."
    if not isinstance(report.claim, Pure | None) and not report.witness.shows:
        yield "That is where the plain privacy loss shows; other measures weigh all outputs."
