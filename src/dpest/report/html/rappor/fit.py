"""How well the strings explain the bits: variance, chi-square, and residuals per cohort."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dpest.report.columns import number
from dpest.report.html.chart import Chart, figure, key, shape, svg
from dpest.report.html.markup import Content, Markup, element
from dpest.report.html.rappor.page import Collection, percent
from dpest.report.html.section import Section, section, table

_MOST_DOTS = 256


def fit_section(found: Collection) -> Section:
    """Which share of the variance of the bits is explained."""
    metrics = found.decoding.metrics
    rows = [("degrees of freedom", str(metrics["degrees_of_freedom"]))]
    for name, words in (("chi2", "chi-square"), ("dispersion", "noise over the predicted noise")):
        if metrics[name] is not None and math.isfinite(metrics[name]):
            rows.append((words, number(metrics[name], 4)))
    return section(
        "fit", "Goodness of fit",
        figure(_variance(metrics["explained_var"], metrics["missing_var"]),
               ["How the variance of the debiased bits divides.",
                key(("bar", "explained"), ("other", "unexplained"), ("rest", "predicted noise"))]),
        table("The fit in numbers", ("measure", "value"), rows, (1,), "plain"),
    )  # fmt: skip


def _variance(explained: float, missing: float) -> Markup:
    noise = max(1.0 - explained - missing, 0.0)
    parts: list[Content] = [
        shape("rect", "bar rest", x=0.0, y=4.0, width=400.0, height=16.0),
        shape("rect", "bar", x=0.0, y=4.0, width=400.0 * explained, height=16.0),
        shape("rect", "bar other", x=400.0 * explained, y=4.0, width=400.0 * missing, height=16.0),
    ]
    said = (
        f"Explained {percent(explained)}, unexplained {percent(missing)}, predicted noise "
        f"{percent(noise)} of the variance."
    )
    return svg(400.0, 24.0, said, parts)


def residuals_section(found: Collection) -> Section:
    """What every cohort's bits leave over, in units of the noise that the parameters predict."""
    sizes = residuals(found)
    cohorts = np.flatnonzero(np.isfinite(sizes))
    kept = sizes[cohorts]
    chart = Chart((-0.5, max(float(len(sizes)) - 0.5, 0.5)),
                  (0.0, 1.1 * max(1.2, float(kept.max(initial=0.0)))),
                  "cohort", "residual", whole_x=True)  # fmt: skip
    chart.level(1.0, "limit")
    for cohort, size in _thinned(cohorts, kept):
        chart.dot(cohort, size, "estimate", f"cohort {cohort:g}: {size:.3g}")
    listed = f"between {number(float(kept.min()), 3)} and {number(float(kept.max()), 3)}"
    empty = len(sizes) - len(kept)
    rest = f" Cohorts without reports are left out: {empty}." if empty else ""
    return section(
        "residuals", "Residuals per cohort",
        element("p", "What the strings found, and an even spread of everything else, leave of a "
                     "cohort’s bits: the root mean square, in units of the predicted noise. Near 1 "
                     "there is only noise; cohorts that stand out were encoded in another way, or "
                     f"frequent strings are missing.{rest}"),
        figure(chart.drawn(f"Residuals of {len(kept)} cohorts, {listed}."),
               key(("dot", "cohort"), ("line limit", "noise alone"))),
    )  # fmt: skip


def residuals(found: Collection) -> NDArray[np.float64]:
    """The root mean square of every cohort's standardised residuals; NaN without reports."""
    from dpest.rappor.decoding.debias import debias

    params, counts = found.params, found.counts
    shares = debias(counts.N, counts.ones, params, found.reports_per_client)
    share = np.where(found.decoding.detected, found.decoding.proportion, 0.0)
    fitted = (found.candidates.design(params) @ share).reshape(params.m, params.k)[shares.kept]
    fitted = fitted + max(1.0 - float(share.sum()), 0.0) * params.h / params.k
    scaled = (shares.share - fitted) / np.sqrt(shares.variance(fitted))
    sizes = np.full(params.m, np.nan)
    sizes[shares.kept] = np.sqrt(np.mean(scaled**2, axis=1))
    return sizes


def _thinned(
    cohorts: NDArray[np.intp], sizes: NDArray[np.float64]
) -> list[tuple[float, float]]:
    """The largest of every few neighbouring cohorts, where there are too many to be drawn."""
    step = math.ceil(len(cohorts) / _MOST_DOTS) or 1
    starts = range(0, len(cohorts), step)
    best = [start + int(np.argmax(sizes[start : start + step])) for start in starts]
    return [(float(cohorts[k]), float(sizes[k])) for k in best]
