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
        thresholds = _thresholds(scores_a, scores_b)
        cuts = []
        for above in (True, False):
            rates = _rates(scores_a, scores_b, thresholds, above)
            for first, ordered in ((0, rates), (1, rates.swapped())):
                promises = self.promises(ordered, len(scores_a))
                i = int(promises.argmax())
                cuts.append(Cut(float(thresholds[i]), above, first, float(promises[i])))
        return max(cuts, key=lambda cut: cut.promise)

    def promises(self, rates: Rates, seen: int) -> Scores:
        """Cautious forecasts of the bound for events with these rates among `seen` pairs.

        The loss at which `p - delta` exceeds `exp(loss) * p'` by as many standard errors as the
        bound will ask for and caution adds, for paired or for independent runs.
        """
        first_only, second_only = rates.first - rates.both, rates.second - rates.both
        p, q, nothing = rates.first, rates.second, np.zeros_like(rates.both)
        doubt = self.caution / math.sqrt(seen)
        needed = math.sqrt(-2 * math.log(self.alpha)), NormalDist().inv_cdf(1 - self.alpha)
        paired, single = (each / math.sqrt(self.measured) + doubt for each in needed)
        promise = np.maximum(
            self._solved(rates, paired, (first_only, second_only, rates.both)),
            self._solved(rates, single, (p * (1 - p), q * (1 - q), nothing)),
        )
        return np.where(rates.first > self.delta, promise, -np.inf)

    def _solved(self, rates: Rates, errors: float, parts: tuple[Scores, Scores, Scores]) -> Scores:
        """The loss, where `errors` standard errors explain the rest; their number may be too many.

        The variance of `hit - ratio * hit'` is `parts[0] + ratio**2 parts[1] + (ratio - 1)**2
        parts[2]`, so the ratio solves a quadratic equation. Few hits on the second input may be
        luck: its rate is taken half-way between what was seen and what the ratio would make it.
        """
        gain, rare, square = np.maximum(rates.first - self.delta, 1e-12), rates.second, errors**2
        alone, scaled, shared = parts
        leading = rare**2 - square * (scaled / 2 + shared)
        middle = gain * rare - square * (shared - scaled * gain / rare / 4)
        last = gain**2 - square * (alone + shared)
        root = np.sqrt(np.maximum(middle**2 - leading * last, 0.0))
        ratio = last / np.maximum(middle + root, 1e-300)
        most = gain / rare
        spread = np.sqrt(alone + most**2 * scaled + (most - 1) ** 2 * shared)
        with np.errstate(invalid="ignore", divide="ignore"):
            explained = np.log(most) - errors * spread / gain
            return np.where(ratio > 0, np.minimum(np.log(ratio), np.log(most)), explained)


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


def _thresholds(a: Scores, b: Scores) -> Scores:
    """Values spread over both scores and more densely in their tails, and the ends of either."""
    known_a, known_b = (np.sort(scores[~np.isnan(scores)]) for scores in (a, b))
    if not len(known_a) or not len(known_b):
        return _spread(known_a if len(known_a) else known_b)
    both = np.sort(np.concatenate([known_a, known_b]))
    return np.unique(np.concatenate([_spread(both), *_beyond(known_a, known_b)]))


def _spread(known: Scores) -> Scores:
    if len(known) == 0:
        return np.zeros(1)
    tail = np.geomspace(1.0 / len(known), 0.5, THRESHOLDS // 2)
    places = np.concatenate([tail, 1.0 - tail]) * (len(known) - 1)
    return np.unique(known[places.astype(int)])


def _beyond(a: Scores, b: Scores) -> list[Scores]:
    """Where one score goes on and the other one ends, or has but a few values left."""
    few = 2 ** np.arange(0, 12, 2)
    found = []
    for ends, goes_on in ((a, b), (b, a)):
        last = ends[-few[few <= len(ends)]]
        first = ends[few[few <= len(ends)] - 1]
        above = np.searchsorted(goes_on, last, side="right")
        below = np.searchsorted(goes_on, first, side="left") - 1
        found += [goes_on[above[above < len(goes_on)]], goes_on[below[below >= 0]]]
    return found
