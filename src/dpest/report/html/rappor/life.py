"""The life of a report: a value, its Bloom filter, the permanent response, what is sent."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dpest.report.html.chart import figure, key, shape, svg
from dpest.report.html.markup import Content, Markup, element
from dpest.report.html.rappor.page import Collection
from dpest.report.html.section import Section, section
from dpest.report.html.witness import shortened

_WIDTH = 400.0
_PER_LINE = 32
_MOST_BITS = 1024
Bits = NDArray[np.bool_]


def life_section(found: Collection) -> Section | None:
    """One client with one string, from the value to two reports of it."""
    if found.params.k > _MOST_BITS:
        return None
    rows = found.decoding.rows
    string = rows[0].string if rows else found.candidates.strings[0]
    stages = _stages(found, string)
    return section(
        "life", "Life of a report",
        element("p", "What happens to ", element("code", shortened(string, 80)), " at a client of "
                "cohort 0, in one drawing of the noise. Only the last lines leave the client; the "
                "permanent response never changes."),
        figure(_picture(stages),
               key(("bit on", "1 of the filter"), ("bit noise", "1 that is noise"),
                   ("bit lost", "bit of the filter that was lost"), ("bit", "0"))),
    )  # fmt: skip


def _stages(found: Collection, string: str) -> list[tuple[str, Bits]]:
    """Filter, permanent response, two instantaneous ones; where there is no such step it is left.

    The noise is drawn from a fixed seed: this is an illustration, not a client.
    """
    params, rng = found.params, np.random.default_rng(0)
    positions = found.candidates.positions[found.candidates.strings.index(string)]
    bloom = np.zeros(params.k, bool)
    bloom[positions[(positions >= 0) & (positions < params.k)]] = True
    stages = [("Bloom filter", bloom)]
    fixed = bloom
    if params.f > 0:
        fixed = np.where(rng.random(params.k) < params.f, rng.random(params.k) < 0.5, bloom)
        stages.append(("permanent response", fixed))
    if (params.p, params.q) != (0.0, 1.0):
        for name in ("first report", "second report"):
            chance = np.where(fixed, params.q, params.p)
            stages.append((name, rng.random(params.k) < chance))
    return stages


def _picture(stages: Sequence[tuple[str, Bits]]) -> Markup:
    bloom = stages[0][1]
    columns = min(len(bloom), _PER_LINE)
    step = min(_WIDTH / columns, 18.0)
    parts: list[Content] = []
    top = 0.0
    for name, bits in stages:
        words = f"{name}: {int(bits.sum())} of {len(bits)} bits"
        parts.append(shape("text", "name", words, x=0.0, y=top + 13))
        parts += [
            shape("rect", _class(bool(bit), bool(was)), x=(k % columns) * step,
                  y=top + 20 + (k // columns) * step, width=step - min(1.0, step / 6),
                  height=step - min(1.0, step / 6))
            for k, (bit, was) in enumerate(zip(bits, bloom, strict=True))
        ]  # fmt: skip
        top += 20 + -(-len(bits) // columns) * step + 14
    said = ", then ".join(f"{name} with {int(bits.sum())} ones" for name, bits in stages)
    return svg(_WIDTH, top, f"{len(bloom)} bits: {said}.", parts, class_="chart life")


def _class(bit: bool, was: bool) -> str:
    if bit:
        return "bit on" if was else "bit noise"
    return "bit lost" if was else "bit"
