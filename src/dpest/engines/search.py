"""Search for the worst pair of neighbouring inputs.

The loss of a path is largest where its conditions are hard to meet under both inputs and one of
them makes them harder still. The gradient of the conditions in the inputs therefore says
everything: neighbours differ against its signs, and the inputs are pushed apart along it, until
the exact loss stops growing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpest.engines import known
from dpest.engines.directions import Corners, Start, starts
from dpest.engines.exact import ExactLaw, OutOfReach, PairLoss
from dpest.engines.exact.components import Group
from dpest.engines.exact.effort import limited
from dpest.engines.turns import crossings, turns
from dpest.inputs import Integers, Reals
from dpest.neighbors import Neighbors

Array = NDArray[Any]
_PUSHES = (0.0, 8.0, 40.0)
"""How far inputs are pushed apart at first, in widths of the widest noise."""
_NEARER = (0.0, 1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2)
"""Shares of their distance from the middle that inputs are pulled back to."""
_GROUPS = 10
"""So many groups of outcomes are looked at where code decides by the input."""
_MAX_STEPS = 10
_EFFORT = 150_000_000
"""So many values of densities and masses are looked at: seconds, as a rule."""
_HAIR = 1e-9
"""By which share a difference is cut that rounding has made too long."""
_GROWTH = 1e-10
_THIN_TAILS = {"normal", "discrete_gaussian", "gumbel"}


@dataclass(frozen=True)
class Found:
    """A pair of neighbours and its loss on the outcomes that were looked at."""

    x: Any
    x_prime: Any
    loss: PairLoss
    group: Group


class Search:
    """Looks for a pair with a loss as large as can be found."""

    def __init__(
        self, law: ExactLaw, inputs: Reals | Integers, neighbors: Neighbors,
        hint: Sequence[float] | None = None,
    ) -> None:  # fmt: skip
        """`hint` is a difference of neighbours that is known to be dear."""
        self.law, self.inputs, self.neighbors, self.hint = law, inputs, neighbors, hint
        self.unit = max((n.law.width for n in law.program.noises), default=1.0)
        self.passed: list[Found] = []
        """Pairs on the way to the worst one, for where that is too far out to be shown."""
        self.corners = Corners(inputs, neighbors, self.unit)
        low, high = inputs.bounds()
        self._middle = (low + high) / 2 if math.isfinite(high - low) else 0.0

    def worst(self, enough: float = math.inf) -> Found | None:
        """The worst pair that is found; stops early at a loss of `enough`."""
        with limited(_EFFORT):
            return self._worst(enough)

    def _worst(self, enough: float) -> Found | None:
        best: Found | None = None
        best_start: tuple[Start, float] | None = None
        refusal: OutOfReach | None = None
        for start in self._starts():
            for push, centre in self._centres(start):
                try:
                    found = self._try(start, centre)
                except OutOfReach as reason:
                    refusal = reason
                    break
                if found is not None and (best is None or found.loss.exceeds(best.loss)):
                    best, best_start = found, (start, push)
                    known.at_least(best.loss.loss)
                if best is not None and self._is_enough(best.loss, enough):
                    return best
        if best is None and refusal is not None:
            raise refusal
        if best is None or best_start is None or not math.isfinite(best.loss.loss):
            return best
        best = self._at_ends(best, best_start[0])
        return self._pushed(best, *best_start, enough)

    def _at_ends(self, best: Found, start: Start) -> Found:
        """The same difference at the ends of a box, where inputs behind coins count most."""
        low, high = self.inputs.bounds()
        if not math.isfinite(high - low):
            return best
        for difference in (start.difference, -start.difference):
            far = self._middle + (high - low) * np.sign(difference)
            try:
                found = self._try(replace(start, difference=difference), far)
            except OutOfReach:
                continue
            if found is not None and found.loss.exceeds(best.loss):
                best = found
        return best

    def _starts(self) -> Iterator[Start]:
        """Directions in which noise is all that keeps neighbours apart, then where code does."""
        yield from starts(self.law.groups, self.corners, self.hint)
        lines = turns(self.law.program)
        for group in self.law.groups[:_GROUPS]:
            for place, difference in crossings(lines, self.corners):
                yield Start(group, np.zeros(self.inputs.size), difference, place)

    def _is_enough(self, loss: PairLoss, enough: float) -> bool:
        """Whether there is no need to look on: an impossible outcome may show infinity better."""
        return loss.impossible if loss.loss == math.inf else loss.loss >= enough

    def nearer(self, found: Found, needed: float) -> Found:
        """The pair nearer to the middle of the domain, where events are likelier, if still good."""
        x, y = (np.asarray(v, float).ravel() for v in (found.x, found.x_prime))
        for share in _NEARER:
            centre = np.round(self._middle + share * (x - self._middle))
            kept = self._kept(found, centre, centre + (y - x), needed)
            if kept is not found:
                return kept
        return found

    def simplified(self, found: Found, needed: float) -> Found:
        """The pair with rounder numbers and fewer changed entries, at a loss still `needed`."""
        x, y = (np.asarray(v, float).ravel() for v in (found.x, found.x_prime))
        found = self._kept(found, np.round(x), np.round(x) + (y - x), needed)
        x, y = (np.asarray(v, float).ravel() for v in (found.x, found.x_prime))
        changed = np.flatnonzero(x != y)
        for k in changed if len(changed) > 1 else ():
            single = self._kept(found, x, np.where(np.arange(len(x)) == k, y, x), needed)
            if single is not found:
                return single
        for k in changed[:-1]:
            x, y = (np.array(v, float).ravel() for v in (found.x, found.x_prime))
            y[k] = x[k]
            found = self._kept(found, x, y, needed)
        return found

    def _kept(self, found: Found, x: Array, y: Array, needed: float) -> Found:
        """The changed pair if it is one and still good enough, else the old one."""
        low, high = self.inputs.bounds()
        inside = all(np.all((v >= low) & (v <= high)) for v in (x, y))
        if not inside or np.array_equal(x, y) or not self._related(x, y):
            return found
        pair = self.inputs.give(x), self.inputs.give(y)
        try:
            loss = self.law.at(pair[0]).against(self.law.at(pair[1]), [found.group])
        except OutOfReach:
            return found
        good = loss.loss >= needed and (loss.impossible or not found.loss.impossible)
        return Found(*pair, loss, found.group) if good or loss.impossible else found

    def _pushed(self, best: Found, start: Start, push: float, enough: float) -> Found:
        """Push further while that helps; where tails are thin it only makes events unlikely."""
        if any(noise.law.name in _THIN_TAILS for noise in self.law.program.noises):
            return best
        push = max(push, 1.0)
        for _ in range(_MAX_STEPS):
            push *= 4
            try:
                found = self._try(start, self._middle + push * self.unit * start.push)
            except OutOfReach:
                break
            if found is None or found.loss.loss <= best.loss.loss * (1 + _GROWTH):
                break
            self.passed.append(best)
            best = found
            if best.loss.loss >= enough:
                break
        return best

    def _centres(self, start: Start) -> Iterator[tuple[float, Array]]:
        """Where to look at first, and how far that is pushed.

        A path that wants some inputs up and others down may be open for one neighbour and closed
        for the other, where nothing keeps them apart but the difference itself.
        """
        if start.place is not None:
            yield 0.0, start.place
            return
        for push in _PUSHES:
            yield push, self._middle + push * self.unit * start.push
        if start.push.min() < 0 < start.push.max():
            yield 0.0, self._middle - start.difference

    def _try(self, start: Start, centre: Array) -> Found | None:
        pair = self._pair(centre, start.difference)
        if pair is None:
            return None
        p, q = self.law.at(pair[0]), self.law.at(pair[1])
        return Found(*pair, p.against(q, [start.group]), start.group)

    def _pair(self, centre: Array, difference: Array) -> tuple[Any, Any] | None:
        """Two neighbours in the domain, near the centre."""
        low, high = self.inputs.bounds()
        x = np.clip(centre, low, high)
        y = np.clip(x + difference, low, high)
        x = np.clip(y - difference, low, high)
        if self.inputs.integral:
            x, y = np.rint(x), np.rint(x) + np.rint(y - x)
        else:
            x, y = np.round(x, 6), np.round(x, 6) + np.round(y - x, 12)
            if not self._related(x, y):
                y = x + (y - x) * (1 - _HAIR)
            x, y = np.clip(x, low, high), np.clip(y, low, high)
        if np.array_equal(x, y) or not self._related(x, y):
            return None
        return self.inputs.give(x), self.inputs.give(y)

    def _related(self, x: Array, y: Array) -> bool:
        return self.neighbors.relates(x.tolist(), y.tolist())
