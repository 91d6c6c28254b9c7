"""Debiased bits as a linear model of the shares of candidates, weighted by their known noise."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from dpest.rappor.decoding.debias import BitShares
from dpest.rappor.decoding.evidence import Evidence
from dpest.rappor.decoding.posterior import Posterior, spike_and_slab
from dpest.rappor.decoding.unlisted import exceeds_noise, read_residuals

if TYPE_CHECKING:
    from scipy.sparse import csc_matrix

_REWEIGHTINGS = 2
_REFINEMENTS = 3
_ROUNDING = 1e-6
_NOTICED, _CLEAR = 1.5, 3.0


@dataclass(frozen=True, eq=False)
class WorkingFit:
    """The fit of some of the candidates: their evidence, posterior, and how well they explain."""

    chosen: np.ndarray
    response: np.ndarray
    weights: np.ndarray
    evidence: Evidence
    posterior: Posterior
    other: tuple[float, float]
    chi2: float
    degrees: int
    dispersion: float


@dataclass(frozen=True, eq=False)
class LinearModel:
    """`response = design @ shares + background * unlisted share + noise`, a row per counted bit.

    Strings that nobody listed set bits evenly, hence the constant `background` column. There is
    none where each bit belongs to one candidate at most, as in basic RAPPOR and for booleans:
    there the debiased bits themselves are the answer.
    """

    shares: BitShares
    response: np.ndarray
    design: csc_matrix
    background: float

    @classmethod
    def of(cls, shares: BitShares, design: csc_matrix) -> LinearModel:
        """The model of these counts; rows of cohorts without reports are left out."""
        from dpest.rappor.decoding.fit import kept_rows

        rows = kept_rows(shares, design).astype(float)
        shared_bits = np.diff(rows.tocsr().indptr).max(initial=0) > 1
        background = rows.nnz / max(np.prod(rows.shape), 1) if shared_bits else 0.0
        return cls(shares, shares.share.ravel(), rows, background)

    @property
    def words(self) -> int:
        """The number of candidates."""
        return int(self.design.shape[1])

    @property
    def bits_per_word(self) -> float:
        """How many bits of a cohort a candidate sets, on average."""
        return self.design.nnz / max(self.words * len(self.shares.sizes), 1)

    def fit(self, chosen: np.ndarray) -> WorkingFit:
        """Fit these candidates; the noise is that of the fitted bits, not of the noisy ones."""
        columns = self._columns(chosen)
        fitted = np.full(len(self.response), max(self.response.mean(), 0.0))
        for _ in range(_REWEIGHTINGS):
            weights = self._weights(fitted)
            evidence = self._evidence(columns, weights, len(chosen), self.response)
            fitted = columns @ np.maximum(evidence.estimate, 0)
        weights = self._weights(fitted)
        evidence = self._evidence(columns, weights, len(chosen), self.response)
        residual = self.response - columns @ evidence.estimate
        chi2, degrees = float(weights @ residual**2), len(residual) - columns.shape[1]
        dispersion = chi2 / degrees if exceeds_noise(chi2, degrees, _NOTICED) else 1.0
        evidence = evidence.scaled(dispersion)
        return WorkingFit(
            chosen, self.response, weights / dispersion, evidence, self._posterior(evidence),
            self._other(evidence), chi2, degrees, dispersion,
        )  # fmt: skip

    def refined(self, fit: WorkingFit) -> WorkingFit:
        """The same fit, or a sharper one if unlisted strings bend single bits out of shape.

        Each round is a step of scoring: the part of the residuals that is noise, scaled back to
        unit slope, is put on top of the fitted bits, and the sum is fitted with the information
        that is left. Which strings are there is decided as if slope and size were equal, which
        tells less. The share of unlisted strings is the one of the plain fit.
        """
        if not (self.background and exceeds_noise(fit.chi2, fit.degrees, _CLEAR)):
            return fit
        columns, noise_weights = self._columns(fit.chosen), fit.weights * fit.dispersion
        for _ in range(_REFINEMENTS):
            fitted = self.design[:, fit.chosen] @ fit.posterior.mean
            read = read_residuals(self.response - fitted, 1 / np.sqrt(noise_weights))
            freedom = 1 - (1 - fit.posterior.absent).sum() / len(self.response)
            if read.size * freedom * fit.dispersion < 1:
                return fit
            cautious = self._evidence(
                columns, noise_weights * read.size * freedom, len(fit.chosen),
                fitted + read.noise / read.size,
            )  # fmt: skip
            weights, response = (
                noise_weights * read.left * freedom,
                fitted + read.noise / read.slope,
            )
            evidence = self._evidence(columns, weights, len(fit.chosen), response)
            fit = replace(
                fit, response=response, weights=weights, evidence=evidence,
                posterior=self._posterior(cautious),
            )  # fmt: skip
        return fit

    def _posterior(self, evidence: Evidence) -> Posterior:
        return spike_and_slab(evidence, self.words - evidence.words)

    def _other(self, evidence: Evidence) -> tuple[float, float]:
        """The share of strings that nobody listed, and its standard error."""
        if not self.background:
            return 0.0, 0.0
        return float(evidence.estimate[-1]), float(evidence.std_error[-1])

    def standing_out(self, fit: WorkingFit | None, size: int) -> np.ndarray:
        """The candidates with the largest z-scores given a fit of some of them, in order."""
        share = np.zeros(self.words)
        if fit is None:
            weights = self._weights(np.full(len(self.response), self.background))
        else:
            weights, share[fit.chosen] = fit.weights, fit.posterior.mean
        residual = self.response - self.design @ share
        residual -= weights @ residual / weights.sum()
        overlap = self.design.T @ weights
        information = np.maximum(overlap - overlap**2 / weights.sum(), np.finfo(float).tiny)
        root = np.sqrt(information)
        z = self.design.T @ (weights * residual) / root + share * root
        return np.sort(np.argpartition(-z, size - 1)[:size])

    def one_at_a_time(self, fit: WorkingFit) -> tuple[np.ndarray, np.ndarray]:
        """Estimate and standard error of each candidate added alone to a fit.

        One whose bits those fitted already explain cannot be told from them: its share is unknown.
        """
        if len(fit.chosen) == self.words:
            return np.zeros(self.words), np.ones(self.words)
        columns = self._columns(fit.chosen)
        weighted = columns.multiply(fit.weights[:, None]).tocsc()
        cross = np.asarray((self.design.T @ weighted).todense())
        score = self.design.T @ (fit.weights * fit.response) - cross @ fit.evidence.estimate
        alone = self.design.T @ fit.weights
        left = alone - ((cross @ fit.evidence.covariance) * cross).sum(axis=1)
        known = left > _ROUNDING * alone
        information = np.where(known, left, _ROUNDING)
        return np.where(known, score / information, 0.0), 1 / np.sqrt(information)

    def _columns(self, chosen: np.ndarray) -> csc_matrix:
        from scipy.sparse import csc_matrix, hstack

        words = self.design[:, chosen]
        if not self.background:
            return words
        constant = csc_matrix(np.full((len(self.response), 1), self.background))
        return hstack([words, constant], format="csc")

    def _weights(self, fitted: np.ndarray) -> np.ndarray:
        return 1 / self.shares.variance(fitted.reshape(self.shares.share.shape)).ravel()

    def _evidence(
        self, columns: csc_matrix, weights: np.ndarray, words: int, response: np.ndarray
    ) -> Evidence:
        weighted = columns.multiply(weights[:, None]).tocsc()
        information = np.asarray((columns.T @ weighted).todense())
        score = weighted.T @ response
        plain = Evidence(information, score, words, np.zeros(words))
        return Evidence(information, score, words, self._sampling(plain.estimate[:words]))

    def _sampling(self, share: np.ndarray) -> np.ndarray:
        """What the sampling of clients adds beyond the noise of single bits.

        All bits of a string rise and fall together with the number of clients that hold it; the
        information counts that as if each bit had drawn clients of its own.
        """
        together = 1 - 1 / max(self.bits_per_word, 1)
        clients = self.shares.total / self.shares.reports_per_client
        return np.clip(share, 0, 1) * (1 - np.clip(share, 0, 1)) / clients * together
