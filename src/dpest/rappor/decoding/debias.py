"""From counted bits to the share of clients that set them, with the variance of that step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from dpest.rappor.params import Params

_SMALLEST = 1e-9


@dataclass(frozen=True, eq=False)
class BitShares:
    """The debiased bits of the cohorts that have reports, a row per cohort.

    `share[j, i]` estimates which share of the clients of cohort j have bit i in their filter. It is
    unbiased, so it may fall outside [0, 1]. `kept` says which cohorts these are.
    """

    sizes: np.ndarray
    share: np.ndarray
    kept: np.ndarray
    params: Params
    reports_per_client: float = 1.0

    @property
    def total(self) -> int:
        """The number of reports."""
        return int(self.sizes.sum())

    def variance(self, share: np.ndarray) -> np.ndarray:
        """The variance of the debiased shares if `share` is the truth and clients are a sample."""
        reported = report_rate(self.params, np.clip(share, 0, 1))
        one_round = reported * (1 - reported) / signal(self.params) ** 2
        repeats = permanent_floor(self.params, self.reports_per_client, np.clip(share, 0, 1))
        return (one_round + repeats) / self.sizes[:, None]


def debias(
    sizes: np.ndarray, ones: np.ndarray, params: Params, reports_per_client: float = 1.0
) -> BitShares:
    """Undo the noise of the bits; cohorts without reports are dropped."""
    sizes, ones = _checked(sizes, ones, params)
    kept = sizes > 0
    if not kept.any():
        raise ValueError("the counts hold no reports; give counts with at least one report")
    if not 1 <= reports_per_client < np.inf:
        raise ValueError(f"reports_per_client={reports_per_client} must be 1 or more")
    rate = ones[kept] / sizes[kept, None]
    share = (rate - params.p_star) / signal(params)
    return BitShares(sizes[kept], share, kept, params, reports_per_client)


def signal(params: Params) -> float:
    """How much likelier a bit is reported as 1 because it is in the filter."""
    return params.q_star - params.p_star


def report_rate(params: Params, share: np.ndarray) -> np.ndarray:
    """The probability that a report has a bit that this share of the clients have."""
    return np.clip(params.p_star + signal(params) * share, _SMALLEST, 1 - _SMALLEST)


def conditional_variance(sizes: np.ndarray, ones: np.ndarray, params: Params) -> np.ndarray:
    """The variance of the debiased *number* of clients with a bit, given the clients; unbiased."""
    p, q = params.p_star, params.q_star
    return (ones * (1 - p - q) + np.asarray(sizes)[:, None] * p * q) / (q - p) ** 2


def permanent_floor(params: Params, reports_per_client: float, share: np.ndarray) -> np.ndarray:
    """The variance per report that repeated reports of the same permanent response add.

    R reports of one client share one permanent response. Its variance does not average out, so
    a count of reports varies by R - 1 times this more than independent reports would.
    """
    if reports_per_client == 1:
        return np.zeros_like(share)
    half = params.f / 2
    shared = half * (1 - half) / (1 - params.f) ** 2 + share * (1 - share)
    return (reports_per_client - 1) * shared


def _checked(sizes: np.ndarray, ones: np.ndarray, params: Params) -> tuple[np.ndarray, np.ndarray]:
    sizes, ones = np.asarray(sizes, float), np.asarray(ones, float)
    if sizes.shape != (params.m,) or ones.shape != (params.m, params.k):
        raise ValueError(
            f"counts for m={params.m} cohorts of k={params.k} bits are needed, "
            f"not {sizes.shape} totals and {ones.shape} bits"
        )
    if not (np.isfinite(sizes).all() and np.isfinite(ones).all()):
        raise ValueError("the counts must be finite numbers")
    bad = np.argwhere((ones < 0) | (ones > sizes[:, None]))
    if len(bad):
        j, i = bad[0]
        raise ValueError(
            f"cohort {j} counts bit {i} {ones[j, i]:.0f} times in {sizes[j]:.0f} reports; "
            "a count lies between 0 and the number of reports"
        )
    return sizes, ones
