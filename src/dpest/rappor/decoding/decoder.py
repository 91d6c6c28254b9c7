"""The front door of decoding: parameters, candidates and data in, a `Decoding` out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dpest.rappor.decoding.debias import BitShares, debias
from dpest.rappor.decoding.fit import Fit, fit_counts, fit_seed
from dpest.rappor.decoding.goodness import BitFit
from dpest.rappor.decoding.intervals import share_intervals
from dpest.rappor.decoding.results import OTHER, Decoding, Row
from dpest.rappor.decoding.select import (
    check_options,
    one_sided,
    posterior_discoveries,
    rejected,
)
from dpest.rappor.decoding.twins import spread, twin_groups
from dpest.rappor.options import METHODS

if TYPE_CHECKING:
    from scipy.sparse import csc_matrix

    from dpest.rappor.candidates import Candidates
    from dpest.rappor.counting.counts import Counts
    from dpest.rappor.params import Params
    from dpest.rappor.reports import Reports


def decode(
    params: Params,
    candidates: Candidates,
    counts: Counts | None = None,
    reports: Reports | None = None,
    *,
    method: str = "auto",
    alpha: float = 0.05,
    correction: str | None = None,
    reports_per_client: float = 1.0,
) -> Decoding:
    """Estimate how frequent each candidate is, and say which of them are there at all.

    `method` is "seed" (LASSO, least squares, t-test), "counts" (calibrated, from bit sums),
    "reports" (likelihood of whole reports) or "auto": reports if they are given, else counts.
    `correction` is "none", "fdr" or "bonferroni" at level `alpha`; the default is "none" for
    "seed", as published, and "fdr" for the others. `params` must hold the probabilities that the
    clients really used (`Params.effective`).
    """
    method = _resolve(method, counts, reports)
    correction = correction or ("none" if method == "seed" else "fdr")
    check_options(alpha, correction)
    if len(candidates) == 0:
        raise ValueError("there are no candidates; give at least one string to look for")
    if method == "reports" and reports_per_client != 1:
        raise ValueError(
            f"reports_per_client={reports_per_client} breaks the independence that method="
            "'reports' needs; use method='counts'"
        )
    design = candidates.design(params)
    bare = np.flatnonzero(np.diff(design.indptr) == 0)
    if len(bare):
        raise ValueError(f"candidate {candidates.strings[bare[0]]!r} sets no bit; leave it out")
    if counts is None:
        counts = _counted(reports, params)
    shares = debias(counts.N, counts.ones, params, reports_per_client)
    fit = _fit(shares, design, method, params, reports)
    return _decoding(candidates.strings, fit, shares, design, method, alpha, correction)


def _fit(
    shares: BitShares, design: csc_matrix, method: str, params: Params, reports: Reports | None
) -> Fit:
    if method == "seed":
        return fit_seed(shares, design)
    first, group = twin_groups(design)
    different = design if len(first) == len(group) else design[:, first]
    fit = fit_counts(shares, different)
    if method == "reports":
        from dpest.rappor.decoding.likelihood import fit_reports

        assert reports is not None
        fit = fit_reports(reports, params, different, fit)
    return spread(fit, group)


def _resolve(method: str, counts: Counts | None, reports: Reports | None) -> str:
    if method not in METHODS:
        raise ValueError(f"method={method!r} must be one of {', '.join(METHODS)}")
    if counts is None and reports is None:
        raise ValueError("there is nothing to decode; give counts or reports")
    if method == "reports" and reports is None:
        raise ValueError("method='reports' needs the reports themselves; give reports, not counts")
    if method == "auto":
        return "counts" if reports is None else "reports"
    return method


def _counted(reports: Reports | None, params: Params) -> Counts:
    from dpest.rappor.counting.counts import count

    assert reports is not None
    return count(reports, params)


def _decoding(
    strings: tuple[str, ...],
    fit: Fit,
    shares: BitShares,
    design: csc_matrix,
    method: str,
    alpha: float,
    correction: str,
) -> Decoding:
    p_value = one_sided(fit.estimate, fit.std_error) if fit.p_value is None else fit.p_value
    if correction == "fdr" and fit.prior is not None:
        detected = posterior_discoveries(fit.absent, p_value, alpha)
    else:
        detected = rejected(p_value, alpha, correction)
    low, high = share_intervals(fit.estimate, fit.std_error)
    bits = BitFit.of(fit, shares, design)
    metrics: dict[str, Any] = {
        "sample_size": shares.total,
        "allocated_mass": float(fit.estimate[detected].sum()),
        "num_detected": int(detected.sum()),
        "explained_var": bits.explained_var,
        "missing_var": bits.missing_var,
        "method": method,
        "alpha": alpha,
        "correction": correction,
        "other": fit.other[0],
        "other_std_error": fit.other[1],
        "chi2": fit.chi2 if method != "seed" else None,
        "degrees_of_freedom": fit.degrees,
        "dispersion": fit.dispersion if method != "seed" else None,
        "refined_by_reports": fit.refined,
        "indistinguishable": _twins(design),
        "crowded": fit.crowded,
        "share_of_candidates_absent": float(fit.prior.weights[0]) if fit.prior else None,
    }
    return Decoding(
        strings, fit.estimate, fit.std_error, low, high, p_value, 1 - fit.absent, detected,
        shares.total, _other(fit, shares.total), metrics, bits,
    )  # fmt: skip


def _twins(design: csc_matrix) -> int:
    """How many candidates set exactly the same bits as another one."""
    sizes = np.bincount(twin_groups(design)[1])
    return int(sizes[sizes > 1].sum())


def _other(fit: Fit, total: int) -> Row | None:
    share, error = fit.other
    if not error > 0:
        return None
    low, high = share_intervals(np.array([share]), np.array([error]))
    return Row(OTHER, share * total, error * total, share, error, float(low[0]), float(high[0]))
