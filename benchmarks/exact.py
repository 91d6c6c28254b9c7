"""The exact engine against quadrature by hand, and how its time grows.

Run `python benchmarks/exact.py`.

First table: seconds per zoo mechanism for the loss over the seven input patterns (tracing
included), the seconds of a hand-written numpy quadrature of the same quantity where one is given
below, their ratio, and how far the two results are apart. Second table: seconds to trace, for one
exact pair, to prove and to search at n = 10, 30, 100, 300, and each total as a multiple of the one
before it. `python benchmarks/exact.py 10 30` picks the sizes.
"""

from __future__ import annotations

import itertools
import math
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import dpest
from dpest.engines.exact import ExactLaw
from dpest.engines.proof import prove
from dpest.engines.search import Search
from dpest.report.patterns import collect
from dpest.zoo.patterns import Pair, patterns

Array = NDArray[Any]
SIZES = (10, 30, 100, 300)
NODES, WEIGHTS = np.polynomial.legendre.leggauss(24)


# -- quadrature by hand -----------------------------------------------------------------------


def density(z: Array, b: float) -> Array:
    return np.exp(-np.abs(z) / b) / (2 * b)


def below(z: Array, b: float) -> Array:
    return np.where(z < 0, np.exp(-np.abs(z) / b) / 2, 1 - np.exp(-np.abs(z) / b) / 2)


def nodes(kinks: Sequence[float], b: float) -> tuple[Array, Array]:
    """Points and weights of a composite rule between the kinks and 40 scales beyond."""
    inner = sorted(set(kinks))
    edges = [inner[0] - b * k for k in (40, 20, 10, 5, 2)] + inner
    edges += [inner[-1] + b * k for k in (2, 5, 10, 20, 40)]
    low, high = np.array(edges[:-1]), np.array(edges[1:])
    half, middle = (high - low) / 2, (high + low) / 2
    points = (middle[:, None] + half[:, None] * NODES).ravel()
    return points, (half[:, None] * WEIGHTS).ravel()


def largest_ratio(p: Array, q: Array) -> float:
    return float(np.max(np.abs(np.log(p) - np.log(q))))


def _threshold(x: Sequence[float], t: float, b: float, c: float) -> tuple[Array, Array, Array]:
    """Weighted threshold density, and for every query the mass below the threshold."""
    points, weights = nodes([*x, t], max(b, c))
    return points, weights * density(points - t, b), below(points[None] - np.array(x)[:, None], c)


def svt1(x: Sequence[float]) -> Array:
    _, weighted, under = _threshold(x, 0.5, 20, 40)
    passed = np.vstack([np.ones_like(weighted), np.cumprod(under, axis=0)])
    first = passed[:-1] * (1 - under)
    return np.append(first @ weighted, passed[-1] @ weighted)


def svt6(x: Sequence[float]) -> Array:
    _, weighted, under = _threshold(x, 1.0, 20, 20)
    rows = np.ones((1, len(weighted)))
    for mass in under:
        rows = np.vstack([rows * mass, rows * (1 - mass)])
    return rows @ weighted


def report_noisy_max1(x: Sequence[float]) -> Array:
    points, weights = nodes(x, 20)
    gaps = points[None] - np.array(x)[:, None]
    mass = below(gaps, 20)
    others = np.array([np.prod(np.delete(mass, k, axis=0), axis=0) for k in range(len(x))])
    return (density(gaps, 20) * others) @ weights


def _noisy_max3(x: Sequence[float], y: Array) -> Array:
    gaps = y[None] - np.array(x)[:, None]
    return np.sum(density(gaps, 20) / below(gaps, 20), axis=0) * np.prod(below(gaps, 20), axis=0)


def report_noisy_max3_loss(pair: Pair) -> float:
    kinks = sorted({*pair[0], *pair[1]})
    y = np.unique([*kinks, *np.linspace(kinks[0] - 200, kinks[-1] + 200, 4001)])
    return largest_ratio(_noisy_max3(pair[0], y), _noisy_max3(pair[1], y))


def numerical_svt_loss(pair: Pair) -> float:
    """The two released numbers add the cost of their own fresh noise."""
    laws = []
    for x in pair:
        _, weighted, under = _threshold(x, 1.0, 30, 120)
        laws.append((weighted, under))
    n, worst = len(pair[0]), 0.0
    for chosen in itertools.chain(itertools.combinations(range(n), 2), ((k,) for k in range(n)),
                                  [()]):  # fmt: skip
        stop = chosen[1] + 1 if len(chosen) == 2 else n
        logs = []
        for weighted, under in laws:
            row = weighted.copy()
            for k in range(stop):
                row = row * (1 - under[k] if k in chosen else under[k])
            logs.append(math.log(row.sum()))
        fresh = sum(abs(pair[0][k] - pair[1][k]) for k in chosen) / 60
        worst = max(worst, abs(logs[0] - logs[1]) + fresh)
    return worst


def of_atoms(probabilities: Callable[[Sequence[float]], Array]) -> Callable[[Pair], float]:
    return lambda pair: largest_ratio(probabilities(pair[0]), probabilities(pair[1]))


BY_HAND: dict[str, Callable[[Pair], float]] = {
    "svt1": of_atoms(svt1),
    "svt6": of_atoms(svt6),
    "report_noisy_max1": of_atoms(report_noisy_max1),
    "report_noisy_max3": report_noisy_max3_loss,
    "numerical_svt": numerical_svt_loss,
}


# -- the tables -------------------------------------------------------------------------------


def timed(function: Callable[[], Any]) -> tuple[Any, float]:
    start = time.perf_counter()
    result = function()
    return result, time.perf_counter() - start


def print_patterns() -> None:
    print(f"{'mechanism':<20}{'ours s':>9}{'by hand s':>11}{'ratio':>8}{'loss':>12}{'apart':>10}")
    total = 0.0
    for entry in dpest.zoo.ENTRIES:
        (row,) = collect([entry])
        loss = max(found for found in row.losses.values() if found is not None)
        total += row.seconds
        line = f"{entry.title:<20}{row.seconds:>9.3f}"
        if entry.name in BY_HAND:
            pairs = patterns(entry.inputs.size, entry.neighbors).values()
            by_hand = BY_HAND[entry.name]
            runs = [timed(lambda f=by_hand, p=pairs: max(map(f, p))) for _ in range(3)]
            other, theirs = runs[0][0], min(seconds for _, seconds in runs)
            apart = abs(other / loss - 1)
            line += f"{theirs:>11.4f}{row.seconds / theirs:>8.1f}{loss:>12.6f}{apart:>10.1e}"
        else:
            line += f"{'':>19}{loss:>12.6f}"
        print(line)
    print(f"{'all':<20}{total:>9.3f}")


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
