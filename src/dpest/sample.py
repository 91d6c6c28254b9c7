"""Many runs of a mechanism at the speed of numpy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from dpest.distribution import given
from dpest.engines.sampling import Sampler, Samples
from dpest.trace.tracer import trace_values


def sample(
    mechanism: Callable[..., Any],
    x: Any,
    size: int,
    *,
    seed: int = 0,
    params: Mapping[str, Any] | None = None,
) -> Samples:
    """`size` outcomes of `mechanism(x, rng, **params)`, the same for the same seed.

    The function is traced once and runs as vectorised numpy, so no Python is called per run. The
    result is a sequence of outcomes as the function returns them; `np.asarray` of it is one array
    where all of them are numbers, or flat lists of one length.
    """
    if isinstance(size, bool) or not isinstance(size, (int, np.integer)) or size < 1:
        raise ValueError(f"size={size!r}: give a whole number of runs, at least 1")
    x = given(x)
    program = trace_values(mechanism, [x], **dict(params or {}))
    return Sampler(program).at(x).draw(np.random.default_rng(seed), int(size))
