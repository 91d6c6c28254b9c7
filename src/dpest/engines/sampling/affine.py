"""Affine expressions and conditions as numpy computes them on a block of runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dpest.numbers.rational import to_float
from dpest.program import Condition, Contest, Linear, Noise, Piece
from dpest.program.linear import Variable

Array = NDArray[Any]
Rows = NDArray[np.intp] | None
"""Which runs are meant; None for all of them."""


@dataclass(frozen=True)
class Affine:
    """`const + sum(factor * column)`; a column is a draw or, below zero, a piece as ~piece."""

    const: float
    terms: tuple[tuple[int, float], ...]

    def moving(self, block: Block, rows: Rows) -> Array:
        """The sum without the constant; at least one term is there."""
        total = None
        for column, factor in self.terms:
            value = block.column(column, rows)
            if total is None:
                total = value if factor == 1 else factor * value
            elif factor == 1:
                total = total + value
            elif factor == -1:
                total = total - value
            else:
                total = total + factor * value
        assert total is not None
        return total

    def value(self, block: Block, rows: Rows = None) -> Any:
        """The whole sum: an array, or a number where nothing in it is random."""
        if not self.terms:
            return self.const
        moving = self.moving(block, rows)
        return moving + self.const if self.const else moving


@dataclass(frozen=True)
class Test:
    """Whether an expression is at least zero (above zero where strict)."""

    gap: Affine
    strict: bool

    def holds(self, block: Block, rows: Rows = None) -> Any:
        """The truth for these runs: an array, or one value where nothing is random."""
        if not self.gap.terms:
            return self.gap.const > 0 or (self.gap.const == 0 and not self.strict)
        moving = self.gap.moving(block, rows)
        return moving > -self.gap.const if self.strict else moving >= -self.gap.const


class Choice(Protocol):
    """A value that is one of several, and what decides which: expressions and tests."""

    @property
    def lines(self) -> tuple[Affine, ...]: ...

    @property
    def literals(self) -> tuple[int, ...]: ...

    def value(self, block: Block) -> Array:
        """The value for all runs."""


@dataclass(frozen=True)
class Extreme:
    """The largest of some numbers (sign -1: the smallest)."""

    lines: tuple[Affine, ...]
    sign: int
    literals: tuple[int, ...] = ()

    def value(self, block: Block) -> Array:
        pick = np.maximum if self.sign > 0 else np.minimum
        return block.filled(reduce(pick, (line.value(block) for line in self.lines)))


@dataclass(frozen=True)
class Winner:
    """The value that belongs to the largest of the rivals (sign -1: the smallest)."""

    rivals: tuple[Affine, ...]
    values: tuple[Affine, ...]
    sign: int
    literals: tuple[int, ...] = ()

    @property
    def lines(self) -> tuple[Affine, ...]:
        return self.rivals + self.values

    def value(self, block: Block) -> Array:
        ahead = np.greater if self.sign > 0 else np.less
        best, result = (block.filled(lines[0].value(block)) for lines in (self.rivals, self.values))
        for rival, value in zip(self.rivals[1:], self.values[1:], strict=True):
            score = rival.value(block)
            wins = ahead(score, best)
            best = np.where(wins, score, best)
            result = np.where(wins, value.value(block), result)
        return result


@dataclass(frozen=True)
class Switch:
    """A value that is picked by tests."""

    cells: tuple[tuple[int, ...], ...]
    values: tuple[Affine, ...]

    @property
    def lines(self) -> tuple[Affine, ...]:
        return self.values

    @property
    def literals(self) -> tuple[int, ...]:
        return tuple(literal for cell in self.cells for literal in cell)

    def value(self, block: Block) -> Array:
        *cells, _ = self.cells
        *values, last = (value.value(block) for value in self.values)
        result = last
        for cell, value in zip(cells, values, strict=True):
            result = np.where(block.all_hold(cell), value, result)
        return block.filled(result)


class Code:
    """Everything a program evaluates, with the numbers of one input put in."""

    def __init__(self, numbers: Mapping[Variable, Linear], columns: Mapping[Noise, int]) -> None:
        self._numbers, self._columns = numbers, columns
        self.tests: list[Test] = []
        self.choices: list[Choice] = []
        self._test_places: dict[Condition, int] = {}
        self._choice_places: dict[Piece, int] = {}

    def line(self, line: Linear) -> Affine:
        """The expression for this input."""
        line = line.substitute(self._numbers)
        terms = tuple((self._column(v), to_float(c)) for v, c in line.terms.items())
        return Affine(to_float(line.const), tuple(sorted(terms, key=lambda t: t[1] != 1)))

    def _column(self, variable: Variable) -> int:
        if isinstance(variable, Piece):
            return ~self._choice(variable)
        assert isinstance(variable, Noise)
        return self._columns[variable]

    def _choice(self, piece: Piece) -> int:
        if piece not in self._choice_places:
            choice = self._made(piece)
            self._choice_places[piece] = len(self.choices)
            self.choices.append(choice)
        return self._choice_places[piece]

    def _made(self, piece: Piece) -> Choice:
        partition, values = piece.partition, tuple(map(self.line, piece.values))
        if piece.extreme:
            return Extreme(values, piece.extreme)
        if isinstance(partition, Contest) and len(partition) > 2:
            return Winner(tuple(map(self.line, partition.lines)), values, partition.sign)
        return Switch(tuple(tuple(map(self.literal, cell)) for cell in partition.cells), values)

    def literal(self, condition: Condition) -> int:
        """The number of the test that says whether the condition holds; negative: whether not."""
        if condition not in self._test_places:
            gap = self.line(condition.gap)
            self.tests.append(Test(gap, condition.strict))
            self._test_places[condition.negation] = -len(self.tests)
            self._test_places[condition] = len(self.tests)
        return self._test_places[condition]

    def mask(self, line: Linear) -> tuple[int, ...] | None:
        """The literals that hold where the expression is 1, if it is 0 elsewhere."""
        if len(line.terms) != 1 or line.const != 0:
            return None
        ((piece, factor),) = line.terms.items()
        if factor != 1 or not isinstance(piece, Piece) or len(piece.values) != 2:
            return None
        if not all(value.is_constant for value in piece.values):
            return None
        shown = [to_float(value.const) for value in piece.values]
        if sorted(shown) != [0.0, 1.0]:
            return None
        cell = piece.partition.cell(shown.index(1.0))
        return tuple(map(self.literal, cell))


class Block:
    """The random numbers of some runs, and what was computed from all of them."""

    def __init__(self, code: Code, draws: Mapping[int, Array], size: int) -> None:
        self.code, self.draws, self.size = code, draws, size
        self._truths: dict[int, Any] = {}
        self._picked: dict[int, Array] = {}

    def column(self, column: int, rows: Rows) -> Array:
        """A draw or a piece for these runs."""
        whole = self.draws[column] if column >= 0 else self._piece(~column)
        return whole if rows is None else whole.take(rows)

    def _piece(self, number: int) -> Array:
        if number not in self._picked:
            self._picked[number] = self.code.choices[number].value(self)
        return self._picked[number]

    def filled(self, value: Any) -> Array:
        """The value as one entry per run."""
        return value if np.ndim(value) else np.full(self.size, float(value))

    def all_hold(self, literals: Sequence[int], rows: Rows = None) -> Any:
        """Whether all literals are true; tests on all runs are remembered."""
        result: Any = True
        for literal in literals:
            truth = self._truth(abs(literal), rows)
            if literal < 0:
                truth = np.logical_not(truth)
            result = truth if result is True else result & truth
        return result

    def _truth(self, number: int, rows: Rows) -> Any:
        if number in self._truths:
            known = self._truths[number]
            return known if rows is None or not np.ndim(known) else known.take(rows)
        truth = self.code.tests[number - 1].holds(self, rows)
        if rows is None:
            self._truths[number] = truth
        return truth


