"""Which two inputs must look alike."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from dpest.inputs import Inputs, OneOf


@dataclass(frozen=True)
class Norm:
    """Inputs whose difference has a norm of at most `radius`."""

    kind: str  # "l1", "linf" or "l2"
    radius: float

    def check(self, inputs: Inputs) -> None:
        """Refuse a domain in which the relation makes no sense."""
        if isinstance(inputs, OneOf):
            raise ValueError(
                f"neighbors {self} measures a distance, but {inputs} is not a domain of numbers; "
                "use neighbors=dpest.any_pair()"
            )
        if inputs.integral and self.radius < 1:
            raise ValueError(f"no two different inputs of {inputs} are neighbors under {self}")

    def relates(self, x: Any, x_prime: Any) -> bool:
        """Whether two inputs (lists of numbers) are neighbours."""
        gaps = [abs(a - b) for a, b in zip(x, x_prime, strict=True)]
        size = {"l1": sum(gaps), "linf": max(gaps), "l2": math.hypot(*gaps)}[self.kind]
        return size <= self.radius

    def __str__(self) -> str:
        return f"{self.kind}({self.radius:g})"


@dataclass(frozen=True)
class AnyPair:
    """Any two inputs of the domain are neighbours: local differential privacy."""

    def check(self, inputs: Inputs) -> None:
        """Every domain will do."""

    def relates(self, x: Any, x_prime: Any) -> bool:
        return True

    def __str__(self) -> str:
        return "any_pair()"


@dataclass(frozen=True)
class Pairs:
    """The listed pairs, each in both directions."""

    listed: tuple[tuple[Any, Any], ...]

    def check(self, inputs: Inputs) -> None:
        """Every input of every pair must lie in the domain."""
        for pair in self.listed:
            for x in pair:
                inputs.check(x)

    def relates(self, x: Any, x_prime: Any) -> bool:
        return (x, x_prime) in self.listed or (x_prime, x) in self.listed

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        return iter(self.listed)

    def __str__(self) -> str:
        count = len(self.listed)
        return f"pairs({self.listed[0]})" if count == 1 else f"pairs({count} pairs)"


Neighbors = Norm | AnyPair | Pairs


def l1(radius: float = 1.0) -> Norm:
    """Inputs at a distance of at most radius in the sum of absolute differences."""
    return _norm("l1", radius)


def linf(radius: float = 1.0) -> Norm:
    """Inputs that differ by at most radius in every entry."""
    return _norm("linf", radius)


def l2(radius: float = 1.0) -> Norm:
    """Inputs at a Euclidean distance of at most radius."""
    return _norm("l2", radius)


def any_pair() -> AnyPair:
    """Any two inputs of the domain."""
    return AnyPair()


def pairs(listed: Iterable[tuple[Any, Any]]) -> Pairs:
    """The given pairs of inputs only; each is audited in both directions."""
    try:
        found = tuple((x, x_prime) for x, x_prime in listed)
    except (TypeError, ValueError):
        raise ValueError(f"pairs needs a list of (x, x_prime), got {listed!r}") from None
    if not found:
        raise ValueError("pairs needs at least one pair of inputs, got an empty list")
    return Pairs(found)


def _norm(kind: str, radius: float) -> Norm:
    if not isinstance(radius, (int, float)) or not math.isfinite(radius) or radius <= 0:
        raise ValueError(f"{kind} needs a finite positive radius, got {radius!r}")
    return Norm(kind, float(radius))
