"""Runs a mechanism for real, remembers its draws, and feeds them to the traced program."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import dpest
from dpest.numbers.rational import to_float
from dpest.program import Program
from dpest.program.program import evaluate, holds


class Recorder(np.random.Generator):
    """A real Generator that writes down every draw, without its location."""

    def __init__(self, seed: int) -> None:
        super().__init__(np.random.PCG64(seed))
        self.drawn: list[float] = []

    def _noted(self, draws: Any, give: Callable[[Any], Any]) -> Any:
        self.drawn += np.ravel(draws).tolist()
        return give(draws)

    def laplace(self, loc=0.0, scale=1.0, size=None):
        size = np.broadcast(loc, scale).shape if size is None else size
        return self._noted(super().laplace(0, scale, size), lambda z: (loc + z)[()])

    def normal(self, loc=0.0, scale=1.0, size=None):
        size = np.broadcast(loc, scale).shape if size is None else size
        return self._noted(super().normal(0, scale, size), lambda z: (loc + z)[()])

    def gumbel(self, loc=0.0, scale=1.0, size=None):
        size = np.broadcast(loc, scale).shape if size is None else size
        return self._noted(super().gumbel(0, scale, size), lambda z: (loc + z)[()])

    def logistic(self, loc=0.0, scale=1.0, size=None):
        size = np.broadcast(loc, scale).shape if size is None else size
        return self._noted(super().logistic(0, scale, size), lambda z: (loc + z)[()])

    def exponential(self, scale=1.0, size=None):
        return self._noted(super().exponential(scale, size), lambda z: z)

    def standard_normal(self, size=None, dtype=float, out=None):
        return self._noted(super().standard_normal(size), lambda z: z)

    def standard_exponential(self, size=None, dtype=float, method="zig", out=None):
        return self._noted(super().standard_exponential(size), lambda z: z)

    def uniform(self, low=0.0, high=1.0, size=None):
        size = np.broadcast(low, high).shape if size is None else size
        width = np.subtract(high, low)
        return self._noted(width * super().random(size), lambda z: (low + z)[()])

    def random(self, size=None, dtype=float, out=None):
        return self._noted(super().random(size), lambda z: z)

    def geometric(self, p, size=None):
        return self._noted(super().geometric(p, size), lambda z: z)

    def binomial(self, n, p, size=None):
        return self._noted(super().binomial(n, p, size), lambda z: z)

    def integers(self, low, high=None, size=None, dtype=np.int64, endpoint=False):
        low, high = (0, low) if high is None else (low, high)
        count = high - low + (1 if endpoint else 0)
        return self._noted(super().integers(0, count, size), lambda z: low + z)

    def choice(self, a, size=None, replace=True, p=None, axis=0, shuffle=True):
        values = np.arange(a) if np.ndim(a) == 0 else np.asarray(a)
        before = list(self.drawn)
        places = super().choice(len(values), size=size, p=p)
        self.drawn = before
        return self._noted(places, lambda k: values[k])


def replayed(program: Program, x: Any, drawn: Sequence[float]) -> Any:
    """The output that the program gives for these draws; exactly one path has to hold."""
    place = program.at(x)
    outputs = []
    for path in program.paths:
        if path.variant != place.variant:
            continue
        if any(noise.index >= len(drawn) for noise in path.noises):
            continue
        known = {symbol: to_float(line.const) for symbol, line in place.numbers.items()}
        known |= {noise: drawn[noise.index] for noise in path.noises}
        if all(bool(holds(condition, known)) for condition in path.conditions):
            numbers = [leaf.restore(evaluate(leaf.value, known)) for leaf in path.output.leaves]
            outputs.append(path.output.restore(numbers))
    assert len(outputs) == 1, f"{len(outputs)} paths hold for {list(drawn)} at {x!r}"
    return outputs[0]


def plain(value: Any) -> Any:
    """Numpy containers and scalars as Python ones."""
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(plain(item) for item in value)
    return value


def assert_same(found: Any, real: Any) -> None:
    """Equal structures; numbers to rounding, and truth values told from numbers."""
    if type(real) in (int, float):
        assert type(found) in (int, float), f"{found!r} for {real!r}"
        assert found == pytest.approx(real, rel=1e-12, abs=1e-12)
        return
    assert type(found) is type(real), f"{found!r} for {real!r}"
    if isinstance(real, dict):
        assert list(found) == list(real)
        for key in real:
            assert_same(found[key], real[key])
    elif isinstance(real, (list, tuple)):
        assert len(found) == len(real), f"{found!r} for {real!r}"
        for one, other in zip(found, real, strict=True):
            assert_same(one, other)
    else:
        assert found == real


@pytest.fixture
def agrees() -> Callable[..., Program]:
    """Trace a mechanism, and compare it with real runs on a few inputs and seeds."""

    def check(mechanism, n: int = 3, inputs=None, runs: int = 12, **params: Any) -> Program:
        domain = inputs or dpest.reals(n)
        program = dpest.trace(mechanism, domain, **params)
        pick = np.random.default_rng(7)
        for seed in range(runs):
            if domain.integral:
                numbers = pick.integers(domain.low, domain.high, size=n, endpoint=True)
            else:
                numbers = np.round(pick.normal(scale=2.0, size=n), 3)
            x = domain.give(numbers)
            rng = Recorder(seed)
            real = plain(mechanism(x, rng, **params))
            assert_same(replayed(program, x, rng.drawn), real)
        return program

    return check
