"""A part of a loss law on finitely many values."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dpest.numbers.panels import log_sum

Array = NDArray[np.float64]
_SAME = 1e-13
"""Losses that differ by less are merged; the merged masses keep their sums."""
_MATRIX = 4_000_000
_NO_ENDS = np.zeros((3, 0))


@dataclass(frozen=True, eq=False)
class Atoms:
    """Outcomes with log probabilities under both inputs, in order of their loss."""

    log_p: Array
    log_q: Array
    ends: Array = field(default_factory=lambda: _NO_ENDS)
    """The outermost outcomes beyond which there are more, too unlikely to be listed.

    In three rows: log p, log q, and 1 where the loss rises beyond, else -1.
    """

    @classmethod
    def of(cls, log_p: Array, log_q: Array, ends: Array = _NO_ENDS) -> Atoms:
        """Outcomes in any order; those of equal loss become one."""
        log_p, log_q = np.asarray(log_p, float), np.asarray(log_q, float)
        possible = (log_p > -np.inf) | (log_q > -np.inf)
        log_p, log_q = log_p[possible], log_q[possible]
        loss = log_p - log_q
        order = np.argsort(loss, kind="stable")
        log_p, log_q, loss = log_p[order], log_q[order], loss[order]
        with np.errstate(invalid="ignore"):
            scale = np.where(np.isfinite(loss[1:]), np.abs(loss[1:]), 1.0)
            rises = np.diff(loss) > _SAME * np.maximum(1.0, scale)
        if not len(loss):
            return cls(log_p, log_q)
        starts = np.flatnonzero(np.concatenate([[True], rises]))
        p, q = (np.logaddexp.reduceat(logs, starts) for logs in (log_p, log_q))
        return cls(p, q, ends)

    @cached_property
    def loss(self) -> Array:
        """The values; infinite where only one of the inputs can give the outcome."""
        return self.log_p - self.log_q

    def deltas(self, eps: Array) -> Array:
        """sum of (p - e^eps q) over the outcomes with a larger loss."""
        finite = np.isfinite(self.loss)
        rows = max(1, _MATRIX // max(1, int(finite.sum())))
        log_p, loss = self.log_p[finite], self.loss[finite]
        found = [
            (np.exp(log_p) * -np.expm1(np.minimum(eps[k : k + rows, None] - loss, 0.0))).sum(axis=1)
            for k in range(0, len(eps), rows)
        ]
        return np.concatenate(found) + self.infinite

    @property
    def infinite(self) -> float:
        """The probability of what the other input cannot give."""
        return float(np.exp(self.log_p[self.loss == np.inf]).sum())

    @property
    def missing(self) -> float:
        """A bound on the probability of what is not listed: that of the outermost outcomes."""
        return float(np.exp(self._rising).sum())

    @property
    def _rising(self) -> Array:
        return np.asarray(self.ends[0, self.ends[2] > 0])

    @property
    def highest(self) -> tuple[float, float]:
        """Between what the largest loss lies."""
        largest = float(self.loss[self.log_p > -np.inf].max(initial=-np.inf))
        return largest, np.inf if len(self._rising) else largest

    def above(self, eps: Array) -> tuple[Array, Array]:
        """The mass of losses above eps, under both inputs."""
        place = np.searchsorted(self.loss, eps, side="right")
        p, q = (np.append(np.cumsum(np.exp(logs)[::-1])[::-1], 0.0)
                for logs in (self.log_p, self.log_q))  # fmt: skip
        return p[place], q[place]

    def log_moments(self, order: Array) -> Array:
        """log of the sum of p e^(order * loss)."""
        drawn = self.log_p > -np.inf
        return log_sum(self.log_p[drawn] + order[:, None] * self.loss[drawn], axis=1)

    def log_tails(self, order: Array) -> Array:
        """log of what bounds the part of a moment that is not listed."""
        log_p, log_q, _ = self.ends
        return log_sum(log_p + order[:, None] * (log_p - log_q), axis=1)

    def excess_moments(self, order: Array) -> Array:
        """sum of p (e^(order * loss) - 1)."""
        drawn = self.log_p > -np.inf
        with np.errstate(over="ignore", invalid="ignore"):
            return np.asarray(
                np.expm1(order[:, None] * self.loss[drawn]) @ np.exp(self.log_p[drawn])
            )

    def mean(self) -> float:
        """sum of p * loss."""
        drawn = self.log_p > -np.inf
        return float(np.exp(self.log_p[drawn]) @ self.loss[drawn])

    @property
    def reach(self) -> tuple[float, float]:
        """The smallest and largest finite loss."""
        finite = self.loss[np.isfinite(self.loss)]
        return (float(finite[0]), float(finite[-1])) if len(finite) else (np.inf, -np.inf)

    @property
    def log_masses(self) -> tuple[float, float]:
        """Log probability under both inputs."""
        return float(np.logaddexp.reduce(self.log_p)), float(np.logaddexp.reduce(self.log_q))

    def scaled(self, log_p: float, log_q: float) -> Atoms:
        """The part beside an independent outcome of these probabilities."""
        ends = self.ends + np.array([[log_p], [log_q], [0.0]])
        return Atoms.of(self.log_p + log_p, self.log_q + log_q, ends)

    def reversed(self) -> Atoms:
        """The inputs exchanged."""
        return Atoms(self.log_q[::-1], self.log_p[::-1], self._turned)

    @property
    def _turned(self) -> Array:
        log_p, log_q, rises = self.ends
        return np.stack([log_q, log_p, -rises])

    def times(self, other: Atoms) -> Atoms:
        """Both outcomes, drawn independently."""
        return Atoms.of(
            np.add.outer(self.log_p, other.log_p).ravel(),
            np.add.outer(self.log_q, other.log_q).ravel(),
        )

    def __len__(self) -> int:
        return len(self.log_p)


def two_points(log_p: Array, log_q: Array, most: Array, least: Array) -> Atoms:
    """The worst outcomes of these probabilities whose losses lie between two limits, each.

    What has the largest loss takes what the smallest cannot account for.
    """
    p, q = np.exp(log_p), np.exp(log_q)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        top_p = (p - np.exp(least) * q) / -np.expm1(least - most)
        top_p = np.clip(np.where(most > least, top_p, p), 0.0, p)
        top_q = np.minimum(top_p * np.exp(-most), q)
        logs = [np.log([top, whole - top]).ravel() for top, whole in ((top_p, p), (top_q, q))]
    return Atoms.of(*logs)
