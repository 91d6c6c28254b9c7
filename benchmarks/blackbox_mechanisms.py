"""The 21 seed mechanisms as hand-written vectorised numpy, to be audited as black boxes.

Each is `f(x, rng, size)` and returns one output per row. In the sparse-vector outputs 1 stands for
"above", 0 for "below", NaN for "not asked any more"; where numbers are released, -inf is "below".
The input patterns are the seven that the seed documents use.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import mmh3
import numpy as np

EPS = 0.1
Array = np.ndarray


def laplace_mechanism(x, rng, size):
    return x[0] + rng.laplace(scale=1 / EPS, size=size)


def laplace_parallel(x, rng, size, eps_each=0.005, copies=20):
    return x[0] + rng.laplace(scale=1 / eps_each, size=(size, copies))


def noisy_hist1(x, rng, size):
    return x + rng.laplace(scale=1 / EPS, size=(size, len(x)))


def noisy_hist2(x, rng, size):
    return x + rng.laplace(scale=EPS, size=(size, len(x)))


def report_noisy_max1(x, rng, size):
    return np.argmax(x + rng.laplace(scale=2 / EPS, size=(size, len(x))), axis=1)


def report_noisy_max2(x, rng, size):
    return np.argmax(x + rng.exponential(scale=2 / EPS, size=(size, len(x))), axis=1)


def report_noisy_max3(x, rng, size):
    return np.max(x + rng.laplace(scale=2 / EPS, size=(size, len(x))), axis=1)


def report_noisy_max4(x, rng, size):
    return np.max(x + rng.exponential(scale=2 / EPS, size=(size, len(x))), axis=1)


def noisy_max_sum(x, rng, size):
    half = len(x) // 2
    noisy = x + rng.laplace(scale=1 / EPS, size=(size, len(x)))
    return noisy[:, :half].max(axis=1) + noisy[:, half:].max(axis=1)


def _stopped_after(above: Array, released: Array, count: int) -> Array:
    """`released`, with NaN after the entry where `above` is true for the `count`-th time."""
    before = np.cumsum(above, axis=1) - above
    return np.where(before >= count, np.nan, released)


def svt1(x, rng, size, t=0.5, c=1):
    threshold = t + rng.laplace(scale=2 / EPS, size=(size, 1))
    above = x + rng.laplace(scale=4 * c / EPS, size=(size, len(x))) >= threshold
    return _stopped_after(above, above, c)


def svt2(x, rng, size, t=1.0, c=1):
    """The threshold is drawn again after each "above"."""
    thresholds = t + rng.laplace(scale=2 * c / EPS, size=(size, c + 1))
    noisy = x + rng.laplace(scale=4 * c / EPS, size=(size, len(x)))
    above = np.zeros(noisy.shape, bool)
    found = np.zeros(size, int)
    for i in range(len(x)):
        above[:, i] = noisy[:, i] >= thresholds[np.arange(size), np.minimum(found, c)]
        found += above[:, i]
    return _stopped_after(above, above, c)


def svt3(x, rng, size, t=1.0, c=1):
    """Releases the very noise that decided."""
    threshold = t + rng.laplace(scale=2 / EPS, size=(size, 1))
    noisy = x + rng.laplace(scale=2 * c / EPS, size=(size, len(x)))
    above = noisy >= threshold
    return _stopped_after(above, np.where(above, noisy, -np.inf), c)


def svt4(x, rng, size, t=1.0, c=1):
    threshold = t + rng.laplace(scale=4 / EPS, size=(size, 1))
    above = x + rng.laplace(scale=4 / (3 * EPS), size=(size, len(x))) >= threshold
    return _stopped_after(above, above, c)


def svt5(x, rng, size, t=1.0):
    threshold = t + rng.laplace(scale=2 / EPS, size=(size, 1))
    return x >= threshold


def svt6(x, rng, size, t=1.0):
    threshold = t + rng.laplace(scale=2 / EPS, size=(size, 1))
    return x + rng.laplace(scale=2 / EPS, size=(size, len(x))) >= threshold


def numerical_svt(x, rng, size, t=1.0, c=2):
    threshold = t + rng.laplace(scale=3 / EPS, size=(size, 1))
    above = x + rng.laplace(scale=6 * c / EPS, size=(size, len(x))) >= threshold
    released = x + rng.laplace(scale=3 * c / EPS, size=(size, len(x)))
    return _stopped_after(above, np.where(above, released, -np.inf), c)


def svt34_parallel(x, rng, size):
    return np.hstack([svt3(x, rng, size, c=2), svt4(x, rng, size, c=2)])


def prefix_sum(x, rng, size):
    return np.cumsum(x + rng.laplace(scale=1 / EPS, size=(size, len(x))), axis=1)


def _bloom(value, h=4, k=20):
    bits = np.zeros(k, bool)
    for i in range(h):
        bits[mmh3.hash(str(int(value)), seed=i) % k] = True
    return bits


def one_time_rappor(x, rng, size, f=0.95):
    bits = _bloom(x[0])
    return rng.random((size, len(bits))) < np.where(bits, 1 - f / 2, f / 2)


def rappor(x, rng, size, f=0.75, p=0.45, q=0.55):
    permanent = one_time_rappor(x, rng, size, f)
    return rng.random(permanent.shape) < np.where(permanent, q, p)


def truncated_geometric(x, rng, size, n=5):
    """GeoSample: a uniform integer against integer cumulative weights."""
    base = 2 ** math.ceil(math.log(2 / EPS))
    total = (2 * base + 1) * (base + 1) ** (n - 1)
    c = int(x[0])
    below = [base ** (c - z) * (base + 1) ** (n - (c - z)) for z in range(c)]
    above = [total - base ** (z - c + 1) * (base + 1) ** (n - 1 - (z - c)) for z in range(c, n)]
    return np.searchsorted([*below, *above, total], rng.integers(1, total + 1, size=size))


PATTERNS_L1 = ("one_above", "one_below")
PATTERNS_LINF = (
    *PATTERNS_L1,
    "one_above_rest_below",
    "one_below_rest_above",
    "half_half",
    "all_above_all_below",
    "x_shape",
)


def pattern(name: str, n: int) -> tuple[Array, Array]:
    """The two inputs of one of the seven patterns."""
    half = n // 2
    ones = np.ones(n)
    first = np.arange(n) == 0
    early = np.arange(n) < half
    return {
        "one_above": (ones, np.where(first, 2.0, 1.0)),
        "one_below": (ones, np.where(first, 0.0, 1.0)),
        "one_above_rest_below": (ones, np.where(first, 2.0, 0.0)),
        "one_below_rest_above": (ones, np.where(first, 0.0, 2.0)),
        "half_half": (ones, np.where(early, 0.0, 2.0)),
        "all_above_all_below": (ones, 2 * ones),
        "x_shape": (np.where(early, 1.0, 0.0), np.where(early, 0.0, 1.0)),
    }[name]


@dataclass(frozen=True)
class Case:
    """A mechanism, the length of its input, its patterns and the losses known for it."""

    name: str
    function: Callable[..., Array]
    n: int
    patterns: tuple[str, ...]
    exact: float | None
    """The exact loss over these patterns, where it is known."""
    dp_sniper: float | None
    """The lower bound that DP-Sniper reports with 20 times as many samples."""

    @property
    def pairs(self) -> list[tuple[Array, Array]]:
        return [pattern(name, self.n) for name in self.patterns]


L1, LINF = PATTERNS_L1, PATTERNS_LINF
INF = math.inf
CASES = (
    Case("LaplaceMechanism", laplace_mechanism, 1, L1, 0.1, 0.097),
    Case("LaplaceParallel", laplace_parallel, 1, L1, 0.1, 0.035),
    Case("NoisyHist1", noisy_hist1, 5, L1, 0.1, 0.098),
    Case("NoisyHist2", noisy_hist2, 5, L1, 10.0, None),
    Case("ReportNoisyMax1", report_noisy_max1, 5, LINF, 0.09461490528245253, 0.092),
    Case("ReportNoisyMax2", report_noisy_max2, 5, LINF, 0.1, 0.098),
    Case("ReportNoisyMax3", report_noisy_max3, 5, LINF, 0.25, 0.248),
    Case("ReportNoisyMax4", report_noisy_max4, 5, LINF, INF, None),
    Case("NoisyMaxSum", noisy_max_sum, 20, LINF, None, None),
    Case("SVT1", svt1, 10, LINF, 0.08780110421700105, 0.086),
    Case("SVT2", svt2, 10, LINF, 0.08748336320813621, 0.086),
    Case("SVT3", svt3, 10, LINF, 0.5, 0.18),
    Case("SVT4", svt4, 10, LINF, 0.17166388027155133, 0.169),
    Case("SVT5", svt5, 10, LINF, INF, None),
    Case("SVT6", svt6, 10, LINF, 0.4200315445066902, 0.27),
    Case("NumericalSVT", numerical_svt, 10, LINF, 0.08031545961709263, 0.035),
    Case("SVT34Parallel", svt34_parallel, 10, LINF, None, 0.26),
    Case("PrefixSum", prefix_sum, 10, LINF, 1.0, 0.58),
    Case("OneTimeRAPPOR", one_time_rappor, 1, L1, 0.6005007513418957, 0.60),
    Case("RAPPOR", rappor, 1, L1, 0.30006252344796847, 0.30),
    Case("TruncatedGeometric", truncated_geometric, 1, L1, 0.11778303565638346, 0.116),
)
