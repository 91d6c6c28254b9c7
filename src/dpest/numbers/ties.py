"""Choices that do not depend on how the last digits were rounded.

Sums of floats come out differently in their last digits from one processor to the next. Where
several places are equally good, the first or the nearest of them is taken, so that a report says
the same everywhere.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

_ROUNDING = 1e-11


def clearly_above(one: float, other: float) -> bool:
    """Whether one number is larger by more than rounding explains."""
    if not (math.isfinite(one) and math.isfinite(other)):
        return one > other
    return one - other > _ROUNDING * max(1.0, abs(one))


def nearest_largest(values: NDArray[Any], distances: NDArray[Any]) -> NDArray[Any]:
    """Along the last axis, of the places with a value as large as any, the nearest one."""
    top = values.max(axis=-1, keepdims=True)
    size = np.where(np.isfinite(top), np.abs(top), 1.0)
    equal = values >= top - _ROUNDING * np.maximum(1.0, size)
    return np.argmin(np.where(equal, distances, np.inf), axis=-1)
