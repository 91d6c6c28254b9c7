"""Where to cut a score, judged on samples that will not be measured."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from dpest.engines.blackbox.events import Scores

THRESHOLDS = 400


@dataclass(frozen=True)
class Cut:
    """A threshold, its side, which input (0 or 1) has the larger rate, and what to expect."""

    threshold: float
    above: bool
    first: int
    promise: float


@dataclass(frozen=True)
class Rates:
    """Rates of events on the first input, the second and both, when pairs share random numbers."""

    first: Scores
    second: Scores
    both: Scores

    def swapped(self) -> Rates:
        return Rates(self.second, self.first, self.both)


@dataclass(frozen=True)
class Planner:
    """Judges cuts by the bound they would give when `measured` pairs are spent on them.

    A planning figure from normal approximations: it chooses what to measure and is never reported.
    """

    measured: int
    alpha: float
    delta: float
    caution: float = 1.0
    """Standard errors by which a promise is lowered for the samples it rests on."""

    def best(self, scores_a: Scores, scores_b: Scores) -> Cut:
        """The most promising cut of a score, over both sides and both directions."""
        thresholds = _thresholds(np.concatenate([scores_a, scores_b]))
        cuts = []
        for above in (True, False):
            rates = _rates(scores_a, scores_b, thresholds, above)
            for first, ordered in ((0, rates), (1, rates.swapped())):
                promises = self.promises(ordered, len(scores_a))
                i = int(promises.argmax())
                cuts.append(Cut(float(thresholds[i]), above, first, float(promises[i])))
        return max(cuts, key=lambda cut: cut.promise)

    def promises(self, rates: Rates, seen: int) -> Scores:
        """Cautious forecasts of the bound for events with these rates among `seen` pairs."""
        gain = np.maximum(rates.first - self.delta, 1e-12)
        ratio = gain / rates.second
        paired = _paired_variance(rates, ratio)
        single = rates.first * (1 - rates.first) + ratio**2 * rates.second * (1 - rates.second)
        width = np.minimum(
            math.sqrt(-2 * math.log(self.alpha)) * np.sqrt(paired),
            NormalDist().inv_cdf(1 - self.alpha) * np.sqrt(single),
        ) / np.sqrt(self.measured)
        doubt = self.caution * np.sqrt(paired / seen)
        promise = np.log(ratio) - (width + doubt) / gain
        return np.where(rates.first > self.delta, promise, -np.inf)


def _paired_variance(rates: Rates, ratio: Scores) -> Scores:
    """Variance of `hit - ratio * hit'` over pairs."""
    first_only, second_only = rates.first - rates.both, rates.second - rates.both
    return np.asarray(first_only + ratio**2 * second_only + (ratio - 1) ** 2 * rates.both)


def _rates(a: Scores, b: Scores, thresholds: Scores, above: bool) -> Rates:
    """Share of pairs beyond each threshold, kept off 0 by half a hit of either input alone."""
    farther = np.minimum(a, b) if above else np.maximum(a, b)
    hits = [_hits(scores, thresholds, above) for scores in (a, b, farther)]
    total = len(a) + 1.5
    return Rates((hits[0] + 0.5) / total, (hits[1] + 0.5) / total, hits[2] / total)


def _hits(scores: Scores, thresholds: Scores, above: bool) -> Scores:
    ordered = np.sort(scores[~np.isnan(scores)])
    if above:
        return np.asarray(len(ordered) - np.searchsorted(ordered, thresholds, side="left"), float)
    return np.asarray(np.searchsorted(ordered, thresholds, side="right"), float)


def _thresholds(scores: Scores) -> Scores:
    """All values of a score if few, else values spread over it and more densely in its tails."""
    known = np.sort(scores[~np.isnan(scores)])
    if len(known) == 0:
        return np.zeros(1)
    tail = np.geomspace(1.0 / len(known), 0.5, THRESHOLDS // 2)
    places = np.concatenate([tail, 1.0 - tail]) * (len(known) - 1)
    return np.unique(known[places.astype(int)])
