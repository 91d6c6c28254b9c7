"""Learn scores from samples of both inputs: from counts, single features, or a classifier."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from dpest.engines.blackbox.events import (
    ClassifierScorer,
    CountScorer,
    FeatureScorer,
    Scorer,
    Scores,
)
from dpest.engines.blackbox.features import QUANTILES, Features, Table
from dpest.engines.blackbox.outputs import Outputs
from dpest.engines.blackbox.thresholds import Planner

FEATURES_KEPT = 4
LOGISTIC_CELLS = 40_000_000
LOGISTIC_PENALTIES = (1e-3, 0.1)
BOOSTING_ROWS = 500_000
BOOSTING_SMALLEST = 5_000


def learned(
    a: Outputs, b: Outputs, features: Features, planner: Planner, simple: bool = False
) -> list[Scorer]:
    """Scorers worth trying, the easiest to read first; no classifiers where `simple`."""
    counted = _counted(a, b, max(a.width, b.width))
    scorers: list[Scorer] = [] if counted is None else [counted]
    names = features.names(a)
    if not names:
        return scorers
    table_a, table_b = features.table(a), features.table(b)
    scorers += _best_features(table_a, table_b, features, names, planner)
    if simple:
        return scorers
    scorers += _logistic(table_a, table_b, features, names)
    if (counted is None or len(counted.keys) > 256) and len(a) >= BOOSTING_SMALLEST:
        scorers += _boosted(table_a, table_b, features, names)
    return scorers


def _counted(a: Outputs, b: Outputs, width: int) -> CountScorer | None:
    """Outcome by outcome, if there are few enough to have been seen many times each."""
    keys_a, keys_b = a.keys(width), b.keys(width)
    keys, first = np.unique(np.concatenate([keys_a, keys_b]), return_index=True)
    if len(keys) > max(64, (len(a) + len(b)) // 20):
        return None
    place_a, place_b = np.searchsorted(keys, keys_a), np.searchsorted(keys, keys_b)
    counts_a = np.bincount(place_a, minlength=len(keys))
    counts_b = np.bincount(place_b, minlength=len(keys))
    names = [(a.spelled(i) if i < len(a) else b.spelled(i - len(a))) for i in first]
    return CountScorer(width, keys, _shrunk_ratios(counts_a, counts_b), tuple(names))


def _shrunk_ratios(counts_a: npt.NDArray[np.int64], counts_b: npt.NDArray[np.int64]) -> Scores:
    """Log-ratios pulled towards their mean by as much as their own noise suggests."""
    ratios = np.log((counts_a + 0.5) / (counts_b + 0.5))
    noise = 1.0 / (counts_a + 0.5) + 1.0 / (counts_b + 0.5)
    share = (counts_a + counts_b) / (counts_a + counts_b).sum()
    signal = max(float(share @ (ratios**2 - noise)), 1e-6)
    return np.asarray(ratios * signal / (signal + noise))


def _best_features(
    table_a: Table, table_b: Table, features: Features, names: list[str], planner: Planner
) -> Iterator[FeatureScorer]:
    """The features that promise most when used alone."""
    cautious = replace(planner, caution=3.0)
    promises = [cautious.best(table_a[:, j], table_b[:, j]).promise for j in range(len(names))]
    for j in np.argsort(-np.array(promises), kind="stable")[:FEATURES_KEPT]:
        yield FeatureScorer(features, int(j), names[j])


def _logistic(
    table_a: Table, table_b: Table, features: Features, names: list[str]
) -> Iterator[ClassifierScorer]:
    """Logistic regression on steps: log-odds that are a sum of step functions of the features."""
    from sklearn.linear_model import LogisticRegression

    cuts = [_cuts(np.concatenate([x, y])) for x, y in zip(table_a.T, table_b.T, strict=True)]
    columns = sum(len(cut) for cut in cuts)
    if columns == 0:
        return
    rows = max(LOGISTIC_CELLS // (2 * columns), 1000)
    design = np.vstack([_steps(table_a[:rows], cuts), _steps(table_b[:rows], cuts)])
    labels = np.repeat([1, 0], [len(table_a[:rows]), len(table_b[:rows])])
    for penalty in LOGISTIC_PENALTIES:
        model = LogisticRegression(C=penalty, solver="newton-cholesky", max_iter=20)
        with warnings.catch_warnings(action="ignore"):
            weights = model.fit(design, labels).coef_[0].astype(float)
        yield ClassifierScorer(
            features,
            StepSum.from_weights(cuts, weights),
            "logistic regression",
            _heaviest(cuts, weights, names),
        )


@dataclass(frozen=True)
class StepSum:
    """A sum of step functions, one per feature: `heights[j][i]` between cuts `i - 1` and `i`."""

    cuts: tuple[Scores, ...]
    heights: tuple[Scores, ...]

    @classmethod
    def from_weights(cls, cuts: list[Scores], weights: Scores) -> StepSum:
        ends = np.cumsum([len(cut) for cut in cuts])
        parts = np.split(weights, ends[:-1])
        heights = [np.concatenate([[0.0], np.cumsum(part)]) for part in parts]
        return cls(tuple(cuts), tuple(heights))

    def decision_function(self, table: Table) -> Scores:
        total = np.zeros(len(table))
        for column, cuts, heights in zip(table.T, self.cuts, self.heights, strict=True):
            if len(cuts):
                known = np.where(np.isnan(column), -np.inf, column)
                total += heights[np.searchsorted(cuts, known, side="right")]
        return total


def _cuts(column: Scores) -> Scores:
    """Places to cut a feature: between all its values if few, else at quantiles."""
    known = column[~np.isnan(column)]
    if len(known) == 0:
        return np.empty(0)
    values = np.unique(known[:20_000])
    if len(values) > 12:
        values = np.unique(np.quantile(known, (0.0, *QUANTILES)))
    lowest = np.isnan(column).any()
    return values if lowest else values[1:]


def _steps(table: Table, cuts: list[Scores]) -> Table:
    with np.errstate(invalid="ignore"):
        blocks = [column[:, None] >= cut for column, cut in zip(table.T, cuts, strict=True)]
    return np.hstack(blocks).astype(np.float64)


def _heaviest(cuts: list[Scores], weights: Scores, names: list[str]) -> str:
    """The steps that move the log-odds most, in words."""
    labels = [f"{name} >= {c:.4g}" for name, cut in zip(names, cuts, strict=True) for c in cut]
    order = np.argsort(-np.abs(weights), kind="stable")[:4]
    return ", ".join(f"{labels[i]} ({weights[i]:+.3g})" for i in order)


def _boosted(
    table_a: Table, table_b: Table, features: Features, names: list[str]
) -> Iterator[ClassifierScorer]:
    """Gradient-boosted trees, for what sums of steps cannot express."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    table = np.vstack([table_a[:BOOSTING_ROWS], table_b[:BOOSTING_ROWS]])
    labels = np.repeat([1, 0], [len(table_a[:BOOSTING_ROWS]), len(table_b[:BOOSTING_ROWS])])
    model = HistGradientBoostingClassifier(
        learning_rate=0.1,
        max_iter=120,
        max_leaf_nodes=12,
        min_samples_leaf=max(20, len(table) // 2000),
        early_stopping=True,
        validation_fraction=0.15,
        random_state=0,
    )
    lowest = np.array([_below(column) for column in table.T])
    trees = Trees(model.fit(_known(table, lowest), labels), lowest)
    yield ClassifierScorer(features, trees, "boosted-tree classifier", ", ".join(names[:4]))


@dataclass(frozen=True)
class Trees:
    """Fitted trees that take what is missing for lower than all that was seen.

    Where a column is missing altogether the fit of scikit-learn fails.
    """

    model: Any
    lowest: Scores

    def decision_function(self, table: Table) -> Scores:
        return np.asarray(self.model.decision_function(_known(table, self.lowest)), np.float64)


def _below(column: Scores) -> float:
    known = column[~np.isnan(column)]
    return float(np.nextafter(known.min(), -np.inf) - 1.0) if len(known) else 0.0


def _known(table: Table, lowest: Scores) -> Table:
    return np.where(np.isnan(table), lowest, table)
