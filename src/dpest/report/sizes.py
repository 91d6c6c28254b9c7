"""How a mechanism changes with the number of its inputs, and with who counts as a neighbour."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from dpest.evidence import Bound
from dpest.inputs import Integers, Reals
from dpest.neighbors import Norm
from dpest.program import Program

if TYPE_CHECKING:
    from dpest.report.result import Report

FEW = 5
"""Sizes up to this are all looked at."""
RELATED = 3
"""Relations are compared at no more inputs, as a search that proves nothing tight takes long."""


@dataclass(frozen=True)
class Size:
    """A mechanism at one number of inputs."""

    n: int
    paths: int
    draws: int
    conditions: int
    upper: float
    """The proved bound; infinity where there is none."""


def of_program(n: int, program: Program, upper: float) -> Size:
    """What there is to count in a traced program."""
    conditions = sum(len(path.conditions) for path in program.paths)
    return Size(n, len(program.paths), len(program.noises), conditions, upper)


def sizes(report: Report) -> list[Size]:
    """The mechanism at small sizes, half its size and its own; empty where that has no sense.

    Sizes at which the mechanism does not run are left out.
    """
    program, n = report.program, report.inputs.size
    if program is None or program.values or not _scales(report) or n == 1:
        return []
    smaller = sorted({*range(1, FEW + 1), math.ceil(n / 2)} - {n})
    found = [_at(report, size) for size in smaller if size < n]
    own = of_program(n, program, report.upper if report.proof is not None else math.inf)
    return [size for size in found if size] + [own]


def relations(report: Report) -> list[tuple[Norm, Bound]]:
    """The bounds under the three norms, at no more than a few inputs; empty without a norm."""
    from dpest.audit import audit

    if not isinstance(report.neighbors, Norm) or not _scales(report) or report.inputs.size == 1:
        return []
    inputs = _resized(report, min(report.inputs.size, RELATED))
    assert report.function is not None
    return [
        (norm, audit(report.function, inputs, norm, params=report.params).bound)
        for norm in (Norm(kind, report.neighbors.radius) for kind in ("l1", "l2", "linf"))
    ]


def _scales(report: Report) -> bool:
    read = report.function is not None and report.sampled is None
    return read and isinstance(report.inputs, (Reals, Integers))


def _resized(report: Report, n: int) -> Reals | Integers:
    assert isinstance(report.inputs, (Reals, Integers))
    return replace(report.inputs, size=n)


def _at(report: Report, n: int) -> Size | None:
    from dpest.engines.proof import prove
    from dpest.trace import trace

    inputs = _resized(report, n)
    assert report.function is not None
    try:
        program = trace(report.function, inputs, **report.params)
        return of_program(n, program, prove(program, inputs, report.neighbors).upper)
    except Exception:  # the user's own code may fail in any way on inputs it was not made for
        return None


# -- growth as a formula ----------------------------------------------------------------------


def growth(found: Sequence[Size], count: Callable[[Size], int]) -> str:
    """How a count grows with n, where the sizes at hand settle it: "O(n)" and the like."""
    points = [(size.n, count(size)) for size in found]
    if len(points) < 4:
        return ""
    values = [value for _, value in points]
    if len(set(values)) == 1:
        return "O(1)"
    for degree, name in ((1, "O(n)"), (2, "O(n²)"), (3, "O(n³)")):
        if len(points) > degree + 1 and _is_polynomial(points, degree):
            return name
    row = [value for n, value in points if n <= FEW]
    steps = [b - a for a, b in pairwise(row)]
    ratios = {b / a for a, b in pairwise(steps) if a}
    if len(ratios) == 1 and (ratio := ratios.pop()) > 1:
        return f"O({ratio:g}ⁿ)"
    return ""


def _is_polynomial(points: Sequence[tuple[int, int]], degree: int) -> bool:
    """Whether all points lie on the polynomial through the first few."""
    known = points[: degree + 1]

    def interpolated(n: int) -> float:
        total = 0.0
        for k, (x, y) in enumerate(known):
            others = [other for j, (other, _) in enumerate(known) if j != k]
            total += y * math.prod((n - other) / (x - other) for other in others)
        return total

    return all(abs(interpolated(n) - value) < 1e-6 * max(1, value) for n, value in points)
