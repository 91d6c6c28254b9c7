"""The page of a decoding: verdict in words, strings, truth, residuals, the life of a report."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dpest.report.columns import number
from dpest.report.html.chart import figure, key, shape, svg
from dpest.report.html.frame import document
from dpest.report.html.markup import Content, Markup, element
from dpest.report.html.section import Section, contents, section, table

if TYPE_CHECKING:
    from dpest.rappor.candidates import Candidates
    from dpest.rappor.counting import Counts
    from dpest.rappor.decoding import Decoding
    from dpest.rappor.params import Params


@dataclass(frozen=True, eq=False)
class Collection:
    """What was collected, what was decoded from it, and the truth where it is known.

    `truth` says which share of the clients really had each string, as a simulation knows.
    """

    params: Params
    candidates: Candidates
    counts: Counts
    decoding: Decoding
    truth: Mapping[str, float] | None = None
    reports_per_client: float = 1.0


def page(found: Collection) -> str:
    """The whole page; it needs no network."""
    from dpest.report.html.rappor.fit import fit_section, residuals_section
    from dpest.report.html.rappor.life import life_section
    from dpest.report.html.rappor.strings import strings_section, truth_section

    sections = [one for one in (
        _summary(found), strings_section(found), truth_section(found), fit_section(found),
        residuals_section(found), life_section(found), _parameters(found),
    ) if one is not None]  # fmt: skip
    return document(
        "Decoded RAPPOR reports",
        element("header", element("h1", "What the reports say"),
                element("p", "Strings found in reports that each keep their sender’s privacy.",
                        class_="lead"), class_="title"),
        element("div", contents(sections), element("div", [s.drawn() for s in sections]),
                class_="columns"),
    )  # fmt: skip


def percent(share: float) -> str:
    """A share of all reports."""
    return f"{100 * share:.3g} %".replace("-", "−") if math.isfinite(share) else "unknown"


def _summary(found: Collection) -> Section:
    decoding, metrics = found.decoding, found.decoding.metrics
    many = len(decoding.strings)
    return section(
        "found", "Result",
        element("p", f"{len(decoding)} of {many} candidates found in {decoding.sample_size:,} "
                     f"reports; they hold {percent(metrics['allocated_mass'])} of all.",
                class_="headline"),
        figure(_shares(found), key(("bar", "strings found"), ("other", "unlisted strings"),
                                   ("rest", "not attributed"))),
        element("dl", [
            (element("dt", name), element("dd", words)) for name, words in _facts(found)
        ], class_="facts"),
    )  # fmt: skip


def _facts(found: Collection) -> Sequence[tuple[str, str]]:
    metrics = found.decoding.metrics
    facts = [
        ("method", f"{metrics['method']}, at level {metrics['alpha']:g}, correction "
                   f"{metrics['correction']}"),
        ("privacy", f"one report loses at most ε = {number(found.params.eps_1, 4)}, all reports of "
                    f"a value together {number(found.params.eps_infinity, 4)}"),
    ]  # fmt: skip
    if found.decoding.other is not None:
        row = found.decoding.other
        facts.append(("unlisted", f"{percent(row.proportion)} of the reports hold strings that no "
                      f"candidate explains (95 % interval {percent(row.prop_low_95)} to "
                      f"{percent(row.prop_high_95)})"))  # fmt: skip
    dispersion = metrics["dispersion"]
    if dispersion is not None and dispersion > 1.2:
        facts.append(("warning", f"the noise is {dispersion:.1f} times what these candidates allow "
                      "for: frequent strings are missing from the list, or the parameters do "
                      "not fit"))  # fmt: skip
    return facts


def _shares(found: Collection) -> Markup:
    """How all reports divide into strings found, unlisted ones and what is attributed to none."""
    held = min(max(found.decoding.metrics["allocated_mass"], 0.0), 1.0)
    other = found.decoding.other.proportion if found.decoding.other is not None else 0.0
    other = min(max(other, 0.0) if math.isfinite(other) else 0.0, 1.0 - held)
    parts: list[Content] = [
        shape("rect", "bar rest", x=0.0, y=4.0, width=400.0, height=16.0),
        shape("rect", "bar", x=0.0, y=4.0, width=400.0 * held, height=16.0),
        shape("rect", "bar other", x=400.0 * held, y=4.0, width=400.0 * other, height=16.0),
    ]
    said = (
        f"Of all reports {percent(held)} hold strings found, {percent(other)} unlisted strings, "
        f"{percent(1 - held - other)} are not attributed."
    )
    return svg(400.0, 24.0, said, parts)


def _parameters(found: Collection) -> Section:
    params = found.params
    rows = [
        ("k", str(params.k), "bits per report"),
        ("h", str(params.h), "hash functions"),
        ("m", str(params.m), "cohorts"),
        ("f", f"{params.f:g}", "probability that the permanent response forgets a bit"),
        ("p", f"{params.p:g}", "probability that a permanent 0 is reported as 1"),
        ("q", f"{params.q:g}", "probability that a permanent 1 is reported as 1"),
        ("p*", number(params.p_star, 6), "probability that a bit outside the filter is reported"),
        ("q*", number(params.q_star, 6), "probability that a bit of the filter is reported"),
    ]
    return section("parameters", "Parameters",
                   table("What clients and server share", ("name", "value", "meaning"), rows, (1,),
                         "plain"))  # fmt: skip
