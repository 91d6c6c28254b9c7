"""The shape of a normal distribution, learned by basic one-time RAPPOR."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpest.rappor.candidates import Candidates
from dpest.rappor.decoding.debias import conditional_variance, debias
from dpest.rappor.errors import RapporError
from dpest.rappor.params import Params
from dpest.rappor.simulate import simulate_counts, value_names
from dpest.rappor.studies.files import as_csv

SIZES = (10_000, 100_000, 1_000_000)
_BINS, _MEAN, _DEVIATION = 50, 50.0, 10.0


@dataclass(frozen=True, eq=False)
class Shape:
    """One size of the normal study: the true and the estimated share of each bin.

    `deviation` is the standard deviation of the errors, `expected` the one that the formula gives;
    `l1` compares with the truth before and `l1_projected` after forcing shares to be shares.
    """

    reports: int
    truth: np.ndarray
    estimate: np.ndarray
    std_error: np.ndarray
    deviation: float
    expected: float
    l1: float
    l1_projected: float


def normal_shape(sizes: Sequence[int] = SIZES, seed: int = 0) -> list[Shape]:
    """The shape of a normal distribution learned by basic one-time RAPPOR, at several sizes.

    Values are normal with mean 50 and standard deviation 10, rounded to integers, in 50 bins; each
    bin is a bit, with q = 0.75 and p = 0.5.
    """
    if not sizes or min(sizes) < 1:
        raise RapporError(f"sizes={list(sizes)} must be numbers of reports, 1 or more")
    return [_shape(int(size), np.random.default_rng([seed, int(size)])) for size in sizes]


def _shape(size: int, rng: np.random.Generator) -> Shape:
    params = Params.basic_one_time(_BINS, 0.5, 0.75)
    bins = Candidates.fixed(value_names(_BINS), params)
    counts, holders = simulate_counts(params, bins, bin_shares(), size, rng)
    estimate, truth = debias(counts.N, counts.ones, params).share[0], holders / size
    error = np.sqrt(conditional_variance(counts.N, counts.ones, params)[0]) / size
    projected = simplex(estimate)
    return Shape(
        size, truth, estimate, error, float(np.std(estimate - truth)),
        float(np.sqrt(np.mean(error**2))), float(np.abs(estimate - truth).sum()),
        float(np.abs(projected - truth).sum()),
    )  # fmt: skip


def bin_shares() -> np.ndarray:
    """The share of each bin of two integers, of a rounded normal value kept within the bins."""
    from scipy.special import ndtr

    edges = np.arange(2, 2 * _BINS, 2) - 0.5
    below = ndtr((edges - _MEAN) / _DEVIATION)
    return np.diff(np.concatenate([[0.0], below, [1.0]]))


def simplex(shares: np.ndarray) -> np.ndarray:
    """The nearest shares that are not negative and sum to one."""
    ordered = np.sort(shares)[::-1]
    excess = (np.cumsum(ordered) - 1) / np.arange(1, len(shares) + 1)
    last = np.flatnonzero(ordered > excess)[-1]
    return np.maximum(shares - excess[last], 0)


def shapes_table(shapes: Sequence[Shape]) -> str:
    """Measured and expected standard deviation and L1 error at each size."""
    lines = [f"{'reports':>10}{'sd measured':>13}{'expected':>10}{'L1 raw':>9}{'projected':>11}"]
    lines += [
        f"{x.reports:>10,}{x.deviation:>13.4f}{x.expected:>10.4f}{x.l1:>9.3f}{x.l1_projected:>11.3f}"
        for x in shapes
    ]
    return "\n".join(lines) + "\n"


def shapes_csv(shapes: Sequence[Shape]) -> str:
    """A line per size and bin."""
    return as_csv(
        [
            {"reports": x.reports, "bin": i, "truth": t, "estimate": e, "std_error": s}
            for x in shapes
            for i, (t, e, s) in enumerate(zip(x.truth, x.estimate, x.std_error, strict=True))
        ]
    )
