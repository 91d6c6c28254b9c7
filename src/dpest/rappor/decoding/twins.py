"""Candidates that set exactly the same bits, which nothing can tell apart.

They are fitted as one. What is found is shared out evenly, and the share of each is unknown.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from scipy.sparse import csc_matrix

    from dpest.rappor.decoding.fit import Fit

_UNKNOWN = 1000.0


def twin_groups(design: csc_matrix) -> tuple[np.ndarray, np.ndarray]:
    """The first candidate of each set of bits, and which of these sets each candidate has."""
    numbers: dict[bytes, int] = {}
    columns = itertools.pairwise(design.indptr)
    group = np.array(
        [numbers.setdefault(design.indices[a:b].tobytes(), len(numbers)) for a, b in columns]
    )
    return np.unique(group, return_index=True)[1], group


def spread(fit: Fit, group: np.ndarray) -> Fit:
    """A fit of the different sets of bits as a fit of all candidates."""
    size = np.bincount(group)[group]
    return replace(
        fit,
        estimate=fit.estimate[group] / size,
        std_error=np.where(size > 1, _UNKNOWN, fit.std_error[group]),
        absent=1 - (1 - fit.absent[group]) / size,
        mean=fit.mean[group] / size,
    )
