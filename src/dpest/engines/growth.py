"""How the loss grows with the number of inputs: the proved bound at smaller sizes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from dpest.engines.proof import prove
from dpest.inputs import Integers, Reals
from dpest.neighbors import Neighbors
from dpest.trace import Refusal, trace

SHARES = (0.25, 0.5)
Growth = tuple[tuple[int, float], ...]


def growth(
    mechanism: Callable[..., Any], inputs: Reals | Integers, neighbors: Neighbors,
    params: Mapping[str, Any], upper: float,
) -> Growth:  # fmt: skip
    """(size, bound) for a few smaller sizes and this one; empty where smaller ones do not run."""
    sizes = sorted({max(1, math.ceil(share * inputs.size)) for share in SHARES} - {inputs.size})
    try:
        smaller = [
            (n, prove(trace(mechanism, replace(inputs, size=n), **params),
                      replace(inputs, size=n), neighbors).upper)
            for n in sizes
        ]  # fmt: skip
    except (Refusal, ValueError, IndexError):
        return ()
    return (*smaller, (inputs.size, upper))


def sentence(found: Growth) -> str:
    """The growth in words."""
    sizes = ", ".join(f"{epsilon:.6g} at n = {n}" for n, epsilon in found)
    grows = found[-1][1] > found[0][1] * (1 + 1e-9)
    if not grows:
        return f"epsilon does not grow with the number of inputs n: {sizes}"
    return f"epsilon is finite at this size and grows with the number of inputs n: {sizes}"
