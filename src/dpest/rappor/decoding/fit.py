"""The decoders that need only counts: the published procedure and the calibrated one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from dpest.rappor.decoding.debias import BitShares
from dpest.rappor.decoding.linear import LinearModel, WorkingFit
from dpest.rappor.decoding.posterior import Prior, absent_probability

if TYPE_CHECKING:
    from scipy.sparse import csc_matrix

LASSO_ALPHA = 0.1
SMALLEST_COEFFICIENT = 1e-3
_WORKING_SET = 500
_ROWS_PER_WORD = 2
_CROWDED = 0.4
_SPARSE = 0.15
_LIKELY = 0.5


@dataclass(frozen=True, eq=False)
class Fit:
    """An estimate for every candidate, as a share of the clients.

    `absent` is the posterior probability that nobody holds the string (NaN where the method has
    none), `other` the share of strings that nobody listed with its standard error, `mean` the
    share a prediction should use. `p_value` overrides the test of estimate over standard error;
    `refined` is how many estimates come from whole reports; `crowded` says that more strings are
    there than so few bits allow to be told from all candidates.
    """

    estimate: np.ndarray
    std_error: np.ndarray
    absent: np.ndarray
    mean: np.ndarray
    other: tuple[float, float]
    chi2: float
    degrees: int
    dispersion: float
    prior: Prior | None = None
    p_value: np.ndarray | None = None
    refined: int = 0
    crowded: bool = False


def fit_counts(shares: BitShares, design: csc_matrix) -> Fit:
    """The calibrated fit: weighted least squares, an unlisted-strings column, a sparse prior.

    Every candidate is in the model when the bits can tell them apart; of a larger dictionary only
    the promising ones are, and each other one is tested against what they leave unexplained. Where
    that is more than noise, its distribution is learned. Promising candidates were chosen for the
    noise they explain as well: to keep them would leave the others less of it than there is, so
    only the likely ones stay, unless these are so many that the rest matter too.
    """
    model = LinearModel.of(shares, design)
    words, rows = model.words, len(model.response)
    most = rows // _ROWS_PER_WORD if model.background else rows
    limit = max(1, min(_WORKING_SET, most))
    while True:
        chosen = np.arange(words) if words <= limit else _promising(model, limit)
        working = model.fit(chosen)
        likely = _likely(working)
        if words <= limit or len(likely) <= _CROWDED * limit or 2 * limit > most:
            break
        limit *= 2
    crowded = words > limit and len(likely) > max(_SPARSE * limit, 1)
    if words > limit and not crowded:
        working = model.fit(likely)
    return replace(_everyone(model, model.refined(working)), crowded=crowded)


def _promising(model: LinearModel, limit: int) -> np.ndarray:
    """The candidates that stand out most once the standing-out ones are accounted for."""
    chosen = model.standing_out(None, max(limit // 2, 1))
    for size in (max(limit // 2, 1), limit):
        chosen = model.standing_out(model.fit(chosen), size)
    return chosen


def _likely(working: WorkingFit) -> np.ndarray:
    """The candidates that are likelier there than not, or the likeliest of all."""
    absent = working.posterior.absent
    return working.chosen[absent <= max(_LIKELY, absent.min())]


def _everyone(model: LinearModel, working: WorkingFit) -> Fit:
    estimate, std_error = model.one_at_a_time(working)
    absent = absent_probability(estimate, std_error**2, working.posterior.prior)
    mean = np.zeros(model.words)
    chosen, evidence = working.chosen, working.evidence
    estimate[chosen] = evidence.estimate[: evidence.words]
    std_error[chosen] = evidence.std_error[: evidence.words]
    absent[chosen], mean[chosen] = working.posterior.absent, working.posterior.mean
    return Fit(
        estimate, std_error, absent, mean, working.other, working.chi2, working.degrees,
        working.dispersion, working.posterior.prior,
    )  # fmt: skip


def fit_seed(shares: BitShares, design: csc_matrix) -> Fit:
    """The published procedure: LASSO to select, ordinary least squares and t-tests to judge.

    Debiased counts are regressed on the design, both scaled so that a cohort counts by its size;
    cohorts of equal size give the published numbers. Its p-values ignore that the LASSO has looked
    at the same data, so they are too small.
    """
    from scipy.stats import t
    from sklearn.linear_model import Lasso

    rows, response = _seed_regression(shares, design)
    lasso = Lasso(alpha=LASSO_ALPHA, positive=True, max_iter=10_000, fit_intercept=False)
    selected = np.flatnonzero(np.abs(lasso.fit(rows, response).coef_) > SMALLEST_COEFFICIENT)
    chosen = rows[:, selected].toarray()
    covariance = np.linalg.pinv(chosen.T @ chosen)
    coefficients = covariance @ (chosen.T @ response)
    residual = response - chosen @ coefficients
    degrees = max(len(response) - len(selected), 0)
    scale = residual @ residual / degrees if degrees else np.nan
    errors = np.sqrt(scale * np.diag(covariance))
    per_cohort = shares.total / len(shares.sizes)
    words = design.shape[1]
    estimate, std_error, p_value = np.zeros(words), np.full(words, np.nan), np.ones(words)
    estimate[selected], std_error[selected] = coefficients / per_cohort, errors / per_cohort
    with np.errstate(divide="ignore", invalid="ignore"):
        p_value[selected] = np.nan_to_num(t.sf(coefficients / errors, degrees), nan=1.0)
    nothing, unknown = np.full(words, np.nan), (np.nan, np.nan)
    return Fit(
        estimate, std_error, nothing, np.maximum(estimate, 0), unknown,
        float(residual @ residual), degrees, float(scale), None, p_value,
    )  # fmt: skip


def _seed_regression(shares: BitShares, design: csc_matrix) -> tuple[csc_matrix, np.ndarray]:
    from scipy.sparse import csc_matrix, diags

    average = shares.total / len(shares.sizes)
    weight = np.repeat(np.sqrt(shares.sizes / average), shares.share.shape[1])
    rows = csc_matrix(diags(weight) @ kept_rows(shares, design))
    return rows, weight * shares.share.ravel() * average


def kept_rows(shares: BitShares, design: csc_matrix) -> csc_matrix:
    """The rows of the design that belong to cohorts with reports."""
    mask = np.repeat(shares.kept, shares.share.shape[1])
    return design if mask.all() else design[np.flatnonzero(mask)]
