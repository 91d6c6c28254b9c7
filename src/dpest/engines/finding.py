"""What the engines established, whichever of them ran."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dpest.evidence import Bound, Certificate, Witness
from dpest.program import Program

if TYPE_CHECKING:
    from dpest.engines.growth import Growth


@dataclass(frozen=True)
class Finding:
    """Bounds with their evidence, and how they came about."""

    bound: Bound
    method: str
    witness: Witness | None = None
    proof: Certificate | None = None
    notes: tuple[str, ...] = ()
    program: Program | None = None
    growth: Growth = ()
    """The bound at smaller sizes, where the claim is that there is none."""
    sampled: Any = None
    """What counts say about measures other than epsilon, where the bound comes from samples."""
