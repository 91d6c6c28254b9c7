"""What is claimed about a mechanism, and what refutes it."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Protocol

from dpest.evidence import Bound, Verdict

ROUNDING = 1e-12
"""Relative slack of a comparison: a mechanism's parameters are doubles, and so is the claim."""

_LEAST = 1e-9
"""A probability that is this close to one says nothing exact about its complement."""


class Measured(Protocol):
    """What a claim is held against: a report, or anything else with these bounds."""

    @property
    def bound(self) -> Bound: ...
    def delta(self, eps: float) -> Bound: ...
    def renyi(self, alpha: float) -> Bound: ...
    def zcdp(self) -> Bound: ...


class Claim(ABC):
    """Some measure of the privacy loss is at most `limit`."""

    @property
    @abstractmethod
    def limit(self) -> float:
        """What is claimed to be the most."""

    @property
    @abstractmethod
    def measure(self) -> str:
        """What is limited, in words."""

    @property
    @abstractmethod
    def spelling(self) -> str:
        """The claim as typed on the command line."""

    @abstractmethod
    def bound(self, measured: Measured) -> Bound:
        """What is known about the measure."""

    @abstractmethod
    def shown(self, p: float, p_prime: float) -> float:
        """How much of the measure an event of these probabilities shows."""

    @property
    def level(self) -> float | None:
        """The loss above which outputs count against the claim, where it has one."""
        return None

    def excess(self) -> tuple[str, str]:
        """What `shown` computes, in words and in Python; empty where that is no simple sum."""
        return "", ""

    def verdict(self, measured: Measured) -> Verdict:
        """The verdict that the bounds give."""
        bound, slack = self.bound(measured), self.limit * (1 + ROUNDING)
        if bound.upper <= slack and bound.upper_status != "none":
            return Verdict.HOLDS
        if bound.lower > slack and bound.lower_status != "none":
            return Verdict.REFUTED
        return Verdict.UNKNOWN


@dataclass(frozen=True)
class Pure(Claim):
    """epsilon-differential privacy."""

    epsilon: float
    measure = "the privacy loss"

    @property
    def limit(self) -> float:
        return self.epsilon

    @property
    def spelling(self) -> str:
        return f"{self.epsilon:.15g}"

    def bound(self, measured: Measured) -> Bound:
        return measured.bound

    def shown(self, p: float, p_prime: float) -> float:
        return _log_ratio(p, p_prime)

    def __str__(self) -> str:
        return f"{self.epsilon:g}-DP"


@dataclass(frozen=True)
class Approx(Claim):
    """(epsilon, delta)-differential privacy."""

    epsilon: float
    delta: float

    @property
    def limit(self) -> float:
        return self.delta

    @property
    def measure(self) -> str:
        return f"delta({self.epsilon:g})"

    @property
    def spelling(self) -> str:
        return f"approx:{self.epsilon:.15g}:{self.delta:.15g}"

    def bound(self, measured: Measured) -> Bound:
        return measured.delta(self.epsilon)

    def shown(self, p: float, p_prime: float) -> float:
        return p - math.exp(self.epsilon) * p_prime

    @property
    def level(self) -> float:
        return self.epsilon

    def excess(self) -> tuple[str, str]:
        return f"P - e^{self.epsilon:g} P'", f"p - math.exp({self.epsilon!r}) * p_prime"

    def __str__(self) -> str:
        return f"({self.epsilon:g}, {self.delta:g})-DP"


@dataclass(frozen=True)
class Renyi(Claim):
    """Rényi differential privacy of one order."""

    alpha: float
    epsilon: float

    @property
    def limit(self) -> float:
        return self.epsilon

    @property
    def measure(self) -> str:
        return f"the Rényi divergence of order {self.alpha:g}"

    @property
    def spelling(self) -> str:
        return f"renyi:{self.alpha:.15g}:{self.epsilon:.15g}"

    def bound(self, measured: Measured) -> Bound:
        return measured.renyi(self.alpha)

    def shown(self, p: float, p_prime: float) -> float:
        return _divergence(self.alpha, p, p_prime)

    def __str__(self) -> str:
        return f"({self.alpha:g}, {self.epsilon:g})-Rényi DP"


@dataclass(frozen=True)
class ZCDP(Claim):
    """Zero-concentrated differential privacy: every Rényi divergence is at most rho times alpha."""

    rho: float
    measure = "rho"

    @property
    def limit(self) -> float:
        return self.rho

    @property
    def spelling(self) -> str:
        return f"zcdp:{self.rho:.15g}"

    def bound(self, measured: Measured) -> Bound:
        return measured.zcdp()

    def shown(self, p: float, p_prime: float) -> float:
        return _divergence(2.0, p, p_prime) / 2

    def __str__(self) -> str:
        return f"{self.rho:g}-zCDP"


def pure(epsilon: float) -> Pure:
    """The claim of epsilon-differential privacy; infinity claims nothing."""
    return Pure(_at_least_zero(epsilon, "a claim"))


def approx(epsilon: float, delta: float) -> Approx:
    """The claim of (epsilon, delta)-differential privacy."""
    delta = _at_least_zero(delta, "the delta of a claim")
    if delta > 1:
        raise ValueError(f"the delta of a claim must be a probability, got {delta!r}")
    return Approx(_finite(epsilon, "the epsilon of an approximate claim"), delta)


def renyi(alpha: float, epsilon: float) -> Renyi:
    """The claim that the Rényi divergence of order alpha > 1 is at most epsilon."""
    if _finite(alpha, "the order of a Rényi claim") <= 1:
        raise ValueError(f"the order of a Rényi claim must be above 1, got {alpha!r}")
    return Renyi(float(alpha), _finite(epsilon, "the epsilon of a Rényi claim"))


def zcdp(rho: float) -> ZCDP:
    """The claim of rho-zero-concentrated differential privacy."""
    return ZCDP(_finite(rho, "the rho of a claim"))


def as_claim(claim: float | Claim | None) -> Claim | None:
    """A claim given as a bare number means pure(number)."""
    return claim if claim is None or isinstance(claim, Claim) else pure(claim)


def _log_ratio(p: float, q: float) -> float:
    if p <= 0:
        return -math.inf
    return math.log(p / q) if q > 0 else math.inf


def _divergence(alpha: float, p: float, q: float) -> float:
    """The Rényi divergence between two coins that show heads with these probabilities."""
    if min(1 - p, 1 - q) < _LEAST:  # too close to certain for the difference from one to be known
        return 0.0
    sides = [(p, q), (1 - p, 1 - q)]
    if any(a > 0 and b <= 0 for a, b in sides):
        return math.inf
    logs = [math.log(a) + (alpha - 1) * math.log(a / b) for a, b in sides if a > 0]
    top = max(logs)
    return (top + math.log(sum(math.exp(one - top) for one in logs))) / (alpha - 1)


def _at_least_zero(value: Any, name: str) -> float:
    if not isinstance(value, (int, float)) or math.isnan(value) or value < 0:
        raise ValueError(f"{name} must be a number >= 0, got {value!r}")
    return float(value)


def _finite(value: Any, name: str) -> float:
    if math.isinf(_at_least_zero(value, name)):
        raise ValueError(f"{name} must be finite, got {value!r}")
    return float(value)
