"""Which bound to take, fixed on samples that are not measured."""

from __future__ import annotations

import math
from dataclasses import dataclass

from dpest.engines.blackbox.paired import PairCounts, best_stake, paired_lower_bound
from dpest.engines.blackbox.statistics import joint_lower_bound, split_lower_bound

SHARES = (0.5, 0.2, 0.05, 0.01)


@dataclass(frozen=True)
class Rule:
    """How counts become a bound: `kind` is "paired", "joint" or "split", with its parameter.

    "paired" bets on pairs that share random numbers; "joint" and "split" want independent runs.
    """

    kind: str
    parameter: float

    @property
    def coupled(self) -> bool:
        """Whether both sides are to be run on the same random numbers."""
        return self.kind == "paired"

    def bound(self, counts: PairCounts, *, alpha: float, delta: float = 0.0) -> float:
        """The lower bound for the loss at confidence `1 - alpha`."""
        if self.kind == "paired":
            if self.parameter * (1 + delta) >= 1:
                return 0.0
            return paired_lower_bound(counts, alpha=alpha, delta=delta, stake=self.parameter)
        numbers = counts.first, counts.runs, counts.second, counts.runs
        if self.kind == "joint":
            return joint_lower_bound(*numbers, alpha=alpha, delta=delta, weight=self.parameter)
        return float(split_lower_bound(*numbers, alpha=alpha, delta=delta, share=self.parameter))


def best_rule(seen: PairCounts, runs: int, *, alpha: float, delta: float = 0.0) -> Rule:
    """The rule that should do best on `runs` fresh pairs, judging by the pairs seen so far."""
    forecasts = seen.forecasts(runs)
    rules = [
        Rule("paired", best_stake(forecasts, alpha=alpha, delta=delta)),
        Rule("joint", _weight(seen, delta)),
        *(Rule("split", share) for share in SHARES),
    ]
    return max(
        rules, key=lambda rule: sum(rule.bound(f, alpha=alpha, delta=delta) for f in forecasts)
    )


def _weight(seen: PairCounts, delta: float) -> float:
    """The first side's weight: the standard errors of `p` and `exp(eps) * p'` in proportion."""
    p = seen.first / seen.runs
    p_prime = max(seen.second, 0.5) / seen.runs
    error = math.sqrt(p * (1 - p))
    error_prime = max(p - delta, 0.0) / p_prime * math.sqrt(p_prime * (1 - p_prime))
    return min(max(error / math.hypot(error, error_prime), 0.01), 0.99) if error else 0.01
