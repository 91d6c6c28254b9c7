"""A traced program in the place of a black box: the same statistics, at numpy's speed."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np

from dpest.engines.blackbox.events import Scorer
from dpest.engines.blackbox.mechanism import Block
from dpest.engines.exact import ExactLaw, OutOfReach
from dpest.engines.exact.effort import spent
from dpest.engines.sampling.coding import outputs_of
from dpest.engines.sampling.likelihood import LikelihoodScorer, log_densities
from dpest.engines.sampling.sampler import Compiled, Sampler
from dpest.program import Program

BLOCK = 100_000
_TRIED = 20
"""Outcomes on which the work of an exact likelihood ratio is measured."""
_DEAR = 2_000
"""Values per outcome that are too many."""
_AT_ONCE = 5_000_000
"""Values that are computed together."""


@dataclass(frozen=True)
class Traced:
    """A program that is drawn from; what a worker needs of it travels as bytes."""

    name: str
    packed: bytes = field(repr=False)

    block_size = BLOCK
    takes_size = True
    low_bits = False
    is_trusted = True

    @classmethod
    def of(cls, program: Program) -> Traced:
        return cls(program.name, pickle.dumps(replace(program, graph=None)))

    def draw(self, x: Any, seed: np.random.SeedSequence, size: int) -> Block:
        """`size` outcomes for this input, the same for the same seed."""
        compiled = _sampler_of(self.packed, _Input(x))
        return Block(outputs_of(compiled.draw(np.random.default_rng(seed), size)))

    def scorers(self, x: Any, x_prime: Any) -> Sequence[Scorer]:
        """The exact likelihood ratio, where it can be computed without too much work."""
        sample = _sampler_of(self.packed, _Input(x)).draw(np.random.default_rng(0), _TRIED)
        before = spent()
        try:
            law = law_of(self.packed)
            for at in (x, x_prime):
                log_densities(law.at(at), law, sample)
        except OutOfReach:
            return ()
        each = (spent() - before) / (2 * _TRIED)
        if each > _DEAR:
            return ()
        return (LikelihoodScorer(self.packed, x, x_prime, int(_AT_ONCE / max(each, 1))),)


class _Input:
    """An input as a key of a cache."""

    def __init__(self, x: Any) -> None:
        self.x, self._key = x, repr(x.tolist() if isinstance(x, np.ndarray) else x)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Input) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)


@lru_cache(maxsize=4)
def _program_of(packed: bytes) -> tuple[Program, Sampler]:
    program = pickle.loads(packed)
    return program, Sampler(program)


@lru_cache(maxsize=4)
def law_of(packed: bytes) -> ExactLaw:
    """The exact law of a program, once per process."""
    return ExactLaw(_program_of(packed)[0])


@lru_cache(maxsize=64)
def _sampler_of(packed: bytes, given: _Input) -> Compiled:
    return _program_of(packed)[1].at(given.x)
