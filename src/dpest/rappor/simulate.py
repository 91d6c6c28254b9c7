"""Populations to try things on, and what their clients would report.

`simulate_counts` draws the sums that the server would see, with the law that real reports would
give them; `simulate_reports` makes every single report. Both say who reported what.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dpest.rappor.candidates import Candidates
from dpest.rappor.client.bits import SecureWords
from dpest.rappor.client.fleet import pick, report_once
from dpest.rappor.counting.counts import Counts
from dpest.rappor.errors import RapporError
from dpest.rappor.params import Params
from dpest.rappor.reports import Reports

POPULATIONS = ("zipf", "normal", "exponential", "uniform")


def population(
    name: str, size: int, *, shape: float | None = None, active: int | None = None
) -> np.ndarray:
    """The probabilities of `size` values, of which only the first `active` occur.

    `shape` is the exponent of zipf (1), the standard deviation of normal (a sixth of the active
    values), the mean of exponential (a fifth of them); uniform has none.
    """
    if size < 1:
        raise RapporError(f"size={size} must be 1 or more")
    occurring = size if active is None else active
    if not 1 <= occurring <= size:
        raise RapporError(f"active={active} must be between 1 and size={size}")
    if shape is not None and not 0 < shape < np.inf:
        raise RapporError(f"shape={shape} must be a positive number")
    rank = np.arange(1, occurring + 1)
    probabilities = np.zeros(size)
    probabilities[:occurring] = _weights(name, rank, shape)
    return probabilities / probabilities.sum()


def _weights(name: str, rank: np.ndarray, shape: float | None) -> np.ndarray:
    size = len(rank)
    if name == "zipf":
        return rank ** -(shape or 1.0)
    if name == "normal":
        return np.exp(-(((rank - (size + 1) / 2) / (shape or size / 6)) ** 2) / 2)
    if name == "exponential":
        return np.exp(-rank / (shape or size / 5))
    if name == "uniform" and shape is None:
        return np.ones(size)
    if name == "uniform":
        raise RapporError(f"shape={shape} means nothing for uniform; leave it out")
    raise RapporError(f"population={name!r} is unknown; use one of {', '.join(POPULATIONS)}")


def value_names(size: int) -> list[str]:
    """The names of the values of a population: v1, v2, ..."""
    return [f"v{number}" for number in range(1, size + 1)]


def simulate_counts(
    params: Params,
    candidates: Candidates,
    probabilities: np.ndarray,
    reports: int | Sequence[int],
    rng: np.random.Generator,
) -> tuple[Counts, np.ndarray]:
    """The counts of one report per client, and how many clients had each candidate.

    `reports` is their number, each in a random cohort, or the number in every cohort.
    """
    sizes = _cohort_sizes(params, reports, rng)
    holders = rng.multinomial(sizes, _checked(probabilities, candidates))
    design = candidates.design(params).tocsr()
    blocks = (design[j * params.k : (j + 1) * params.k] @ holders[j] for j in range(params.m))
    true_ones = np.stack(list(blocks))
    others = sizes[:, None] - true_ones
    ones = rng.binomial(true_ones, params.q_star) + rng.binomial(others, params.p_star)
    return Counts(sizes, ones), holders.sum(axis=0)


def simulate_reports(
    params: Params,
    candidates: Candidates,
    probabilities: np.ndarray,
    reports: int | Sequence[int],
    rng: np.random.Generator,
) -> tuple[Reports, np.ndarray]:
    """One report per client, and the number of the candidate that it had.

    `reports` is their number, each in a random cohort, or the number in every cohort.
    """
    cohorts = np.repeat(np.arange(params.m, dtype=np.int32), _cohort_sizes(params, reports, rng))
    rng.shuffle(cohorts)
    values = rng.choice(len(candidates), len(cohorts), p=_checked(probabilities, candidates))
    blooms = pick(candidates.packed_filters(params), values, cohorts, params)
    return report_once(blooms, params, SecureWords(rng.bytes(32))), values


def _cohort_sizes(params: Params, reports: Any, rng: np.random.Generator) -> np.ndarray:
    if np.ndim(reports) == 0:
        if reports < 1:
            raise RapporError(f"reports={reports} must be 1 or more")
        return rng.multinomial(reports, np.full(params.m, 1 / params.m))
    if len(reports) != params.m:
        raise RapporError(f"{len(reports)} cohort sizes do not fit m={params.m}")
    return np.asarray(reports, dtype=np.int64)


def _checked(probabilities: np.ndarray, candidates: Candidates) -> np.ndarray:
    if len(probabilities) != len(candidates):
        raise RapporError(
            f"{len(probabilities)} probabilities do not match {len(candidates)} candidates"
        )
    return probabilities
