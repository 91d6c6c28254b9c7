"""The law of the privacy loss log P/Q of one pair of inputs, in one direction."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dpest.curves.atoms import Atoms
from dpest.curves.convolved import Convolved
from dpest.curves.density import Panels
from dpest.curves.gaussian import Gaussian
from dpest.curves.grid import Rounding

Array = NDArray[np.float64]
Part = Atoms | Panels | Gaussian | Convolved
MAX_ATOMS = 50_000
MAX_PANELS = 20_000
"""More panels than this become points."""
_FEW = 64
"""So many outcomes beside others are worked out one by one."""


@dataclass(frozen=True, eq=False)
class LossLaw:
    """A sum of parts, each with its masses under both inputs."""

    parts: tuple[Part, ...]
    cap: float = math.inf
    """What no loss exceeds, in either direction, where that is known from elsewhere."""
    rho: float = math.inf
    """What no Rényi divergence exceeds in multiples of its order, where that is known."""

    def deltas(self, eps: Array) -> Array:
        """delta(eps) for every eps: the integral of (P - e^eps Q) where it is positive."""
        eps = np.asarray(eps, float)
        return np.clip(sum(part.deltas(eps) for part in self.parts), 0.0, 1.0)

    def above(self, eps: Array) -> tuple[Array, Array]:
        """The probability of a loss above eps, under both inputs."""
        found = [part.above(np.asarray(eps, float)) for part in self.parts]
        return sum(p for p, _ in found), sum(q for _, q in found)  # type: ignore[return-value]

    def log_moments(self, order: Array) -> Array:
        """log E[e^(order * loss)]."""
        logs = [part.log_moments(np.asarray(order, float)) for part in self.parts]
        return np.logaddexp.reduce(logs, axis=0)

    def log_tails(self, order: Array) -> Array:
        """log of what bounds the part of E[e^(order * loss)] that lies too far out."""
        logs = [part.log_tails(np.asarray(order, float)) for part in self.parts]
        return np.logaddexp.reduce(logs, axis=0)

    def excess_moments(self, order: Array) -> Array:
        """E[e^(order * loss) - 1]."""
        return np.asarray(sum(part.excess_moments(order) for part in self.parts))

    def mean(self) -> float:
        """E[loss]."""
        return math.fsum(part.mean() for part in self.parts)

    @cached_property
    def log_masses(self) -> tuple[float, float]:
        """Log probability under both inputs: zero, unless this is a part of a whole."""
        p, q = zip(*(part.log_masses for part in self.parts), strict=True)
        return float(np.logaddexp.reduce(p)), float(np.logaddexp.reduce(q))

    @cached_property
    def missing(self) -> float:
        """At most this probability lies further out than was looked."""
        return math.fsum(part.missing for part in self.parts)

    @cached_property
    def infinite(self) -> float:
        """The probability of an outcome that the other input cannot give."""
        return min(math.fsum(part.infinite for part in self.parts), 1.0)

    @property
    def highest(self) -> tuple[float, float]:
        """Between what the supremum of the loss lies."""
        if self.infinite > 0:
            return math.inf, math.inf
        ends = [part.highest for part in self.parts]
        return max(low for low, _ in ends), min(self.cap, max(high for _, high in ends))

    @cached_property
    def reach(self) -> tuple[float, float]:
        """The smallest and largest finite loss."""
        ends = [part.reach for part in self.parts]
        return min(low for low, _ in ends), max(high for _, high in ends)

    def reversed(self) -> LossLaw:
        """The law with the inputs exchanged."""
        return self._mirror

    @cached_property
    def _mirror(self) -> LossLaw:
        mirror = LossLaw(tuple(part.reversed() for part in self.parts), self.cap, self.rho)
        mirror.__dict__["_mirror"] = self
        return mirror

    @property
    def is_listed(self) -> bool:
        """Whether it consists of a few values, all of them known."""
        return all(isinstance(part, Atoms) and not part.ends.size for part in self.parts)

    def __len__(self) -> int:
        """How many values it lists."""
        return sum(len(part) for part in self.parts if isinstance(part, Atoms))


ONE = LossLaw((Atoms(np.zeros(1), np.zeros(1)),))


def total(laws: Sequence[LossLaw], rounding: Rounding) -> LossLaw:
    """The law of outcomes of several forms; parts of a kind are joined."""
    found = [law for law in laws if any(not isinstance(p, Atoms) or len(p) for p in law.parts)]
    if len(found) == 1:
        return found[0]
    parts = _rounded([part for law in found for part in law.parts], rounding)
    joined: list[Part] = [part for part in parts if isinstance(part, (Gaussian, Convolved))]
    atoms = [part for part in parts if isinstance(part, Atoms)]
    if atoms:
        joined.append(_joined_atoms(atoms))
    if panels := [part for part in parts if isinstance(part, Panels)]:
        joined.append(_joined_panels(panels))
    return LossLaw(tuple(joined))


def _rounded(parts: Sequence[Part], rounding: Rounding) -> Sequence[Part]:
    """Panels as points, where there are too many."""
    count = sum(len(part.log_half) for part in parts if isinstance(part, Panels))
    if count <= MAX_PANELS:
        return parts
    return [
        part.rounded(rounding) if isinstance(part, Panels) else part for part in parts
    ]


def product(laws: Sequence[LossLaw], rounding: Rounding) -> LossLaw:
    """The law of independent outcomes: exact where all but one list their values."""
    if not all(law.parts for law in laws):
        return LossLaw(())
    listed, normal, others = ONE, ONE, []
    for law in sorted(laws, key=len):
        if law.is_listed and len(law) * len(listed) <= MAX_ATOMS:
            listed = _both(listed, law, rounding)
        elif len(law.parts) == 1 and isinstance(law.parts[0], Gaussian):
            normal = law if normal is ONE else LossLaw((law.parts[0].times(normal.parts[0]),))  # type: ignore[arg-type]
        else:
            others.append(law)
    others += [normal] if normal is not ONE else []
    if not others:
        return listed
    if len(listed) > _FEW:
        return _summed([*others, listed], rounding)
    return _both(listed, _summed(others, rounding), rounding)


def _summed(laws: Sequence[LossLaw], rounding: Rounding) -> LossLaw:
    if len(laws) == 1:
        return laws[0]
    counts = Counter(laws)
    factors = tuple((law, counts[law]) for law in sorted(counts, key=id))
    return LossLaw((Convolved(factors, rounding),))


def power(law: LossLaw, count: int, rounding: Rounding) -> LossLaw:
    """The law of so many independent draws."""
    if count == 1:
        return law
    if len(law.parts) == 1:
        (part,) = law.parts
        if isinstance(part, (Gaussian, Convolved)):
            return LossLaw((part.repeated(count),))
    return LossLaw((Convolved(((law, count),), rounding),))


def _both(listed: LossLaw, other: LossLaw, rounding: Rounding) -> LossLaw:
    """Two independent outcomes, of which the first lists its values."""
    if listed is ONE:
        return other
    (atoms,) = listed.parts
    assert isinstance(atoms, Atoms)
    parts = [combined for part in other.parts for combined in _beside(atoms, part)]
    return total([LossLaw((part,)) for part in parts], rounding)


def _beside(atoms: Atoms, part: Part) -> list[Part]:
    if isinstance(part, Atoms) and not part.ends.size:
        return [atoms.times(part)]
    return [_scaled(part, p, q) for p, q in zip(atoms.log_p, atoms.log_q, strict=True)]


def _scaled(part: Part, log_p: float, log_q: float) -> Part:
    """The part beside an independent outcome, which may be one that only one input can give."""
    if log_p > -math.inf and log_q > -math.inf:
        return part.scaled(log_p, log_q)
    p, q = part.log_masses
    return Atoms(np.array([log_p + p]), np.array([log_q + q]))


def _joined_atoms(parts: Sequence[Atoms]) -> Atoms:
    return Atoms.of(
        np.concatenate([part.log_p for part in parts]),
        np.concatenate([part.log_q for part in parts]),
        np.concatenate([part.ends for part in parts], axis=1),
    )


def _joined_panels(parts: Sequence[Panels]) -> Panels:
    return Panels(*(
        np.concatenate([getattr(part, name) for part in parts])
        for name in ("log_half", "log_p", "log_q", "outer")
    ))  # fmt: skip
