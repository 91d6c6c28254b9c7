"""How well the estimates explain the bits that were counted, cohort by cohort."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dpest.rappor.decoding.debias import BitShares
from dpest.rappor.decoding.fit import Fit, kept_rows

if TYPE_CHECKING:
    from scipy.sparse import csc_matrix


@dataclass(frozen=True, eq=False)
class BitFit:
    """A row per cohort that has reports, a column per bit.

    `observed` is the share of clients with the bit once the noise is undone (unbiased, so it may
    leave [0, 1]), `expected` what the estimates of the strings add up to, and `std_error` the noise
    of `observed` if they are right. `sizes` counts the reports of the cohorts numbered `cohorts`.
    """

    cohorts: np.ndarray
    sizes: np.ndarray
    observed: np.ndarray
    expected: np.ndarray
    std_error: np.ndarray

    @classmethod
    def of(cls, fit: Fit, shares: BitShares, design: csc_matrix) -> BitFit:
        """Compare a fit with the counts that it was made of."""
        fitted = (kept_rows(shares, design) @ fit.mean).reshape(shares.share.shape)
        expected = fitted + _unlisted(fit, shares, fitted)
        error = np.sqrt(shares.variance(expected))
        return cls(np.flatnonzero(shares.kept), shares.sizes, shares.share, expected, error)

    @property
    def residuals(self) -> np.ndarray:
        """How many standard errors each bit is off."""
        return (self.observed - self.expected) / self.std_error

    @property
    def chi2(self) -> np.ndarray:
        """The sum of the squared residuals of each cohort; about k where the fit is good."""
        return (self.residuals**2).sum(axis=1)

    @property
    def explained_var(self) -> float:
        """The share of the variance of the observed bits that the estimates explain."""
        spread = self._mean((self.observed - self._mean(self.observed)) ** 2)
        return float(np.clip(1 - self._left() / spread, 0, 1)) if spread else 0.0

    @property
    def missing_var(self) -> float:
        """The share of that variance that is neither explained nor noise."""
        spread = self._mean((self.observed - self._mean(self.observed)) ** 2)
        missing = (self._left() - self._mean(self.std_error**2)) / spread if spread else 0.0
        return float(np.clip(missing, 0, 1))

    def _left(self) -> float:
        return self._mean((self.observed - self.expected) ** 2)

    def _mean(self, of: np.ndarray) -> float:
        return float(np.average(of.mean(axis=1), weights=self.sizes))


def _unlisted(fit: Fit, shares: BitShares, fitted: np.ndarray) -> float:
    """What strings that nobody listed add to every bit alike, if the method has room for them."""
    if not fit.other[1] > 0:
        return 0.0
    return float(np.average((shares.share - fitted).mean(axis=1), weights=shares.sizes))
