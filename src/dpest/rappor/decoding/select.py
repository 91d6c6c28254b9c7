"""Which candidates to report: p-values and corrections, or the posterior with a gate."""

from __future__ import annotations

import numpy as np

from dpest.rappor.options import CORRECTIONS

LEAST_LIKELY = 0.7
POSTERIOR_FACTOR = 0.9
P_VALUE_FACTOR = 1.5


def one_sided(estimate: np.ndarray, std_error: np.ndarray) -> np.ndarray:
    """p-values of "the share is zero" against "it is positive".

    For a share that cannot be negative this is the likelihood-ratio test, whose statistic under
    "zero" is nought half the time and chi-square with one degree of freedom otherwise.
    """
    from scipy.special import ndtr

    usable = np.isfinite(std_error) & (std_error > 0)
    return np.where(usable, ndtr(-estimate / np.where(usable, std_error, 1.0)), 1.0)


def rejected(p_values: np.ndarray, alpha: float, correction: str) -> np.ndarray:
    """The mask of p-values that are significant at `alpha` after a correction.

    "none" errs on a share alpha of the absent strings, "bonferroni" errs at all with probability
    alpha, and "fdr" (Benjamini and Hochberg) lets alpha of what it reports be wrong.
    """
    check_options(alpha, correction)
    if correction == "none":
        return p_values < alpha
    if correction == "bonferroni":
        return p_values < alpha / max(len(p_values), 1)
    return _benjamini_hochberg(p_values, alpha)


def posterior_discoveries(absent: np.ndarray, p_values: np.ndarray, alpha: float) -> np.ndarray:
    """The largest set that is expected to be wrong in a share alpha of its members.

    The approximate posterior is a little too sure of itself, so it is held to nine tenths of
    alpha. It may sharpen what the p-values say but not overturn it: nothing is reported unless
    they hold a discovery by themselves, so data without any string give an empty answer with
    probability 1 - alpha whatever the prior has learned; what is reported must be a discovery at
    1.5 alpha of the p-values too, given how many of them look like noise; and no string is carried
    by surer ones if it is not itself likely.
    """
    if not _benjamini_hochberg(p_values, alpha).any():
        return np.zeros(len(absent), dtype=bool)
    order = np.argsort(absent, kind="stable")
    expected_wrong = np.cumsum(absent[order]) / np.arange(1, len(order) + 1)
    limit = POSTERIOR_FACTOR * alpha
    chosen = order[: np.searchsorted(expected_wrong, limit, side="right")]
    mask = np.zeros(len(absent), dtype=bool)
    mask[chosen] = absent[chosen] <= 1 - LEAST_LIKELY
    level = P_VALUE_FACTOR * alpha / _share_of_noise(p_values)
    return mask & _benjamini_hochberg(p_values, min(level, 0.5))


def _share_of_noise(p_values: np.ndarray) -> float:
    """At most this share of the p-values comes from absent strings (Storey): they are uniform."""
    return min(1.0, (1 + float(np.sum(p_values > 0.5))) / (0.5 * len(p_values)))


def check_options(alpha: float, correction: str) -> None:
    """Refuse a level or a correction that means nothing."""
    if not 0 < alpha < 1:
        raise ValueError(f"alpha={alpha} must lie strictly between 0 and 1")
    if correction not in CORRECTIONS:
        raise ValueError(f"correction={correction!r} must be one of {', '.join(CORRECTIONS)}")


def _benjamini_hochberg(p_values: np.ndarray, alpha: float) -> np.ndarray:
    order = np.argsort(p_values, kind="stable")
    limits = alpha * np.arange(1, len(order) + 1) / max(len(order), 1)
    below = np.flatnonzero(p_values[order] <= limits)
    mask = np.zeros(len(p_values), dtype=bool)
    mask[order[: below[-1] + 1 if len(below) else 0]] = True
    return mask
