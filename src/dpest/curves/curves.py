"""What is known about the privacy loss beyond its maximum: delta(eps) and its relatives."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from dpest.curves.grid import Rounding
from dpest.curves.law import LossLaw, power
from dpest.curves.measures import Interval, deltas, epsilons, powers
from dpest.curves.moments import concentration, divergences
from dpest.evidence import Bound, Status

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = NDArray[np.float64]
Direction = Literal["both", "forward", "backward"]
Measure = Callable[[LossLaw], Interval]
_SAME = 1 - 1e-9
"""Of values that agree to this share the first is taken."""


@dataclass(frozen=True, eq=False)
class LossPair:
    """The laws of the loss of a pair of inputs, in both directions."""

    forward: LossLaw
    backward: LossLaw

    @classmethod
    def of(cls, forward: LossLaw) -> LossPair:
        """The law, and that with the inputs exchanged."""
        return cls(forward, forward.reversed())

    def composed(self, count: int, rounding: Rounding) -> LossPair:
        """So many independent outputs for the same two inputs."""
        forward = power(self.forward, count, rounding)
        return LossPair(forward, power(self.backward, count, rounding))

    def laws(self, direction: Direction) -> Sequence[LossLaw]:
        """One law, or both."""
        if direction == "both":
            return self.forward, self.backward
        return (self.forward,) if direction == "forward" else (self.backward,)


@dataclass(frozen=True, eq=False)
class Side:
    """Pairs whose worst is a bound from one side, and how far it can be trusted."""

    pairs: tuple[LossPair, ...]
    status: Status
    places: tuple[tuple[Any, Any], ...] = ()
    """The inputs of the pairs, where these are known."""

    def composed(self, count: int, rounding: Rounding) -> Side:
        """The same pairs, each drawn so many times."""
        pairs = tuple(pair.composed(count, rounding) for pair in self.pairs)
        return replace(self, pairs=pairs)

    def directed(self) -> Iterator[tuple[LossPair, Any, Any]]:
        """Every pair in either direction, with its inputs, the likelier one first."""
        for pair, (x, y) in zip(self.pairs, self.places, strict=False):
            yield LossPair(pair.forward, pair.forward), x, y
            yield LossPair(pair.backward, pair.backward), y, x

    def worst(self, direction: Direction, measure: Measure, end: Literal[0, 1]) -> Array:
        """The largest value over all pairs: at least (0) or at most (1) so much."""
        laws = [law for pair in self.pairs for law in pair.laws(direction)]
        return np.asarray(np.max([measure(law)[end] for law in laws], axis=0))


@dataclass(frozen=True, eq=False)
class Curves:
    """Bounds on every measure of the privacy loss.

    `shown` are pairs of neighbours: the loss is at least theirs. Each of `covering` is at least as
    bad as any two neighbours: the loss is at most that of the least of them. A measure of a number
    gives one bound, that of a sequence a list of bounds. `direction` is the one in which the first
    input of every pair is the likelier one ("forward"), the other one ("backward"), or the worse
    of the two ("both").
    """

    shown: Side | None
    covering: tuple[Side, ...]
    scope: str
    """Which neighbours the lower bounds come from, and what the upper ones cover."""

    def delta(self, eps: Any, direction: Direction = "both") -> Any:
        """The least delta for which (eps, delta)-differential privacy holds."""
        points = _numbers(eps, "eps must be a number >= 0", 0.0, math.inf)
        return _answer(eps, self._bounds(lambda law: deltas(law, points), direction, 1.0, points))

    def epsilon(self, delta: Any, direction: Direction = "both") -> Any:
        """The least epsilon for which (epsilon, delta)-differential privacy holds."""
        points = _numbers(delta, "delta must be a probability", 0.0, 1.0)
        return _answer(
            delta, self._bounds(lambda law: epsilons(law, points), direction, math.inf, points)
        )

    def trade_off(self, alpha: Any, direction: Direction = "both") -> Any:
        """The least type II error of any test between two neighbours, at a type I error of alpha.

        The lower end is what is guaranteed: the mechanism is f-DP for the f that it draws.
        """
        levels = _numbers(alpha, "the type I error alpha must be a probability", 0.0, 1.0)
        found = self._bounds(lambda law: powers(law, levels), direction, 1.0, levels)
        return _answer(alpha, [
            Bound(1 - b.upper, 1 - max(b.lower, float(level)), b.upper_status, b.lower_status)
            for b, level in zip(found, levels, strict=True)
        ])  # fmt: skip

    def renyi(self, alpha: Any, direction: Direction = "both") -> Any:
        """The Rényi divergence of order alpha >= 1; order 1 is that of Kullback and Leibler."""
        orders = _numbers(alpha, "the order of a divergence must be a finite number >= 1", 1.0,
                          float(np.finfo(float).max))  # fmt: skip
        return _answer(
            alpha, self._bounds(lambda law: divergences(law, orders), direction, math.inf, orders)
        )

    def zcdp(self) -> Bound:
        """The least rho for which rho-zero-concentrated differential privacy holds."""

        def ends(law: LossLaw) -> Interval:
            low, high = concentration(law)
            return np.array([low]), np.array([high])

        return self._bounds(ends, "both", math.inf, np.zeros(1))[0]

    def compose(self, k: int) -> Curves:
        """The curves of k independent runs of the mechanism on the same input.

        Sums of losses are rounded to the safe side: up in the upper bounds, down in the lower.
        """
        if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or k < 1:
            raise ValueError(f"the number of runs must be a whole number >= 1, got {k!r}")
        shown = self.shown.composed(int(k), "low") if self.shown else None
        covering = tuple(side.composed(int(k), "high") for side in self.covering)
        return Curves(shown, covering, f"{k} runs: {self.scope}")

    def worst_inputs(self, measure: Callable[[Any], Bound]) -> tuple[Any, Any] | None:
        """The inputs that show most of a measure, the likelier one first."""
        found = [
            (measure(Curves(Side((pair,), "numeric"), (), "")).lower, x, y)
            for pair, x, y in (self.shown.directed() if self.shown else ())
        ]
        most = max((value for value, _, _ in found), default=0.0)
        return next(((x, y) for value, x, y in found if value >= most * _SAME), None)

    def to_pld(self, step: float = 1e-4) -> Any:
        """The same as dp_accounting's `PrivacyLossDistribution`, its losses rounded up to steps.

        It is at least as bad as any two neighbours. dp_accounting has to be installed.
        """
        from dpest.curves.export import to_pld

        return to_pld(self, step)

    def plot(self, title: str = "") -> Figure:
        """A figure of delta(eps), the trade-off of errors, and the Rényi divergences."""
        from dpest.curves.picture import picture

        return picture(self, title)

    def _bounds(
        self, measure: Measure, direction: Direction, most: float, asked: Array
    ) -> list[Bound]:
        """What is known about a measure that is larger the more is lost, and at most `most`."""
        if direction not in ("both", "forward", "backward"):
            raise ValueError(
                f"direction must be 'both', 'forward' or 'backward', got {direction!r}"
            )
        low, high = np.zeros(len(asked)), np.full(len(asked), most)
        if self.shown is not None:
            low = self.shown.worst(direction, measure, 0)
        for side in self.covering:
            high = np.minimum(high, side.worst(direction, measure, 1))
        return [self._bound(a, b) for a, b in zip(low.tolist(), high.tolist(), strict=True)]

    def _bound(self, low: float, high: float) -> Bound:
        known = self.covering and (high < math.inf or low == high)
        return Bound(
            min(low, high), high, self.shown.status if self.shown else "none",
            self.covering[0].status if known else "none",
        )  # fmt: skip


def _answer(asked: Any, bounds: list[Bound]) -> Any:
    """A bound for a number, a list of bounds for a sequence."""
    return bounds[0] if np.ndim(asked) == 0 else bounds


def _numbers(given: Any, rule: str, least: float, most: float) -> Array:
    """A number or a sequence of numbers as an array, each of them as the rule says."""
    values = given if np.ndim(given) == 1 else [given]
    for value in values:
        plain = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
        if not plain or not least <= value <= most:
            raise ValueError(f"{rule}, got {value!r}")
    return np.array([float(value) for value in values])
