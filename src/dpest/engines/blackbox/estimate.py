"""How much privacy a mechanism loses at least, judged by its outputs alone."""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpest.engines.blackbox.blocks import Blocks
from dpest.engines.blackbox.curves import SampledCurves
from dpest.engines.blackbox.mechanism import Mechanism, MechanismError, shown
from dpest.engines.blackbox.pipeline import Pipeline
from dpest.engines.blackbox.pool import OutOfTime, Pool
from dpest.engines.blackbox.settings import Sampling


@dataclass(frozen=True)
class Estimate:
    """A lower bound for the privacy loss, and how it came about.

    The event is likelier on `pair[0]` than on `pair[1]`; `direction` says whether the pair was
    given in this order ("forward") or the other ("backward"). `counts` are the hits on either
    input among `measured` runs; `samples` is the most runs on either side, learning included.
    `complete` is False where the mechanism failed or time ran out; the bound then rests on what
    was measured so far.
    """

    lower: float
    confidence: float
    delta: float
    pair: tuple[Any, Any]
    direction: str
    event: str
    test: str
    """The event as a Python expression in `output`, where it is one."""
    counts: tuple[int, int]
    measured: int
    coupled: bool
    """Whether the two runs of a pair shared their random numbers."""
    samples: int
    seconds: float
    refuted: bool | None
    curves: SampledCurves
    complete: bool = True
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        lines = [
            f"loss >= {_rounded_down(self.lower)} with {self.confidence:.0%} confidence"
            + (f" at delta = {self.delta:g}" if self.delta else ""),
            f"  event: {self.event}",
            f"  {self.counts[0]} of {self.measured} runs on {shown(self.pair[0])}",
            f"  {self.counts[1]} of {self.measured} runs on {shown(self.pair[1])}",
            *(f"  note: {note}" for note in self.notes),
        ]
        return "\n".join(lines)


def _rounded_down(value: float) -> str:
    return f"{math.floor(value * 1e4) / 1e4:.4f}"


def estimate(
    mechanism: Mechanism,
    pairs: Sequence[tuple[Any, Any]],
    sampling: Sampling | None = None,
    *,
    claim: float | None = None,
    delta: float = 0.0,
    aim: float = 0.0,
) -> Estimate:
    """Lower-bound the loss of `mechanism` over the given pairs of neighbouring inputs.

    With a `claim` the audit stops as soon as the claim is refuted. `aim` is a delta to choose the
    event for where the loss itself is not what matters: a divergence is lost on rare events.
    """
    _checked(delta, claim)
    sampling = sampling or Sampling()
    blocks = Blocks(mechanism, _as_pairs(pairs), sampling.seed)
    with Pool(sampling, mechanism.is_trusted) as pool:
        pipeline = Pipeline(blocks, pool, sampling, delta, claim, aim)
        try:
            pipeline.run()
        except OutOfTime:
            pipeline.stopped(f"the time limit of {sampling.time_limit:g} s passed")
        except MechanismError as error:
            pipeline.stopped(str(error))
        return _estimated(pipeline)


def _estimated(pipeline: Pipeline) -> Estimate:
    candidate, counts = pipeline.candidate, pipeline.counts
    x, x_prime = pipeline.blocks.pairs[candidate.pair if candidate else 0]
    first = candidate.first if candidate else 0
    return Estimate(
        lower=pipeline.lower,
        confidence=pipeline.sampling.confidence,
        delta=pipeline.delta,
        pair=(x_prime, x) if first else (x, x_prime),
        direction="backward" if first else "forward",
        event=str(candidate.event) if candidate else "none chosen yet",
        test=candidate.event.python if candidate else "",
        counts=(counts.first, counts.second),
        measured=counts.runs,
        coupled=pipeline.rule is not None and pipeline.rule.coupled,
        samples=pipeline.samples,
        seconds=pipeline.seconds,
        refuted=pipeline.refuted,
        curves=SampledCurves(counts, pipeline.rule, pipeline.alpha * pipeline.share),
        complete=pipeline.complete,
        notes=pipeline.all_notes(),
    )


def _checked(delta: float, claim: float | None) -> None:
    if not 0.0 <= delta < 1.0:
        raise ValueError(f"delta={delta!r}: give a probability, at least 0 and below 1")
    if claim is not None and not claim >= 0.0:
        raise ValueError(f"claim={claim!r}: give a loss of 0 or more, or None")


def _as_pairs(pairs: Sequence[tuple[Any, Any]]) -> tuple[tuple[Any, Any], ...]:
    if len(pairs) == 0 or any(len(pair) != 2 for pair in pairs):
        raise ValueError("pairs: give at least one (x, x_prime) of neighbouring inputs")
    return tuple((_as_input(x), _as_input(x_prime)) for x, x_prime in pairs)


def _as_input(x: Any) -> Any:
    """Lists and tuples of numbers become arrays, as mechanisms written in numpy expect."""
    if isinstance(x, (list, tuple)) and all(isinstance(entry, numbers.Real) for entry in x):
        return np.array(x, float)
    return x
