"""The likelihood of whole reports, which keeps what sums of bits throw away.

A report holds a candidate, a string that nobody listed (whose bits look random), or nothing at
all. Given the shares of these, the probability of a report is a mixture, concave in the shares:

    P(report) = sum over words of share * P(report | word's bits)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from dpest.rappor.decoding.evidence import Evidence, inverse
from dpest.rappor.decoding.fit import Fit
from dpest.rappor.decoding.posterior import Posterior, spike_and_slab
from dpest.rappor.decoding.profile import own_quadratics

if TYPE_CHECKING:
    from scipy.sparse import csc_matrix

    from dpest.rappor.params import Params
    from dpest.rappor.reports import Reports

_AGREEMENT = 5.0
_SHARPER = 1.2
_MOST_REFUSED = 0.1
_STEPS = 15
_CLIMBING = 50_000
_ROUNDS = 3
NUISANCES = 2
_LEAST_NUISANCE = 1e-4
_HALVINGS = 30
_ABSURD = -3.0
_BLOCK = 1 << 22
_WORK = 1e11
_MOST_WORDS = 500
_SMALLEST = 1e-9


@dataclass(frozen=True, eq=False)
class BitLikelihood:
    """How the bits of a report weigh in favour of a word, in log ratios to an empty filter."""

    one: float
    zero: float
    unlisted_one: float
    unlisted_zero: float

    @classmethod
    def of(cls, params: Params, density: float) -> BitLikelihood:
        """The log ratios, where an unlisted string sets this share of the bits."""
        p, q = np.clip([params.p_star, params.q_star], _SMALLEST, 1 - _SMALLEST)
        r = p + (q - p) * density
        ratios = np.log([q / p, (1 - q) / (1 - p), r / p, (1 - r) / (1 - p)])
        return cls(*map(float, ratios))

    def relative(self, bits: np.ndarray, filters: np.ndarray) -> np.ndarray:
        """The probability of each report (row) under each word, an unlisted string, and nothing.

        Rows are scaled so that the largest entry is 1.
        """
        ones = bits.sum(axis=1, dtype=np.float32)
        table = np.empty((len(bits), filters.shape[1] + NUISANCES), np.float32)
        words = table[:, :-NUISANCES]
        np.matmul(bits, filters * np.float32(self.one - self.zero), out=words)
        words += np.float32(self.zero) * filters.sum(axis=0)
        table[:, -2] = ones * self.unlisted_one + (bits.shape[1] - ones) * self.unlisted_zero
        table[:, -1] = 0
        table -= table.max(axis=1, keepdims=True)
        return np.exp(table, out=table)


@dataclass(frozen=True, eq=False)
class ReportModel:
    """The distinct reports of each cohort, how often each occurs, and the words' filters."""

    cohorts: list[tuple[np.ndarray, np.ndarray, np.ndarray]]
    bit_likelihood: BitLikelihood
    components: int

    @classmethod
    def of(cls, reports: Reports, params: Params, design: csc_matrix) -> ReportModel:
        """Prepare the reports for these candidates."""
        density = design.nnz / max(np.prod(design.shape), 1)
        filters = design.toarray().astype(np.float32).reshape(params.m, params.k, -1)
        cohorts = [
            (*_distinct(reports.packed[reports.cohorts == j], params.k), filters[j])
            for j in np.unique(reports.cohorts)
        ]
        return cls(cohorts, BitLikelihood.of(params, density), design.shape[1] + NUISANCES)

    @cached_property
    def sizes(self) -> np.ndarray:
        """The number of reports of each cohort."""
        return np.array([repeats.sum(dtype=float) for _, repeats, _ in self.cohorts])

    def thinned(self, most: int) -> ReportModel:
        """The same with every n-th report of a cohort, so that about this many are left."""
        step = max(1, sum(len(packed) for packed, _, _ in self.cohorts) // most)
        cohorts = [(packed[::step], repeats[::step], x) for packed, repeats, x in self.cohorts]
        return replace(self, cohorts=cohorts)

    def blocks(self) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
        """Cohort, repeats and relative probabilities of some reports at a time."""
        size = max(1, _BLOCK // self.components)
        for j, (packed, repeats, filters) in enumerate(self.cohorts):
            for at in range(0, len(packed), size):
                part = packed[at : at + size]
                bits = np.unpackbits(part, axis=1, count=len(filters), bitorder="little")
                table = self.bit_likelihood.relative(bits.astype(np.float32), filters)
                yield j, repeats[at : at + size], table

    @staticmethod
    def _probability(table: np.ndarray, shares: np.ndarray) -> np.ndarray:
        """How likely each report is; never so unlikely that its slope overflows."""
        return np.maximum(table @ shares.astype(np.float32), np.float32(_SMALLEST))

    def climb(self, shares: np.ndarray, steps: int) -> np.ndarray:
        """This many steps of expectation maximisation from these shares."""
        for _ in range(steps):
            slope = np.zeros(self.components)
            for _, repeats, table in self.blocks():
                slope += (repeats / self._probability(table, shares)) @ table
            shares = shares * slope / self.sizes.sum()
        return shares

    def completed(self, words: np.ndarray, listed_only: bool) -> np.ndarray:
        """Shares that sum to one: these words, and nuisances as the reports divide the rest.

        Where each bit belongs to one candidate the rest is clients that hold none of them. Else
        the likeliest split between "unlisted" and "nothing" is taken; its slope falls all along.
        """
        room = 1 - NUISANCES * _LEAST_NUISANCE
        words = words * min(1, room / max(words.sum(), _SMALLEST))
        rest, split = 1 - words.sum(), np.array([0.0, 1.0])
        if listed_only:
            return np.append(words, rest * split)
        known, differs, repeats = self._split(words, rest)
        low, high = 0.0, 1.0
        for _ in range(_HALVINGS):
            unlisted = (low + high) / 2
            rising = repeats @ (differs / np.maximum(known + unlisted * differs, _SMALLEST)) > 0
            low, high = (unlisted, high) if rising else (low, unlisted)
        nuisances = np.array([low, 1 - low]) * rest
        least = min(_LEAST_NUISANCE, rest / NUISANCES)
        return np.append(words, np.clip(nuisances, least, rest - least))

    def _split(self, words: np.ndarray, rest: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The probability of each report if the rest holds nothing, and what "unlisted" adds."""
        known, differs, repeats = [], [], []
        for _, times, table in self.blocks():
            known.append(table[:, :-NUISANCES] @ words + rest * table[:, -1])
            differs.append(rest * (table[:, -2] - table[:, -1]))
            repeats.append(times)
        return np.concatenate(known), np.concatenate(differs), np.concatenate(repeats)

    def expand(self, shares: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
        """Score, information and disagreement of cohorts of the log-likelihood at these shares.

        The shares are free to sum to anything: the log-likelihood is that of a Poisson number of
        reports, which is largest where the shares sum to one.
        """
        scores = np.zeros((len(self.cohorts), self.components))
        information = np.zeros((self.components, self.components))
        for j, repeats, table in self.blocks():
            root = np.sqrt(repeats)
            table *= (root / self._probability(table, shares))[:, None]
            scores[j] += root @ table
            information += table.T @ table
        scores -= self.sizes[:, None]
        spread, words = np.diag(information) + 1, shares[:-NUISANCES]
        present = np.flatnonzero(words >= np.quantile(words, 0.5))
        disagreement = self._disagreement(scores[:, present], spread[present])
        return scores.sum(axis=0), information, disagreement

    def slopes(
        self, shares: np.ndarray, kept: np.ndarray
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Repeats of some reports at a time, and the slopes of their log-probability."""
        for _, repeats, table in self.blocks():
            table /= self._probability(table, shares)[:, None]
            yield repeats, table[:, kept]

    def _disagreement(self, scores: np.ndarray, spread: np.ndarray) -> float:
        """The mean chi-square per degree of freedom of each cohort's own score.

        It is 1 if all cohorts show the same shares, more if something unlisted bends some of them.
        """
        if len(scores) < 2:
            return 1.0
        share = (self.sizes / self.sizes.sum())[:, None]
        chi2 = ((scores - share * scores.sum(axis=0)) ** 2 / (share * spread)).sum(axis=0)
        return float(chi2.mean() / (len(scores) - 1))


def fit_reports(reports: Reports, params: Params, design: csc_matrix, counts: Fit) -> Fit:
    """Refine a fit of counts by the likelihood of the reports that were counted.

    After some steps uphill with a sample of the reports, the log-likelihood is expanded to second
    order, solved with the sparse prior, and expanded again at the posterior mean, a few times; then
    each candidate is followed on its own to its likeliest share. Of a large dictionary only the
    candidates that the counts find likeliest are refined. Frequent unlisted strings bend the
    likelihood as much as they bend single bits, so the evidence is scaled by the dispersion of the
    counts. The share of unlisted strings stays the one of the counts: its likelihood has too long a
    tail for an expansion. For the same reason an estimate is what the data say given that no other
    share is negative, and a share moves by about 1 at most.
    """
    chosen = _likeliest(counts, design.shape[1], len(reports))
    model = ReportModel.of(reports, params, design[:, chosen])
    listed_only, sample = counts.other[1] == 0, model.thinned(_CLIMBING)
    words = sample.climb(_start(counts, chosen, listed_only), _STEPS)[: len(chosen)]
    for _ in range(_ROUNDS):
        centre = sample.completed(words, listed_only)
        score, information, disagreement = model.expand(centre)
        information += np.eye(len(score))
        kept = _supported(information, score + information @ centre, listed_only)
        dispersion = max(counts.dispersion, disagreement)
        evidence = _evidence(
            information[np.ix_(kept, kept)], (score + information @ centre)[kept], len(chosen),
            len(reports),
        ).scaled(dispersion)  # fmt: skip
        posterior = spike_and_slab(evidence, len(counts.mean) - len(chosen))
        words = posterior.mean
    slopes = model.slopes(centre, kept)
    own = own_quadratics(slopes, centre[: len(chosen)], posterior, dispersion)
    if own is None:
        return counts
    return _combined(counts, chosen, evidence, posterior, own, dispersion)


def _start(counts: Fit, chosen: np.ndarray, listed_only: bool) -> np.ndarray:
    """What the counts say, with room for what they missed."""
    shares = np.append(counts.mean[chosen], [max(counts.other[0], 0), 0])
    shares += 1 / len(shares)
    if listed_only:
        shares[-NUISANCES] = 0
    return shares / shares.sum()


def _supported(information: np.ndarray, score: np.ndarray, listed_only: bool) -> np.ndarray:
    """All words, and "unlisted" and "nothing" unless they come out absurdly negative.

    They do where hardly a report could be theirs: the likelihood then falls but does not bend.
    Nothing is unlisted where each bit belongs to one candidate.
    """
    covariance = inverse(information)
    z = (covariance @ score) / np.sqrt(np.diag(covariance))
    keep = np.append(np.ones(len(z) - NUISANCES, bool), z[-NUISANCES:] > _ABSURD)
    keep[-NUISANCES] &= not listed_only
    return np.flatnonzero(keep)


def _evidence(information: np.ndarray, score: np.ndarray, words: int, reports: int) -> Evidence:
    """The evidence, without the variance that a Poisson number of reports would add."""
    plain = Evidence(information, score, words, np.zeros(words))
    return replace(plain, extra_variance=-(np.clip(plain.estimate[:words], 0, 1) ** 2) / reports)


def _combined(
    counts: Fit,
    chosen: np.ndarray,
    evidence: Evidence,
    posterior: Posterior,
    own: tuple[np.ndarray, np.ndarray],
    dispersion: float,
) -> Fit:
    """The refined shares, where they are sharper than those of the counts and agree with them.

    Both estimate the same shares. If many disagree, an expansion has left the ground it holds on
    (fewer reports than candidates, hardly any noise), and the fit of the counts stands.
    """
    shares, variance = own
    error = np.sqrt(np.maximum(variance + evidence.extra_variance, 0))
    coarse = counts.std_error[chosen]
    agree = np.abs(shares - counts.estimate[chosen]) <= _AGREEMENT * coarse
    sharper = agree & (error > 0) & (error <= _SHARPER * coarse)
    if np.mean(~sharper) > _MOST_REFUSED:
        return counts
    better = chosen[sharper]
    columns = (x.copy() for x in (counts.estimate, counts.std_error, counts.absent, counts.mean))
    estimate, std_error, absent, mean = columns
    estimate[better], std_error[better] = shares[sharper], error[sharper]
    absent[better], mean[better] = posterior.absent[sharper], posterior.mean[sharper]
    return Fit(
        estimate, std_error, absent, mean, counts.other, counts.chi2, counts.degrees, dispersion,
        posterior.prior, refined=len(better),
    )  # fmt: skip


def _likeliest(counts: Fit, words: int, reports: int) -> np.ndarray:
    limit = int(np.clip(np.sqrt(_WORK / max(reports, 1)), 50, _MOST_WORDS))
    if words <= limit:
        return np.arange(words)
    return np.sort(np.argpartition(counts.absent, limit - 1)[:limit])


def _distinct(packed: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The different reports and how often each occurs; not worth looking for where k is large."""
    if 2**k > len(packed):
        return packed, np.ones(len(packed), np.float32)
    rows, repeats = np.unique(packed, axis=0, return_counts=True)
    return rows, repeats.astype(np.float32)
