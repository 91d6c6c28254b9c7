"""How long decoding takes beside scikit-learn's Lasso on the same regression, in one run.

OMP_NUM_THREADS=1 python benchmarks/rappor_decode.py
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from dpest.rappor.candidates import Candidates
from dpest.rappor.counting.counts import count
from dpest.rappor.decoding import decode
from dpest.rappor.decoding.debias import debias
from dpest.rappor.params import Params
from dpest.rappor.simulate import population, simulate_counts, simulate_reports, value_names


def main() -> None:
    """Print a line per dictionary size, then the report-level decoder."""
    print(f"{'candidates':>10}{'Lasso s':>10}{'decode s':>10}{'ratio':>8}{'found':>8}{'wrong':>7}")
    for size in (1_000, 10_000, 100_000):
        large_dictionary(size)
    whole_reports()


def large_dictionary(size: int, reports: int = 1_000_000) -> None:
    """Bit counts of 64 cohorts of 128 bits, 100 strings present."""
    params = Params(128, 2, 64, 0.0, 0.25, 0.75)
    candidates = Candidates.hashed(value_names(size), params)
    shares = population("zipf", size, active=100)
    rng = np.random.default_rng(1)
    counts, _ = simulate_counts(params, candidates, shares, reports, rng)
    design = candidates.design(params)
    response = debias(counts.N, counts.ones, params).share.ravel() * reports / params.m
    lasso, _ = seconds(lambda: fit_lasso(design.astype(float), response))
    ours, decoding = seconds(lambda: decode(params, candidates, counts))
    wrong = int(decoding.detected[100:].sum())
    print(f"{size:>10,}{lasso:>10.3f}{ours:>10.3f}{ours / lasso:>8.2f}{len(decoding):>8}{wrong:>7}")


def whole_reports() -> None:
    """The seeds' setting: 200 words, 20,000 reports of 128 bits."""
    for h in (8, 16):
        params = Params(128, h, 8, 0.0, 0.5, 0.75)
        candidates = Candidates.hashed(value_names(200), params)
        shares = population("zipf", 200, shape=0.7, active=100)
        rng = np.random.default_rng(1)
        reports, _ = simulate_reports(params, candidates, shares, [2500] * 8, rng)
        counts = count(reports, params)
        ours, decoding = seconds(lambda: decode(params, candidates, counts, reports))  # noqa: B023
        print(f"whole reports, h={h}: {ours:.3f} s, {len(decoding)} found")


def fit_lasso(design: Any, response: np.ndarray) -> Any:
    """The published decoder's first step."""
    from sklearn.linear_model import Lasso

    return Lasso(alpha=0.1, positive=True, max_iter=10_000, fit_intercept=False).fit(
        design, response
    )


def seconds(work: Callable[[], Any], repeats: int = 3) -> tuple[float, Any]:
    """The shortest time of a few runs, and the result."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        result = work()
        times.append(time.process_time() - start)
    return min(times), result


if __name__ == "__main__":
    main()
