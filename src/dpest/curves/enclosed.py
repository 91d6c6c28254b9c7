"""A loss law between two others: one that is better in every respect, and one that is worse."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from dpest.curves import law as laws
from dpest.curves.grid import Rounding
from dpest.curves.law import LossLaw


@dataclass(frozen=True, eq=False)
class Enclosed:
    """Both are the law itself where that is known."""

    low: LossLaw
    high: LossLaw

    @classmethod
    def exact(cls, law: LossLaw) -> Enclosed:
        return cls(law, law)

    def capped(self, limit: float) -> Enclosed:
        """The same, where no loss exceeds the limit."""
        low = replace(self.low, cap=limit)
        return Enclosed(low, low if self.is_exact else replace(self.high, cap=limit))

    @property
    def is_exact(self) -> bool:
        return self.low is self.high


def total(parts: Iterable[Enclosed]) -> Enclosed:
    """The law of outcomes of several forms."""
    return _combined(list(parts), laws.total)


def product(parts: Sequence[Enclosed]) -> Enclosed:
    """The law of independent outcomes."""
    return _combined(parts, laws.product)


def _combined(
    parts: Sequence[Enclosed], combine: Callable[[Sequence[LossLaw], Rounding], LossLaw]
) -> Enclosed:
    low = combine([part.low for part in parts], "low")
    rounded = any(isinstance(part, laws.Convolved) for part in low.parts)
    if not rounded and all(part.is_exact for part in parts):
        return Enclosed.exact(low)
    return Enclosed(low, combine([part.high for part in parts], "high"))
