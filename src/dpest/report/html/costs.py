"""What the answer cost, and how exact every step towards it is."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from dpest.engines.exact import ExactLaw, OutOfReach
from dpest.program import Program
from dpest.report.columns import number
from dpest.report.html.markup import Content, element
from dpest.report.html.section import Section, section, table
from dpest.report.result import Report
from dpest.report.sizes import Size, growth, of_program

_ARGUMENTS = {
    "alignment": "shifts of the noise, found by linear programs, rounded to rationals, re-checked",
    "finite": "exact rational probabilities of every outcome at every input",
    "couplings": "a shift of the noise for every pair of inputs, rounded to rationals, re-checked",
    "subsampling": "shifts between what coins leave, in rationals; logarithms in rigorous balls",
    "mixture": "shifts between what coins leave, in rationals; logarithms in rigorous balls",
}
_RADIUS = re.compile(r"\[?([^\s\[]+) \+/- ([^\s\]]+)")


def costs_section(report: Report, found: Sequence[Size]) -> Section:
    """Complexity and error budget."""
    pieces: list[Content] = []
    if report.program is not None:
        pieces.append(_counts(report, found))
    pieces.append(table(
        "How exact every step is", ("step", "arithmetic", "error"), _budget(report), (), "plain"
    ))  # fmt: skip
    time = f"The audit took {report.seconds:.2f} s by {report.method}."
    return section("costs", "Complexity and error budget", *pieces, element("p", time))


def _counts(report: Report, found: Sequence[Size]) -> Content:
    """What was traced, how that grows, and what the proof solved."""
    assert report.program is not None
    own = of_program(report.inputs.size, report.program, report.upper)
    rows = [
        ("paths through the code, each run once", str(own.paths), growth(found, lambda s: s.paths)),
        ("random variables", str(own.draws), growth(found, lambda s: s.draws)),
        ("conditions on all paths", str(own.conditions), growth(found, lambda s: s.conditions)),
    ]
    if report.program.values:
        rows.insert(0, ("inputs, each traced by itself", str(len(report.program.values)), ""))
    rows += _integrals(report.program)
    if report.proof is not None:
        rows += _proof_sizes(report.proof.content)
    note = element("p", "The growth is read off the traced programs of smaller sizes.",
                   class_="quiet") if any(row[2] for row in rows) else None  # fmt: skip
    return [table("What there is to compute", ("count", "here", "grows as"), rows, (1,), "plain"),
            note]  # fmt: skip


def _integrals(program: Program) -> list[tuple[str, str, str]]:
    """What the probabilities of an input take: closed forms, or integrals over shared noise."""
    try:
        terms = ExactLaw(program).plan.terms
    except OutOfReach:
        return []
    integrals = sum(bool(term.axes) for term in terms)
    return [("closed forms for an input’s probabilities", str(len(terms) - integrals), ""),
            ("integrals or sums for them", str(integrals), "")]  # fmt: skip


def _proof_sizes(content: object) -> list[tuple[str, str, str]]:
    """What the certificate lists."""
    program = content.get("program", {}) if isinstance(content, dict) else {}
    names = (("paths", "paths in the certificate"), ("noise", "random variables in it"),
             ("lines", "affine expressions in it"), ("members", "inputs in it"))  # fmt: skip
    return [(said, str(len(program[key])), "") for key, said in names if program.get(key)]


def _budget(report: Report) -> list[Sequence[Content]]:
    rows: list[Sequence[Content]] = []
    if report.program is not None:
        rows.append(("paths and conditions", "rational", "0"))
    if report.proof is not None:
        argument = report.proof.content.get("argument", "")
        rows.append(("upper bound", _ARGUMENTS.get(argument, "re-checked in rationals"), "0"))
    elif report.bound.upper_status != "none" and math.isfinite(report.upper):
        rows.append(("upper bound", _status(report.bound.upper_status), _floating(report)))
    if report.witness is not None:
        rows.append(("lower bound", *_lower(report)))
    if report.program is not None:
        rows.append(("loss and curves", "floating point, Gauss–Legendre panels in logs",
                     "about 10⁻¹², relative"))  # fmt: skip
    rows.append(("gap between both bounds", "", _gap(report)))
    if report.bound.lower_status != "statistical":
        rows.append(("rounding in the mechanism itself", "draws and sums are taken as exact",
                     "not covered"))  # fmt: skip
    return rows


def _status(status: str) -> str:
    return {"certified": "rigorous balls", "numeric": "floating point",
            "statistical": "samples"}.get(status, status)  # fmt: skip


def _floating(report: Report) -> str:
    return "about 10⁻¹², relative" if report.bound.upper_status == "numeric" else ""


def _lower(report: Report) -> tuple[str, str]:
    witness = report.witness
    assert witness is not None
    if witness.counted is not None:
        return "samples", f"{100 * witness.counted.confidence:g} % confidence"
    if witness.balls is None:
        return "floating point", "about 10⁻¹², relative"
    radii = [_relative(ball) for ball in witness.balls]
    known = [radius for radius in radii if radius is not None]
    return "rigorous balls", f"at most {number(max(known), 2)}, relative" if known else "0"


def _relative(ball: str) -> float | None:
    """The radius of a ball over its middle; None where it is exact or around zero."""
    match = _RADIUS.search(ball)
    if match is None:
        return None
    middle, radius = map(_log10, match.groups())
    return 10 ** (radius - middle) if middle > -math.inf else None


def _log10(number: str) -> float:
    """The logarithm of a number that may be too small for a double."""
    mantissa, _, exponent = number.partition("e")
    size = abs(float(mantissa))
    return math.log10(size) + int(exponent or 0) if size > 0 else -math.inf


def _gap(report: Report) -> str:
    bound = report.bound
    if bound.lower == bound.upper:
        return "0"
    if bound.upper_status == "none" or math.isinf(bound.upper):
        return "unknown"
    return f"{number(1 - bound.lower / bound.upper, 2)}, relative" if bound.upper > 0 else "0"
