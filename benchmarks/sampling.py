"""Throughput of the compiled sampler beside hand-written vectorised numpy, for all 21 mechanisms.

python benchmarks/sampling.py [--samples 300000] [--repeats 5] [NAME ...]

Both run in turns, in CPU time, and the best of all turns counts. A ratio above 1 means that the
compiled sampler is the faster one.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from blackbox_mechanisms import CASES, Case

from dpest.engines.analytic import traced
from dpest.engines.sampling import Sampler
from dpest.zoo import find


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="mechanisms (all by default)")
    parser.add_argument("--samples", type=int, default=300_000)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    print("| mechanism | compiled, s per million | by hand | by hand / compiled |")
    print("| --- | --: | --: | --: |")
    ratios = []
    for case in CASES:
        if not options.names or case.name in options.names:
            ratios.append(_row(case, options.samples, options.repeats))
    print(f"least ratio: {min(ratios):.2f}")


def _row(case: Case, samples: int, repeats: int) -> float:
    entry = find(case.name)
    assert entry is not None
    x = case.pairs[0][0]
    program = traced(entry.function, entry.inputs, entry.neighbors, entry.params)
    compiled = Sampler(program).at(entry.inputs.give(x))
    turns: tuple[Callable[[np.random.Generator], Any], ...] = (
        lambda rng: compiled.draw(rng, samples),
        lambda rng: case.function(x, rng, samples),
    )
    ours, theirs = (
        min(times) * 1e6 / samples
        for times in zip(*([_seconds(turn) for turn in turns] for _ in range(repeats)), strict=True)
    )
    print(f"| {case.name} | {ours:.3f} | {theirs:.3f} | {theirs / ours:.2f} |", flush=True)
    return theirs / ours


def _seconds(turn: Callable[[np.random.Generator], Any]) -> float:
    rng = np.random.default_rng(1)
    start = time.process_time()
    turn(rng)
    return time.process_time() - start


if __name__ == "__main__":
    main()
