"""Affine expressions with exact coefficients, and the variables they range over.

Variables are compared by identity: two draws of the same distribution are two `Noise` objects.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from flint import fmpq

from dpest.numbers.rational import ONE, ZERO, show

if TYPE_CHECKING:
    from dpest.noise import Law


_MOST_PIECES = 12
"""In a sum of more pieces the cells are not looked through."""


class Source(NamedTuple):
    """A line of the user's code."""

    file: str
    line: int
    text: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


class Variable:
    """Anything that an affine expression ranges over."""


@dataclass(frozen=True, eq=False)
class Input(Variable):
    """One number of the input."""

    index: int

    def __repr__(self) -> str:
        return f"x[{self.index}]"


@dataclass(frozen=True, eq=False)
class Noise(Variable):
    """One independent draw; `index` is its place in the order of drawing."""

    index: int
    law: Law
    source: Source | None = None

    def __repr__(self) -> str:
        return f"noise[{self.index}]"


@dataclass(frozen=True, eq=False)
class Piece(Variable):
    """A value that is picked by conditions: `values[k]` in the k-th cell of the partition."""

    partition: Partition
    values: tuple[Linear, ...]

    @property
    def discrete(self) -> bool:
        """Whether it takes finitely many constant values (pieces may nest)."""
        return all(
            isinstance(v, Piece) and v.discrete for value in self.values for v in value.terms
        )

    @cached_property
    def extreme(self) -> int:
        """+1 where the value is the maximum of its values, -1 the minimum, else 0."""
        signs = (sign for sign in (1, -1) if self.partition.is_won_by(self.values, sign))
        return next(signs, 0)

    @cached_property
    def roots(self) -> frozenset[Input | Noise]:
        """The inputs and draws that decide the value."""
        return self.partition.roots | roots(self.values)

    def __repr__(self) -> str:
        return f"piece({', '.join(map(str, self.values))})"


class Linear:
    """`const + sum(coefficient * variable)`; immutable, hashable, zero coefficients left out."""

    __slots__ = ("_has_pieces", "_hash", "const", "terms")

    def __init__(self, const: fmpq = ZERO, terms: dict[Variable, fmpq] | None = None) -> None:
        self.const = const
        self.terms: dict[Variable, fmpq] = terms if terms is not None else {}
        self._hash: int | None = None
        self._has_pieces: bool | None = None

    @classmethod
    def of(cls, variable: Variable) -> Linear:
        return cls(ZERO, {variable: ONE})

    @property
    def is_constant(self) -> bool:
        return not self.terms

    @property
    def has_pieces(self) -> bool:
        if self._has_pieces is None:
            self._has_pieces = any(isinstance(v, Piece) for v in self.terms)
        return self._has_pieces

    def __add__(self, other: Linear) -> Linear:
        return self._combine(other, ONE)

    def __sub__(self, other: Linear) -> Linear:
        return self._combine(other, -ONE)

    def _combine(self, other: Linear, factor: fmpq) -> Linear:
        terms = dict(self.terms)
        for variable, coefficient in other.terms.items():
            total = terms.get(variable, ZERO) + factor * coefficient
            if total == 0:
                del terms[variable]
            else:
                terms[variable] = total
        return Linear(self.const + factor * other.const, terms)

    def scaled(self, factor: fmpq) -> Linear:
        if factor == 0:
            return Linear()
        return Linear(self.const * factor, {v: c * factor for v, c in self.terms.items()})

    def __neg__(self) -> Linear:
        return self.scaled(-ONE)

    def shifted(self, amount: fmpq) -> Linear:
        return Linear(self.const + amount, self.terms)

    def substitute(self, values: Mapping[Variable, Linear]) -> Linear:
        """The expression with some variables replaced, until none of them is left."""
        found = [v for v in self.terms if v in values]
        if not found:
            return self
        result = Linear(self.const, {v: c for v, c in self.terms.items() if v not in values})
        for variable in found:
            result = result + values[variable].substitute(values).scaled(self.terms[variable])
        return result

    def without(self, variable: Variable) -> Linear:
        return Linear(self.const, {v: c for v, c in self.terms.items() if v != variable})

    def solved_for(self, variable: Variable) -> Linear:
        """The value of `variable` that makes the expression zero."""
        return self.without(variable).scaled(-1 / self.terms[variable])

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Linear) and self.const == other.const and self.terms == other.terms
        )

    def __hash__(self) -> int:
        if self._hash is None:
            terms = frozenset((v, _key(c)) for v, c in self.terms.items())
            self._hash = hash((_key(self.const), terms))
        return self._hash

    def __repr__(self) -> str:
        parts = [_term(c, repr(v)) for v, c in self.terms.items()]
        if self.const != 0 or not parts:
            parts.append(show(self.const))
        return " + ".join(parts).replace("+ -", "- ")


def _key(number: fmpq) -> tuple[int, int]:
    """A stand-in that hashes faster than the rational itself."""
    return int(number.p), int(number.q)


def _term(coefficient: fmpq, name: str) -> str:
    if coefficient == 1:
        return name
    return f"-{name}" if coefficient == -1 else f"{show(coefficient)}*{name}"


