"""What the data say about the shares of the candidates, as a quadratic log-likelihood."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

_RIDGES = (1e-10, 1e-8, 1e-6, 1e-4)
_SMALLEST = 1e-100


@dataclass(frozen=True, eq=False)
class Evidence:
    """The log-likelihood `score·x - x·information·x / 2` of shares x.

    The first `words` entries of x are candidates; the rest are nuisances that every fit needs (the
    share of strings that nobody listed). `extra_variance` is what the sampling of clients adds to
    the variance of a candidate's estimate beyond what the information says.
    """

    information: np.ndarray
    score: np.ndarray
    words: int
    extra_variance: np.ndarray

    @cached_property
    def covariance(self) -> np.ndarray:
        """The covariance of the unconstrained estimate."""
        return inverse(self.information)

    @cached_property
    def estimate(self) -> np.ndarray:
        """The unconstrained most likely shares, nuisances included."""
        return self.covariance @ self.score

    @property
    def std_error(self) -> np.ndarray:
        """The standard errors of `estimate`, sampling of clients included."""
        variance = np.diag(self.covariance).copy()
        variance[: self.words] += self.extra_variance
        return np.sqrt(np.maximum(variance, 0))

    def scaled(self, dispersion: float) -> Evidence:
        """The same evidence where the noise has this many times the variance assumed."""
        information, score = self.information / dispersion, self.score / dispersion
        return replace(self, information=information, score=score)


def inverse(information: np.ndarray) -> np.ndarray:
    """The inverse of a positive matrix, ridged only as far as rounding demands.

    What the data cannot tell apart comes out with an enormous variance, not as an error.
    """
    from scipy.linalg.lapack import dpotrf, dpotri

    size = np.sqrt(np.maximum(np.diag(information), _SMALLEST))
    scaled = information / size / size[:, None]
    for ridge in _RIDGES:
        factor, failed = dpotrf(scaled + ridge * np.eye(len(size)), lower=True, overwrite_a=True)
        if not failed:
            half, _ = dpotri(factor, lower=True, overwrite_c=True)
            return (np.tril(half) + np.tril(half, -1).T) / size / size[:, None]
    raise np.linalg.LinAlgError("the candidates cannot be told apart by their bits")
