"""Order statistics of traced numbers: extremes, their places, clipping, sorting."""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np

from dpest.program import Linear
from dpest.trace.pieces import contest
from dpest.trace.refusals import NonAffine
from dpest.trace.symbol import Symbol, common_kind, linear_of, pick, record


def maximum(left: Any, right: Any) -> Any:
    return extreme([left, right], True)


def minimum(left: Any, right: Any) -> Any:
    return extreme([left, right], False)


def clip(value: Any, low: Any, high: Any) -> Any:
    value = value if low is None else maximum(value, low)
    return value if high is None else minimum(value, high)


def _finite(values: Sequence[Any], largest: bool) -> list[Any]:
    """Without the infinities that cannot win; only an infinity that always wins is left."""
    worst, best = (-math.inf, math.inf) if largest else (math.inf, -math.inf)
    if any(isinstance(v, numbers.Real) and v == best for v in values):
        return [best]
    kept = [v for v in values if isinstance(v, Symbol) or v != worst]
    return kept or [worst]


def extreme(values: Sequence[Any], largest: bool) -> Any:
    """The largest or smallest of some numbers."""
    finite = list(dict.fromkeys(map(_Key, _finite(values, largest))))
    kept = [key.value for key in finite]
    if len(kept) == 1 or not any(isinstance(v, Symbol) for v in kept):
        return (max if largest else min)(kept) if len(kept) > 1 else kept[0]
    lines = [linear_of(v) for v in kept]
    result = pick(contest(lines, largest), kept, common_kind(*kept))
    return record("Max" if largest else "Min", kept, result)


class _Key:
    """A number compared by its expression, to drop duplicates."""

    def __init__(self, value: Any) -> None:
        self.value = value
        self.key = linear_of(value) if math.isfinite(_probe(value)) else value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


def _probe(value: Any) -> float:
    return 0.0 if isinstance(value, Symbol) else float(value)


def arg_extreme(values: Sequence[Any], largest: bool) -> Any:
    """The place of the largest or smallest number; ties go to the first."""
    values = [_bounded(v) for v in values]
    if not any(isinstance(v, Symbol) for v in values):
        return int(np.argmax(values) if largest else np.argmin(values))
    apart = _without_common_terms([linear_of(v) for v in values])
    result = pick(contest(apart, largest), list(range(len(values))), "int")
    return record("Argmax" if largest else "Argmin", values, result)


def _without_common_terms(lines: Sequence[Linear]) -> list[Linear]:
    """The lines without what moves all of them alike, such as the x.max() of a stable softmax."""
    first = lines[0].terms
    common = {
        v: c for v, c in first.items() if all(line.terms.get(v) == c for line in lines)
    }
    return [line - Linear(terms=common) for line in lines] if common else list(lines)


def _bounded(value: Any) -> Any:
    if isinstance(value, numbers.Real) and not math.isfinite(value):
        raise NonAffine(f"the place of the infinite entry {value!r} cannot be traced")
    return value
