"""How two or more variables of the same clients go together."""

from __future__ import annotations

import csv
import io
import itertools
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dpest.rappor.decoding.decoder import decode
from dpest.rappor.decoding.intervals import share_intervals
from dpest.rappor.decoding.likelihood import NUISANCES, BitLikelihood
from dpest.rappor.decoding.mixture import fit_mixture, neighbourhood
from dpest.rappor.decoding.results import on_one_line

if TYPE_CHECKING:
    from dpest.rappor.candidates import Candidates
    from dpest.rappor.params import Params
    from dpest.rappor.reports import Reports

OTHER = "Other"
_MOST_CELLS = 2500


class Variable(NamedTuple):
    """One variable: its name, parameters, candidates and a report per client."""

    name: str
    params: Params
    candidates: Candidates
    reports: Reports


class Cell(NamedTuple):
    """A combination of values: its share, standard error and 95 % interval."""

    values: tuple[str, ...]
    proportion: float
    prop_std_error: float
    prop_low_95: float
    prop_high_95: float


@dataclass(frozen=True, eq=False)
class Association:
    """The joint distribution of several variables and a test that they are independent.

    `proportion` has an axis per variable; it is the most likely one that is nowhere negative, while
    the errors and intervals are those of an estimate without this constraint, stretched where they
    would not hold the proportion. `statistic` is chi-square with `degrees` degrees of
    freedom if the variables are independent; `p_value` is the chance of one as large.
    """

    names: tuple[str, ...]
    categories: tuple[tuple[str, ...], ...]
    proportion: np.ndarray
    prop_std_error: np.ndarray
    prop_low_95: np.ndarray
    prop_high_95: np.ndarray
    sample_size: int
    statistic: float
    degrees: int
    p_value: float

    @property
    def cells(self) -> list[Cell]:
        """All combinations, the most frequent first."""
        columns = self.proportion, self.prop_std_error, self.prop_low_95, self.prop_high_95
        values = itertools.product(*self.categories)
        flat = zip(values, *(column.ravel().tolist() for column in columns), strict=True)
        return sorted((Cell(*row) for row in flat), key=lambda cell: -cell.proportion)

    @property
    def metrics(self) -> dict[str, Any]:
        """The test of independence and the size of the problem."""
        return {
            "num_reports": self.sample_size,
            "estimate_dimensions": list(self.proportion.shape),
            "chi2": self.statistic,
            "degrees_of_freedom": self.degrees,
            "p_value": self.p_value,
        }

    def to_csv(self) -> str:
        """assoc-results.csv: a column per variable, then the share and its interval."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow([*self.names, *Cell._fields[1:]])
        writer.writerows([*cell.values, *(f"{x:.6g}" for x in cell[1:])] for cell in self.cells)
        return out.getvalue()

    def to_json(self) -> str:
        """The cells and the metrics."""
        cells = [{**cell._asdict(), "values": list(cell.values)} for cell in self.cells]
        document = {"variables": list(self.names), "cells": cells, "metrics": self.metrics}
        return json.dumps(document, indent=2)

    def to_table(self) -> str:
        """The cells as text, and the verdict of the test."""
        labels = [on_one_line(" × ".join(cell.values)) for cell in self.cells]
        width = max(map(len, labels))
        lines = [f"{' × '.join(self.names):<{width}}  {'share':>8}  {'95 % interval':>17}"]
        lines += [
            f"{label:<{width}}  {cell.proportion:>8.2%}  "
            f"{cell.prop_low_95:>7.2%} ..{cell.prop_high_95:>7.2%}"
            for label, cell in zip(labels, self.cells, strict=True)
        ]
        test = (
            f"Independence: chi2 = {self.statistic:.1f} on {self.degrees} degrees of freedom, "
            f"p = {self.p_value:.2g} ({self.sample_size:,} clients)."
        )
        return "\n".join([*lines, "", test]) + "\n"


def associate(
    variables: Sequence[Variable], *, alpha: float = 0.05, select: bool = True
) -> Association:
    """Estimate the joint distribution of two or more variables.

    Row i of every variable's reports comes from the same client. Each variable is first decoded on
    its own at level `alpha`; what it reports become its categories, the rest is "Other" (without
    `select` every candidate is a category). The joint
    shares are the most likely ones. The test of independence is a score test: it asks whether the
    product of the single distributions is a maximum of the joint likelihood.
    """
    _check(variables)
    categories, likelihoods = zip(
        *(_categories(variable, alpha if select else None) for variable in variables), strict=True
    )
    shape = tuple(map(len, categories))
    if np.prod(shape) > _MOST_CELLS:
        raise ValueError(
            f"{' x '.join(map(str, shape))} combinations are too many (at most {_MOST_CELLS}); "
            "give fewer candidates"
        )
    joint = _together(likelihoods)
    shares = fit_mixture(joint)
    estimate, covariance, _ = neighbourhood(joint, shares)
    std_error = np.sqrt(np.maximum(np.diag(covariance), 0))
    low, high = share_intervals(estimate, std_error)
    low, high = np.minimum(low, shares), np.maximum(high, shares)
    statistic, degrees, p_value = _independence(likelihoods)
    return Association(
        tuple(variable.name for variable in variables), tuple(map(tuple, categories)),
        shares.reshape(shape), std_error.reshape(shape), low.reshape(shape), high.reshape(shape),
        len(joint), statistic, degrees, p_value,
    )  # fmt: skip


def _independence(likelihoods: Sequence[np.ndarray]) -> tuple[float, int, float]:
    from scipy.stats import chi2

    single = [fit_mixture(likelihood) for likelihood in likelihoods]
    present = [shares > 1e-6 for shares in single]
    product = np.ones(1)
    for shares, kept in zip(single, present, strict=True):
        product = np.outer(product, shares[kept]).ravel()
    kept_likelihoods = [x[:, kept] for x, kept in zip(likelihoods, present, strict=True)]
    degrees = len(product) - 1 - sum(int(kept.sum()) - 1 for kept in present)
    if degrees == 0:
        return 0.0, 0, 1.0
    _, _, statistic = neighbourhood(_together(kept_likelihoods), product / product.sum())
    return statistic, degrees, float(chi2.sf(statistic, degrees))


def _categories(variable: Variable, alpha: float | None) -> tuple[list[str], np.ndarray]:
    """The values that a variable reports on its own, and how likely each makes each report."""
    _, params, candidates, reports = variable
    design = candidates.design(params)
    exclusive = np.diff(design.tocsr().indptr).max(initial=0) <= 1
    if exclusive or alpha is None:
        kept = np.arange(len(candidates))
    else:
        kept = np.flatnonzero(decode(params, candidates, reports=reports, alpha=alpha).detected)
    names = [candidates.strings[i] for i in kept] + ([] if exclusive else [OTHER])
    bit_likelihood = BitLikelihood.of(params, design.nnz / np.prod(design.shape))
    filters = design[:, kept].toarray().astype(np.float32).reshape(params.m, params.k, -1)
    table = np.empty((len(reports), len(kept) + NUISANCES))
    bits = reports.bits.astype(np.float32)
    for j in np.unique(reports.cohorts):
        rows = reports.cohorts == j
        table[rows] = bit_likelihood.relative(bits[rows], filters[j])
    return names, table[:, : len(names)]


def _together(likelihoods: Sequence[np.ndarray]) -> np.ndarray:
    """The likelihood of each combination of categories, in the order of itertools.product."""
    joint = likelihoods[0]
    for likelihood in likelihoods[1:]:
        joint = (joint[:, :, None] * likelihood[:, None, :]).reshape(len(joint), -1)
    return joint


def _check(variables: Sequence[Variable]) -> None:
    if len(variables) < 2:
        raise ValueError(f"{len(variables)} variable is not enough; give two or more")
    sizes = {variable.name: len(variable.reports) for variable in variables}
    if len(sizes) < len(variables):
        raise ValueError("two variables have the same name; give each its own")
    if len(set(sizes.values())) != 1:
        raise ValueError(f"every variable needs a report of every client, but there are {sizes}")
    if 0 in sizes.values():
        raise ValueError("there are no reports; give at least one client")
    for name, params, _, reports in variables:
        if reports.k != params.k or reports.cohorts.max() >= params.m:
            raise ValueError(f"the reports of {name!r} do not fit k={params.k} and m={params.m}")
