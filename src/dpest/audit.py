"""The front door: audit(mechanism, inputs, neighbors, claim) -> Report."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Mapping
from typing import Any

from dpest.claims import Claim, as_claim
from dpest.engines.blackbox import BlackBox, Sampling
from dpest.engines.choose import ENGINES, Engine, Question, answer
from dpest.inputs import Inputs, Integers, OneOf, Reals
from dpest.neighbors import AnyPair, Neighbors, Norm, Pairs
from dpest.report.against import against
from dpest.report.result import Report


def audit(
    mechanism: Callable[..., Any] | BlackBox,
    inputs: Inputs,
    neighbors: Neighbors,
    claim: float | Claim | None = None,
    *,
    params: Mapping[str, Any] | None = None,
    engine: Engine | None = None,
    samples: int = 100_000,
    confidence: float = 0.95,
    seed: int = 0,
    jobs: int = 1,
    time_limit: float | None = 600.0,
    backend: str | None = None,
    scheduler: str | None = None,
) -> Report:
    """How much privacy `mechanism(x, rng, **params)` loses between neighbouring inputs.

    `inputs` is the domain (`dpest.reals(10)`), `neighbors` says which inputs must look alike
    (`dpest.linf(1)`), `claim` is the epsilon to be checked, or another claim such as
    `dpest.approx(1, 1e-5)`. A mechanism that cannot be read is a `dpest.blackbox(f)`.

    Without an `engine` the surest one that accepts the mechanism answers, and the notes say why
    others did not. "analytic" is proof and exact loss together, which "proof" and "exact" are
    alone; "sampling" draws from the traced program, "blackbox" runs the function itself.

    The rest steers sampling: the most runs on either input, the confidence of what is said, a
    seed on which the result depends, and processes (`jobs`) or a cluster (`backend="dask"`,
    `scheduler="tcp://host:8786"`) on which it does not. `time_limit` is in seconds, for all runs;
    with None the mechanism runs in this process.
    """
    start = time.perf_counter()
    claim = as_claim(claim)
    _check(mechanism, inputs, neighbors, engine)
    params = dict(params or {})
    sampling = Sampling(samples, confidence, seed, jobs, time_limit, backend, scheduler)
    finding = answer(Question(mechanism, inputs, neighbors, params, claim, sampling), engine)
    return against(Report(
        mechanism=_name(mechanism),
        inputs=inputs,
        neighbors=neighbors,
        params=params,
        claim=claim,
        bound=finding.bound,
        method=finding.method,
        seconds=time.perf_counter() - start,
        witness=finding.witness,
        proof=finding.proof,
        notes=finding.notes,
        growth=finding.growth,
        program=finding.program,
        function=mechanism.callable if isinstance(mechanism, BlackBox) else mechanism,
        sampled=finding.sampled,
    ))  # fmt: skip


def _name(mechanism: Any) -> str:
    if isinstance(mechanism, BlackBox):
        return mechanism.name
    return getattr(mechanism, "__name__", type(mechanism).__name__)


def _check(mechanism: Any, inputs: Any, neighbors: Any, engine: Any) -> None:
    if not callable(mechanism) and not isinstance(mechanism, BlackBox):
        raise TypeError(f"a mechanism is a function f(x, rng), got {mechanism!r}")
    if inspect.isgeneratorfunction(mechanism) or inspect.iscoroutinefunction(mechanism):
        raise TypeError(
            f"a mechanism returns its output; {mechanism.__name__} is a generator or coroutine"
        )
    if not isinstance(inputs, (Reals, Integers, OneOf)):
        raise TypeError(f"inputs must be dpest.reals(n) or the like, got {inputs!r}")
    if not isinstance(neighbors, (Norm, AnyPair, Pairs)):
        raise TypeError(f"neighbors must be dpest.l1(1) or the like, got {neighbors!r}")
    if engine is not None and engine not in ENGINES:
        known = ", ".join(map(repr, ENGINES))
        raise ValueError(f"engine={engine!r}: give {known}, or nothing to have it chosen")
    neighbors.check(inputs)
