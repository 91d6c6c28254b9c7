"""Arithmetic and comparison of expressions whose value depends on which cell holds."""

from __future__ import annotations

from collections.abc import Sequence

from dpest.numbers.rational import ONE, ZERO
from dpest.program import Cases, Cell, Condition, Contest, Linear, Noise, Partition, Piece
from dpest.trace.fork import active
from dpest.trace.refusals import (
    NonAffine,
    TooManyPaths,
)

MAX_CELLS = 5_040


def multiply(left: Linear, right: Linear) -> Linear:
    """The product, where one side is a constant or takes finitely many values."""
    if left.is_constant:
        return right.scaled(left.const)
    if right.is_constant:
        return left.scaled(right.const)
    left, right = _opened(left), _opened(right)
    if is_discrete(right) and not is_discrete(left):
        left, right = right, left
    if not is_discrete(left):
        raise NonAffine("the product of two unknown numbers is not affine")
    total = right.scaled(left.const)
    for piece, coefficient in left.terms.items():
        assert isinstance(piece, Piece)
        cells = enumerate(piece.values)
        values = [multiply(v, inside(right, piece.partition, k)) for k, v in cells]
        total = total + piece_of(piece.partition, values).scaled(coefficient)
    return total


def divide(left: Linear, right: Linear) -> Linear:
    if right.is_constant:
        if right.const == 0:
            raise ZeroDivisionError("division by zero")
        return left.scaled(1 / right.const)
    ((piece, coefficient), *others) = right.terms.items()
    if isinstance(piece, Piece) and not others and all(v.is_constant for v in piece.values):
        numbers_ = [right.const + coefficient * value.const for value in piece.values]
        if all(numbers_):
            inverse = piece_of(piece.partition, [Linear(1 / number) for number in numbers_])
            return multiply(inverse, left)
    raise NonAffine("a division by an unknown number is not affine")


def subtract_from(left: Linear, right: Linear) -> Linear:
    return right - left


def divide_into(left: Linear, right: Linear) -> Linear:
    return divide(right, left)


def _opened(value: Linear) -> Linear:
    """The number with every draw from a short list replaced by the piece of its values."""
    draws = {v: _listed(v) for v in value.terms if isinstance(v, Noise) and _is_short(v)}
    return value.substitute(draws)  # type: ignore[arg-type]


def _is_short(noise: Noise) -> bool:
    low, high = noise.law.support
    return noise.law.lattice and low is not None and high is not None and high - low <= 64


def _listed(noise: Noise) -> Linear:
    low, high = noise.law.support
    assert low is not None
    assert high is not None
    line = Linear.of(noise)
    values = [Linear(low + k) for k in range(int((high - low).p) + 1)]
    cells = [(Condition(line, v), Condition(v, line)) for v in values]
    return piece_of(cases(cells), values)


def is_discrete(value: Linear) -> bool:
    return all(isinstance(v, Piece) and v.discrete for v in value.terms)


def inside(value: Linear, partition: Partition, cell: int) -> Linear:
    """The value within one cell of the partition."""
    same = {
        v: v.values[cell]
        for v in value.terms
        if isinstance(v, Piece) and v.partition is partition
    }
    return value.substitute(same)  # type: ignore[arg-type]


def cases(cells: Sequence[Cell]) -> Partition:
    """The partition with these cells."""
    return _known(Cases(tuple(cells)))


def contest(lines: Sequence[Linear], largest: bool) -> Partition:
    """Which of the lines is the largest or smallest one."""
    return _known(Contest(tuple(lines), 1 if largest else -1))


def _known(partition: Partition) -> Partition:
    """The one object that stands for all partitions with the same cells."""
    if len(partition) > MAX_CELLS:
        raise TooManyPaths(f"one value with {len(partition)} cases")
    alike = active().shared.partitions.setdefault(partition.cell(0), [])
    for known in alike:
        if known.says_the_same_as(partition):
            return known
    alike.append(partition)
    return partition


def piece_of(partition: Partition, values: Sequence[Linear]) -> Linear:
    if all(value == values[0] for value in values):
        return values[0]
    return Linear.of(_interned(partition, tuple(values)))


def _interned(partition: Partition, values: tuple[Linear, ...]) -> Piece:
    return active().shared.pieces.setdefault((partition, values), Piece(partition, values))


def at_least(left: Linear, right: Linear) -> Linear:
    return compare(Condition(left, right))


def above(left: Linear, right: Linear) -> Linear:
    return compare(Condition(left, right, True))


def at_most(left: Linear, right: Linear) -> Linear:
    return compare(Condition(right, left))


def below(left: Linear, right: Linear) -> Linear:
    return compare(Condition(right, left, True))


def compare(condition: Condition) -> Linear:
    """One where the condition holds, else zero."""
    known = condition.decided()
    if known is not None:
        return Linear(ONE if known else ZERO)
    partition = sole_partition(condition.gap)
    if partition is not None:
        cells = range(len(partition))
        return piece_of(partition, [_within(condition, partition, k) for k in cells])
    cells_ = [(condition,), (condition.negation,)]
    return piece_of(cases(cells_), [Linear(ONE), Linear(ZERO)])


def sole_partition(gap: Linear) -> Partition | None:
    """The one partition that decides the sign of the gap, if there is one."""
    partitions = set()
    for variable in gap.terms:
        if not isinstance(variable, Piece) or not all(v.is_constant for v in variable.values):
            return None
        partitions.add(variable.partition)
    return partitions.pop() if len(partitions) == 1 else None


def _within(condition: Condition, partition: Partition, cell: int) -> Linear:
    gap = condition.gap
    values = {
        v: v.values[cell] for v in gap.terms if isinstance(v, Piece) and v.partition is partition
    }
    number = gap.substitute(values).const  # type: ignore[arg-type]
    return Linear(ONE if number > 0 or (number == 0 and not condition.strict) else ZERO)
