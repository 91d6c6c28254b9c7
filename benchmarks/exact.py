"""The exact engine against quadrature by hand, and how its time grows.

Run `python benchmarks/exact.py`.

First table: seconds per zoo mechanism for the loss over the seven input patterns (tracing
included), the seconds of `by_hand.py` for the same, both the best of three runs, their ratio, the
loss, and how far the two results are apart relative to it. Second table: seconds to trace, for one
exact pair, to prove and to search at n = 10, 30, 100, 300, and each total as a multiple of the one
before it. `python benchmarks/exact.py 10 30` picks the sizes.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from by_hand import BY_HAND

import dpest
from dpest.engines.exact import ExactLaw
from dpest.engines.proof import prove
from dpest.engines.search import Search
from dpest.report.patterns import collect
from dpest.zoo import Entry
from dpest.zoo.patterns import patterns

SIZES = (10, 30, 100, 300)
RUNS = 3
FAR = 100
"""Rows this many times slower than by hand are named below the table."""


def timed(function: Callable[[], Any]) -> tuple[Any, float]:
    start = time.perf_counter()
    result = function()
    return result, time.perf_counter() - start


def best(function: Callable[[], Any]) -> tuple[Any, float]:
    """The result, and the seconds of the fastest run."""
    runs = [timed(function) for _ in range(RUNS)]
    return runs[0][0], min(seconds for _, seconds in runs)


def ours(entry: Entry) -> float:
    """The loss over the patterns, from the Python function on."""
    (row,) = collect([entry])
    return max(found for found in row.losses.values() if found is not None)


def by_hand(entry: Entry) -> float:
    pairs = patterns(entry.inputs.size, entry.neighbors).values()
    return max(map(BY_HAND[entry.name], pairs))


def print_patterns() -> None:
    print(f"{'mechanism':<20}{'ours s':>9}{'by hand s':>11}{'ratio':>8}{'loss':>12}{'apart':>10}")
    ratios: dict[str, float] = {}
    for entry in dpest.zoo.ENTRIES:
        loss, seconds = best(partial(ours, entry))
        other, seconds_by_hand = best(partial(by_hand, entry))
        apart = 0.0 if other == loss else abs(other / loss - 1)
        ratios[entry.title] = ratio = seconds / seconds_by_hand
        line = f"{entry.title:<20}{seconds:>9.4f}{seconds_by_hand:>11.5f}{ratio:>8.1f}"
        print(f"{line}{loss:>12.6f}{apart:>10.1e}", flush=True)
    print_ratios(ratios)


def print_ratios(ratios: dict[str, float]) -> None:
    far = [name for name, ratio in ratios.items() if ratio > FAR]
    print(f"\nmedian ratio: {statistics.median(ratios.values()):.0f}")
    print(f"more than {FAR} times slower than by hand: {', '.join(far) or 'none'}")


def growth(function: Callable[..., Any], n: int) -> list[float]:
    """Seconds to trace, for one exact pair, to prove and to search."""
    domain, neighbors = dpest.reals(n), dpest.linf(1)
    program, tracing = timed(lambda: dpest.trace(function, domain))
    x = np.ones(n)
    law, planning = timed(lambda: ExactLaw(program))
    _, pairing = timed(lambda: law.pair(x, np.r_[2.0, np.zeros(n - 1)]))
    proof, proving = timed(lambda: prove(program, domain, neighbors))
    search = Search(law, domain, neighbors)
    _, searching = timed(lambda: search.worst(proof.upper * (1 - 1e-9)))
    return [tracing, planning + pairing, proving, searching]


def print_growth(sizes: Sequence[int]) -> None:
    for function in (dpest.zoo.svt1, dpest.zoo.report_noisy_max1):
        print(f"\n{function.__name__}")
        print(f"{'n':>6}{'trace':>9}{'pair':>9}{'prove':>9}{'search':>9}{'total':>9}{'growth':>9}")
        before: tuple[int, float] | None = None
        for n in sizes:
            seconds = growth(function, n)
            total = sum(seconds)
            line = f"{n:>6}" + "".join(f"{s:>9.3f}" for s in (*seconds, total))
            if before is not None:
                line += f"{total / before[1]:>8.1f}x for {n / before[0]:.1f}x the queries"
            print(line, flush=True)
            before = (n, total)


if __name__ == "__main__":
    print_patterns()
    print_growth([int(n) for n in sys.argv[1:]] or SIZES)
