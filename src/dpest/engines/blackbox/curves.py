"""What two counts say about delta(eps), epsilon(delta), trade-offs, Rényi divergences and zCDP."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpest.engines.blackbox.paired import PairCounts
from dpest.engines.blackbox.rules import Rule
from dpest.engines.blackbox.statistics import clopper_pearson_lower, clopper_pearson_upper
from dpest.evidence import Bound

BISECTIONS = 50
ORDERS = np.concatenate([1 + np.geomspace(1e-4, 1, 60), np.geomspace(2, 1e4, 60)])


@dataclass(frozen=True)
class SampledCurves:
    """Bounds for measures of the loss, from the event that was counted.

    Each is a statement at the confidence of the audit, `1 - alpha`. The event is likelier on the
    first input, so nothing is known in the "backward" direction alone.
    """

    counts: PairCounts
    rule: Rule | None
    alpha: float

    scope = "lower bounds are those of the event that was counted"

    def delta(self, eps: Any, direction: str = "both") -> Any:
        """What `p - exp(eps) * p_prime` is at least; a list of bounds for a list of eps."""
        return self._each(eps, direction, self._delta, 1.0)

    def epsilon(self, delta: Any, direction: str = "both") -> Any:
        """What `log((p - delta) / p_prime)` is at least; a list for a list of deltas."""
        return self._each(delta, direction, self._loss, math.inf)

    def renyi(self, alpha: Any, direction: str = "both") -> Any:
        """The divergence of order alpha > 1 between "event or not" on either input, at least."""
        if not np.all(np.asarray(alpha, float) > 1):
            raise ValueError(f"counts bound divergences of an order above 1, got {alpha!r}")
        return self._each(alpha, direction, lambda a: self._divergences(np.array([a]))[0], math.inf)

    def zcdp(self) -> Bound:
        """The largest divergence of an order, divided by the order, at least."""
        return self._lower(float(np.max(self._divergences(ORDERS) / ORDERS)), math.inf)

    def trade_off(self, alpha: Any, direction: str = "both") -> Any:
        """The type II error at type I error alpha is at most that of mixing the event with luck."""
        p, q = self._rates

        def at(error: float) -> Bound:
            known = direction != "backward" and p > q
            high = float(np.interp(error, [0, q, 1], [1, 1 - p, 0])) if known else 1 - error
            return Bound(0.0, high, "none", "statistical" if known else "none")

        return [at(float(a)) for a in alpha] if np.ndim(alpha) else at(float(alpha))

    def plot(self, title: str = "") -> Any:
        """Counts of one event draw no curve."""
        raise ValueError(f"{title}: there is no curve to draw; ask for delta(eps) where it matters")

    def _each(
        self, asked: Any, direction: str, least: Callable[[float], float], most: float
    ) -> Any:
        def at(value: float) -> Bound:
            low = 0.0 if direction == "backward" or not self.counts.runs else float(least(value))
            return self._lower(low, most)

        return [at(float(v)) for v in asked] if np.ndim(asked) else at(float(asked))

    def _lower(self, low: float, high: float) -> Bound:
        return Bound(low, high, "statistical" if self.counts.runs else "none", "none")

    def _loss(self, delta: float) -> float:
        assert self.rule is not None
        return self.rule.bound(self.counts, alpha=self.alpha, delta=delta)

    def _delta(self, eps: float) -> float:
        """The largest delta below which all are refuted at this eps."""
        if not self._loss(0.0) > eps:
            return 0.0
        low, high = 0.0, 1.0
        for _ in range(BISECTIONS):
            middle = (low + high) / 2
            low, high = (middle, high) if self._loss(middle) > eps else (low, middle)
        return low

    @cached_property
    def _rates(self) -> tuple[float, float]:
        """The event's probability on the first input at least, on the second at most."""
        if not self.counts.runs:
            return 0.0, 1.0
        low = clopper_pearson_lower(self.counts.first, self.counts.runs, self.alpha / 2)
        high = clopper_pearson_upper(self.counts.second, self.counts.runs, self.alpha / 2)
        return float(low), float(high)

    def _divergences(self, orders: NDArray[np.float64]) -> NDArray[np.float64]:
        """Rényi divergences of two coins, the closest ones in the confidence region."""
        p, q = self._rates
        if p <= q:
            return np.zeros_like(orders)
        hit = orders * math.log(p) + (1 - orders) * math.log(q)
        miss = orders * math.log1p(-p) + (1 - orders) * math.log1p(-q) if p < 1 else -math.inf
        return np.asarray(np.logaddexp(hit, miss) / (orders - 1))
