"""By how much the noise has to grow before a claim is true."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from flint import fmpq

from dpest.claims import ROUNDING, Pure
from dpest.evidence import Certificate
from dpest.numbers.rational import exact
from dpest.report.result import Report
from dpest.verify.content import derive
from dpest.verify.price import rational

_SCALED = ("laplace", "exponential", "gumbel", "logistic", "discrete_laplace")
"""The laws whose noise grows by multiplying one parameter, their scale."""
_DIGITS = 4


@dataclass(frozen=True)
class Growth:
    """Noise whose scale must be multiplied: by what, of which laws, on which lines."""

    factor: float
    laws: tuple[str, ...]
    lines: tuple[int, ...]


def noise_needed(report: Report) -> Growth | None:
    """The factor that makes the claim true; None where it is not certain that any does.

    It is certain where the alignment that proves the present bound also proves the claim, in
    exact arithmetic, for the program with its noise multiplied.
    """
    proof, claim = report.proof, report.claim
    if proof is None or not isinstance(claim, Pure):
        return None
    if not 0 < claim.epsilon < report.upper < math.inf:
        return None
    if proof.content["argument"] != "alignment":
        return None
    factor = _rounded_up(report.upper / claim.epsilon)
    if not _proves(proof, factor, claim.epsilon):
        return None
    return _described(proof, factor)


def _rounded_up(factor: float) -> float:
    step = 10.0 ** (math.floor(math.log10(factor)) - _DIGITS + 1)
    rounded = round(math.ceil(factor / step * (1 - 1e-12)) * step, 12)
    return rounded


def _proves(proof: Certificate, factor: float, epsilon: float) -> bool:
    """Whether the same shifts prove epsilon with more noise."""
    noise = [_multiplied(draw, exact(factor)) for draw in _noise(proof)]
    content = {**proof.content, "program": {**proof.content["program"], "noise": noise}}
    price, _ = derive(content)
    return price.above() <= epsilon * (1 + ROUNDING)


def _multiplied(draw: dict[str, Any], factor: fmpq) -> dict[str, Any]:
    if draw["law"] not in _SCALED:
        return draw
    return {**draw, "scale": str(rational(draw["scale"]) * factor)}


def _noise(proof: Certificate) -> list[dict[str, Any]]:
    noise: list[dict[str, Any]] = proof.content["program"]["noise"]
    return noise


def _described(proof: Certificate, factor: float) -> Growth:
    grown = [draw for draw in _noise(proof) if draw["law"] in _SCALED]
    laws = tuple(dict.fromkeys(draw["law"].replace("_", " ") for draw in grown))
    return Growth(factor, laws, tuple(sorted({d["line"] for d in grown if d["line"]})))
