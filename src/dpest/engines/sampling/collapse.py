"""Numbers that take few values and share no noise with anything else: one uniform draw instead.

Such a number is decided by comparisons of single draws with constants. Each draw falls into one of
a few intervals whose mass is known, so the law of the number is a sum over combinations.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpest.engines.sampling.affine import Affine, Block, Code, Test
from dpest.noise import Law

MAX_COMBINATIONS = 4_096
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Few:
    """A number with these values, in ascending order, and their cumulated probabilities."""

    values: Floats
    cumulated: Floats

    def of(self, uniform: Floats) -> NDArray[Any]:
        """The number for draws from the unit interval."""
        if len(self.values) == 2 and self.values.tolist() == [0.0, 1.0]:
            return np.greater_equal(uniform, self.cumulated[0])
        return self.values[np.searchsorted(self.cumulated[:-1], uniform, side="right")]


@dataclass(frozen=True)
class Parts:
    """What expressions look at: draws, and tests on the way."""

    columns: frozenset[int]
    tests: frozenset[int]
    is_simple: bool
    """Whether draws only decide tests, each test by a single draw."""


def parts_of(code: Code, lines: Sequence[Affine], literals: Sequence[int] = ()) -> Parts:
    """Everything that these expressions and tests look at, through all choices."""
    columns: set[int] = set()
    tests: set[int] = set()
    choices: set[int] = set()
    simple = True
    values, asked = list(lines), [abs(literal) for literal in literals]
    while values or asked:
        if asked:
            number = asked.pop()
            if number in tests:
                continue
            tests.add(number)
            line = code.tests[number - 1].gap
            simple = simple and (len(line.terms) < 2 or all(k < 0 for k, _ in line.terms))
        else:
            line = values.pop()
            simple = simple and all(k < 0 for k, _ in line.terms)
        columns |= {column for column, _ in line.terms if column >= 0}
        for number in {~column for column, _ in line.terms if column < 0} - choices:
            choices.add(number)
            values += code.choices[number].lines
            asked += map(abs, code.choices[number].literals)
    return Parts(frozenset(columns), frozenset(tests), simple)


def collapsed(code: Code, line: Affine, parts: Parts, laws: Mapping[int, Law]) -> Few | None:
    """The law of the expression, where single draws decide it in few combinations."""
    if not parts.is_simple or not parts.columns:
        return None
    tests = [code.tests[number - 1] for number in parts.tests]
    columns = sorted(parts.columns)
    segments = [list(_segments(column, tests, laws[column])) for column in columns]
    if math.prod(map(len, segments)) > MAX_COMBINATIONS:
        return None
    combined = np.array(list(itertools.product(*segments)))
    mass = combined[:, :, 1].prod(axis=1)
    block = Block(code, dict(zip(columns, combined[:, :, 0].T, strict=True)), len(mass))
    values, which = np.unique(block.filled(line.value(block)), return_inverse=True)
    total = np.cumsum(np.bincount(which.ravel(), weights=mass)).astype(float)
    return Few(values, total) if abs(total[-1] - 1) < 1e-12 else None


def _segments(column: int, tests: Sequence[Test], law: Law) -> Iterator[tuple[float, float]]:
    """A point of every interval on which all tests of the draw agree, and the interval's mass."""
    cuts = {
        -test.gap.const / factor
        for test in tests
        for place, factor in test.gap.terms
        if place == column
    }
    if law.lattice:
        cuts = {near for cut in cuts for near in (math.ceil(cut) - 0.5, math.floor(cut) + 0.5)}
    for low, high in itertools.pairwise([-math.inf, *sorted(cuts), math.inf]):
        ends = (np.ceil(low), np.floor(high)) if law.lattice else (low, high)
        mass = math.exp(float(law.log_interval(*map(np.array, ends))))
        if mass > 0:
            yield _between(low, high), mass


def _between(low: float, high: float) -> float:
    """A double well inside, however large the ends are."""
    if math.isinf(low):
        return high - max(1.0, abs(high)) if math.isfinite(high) else 0.0
    return low / 2 + high / 2 if math.isfinite(high) else low + max(1.0, abs(low))
