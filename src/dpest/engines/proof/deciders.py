"""Which coins decide whether an input has a say."""

from __future__ import annotations

from collections.abc import Iterator

from dpest.verify.choices import COINS
from dpest.verify.opening import MOVABLE, Branch, Openings, OpenPath, Row

MAX_CONDITIONS = 24
"""With more coins in conditions of paths, none of them is looked at by itself."""
Uses = dict[int, set[object]]
"""For every input the ways in which paths use it."""


class Deciders:
    """The coins to open for each input: those of its choices, and those that lead to it."""

    def __init__(self, openings: Openings) -> None:
        self.openings = openings
        mechanism = self.mechanism = openings.mechanism
        self._leading: dict[int, set[int]] = {i: set() for i in range(mechanism.size)}
        conditioned = self._in_conditions()
        for j in sorted(conditioned) if len(conditioned) <= MAX_CONDITIONS else ():
            for i in self._moved_by(j):
                self._leading[i].add(j)

    def of(self, i: int) -> tuple[int, ...]:
        return tuple(sorted(self._of_choices(i) | self._leading[i]))

    def _of_choices(self, i: int) -> set[int]:
        """The coins of choices that x[i] or noise has a say in, and of choices tied to them."""
        found: set[int] = set(self._leading[i])
        waiting = set(range(len(self.mechanism.choices)))
        while True:
            met = {k for k in waiting if self._has_to_open(k, i, found)}
            if not met:
                return found
            waiting -= met
            for k in met:
                found |= self.mechanism.deciders[k]

    def _has_to_open(self, k: int, i: int, opened: set[int]) -> bool:
        inputs, noise = self.mechanism.roots[k]
        movable = any(self.mechanism.model.noise[j].law in MOVABLE for j in noise)
        return i in inputs or movable or bool(noise & opened)

    def _in_conditions(self) -> set[int]:
        """The coins that conditions of paths look at alone."""
        model = self.mechanism.model
        gaps = [self.mechanism.gap(c) for part in model.parts for c in part.when]
        alone = [next(iter(gap.noise)) for gap in gaps if len(gap.noise) == 1 and not gap.inputs]
        return {j for j in alone if model.noise[j].law in COINS}

    def _moved_by(self, coin: int) -> Iterator[int]:
        """The inputs that paths use differently where the coin falls differently."""
        seen = [self._uses(branch) for _, branch in self.openings.branches([coin])]
        for i in range(self.mechanism.size):
            if any(uses.get(i) != seen[0].get(i) for uses in seen):
                yield i

    def _uses(self, branch: Branch) -> Uses:
        """What the other coins say on a path, and what each input does there."""
        found: Uses = {}
        for path in branch:
            coins = frozenset(row for row, _ in path.when if row.coins_only)
            for i, use in self._on(path).items():
                found.setdefault(i, set()).add((coins, use))
        return found

    def _on(self, path: OpenPath) -> dict[int, tuple[object, ...]]:
        found: dict[int, tuple[object, ...]] = {}
        for row in path.rows:
            for i, what in self._terms(row):
                found[i] = (*found.get(i, ()), what)
        return found

    def _terms(self, row: Row) -> Iterator[tuple[int, object]]:
        for i, c in row.inputs.items():
            yield i, str(c)
        for k in row.closed:
            yield from ((i, ("choice", k)) for i in self.mechanism.roots[k][0])
