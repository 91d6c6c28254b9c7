"""How the time of a proof grows with the number of queries: `python benchmarks/proof.py [n ...]`.

Prints seconds of processor time for tracing, proving and checking, and every proving time as a
multiple of the one before it, beside the multiple of n.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from dpest.check import check
from dpest.engines.proof import prove
from dpest.inputs import reals
from dpest.neighbors import linf
from dpest.trace import Refusal, trace

SIZES = (10, 30, 100, 300, 1000)


def svt1(queries: Any, rng: Any) -> list[bool]:
    threshold = 0.5 + rng.laplace(scale=20)
    answers = []
    for query in queries:
        answers.append(bool(query + rng.laplace(scale=40) >= threshold))
        if answers[-1]:
            break
    return answers


def report_noisy_max1(answers: Any, rng: Any) -> int:
    return np.argmax(answers + rng.laplace(scale=20, size=len(answers)))  # type: ignore[return-value]


def measure(function: Callable[..., Any], n: int) -> tuple[float, float, float, float]:
    """(seconds to trace, to prove, to check, the bound)."""
    start = time.process_time()
    program = trace(function, reals(n))
    traced = time.process_time()
    proof = prove(program, reals(n), linf(1))
    proved = time.process_time()
    assert proof.certificate is not None
    assert check(proof.certificate).ok
    return traced - start, proved - traced, time.process_time() - proved, proof.upper


def main(sizes: tuple[int, ...]) -> None:
    names = "".join(f"{name:>9}" for name in ("trace", "prove", "check"))
    print(f"{'mechanism':20}{'n':>6}{names}{'upper':>8}   prove / before")
    for function in (svt1, report_noisy_max1):
        before: tuple[int, float] | None = None
        for n in sizes:
            try:
                traced, proved, checked, upper = measure(function, n)
            except Refusal as reason:
                print(f"{function.__name__:20}{n:6}   {reason.reason}")
                break
            ratio = ""
            if before is not None:
                ratio = f"x{proved / before[1]:.1f} for n x{n / before[0]:.1f}"
            row = f"{function.__name__:20}{n:6}{traced:9.2f}{proved:9.2f}{checked:9.2f}{upper:8.3g}"
            print(f"{row}   {ratio}", flush=True)
            before = (n, proved)


if __name__ == "__main__":
    main(tuple(map(int, sys.argv[1:])) or SIZES)
