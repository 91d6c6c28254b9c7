"""The privacy loss distribution of dp_accounting, from what covers all neighbours."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpest.curves.discretise import ends
from dpest.curves.grid import MOST_POINTS, kinks
from dpest.curves.measures import deltas

if TYPE_CHECKING:
    from dpest.curves.curves import Curves, Direction

Array = NDArray[np.float64]


def to_pld(curves: Curves, step: float) -> Any:
    """A dp_accounting `PrivacyLossDistribution` that is at least as bad as any two neighbours.

    Where a single worst pair is known it keeps the two directions apart.
    """
    if not isinstance(step, (int, float)) or not 0 < step < math.inf:
        raise ValueError(f"the step of a privacy loss distribution must be > 0, got {step!r}")
    if not curves.covering:
        raise ValueError("no privacy loss distribution covers all neighbours: nothing bounds them")
    distribution, pmf = _dp_accounting()
    worst = curves.covering[0].pairs
    directions: list[Direction] = ["forward", "backward"] if len(worst) == 1 else ["both"]
    return distribution.PrivacyLossDistribution(*(
        pmf.DensePLDPmf(step, *_masses(curves, step, direction), pessimistic_estimate=True)
        for direction in directions
    ))  # fmt: skip


def _masses(curves: Curves, step: float, direction: Direction) -> tuple[int, Array, float]:
    """The first loss in steps, the probabilities from there on, and that of an infinite loss."""
    laws = [law for pair in curves.covering[0].pairs for law in pair.laws(direction)]
    reaches = [ends(law) for law in laws]
    first = math.floor(min(low for low, _ in reaches) / step)
    count = math.ceil(max(high for _, high in reaches) / step) - first + 1
    if count > MOST_POINTS:
        raise ValueError(
            f"a step of {step!r} needs {count} points, more than {MOST_POINTS}; use a larger one"
        )
    eps = step * np.arange(first, first + count, dtype=float)
    sides = [side.worst(direction, lambda law: deltas(law, eps), 1) for side in curves.covering]
    values = np.min(sides, axis=0)
    return first, kinks(eps, values, 1.0), float(min(values[-1], 1.0))


def _dp_accounting() -> tuple[Any, Any]:
    try:
        from dp_accounting.pld import pld_pmf, privacy_loss_distribution
    except ImportError:
        raise ImportError(
            "to_pld needs the package dp_accounting; install it with `pip install dp-accounting`"
        ) from None
    return privacy_loss_distribution, pld_pmf
