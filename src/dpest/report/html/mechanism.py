"""The page of one mechanism, and the piece that a notebook shows."""

from __future__ import annotations

import math
from collections.abc import Sequence

from dpest.claims import Pure
from dpest.evidence import Verdict
from dpest.report.html.bounds import picture
from dpest.report.html.chart import figure, key
from dpest.report.html.costs import costs_section
from dpest.report.html.curve import curve_section
from dpest.report.html.frame import asset, document
from dpest.report.html.graph import graph_section
from dpest.report.html.loss import loss_section
from dpest.report.html.markup import Content, Markup, element, join
from dpest.report.html.peers import marks, peers_section
from dpest.report.html.proof import proof_section, repro_section, source_section
from dpest.report.html.scale import growth_section, relations_section
from dpest.report.html.section import Section, contents, section
from dpest.report.html.source import blocks, listing
from dpest.report.html.witness import witness_section
from dpest.report.measured import entry_of
from dpest.report.result import Report
from dpest.report.sizes import sizes
from dpest.report.text import Fact, outline

_TOLD_BELOW = ("witness", "proof")
_MARKS = {"first": "dpest, first run", "second": "dpest, second run",
          "sniper": "DP-Sniper", "statdp": "StatDP"}  # fmt: skip


def page(report: Report, home: str | None = None) -> str:
    """The report on one mechanism as a page of its own.

    On a site, `home` is the address of its index, and the certificate lies beside the page.
    """
    entry = entry_of(report)
    title = entry.title if entry else report.mechanism
    sections = _sections(report, beside=home is not None)
    return document(
        title,
        element("header",
                element("h1", title),
                element("p", entry.citation, class_="quiet") if entry else None,
                class_="title"),
        element("div", contents(sections), element("div", [s.drawn() for s in sections]),
                class_="columns"),
        home=home,
    )  # fmt: skip


def _sections(report: Report, beside: bool) -> list[Section]:
    shown = blocks(report.function)
    graph = report.program.graph if report.program is not None else None
    lines = listing(shown, graph) if shown else None
    scaled = sizes(report)
    found: Sequence[Section | None] = (
        _verdict(report),
        source_section(report, shown, lines),
        graph_section(graph, report.mechanism),
        proof_section(report, shown, beside),
        witness_section(report),
        loss_section(report),
        curve_section(report),
        growth_section(report, scaled),
        relations_section(report),
        costs_section(report, scaled),
        peers_section(report),
        repro_section(report),
    )
    return [one for one in found if one is not None]


def _verdict(report: Report) -> Section:
    told = outline(report)
    facts = [fact for fact in told.facts if fact.name not in _TOLD_BELOW]
    return section(
        "verdict", "Verdict",
        element("p", told.headline, class_=f"headline {badge(report)}"),
        _interval(report),
        element("p", element("code", told.subject), class_="subject"),
        _facts(facts),
    )  # fmt: skip


def badge(report: Report) -> str:
    """The colour of the verdict: only a claim can be refuted."""
    claimed = report.claim is not None and math.isfinite(report.claim.limit)
    if claimed and report.verdict is Verdict.REFUTED:
        return "refuted"
    return "holds" if claimed and report.verdict is Verdict.HOLDS else "open"


def _interval(report: Report) -> Markup:
    entry = entry_of(report)
    others = marks(entry) if entry else []
    claim = _claimed(report)
    keys = [("bound", "bounds on ε"), *([("claim", "claim")] if claim is not None else []),
            *((f"mark {m.class_}", m.name) for m in others)]  # fmt: skip
    return join(_other_measure(report),
                figure(picture(report.bound, claim, others), key(*keys)))  # fmt: skip


def _other_measure(report: Report) -> Markup | None:
    """The bounds on what is claimed, where that is not epsilon."""
    claim = report.claim
    if claim is None or isinstance(claim, Pure):
        return None
    drawn = picture(claim.bound(report), claim.limit, name=claim.measure)
    return figure(drawn, key(("bound", f"bounds on {claim.measure}"), ("claim", "claim")))


def _claimed(report: Report) -> float | None:
    """The epsilon that is claimed, where the claim is about epsilon alone."""
    return report.claim.epsilon if isinstance(report.claim, Pure) else None


def _facts(facts: Sequence[Fact]) -> Markup:
    names = dict.fromkeys(fact.name for fact in facts)
    return element("dl", [
        (element("dt", name), [element("dd", _said(f)) for f in facts if f.name == name])
        for name in names
    ], class_="facts")  # fmt: skip


def _said(fact: Fact) -> Content:
    if len(fact.lines) == 1:
        return fact.lines[0]
    if fact.prose:
        return element("ul", [element("li", line) for line in fact.lines])
    return element("pre", "\n".join(fact.lines), tabindex="0")


def fragment(report: Report) -> Markup:
    """The report's words and its bounds, for a notebook: the styles stay inside."""
    told = outline(report)
    return element(
        "div",
        element("style", Markup(asset("fragment.css"))),
        element("p", element("strong", told.headline), class_=f"headline {badge(report)}"),
        element("p", element("code", told.subject)),
        picture(report.bound, _claimed(report)),
        _facts(told.facts),
        class_="dpest-report",
    )
