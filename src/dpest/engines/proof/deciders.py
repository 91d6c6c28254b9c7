"""Which coins decide whether an input has a say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence


from dpest.verify.choices import COINS, MOVABLE, Affine, Mechanism, OpenPath, branches

MAX_CONDITIONS = 24
"""With more coins in conditions of paths, each of them is not looked at by itself."""


def coins_of(mechanism: Mechanism, i: int) -> tuple[int, ...]:
    """The coins to open for x[i]: those of its choices, and those that lead to it."""
    found = _of_choices(mechanism, i)
    conditioned = _in_conditions(mechanism) - found
    if len(conditioned) <= MAX_CONDITIONS:
        found |= {j for j in conditioned if _matters(mechanism, i, j)}
    return tuple(sorted(found))


def _of_choices(mechanism: Mechanism, i: int) -> set[int]:
    """The coins of choices that x[i] or noise has a say in, and of choices tied to them."""
    found: set[int] = set()
    waiting = set(range(len(mechanism.choices)))
    while True:
        met = {k for k in waiting if _has_to_open(mechanism, k, i, found)}
        if not met:
            return found
        waiting -= met
        for k in met:
            found |= mechanism.deciders(mechanism.choices[k])


def _has_to_open(mechanism: Mechanism, k: int, i: int, opened: set[int]) -> bool:
    inputs, noise = mechanism.roots[k]
    movable = any(mechanism.model.noise[j].law in MOVABLE for j in noise)
    return i in inputs or movable or bool(noise & opened)


def _in_conditions(mechanism: Mechanism) -> set[int]:
    """The coins that conditions of paths look at alone."""
    model = mechanism.model
    gaps = [mechanism.gap(c) for part in model.parts for c in part.when]
    return {
        j
        for _, inputs, noise in gaps
        for j, _ in noise
        if len(noise) == 1 and not inputs and model.noise[j].law in COINS
    }


def _matters(mechanism: Mechanism, i: int, coin: int) -> bool:
    """Whether the paths use x[i] differently where the coin falls differently."""
    seen = {frozenset(_uses(mechanism, path, i) for path in branch)
            for _, branch in branches(mechanism, [coin])}  # fmt: skip
    return len(seen) > 1


def _uses(mechanism: Mechanism, path: OpenPath, i: int) -> object:
    """What the other coins say on the path, and what x[i] does there."""
    coins = frozenset(row for row, _ in path.when if _is_of_coins(mechanism, row))
    return coins, tuple(_said(rows, mechanism, i) for rows in _rows(path))


def _rows(path: OpenPath) -> Iterator[Sequence[Affine]]:
    yield [line for line, _ in path.when]
    yield [line for _, line in path.out]


def _said(rows: Sequence[Affine], mechanism: Mechanism, i: int) -> tuple[object, ...]:
    own = {mechanism.size + k for k, (inputs, _) in enumerate(mechanism.roots) if i in inputs}
    found = (tuple((k, c) for k, c in row[1] if k == i or k in own) for row in rows)
    return tuple(terms for terms in found if terms)


def _is_of_coins(mechanism: Mechanism, row: Affine) -> bool:
    return not row[1] and all(mechanism.model.noise[j].law in COINS for j, _ in row[2])
