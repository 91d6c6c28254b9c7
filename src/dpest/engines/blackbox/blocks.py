"""Samples block by block, each with a seed of its own, so that any worker can draw any block."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpest.engines.blackbox.coding import WIDTH_LIMIT
from dpest.engines.blackbox.mechanism import Block, Mechanism
from dpest.inputs import OneFloat, OneInt

_BOXED = (OneFloat, OneInt)
STAGES = ("pilot", "learn", "choose", "recount", "recount again", "measure")

ENTRIES_HELD = 2**26
"""Entries of outputs that are held in memory together."""


@dataclass(frozen=True)
class Blocks:
    """All samples an audit can draw: by pair, side (0 or 1), stage and number of the block."""

    mechanism: Mechanism
    pairs: tuple[tuple[Any, Any], ...]
    seed: int
    again: bool = False
    width: int = 1
    """Entries of an output, as far as runs have shown."""
    most: int | None = None
    """Runs of a block, where time is short."""

    @property
    def has_boxed_numbers(self) -> bool:
        """Whether the input is one number that also answers x[0]."""
        return any(isinstance(x, _BOXED) for pair in self.pairs for x in pair)

    def with_plain_numbers(self) -> Blocks:
        """The same with inputs of Python's own types."""
        plain = tuple((_plain(x), _plain(x_prime)) for x, x_prime in self.pairs)
        return replace(self, pairs=plain)

    def sizes(self, total: int) -> list[int]:
        """Sizes of the blocks that `total` runs are drawn in."""
        size = min(self.mechanism.block_size, self.most or total, ENTRIES_HELD // self.width)
        size = max(size, 1)
        full, rest = divmod(total, size)
        return [size] * full + ([rest] if rest else [])

    def learnable(self, runs: int) -> int:
        """As many runs as asked for, or as can be held as numbers at once."""
        return min(runs, ENTRIES_HELD // min(self.width, WIDTH_LIMIT))

    def block(
        self, pair: int, side: int, stage: str, number: int, size: int, coupled: bool = True
    ) -> Block:
        """One block; what it holds depends on the arguments and the seed only.

        Both sides of a coupled block run on the same random numbers, run by run.
        """
        place = STAGES.index(stage + (" again" if self.again else ""))
        stream = 0 if coupled else 1 + side
        seed = np.random.SeedSequence(self.seed, spawn_key=(place, pair, stream, number))
        return self.mechanism.draw(self.pairs[pair][side], seed, size)

    def drawn(self, pair: int, side: int, stage: str, total: int) -> Iterator[Block]:
        for number, size in enumerate(self.sizes(total)):
            yield self.block(pair, side, stage, number, size)

    def references(self, pair: int) -> tuple[float, ...]:
        """Numbers that outputs may lie near to, where low bits are looked at."""
        if not self.mechanism.low_bits:
            return ()
        try:
            both = [np.ravel(np.asarray(x, float)) for x in self.pairs[pair]]
        except (TypeError, ValueError):
            return (0.0,)
        return tuple(float(r) for r in np.unique(np.concatenate(both))[:8])


def _plain(x: Any) -> Any:
    if isinstance(x, OneFloat):
        return float(x)
    return int(x) if isinstance(x, OneInt) else x
