"""The proof in sentences that lead to the source, the certificate, and how to check it."""

from __future__ import annotations

import base64
import json

from dpest.evidence import Certificate
from dpest.report.html.chart import key
from dpest.report.html.markup import Markup, element, join
from dpest.report.html.section import Section, code, section
from dpest.report.html.source import Block, linked
from dpest.report.result import Report


def certificate_name(report: Report) -> str:
    """The file in which the certificate is kept beside a page, or downloaded from it."""
    plain = "".join(c if c.isalnum() or c in "-_" else "_" for c in report.mechanism)
    return f"{plain}.proof.json"


def certificate_text(proof: Certificate) -> str:
    """The certificate as `dpest check` reads it."""
    return json.dumps(proof.to_json(), separators=(",", ":"))


def proof_section(report: Report, shown: list[Block], beside: bool) -> Section:
    """Why no neighbours lose more; the certificate lies beside the page, or inside it."""
    if report.proof is None:
        return section("proof", "Proof", element("p", _no_proof(report)))
    sentences = str(report.proof).splitlines()
    name = certificate_name(report)
    return section(
        "proof", "Proof",
        [_sentence(one, shown) for one in _together(sentences)],
        element("p",
                element("a", "Download the certificate", class_="button", download=name,
                        href=name if beside else _data(report.proof)),
                " and check it, in exact arithmetic and without any engine:"),
        code(f"dpest check {name}", "Command that checks the certificate"),
    )  # fmt: skip


def _together(lines: list[str]) -> list[list[str]]:
    """Every sentence with the lines that go on with it, which begin with a small letter."""
    found: list[list[str]] = []
    for line in lines:
        if line[:1].islower() and found:
            found[-1].append(line)
        else:
            found.append([line])
    return found


def _sentence(lines: list[str], shown: list[Block]) -> Markup:
    first, *rest = (linked(line, shown) for line in lines)
    if not rest:
        return element("p", first)
    return join(element("p", first), element("ul", [element("li", line) for line in rest]))


def _data(proof: Certificate) -> str:
    packed = base64.b64encode(certificate_text(proof).encode()).decode("ascii")
    return f"data:application/json;base64,{packed}"


def _no_proof(report: Report) -> str:
    if report.lower == float("inf"):
        return "No finite bound exists, so there is nothing to prove."
    if report.bound.upper_status != "none":
        return f"The upper bound is {report.bound.upper_status}, not proved; it has no certificate."
    return "No upper bound is proved: the loss may be larger than the witness shows."


def repro_section(report: Report) -> Section | None:
    """A snippet that shows the witness without dpest; nothing where there is no witness."""
    try:
        snippet = report.repro()
    except ValueError as reason:
        if report.witness is None:
            return None
        return section("repro", "Reproduce", element("p", f"No snippet: {reason}."))
    return section(
        "repro", "Reproduce",
        element("p", "This runs the mechanism on both inputs and counts the event. It needs numpy, "
                     "not dpest."),
        element("details", element("summary", "Show the snippet"), code(snippet, "Snippet")),
    )  # fmt: skip


def source_section(
    report: Report, shown: list[Block], listing: Markup | None
) -> Section:
    """The code that was audited."""
    if listing is None:
        missing = f"{report.mechanism} was not defined in a file that can be read."
        return section("source", "Source", element("p", f"The source is not at hand: {missing}"))
    return section(
        "source", "Source", listing,
        key(("noise", "line that draws a random variable"),
            ("operation", "line that computes with one")) if report.program else None,
    )  # fmt: skip