@dataclass(frozen=True, eq=False)
class Condition:
    """`left >= right`, or `left > right` when strict; the sides are kept as the user wrote them."""

    left: Linear
    right: Linear
    strict: bool = False

    @cached_property
    def gap(self) -> Linear:
        return self.left - self.right

    @cached_property
    def roots(self) -> frozenset[Input | Noise]:
        """The inputs and draws that decide it."""
        return roots((self.gap,))

    @cached_property
    def negation(self) -> Condition:
        return Condition(self.right, self.left, not self.strict)

    @cached_property
    def _hash(self) -> int:
        return hash((self.gap, self.strict))

    def decided(self) -> bool | None:
        """Its truth where no variable is left, else None."""
        if self.gap.terms:
            return None
        return bool(self.gap.const > 0 or (self.gap.const == 0 and not self.strict))

    def substitute(self, values: Mapping[Variable, Linear]) -> Condition:
        left, right = self.left.substitute(values), self.right.substitute(values)
        if left is self.left and right is self.right:
            return self
        return Condition(left, right, self.strict)

    def __eq__(self, other: object) -> bool:
        return (
            self is other
            or (isinstance(other, Condition)
            and self.strict == other.strict
            and self.gap == other.gap)
        )

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return f"{self.left} {'>' if self.strict else '>='} {self.right}"


Cell = tuple[Condition, ...]


class Partition(ABC):
    """Disjoint, exhaustive cells, each a conjunction of conditions."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def cell(self, k: int) -> Cell:
        """What holds in the k-th cell."""

    @abstractmethod
    def is_won_by(self, values: Sequence[Linear], sign: int) -> bool:
        """Whether the k-th cell says that the k-th value is the largest (sign -1: smallest)."""

    @cached_property
    @abstractmethod
    def gaps(self) -> Sequence[Linear]:
        """Expressions that decide the cell and mention all that the conditions mention."""

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        return tuple(map(self.cell, range(len(self))))

    @property
    def conditions(self) -> Iterator[Condition]:
        """Those of all cells, made as they are asked for."""
        for k in range(len(self)):
            yield from self.cell(k)

    def says_the_same_as(self, other: Partition) -> bool:
        return self.cells == other.cells

    @cached_property
    def roots(self) -> frozenset[Input | Noise]:
        """The inputs and draws that decide the cell."""
        return roots(self.gaps)

    @cached_property
    def is_pure(self) -> bool:
        """Whether no condition mentions another piece."""
        return not any(gap.has_pieces for gap in self.gaps)


@dataclass(frozen=True, eq=False)
class Cases(Partition):
    """Cells that are written out."""

    listed: tuple[Cell, ...]

    def __len__(self) -> int:
        return len(self.listed)

    def cell(self, k: int) -> Cell:
        return self.listed[k]

    @cached_property
    def gaps(self) -> Sequence[Linear]:
        return [condition.gap for condition in self.conditions]

    def is_won_by(self, values: Sequence[Linear], sign: int) -> bool:
        return all(
            {condition.gap for condition in cell} == set(_leads(values, k, sign))
            for k, cell in enumerate(self.listed)
        )


@dataclass(frozen=True, eq=False)
class Contest(Partition):
    """The k-th cell says that the k-th line is the largest (sign -1: smallest), the first of ties.

    Its cells have n (n - 1) conditions, and most who ask need none of them.
    """

    lines: tuple[Linear, ...]
    sign: int

    def __len__(self) -> int:
        return len(self.lines)

    def cell(self, k: int) -> Cell:
        return tuple(self._beats(k, rival) for rival in range(len(self)) if rival != k)

    def _beats(self, k: int, rival: int) -> Condition:
        left, right = (k, rival) if self.sign > 0 else (rival, k)
        return Condition(self.lines[left], self.lines[right], strict=k > rival)

    @cached_property
    def gaps(self) -> Sequence[Linear]:
        return _leads(self.lines, 0, self.sign)

    def is_won_by(self, values: Sequence[Linear], sign: int) -> bool:
        return _leads(values, 0, sign) == self.gaps

    def says_the_same_as(self, other: Partition) -> bool:
        if isinstance(other, Contest):
            return self.gaps == other.gaps
        return super().says_the_same_as(other)


def _leads(lines: Sequence[Linear], k: int, sign: int) -> list[Linear]:
    """How far the k-th line is ahead of each other one."""
    best, rivals = lines[k], (*lines[:k], *lines[k + 1 :])
    return [best - rival if sign > 0 else rival - best for rival in rivals]


def roots(expressions: Iterable[Linear | Condition]) -> frozenset[Input | Noise]:
    """The inputs and draws that the expressions depend on, looking into pieces."""
    found: set[Input | Noise] = set()
    for expression in expressions:
        if isinstance(expression, Condition):
            found |= expression.roots
            continue
        for variable in expression.terms:
            if isinstance(variable, Piece):
                found |= variable.roots
            elif isinstance(variable, (Input, Noise)):
                found.add(variable)
    return frozenset(found)


def pieces(expressions: Iterable[Linear | Condition]) -> Iterator[Piece]:
    """Every piece that the expressions mention, looking into pieces; may repeat."""
    for expression in expressions:
        line = expression.gap if isinstance(expression, Condition) else expression
        for variable in line.terms:
            if isinstance(variable, Piece):
                yield variable
                yield from pieces(variable.values)
                if not variable.partition.is_pure:
                    yield from pieces(variable.partition.gaps)


def keeps_noise(line: Linear, counts: Callable[[Noise], bool]) -> bool:
    """Whether such a draw is left in the line whatever the cells of its pieces.

    A piece may hold the same draw and cancel it: v - max(v, 0) is a number where v is positive.
    """
    inner = roots(value for piece in pieces([line]) for value in piece.values)
    if any(isinstance(v, Noise) and counts(v) and v not in inner for v in line.terms):
        return True
    outer = [v for v in line.terms if isinstance(v, Piece)]
    if not outer or len(outer) > _MOST_PIECES:
        return False
    partition = outer[0].partition
    same = [piece for piece in pieces([line]) if piece.partition is partition]
    return all(
        keeps_noise(line.substitute({piece: piece.values[k] for piece in same}), counts)
        for k in range(len(partition))
    )
