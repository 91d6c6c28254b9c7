"""How likely each candidate is to be present at all: a spike-and-slab posterior.

The prior of a share is a mixture of exactly zero and half-normal slabs of growing width. Its
weights are learned from the data with a few pseudo-counts in favour of zero. Expectation
propagation gives each candidate the evidence that is left once all others are accounted for, with
their uncertainty; it starts from the unconstrained estimates, knowing only that no share exceeds 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpest.rappor.decoding.evidence import Evidence, inverse

ABSENT_PSEUDO_COUNTS = 3.0
_ROUNDS = 20
_PRIOR_ROUNDS = 20
_DAMPING = 0.6
_SETTLED = 0.02
_LEAST_WEIGHT = 1e-12
_LARGEST_SHARE = 1.0
_DEEPEST = -1e4


@dataclass(frozen=True, eq=False)
class Prior:
    """Weights of "absent" (first) and of half-normal slabs with these standard deviations."""

    weights: np.ndarray
    widths: np.ndarray


@dataclass(frozen=True, eq=False)
class Posterior:
    """Per candidate: the probability of being absent and the mean share; and the prior learned.

    `estimate` and `variance` are what the data say about a candidate on its own: its prior is left
    out, those of all others are used. `directions` has a column per candidate: how all shares move
    when its own does.
    """

    absent: np.ndarray
    mean: np.ndarray
    estimate: np.ndarray
    variance: np.ndarray
    directions: np.ndarray
    prior: Prior


def spike_and_slab(evidence: Evidence, known_absent: int = 0) -> Posterior:
    """The posterior of all candidates; `known_absent` others were ruled out beforehand."""
    words = evidence.words
    precision, shift = np.zeros(len(evidence.score)), np.zeros(len(evidence.score))
    precision[:words] = 1 / _LARGEST_SHARE**2
    prior = _first_prior(evidence, precision)
    for _ in range(_ROUNDS):
        covariance = inverse(evidence.information + np.diag(precision))
        mean, variance = covariance @ (evidence.score + shift), np.diag(covariance)
        cavity_variance = 1 / np.maximum(1 / variance - precision, 1e-6 / variance)[:words]
        cavity = cavity_variance * (mean / variance - shift)[:words]
        tilted = _Tilted(cavity, cavity_variance, prior.widths)
        prior = Prior(tilted.learn(prior.weights, known_absent), prior.widths)
        absent, first, spread = tilted.moments(prior.weights)
        wanted = np.maximum(1 / spread - 1 / cavity_variance, 1e-8 / cavity_variance)
        wanted_shift = first * (wanted + 1 / cavity_variance) - cavity / cavity_variance
        change = np.abs(wanted - precision[:words]) / (wanted + 1 / cavity_variance)
        precision[:words] += _DAMPING * (wanted - precision[:words])
        shift[:words] += _DAMPING * (wanted_shift - shift[:words])
        if change.max(initial=0) < _SETTLED:
            break
    directions = covariance[:, :words] / variance[:words]
    return Posterior(absent, first, cavity, cavity_variance, directions, prior)


def absent_probability(estimate: np.ndarray, variance: np.ndarray, prior: Prior) -> np.ndarray:
    """The probability that candidates with these independent estimates are absent."""
    return _Tilted(estimate, variance, prior.widths).moments(prior.weights)[0]


def _first_prior(evidence: Evidence, precision: np.ndarray) -> Prior:
    words = evidence.words
    covariance = inverse(evidence.information + np.diag(precision))
    narrowest = float(np.sqrt(np.median(np.diag(covariance)[:words])))
    largest = min(float((covariance @ evidence.score)[:words].max()), _LARGEST_SHARE)
    widest = max(largest, 2 * narrowest)
    slabs = int(np.ceil(np.log2(widest / narrowest))) + 2
    weights = np.full(slabs + 1, 0.1 / slabs)
    weights[0] = 0.9
    return Prior(weights, narrowest * 2.0 ** np.arange(slabs))


class _Tilted:
    """Independent normal estimates times each component of the prior."""

    def __init__(self, estimate: np.ndarray, variance: np.ndarray, widths: np.ndarray) -> None:
        from scipy.special import log_ndtr

        mu, v, slab = estimate[:, None], variance[:, None], widths**2
        centre, spread = mu * slab / (v + slab), v * slab / (v + slab)
        depth = np.maximum(centre / np.sqrt(spread), _DEEPEST)
        spike = _log_normal(estimate, variance)[:, None]
        slabs = np.log(2) + _log_normal(mu, v + slab) + log_ndtr(depth)
        mills = np.exp(_log_normal(depth, np.ones(1)) - log_ndtr(depth))
        self.log_evidence = np.hstack([spike, slabs])
        self.first = centre + np.sqrt(spread) * mills
        self.second = spread + centre * self.first
        self.least_spread = 1e-4 * variance

    def learn(self, weights: np.ndarray, known_absent: int) -> np.ndarray:
        """The weights that make these estimates likely, by EM."""
        for _ in range(_PRIOR_ROUNDS):
            weights = self.memberships(weights).sum(axis=0)
            weights[0] += ABSENT_PSEUDO_COUNTS + known_absent
            weights = np.maximum(weights / weights.sum(), _LEAST_WEIGHT)
        return weights

    def memberships(self, weights: np.ndarray) -> np.ndarray:
        """Which component each estimate comes from."""
        log_joint = self.log_evidence + np.log(weights)
        joint = np.exp(log_joint - log_joint.max(axis=1, keepdims=True))
        return joint / joint.sum(axis=1, keepdims=True)

    def moments(self, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The probability of the spike, the mean and the variance."""
        members = self.memberships(weights)
        first = (members[:, 1:] * self.first).sum(axis=1)
        second = (members[:, 1:] * self.second).sum(axis=1)
        return members[:, 0], first, np.maximum(second - first**2, self.least_spread)


def _log_normal(x: np.ndarray, variance: np.ndarray) -> np.ndarray:
    return -0.5 * (np.log(2 * np.pi * variance) + x**2 / variance)
