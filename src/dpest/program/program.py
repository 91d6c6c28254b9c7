"""A traced mechanism: finitely many paths, each with its conditions and its output."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from dpest.numbers.rational import exact, to_float
from dpest.program.linear import Condition, Input, Linear, Noise, Piece, Variable, roots

SLOT = "·"
"""Marks a traced number in a skeleton; its value is the next leaf."""


@dataclass(frozen=True)
class Leaf:
    """One traced number of an output; `kind` is the Python type a real run would return."""

    value: Linear
    kind: str = "float"

    def restore(self, number: Any) -> Any:
        """The number as the mechanism would have returned it."""
        return {"bool": bool, "int": int, "float": float}[self.kind](number)


@dataclass(frozen=True)
class Output:
    """What a path returns: a skeleton of plain values with slots, and a leaf for every slot.

    A skeleton is a slot, or a pair of a kind ("value", "list", "tuple", "dict" or a dataclass) and
    its content.
    """

    skeleton: Hashable
    leaves: tuple[Leaf, ...]

    def restore(self, numbers: Sequence[Any]) -> Any:
        """The Python value for given numbers in the slots."""
        supply = iter(numbers)
        return _restore(self.skeleton, lambda: next(supply))


    @property
    def folded(self) -> Output:
        """The same output with constant leaves written into the skeleton."""
        supply = iter(self.leaves)

        def fold(skeleton: Any) -> Hashable:
            if skeleton == SLOT:
                leaf = next(supply)
                if not leaf.value.is_constant:
                    return SLOT
                return ("value", leaf.restore(to_float(leaf.value.const)))
            kind, content = skeleton
            if kind == "value":
                return skeleton
            if kind == "dict" or isinstance(kind, type):
                return (kind, tuple((key, fold(item)) for key, item in content))
            return (kind, tuple(fold(item) for item in content))

        moving = tuple(leaf for leaf in self.leaves if not leaf.value.is_constant)
        return Output(fold(self.skeleton), moving)


def _restore(skeleton: Any, next_number: Callable[[], Any]) -> Any:
    if skeleton == SLOT:
        return next_number()
    kind, content = skeleton
    if kind == "value":
        return content
    if kind == "dict":
        return {key: _restore(value, next_number) for key, value in content}
    if isinstance(kind, type):
        return _record(kind, {key: _restore(value, next_number) for key, value in content})
    items = [_restore(item, next_number) for item in content]
    return tuple(items) if kind == "tuple" else items


def _record(kind: type, fields: Mapping[str, Any]) -> Any:
    """A dataclass with these fields; what its __init__ would do has been done already."""
    made: Any = object.__new__(kind)
    for name, value in fields.items():
        object.__setattr__(made, name, value)
    return made


@dataclass(frozen=True)
class Path:
    """One way through the code: it is taken exactly when all conditions hold.

    A path of a program that was traced value by value belongs to one of the values, its `variant`.
    """

    conditions: tuple[Condition, ...]
    output: Output
    variant: int | None = None

    def substitute(self, values: Mapping[Variable, Linear]) -> Path:
        leaves = tuple(Leaf(v.value.substitute(values), v.kind) for v in self.output.leaves)
        return Path(
            tuple(condition.substitute(values) for condition in self.conditions),
            Output(self.output.skeleton, leaves),
            self.variant,
        )

    @property
    def noises(self) -> list[Noise]:
        """The draws that matter on this path, in the order of drawing."""
        leaves = [leaf.value for leaf in self.output.leaves]
        found = {v for v in roots(self.conditions) | roots(leaves) if isinstance(v, Noise)}
        return sorted(found, key=lambda noise: noise.index)


class Place(NamedTuple):
    """One input, as a program needs it."""

    numbers: Mapping[Variable, Linear]
    variant: int | None


@dataclass(frozen=True)
class Program:
    """All paths of a mechanism; `inputs` are the symbols that stand for the input's numbers.

    Code that needs the input itself is traced once per value instead: then there are no input
    symbols, `values` lists the inputs, and every path says which of them it belongs to.
    """

    inputs: tuple[Input, ...]
    paths: tuple[Path, ...]
    name: str = "mechanism"
    values: tuple[Any, ...] = ()
    graph: Any = field(default=None, compare=False, repr=False)

    def at(self, x: Any) -> Place:
        """Where x is: the numbers for the input symbols, or the variant that was traced for it."""
        if not self.inputs:
            return Place({}, self._variant(x))
        numbers = np.ravel(np.asarray(x, dtype=object))
        if len(numbers) != len(self.inputs):
            raise ValueError(
                f"{self.name} was traced with {len(self.inputs)} numbers, got {len(numbers)}: {x!r}"
            )
        pairs = zip(self.inputs, numbers, strict=True)
        return Place({symbol: Linear(exact(number)) for symbol, number in pairs}, None)

    def _variant(self, x: Any) -> int | None:
        for k, value in enumerate(self.values):
            if np.array_equal(value, x):
                return k
        if self.values:
            raise ValueError(f"{self.name} was not traced at {x!r}")
        return None

    @property
    def noises(self) -> list[Noise]:
        """Every draw of every path."""
        found = {noise for path in self.paths for noise in path.noises}
        return sorted(found, key=lambda noise: noise.index)

    @property
    def members(self) -> list[tuple[Any, Program]]:
        """Every value that was traced, with its own paths as a program."""
        return [
            (x, Program((), tuple(replace(p, variant=None) for p in self.paths if p.variant == k),
                        self.name))
            for k, x in enumerate(self.values)
        ]  # fmt: skip

    def describe(self, limit: int = 12) -> str:
        """The paths as text, one line each."""
        lines = [f"{self.name}: {len(self.paths)} paths, {len(self.noises)} draws"]
        for path in self.paths[:limit]:
            conditions = " and ".join(map(repr, path.conditions)) or "always"
            values = [leaf.value for leaf in path.output.leaves]
            lines.append(f"  {conditions}  ->  {path.output.restore(values)!r}")
        if len(self.paths) > limit:
            lines.append(f"  ... and {len(self.paths) - limit} more")
        return "\n".join(lines)


def evaluate(value: Linear, draws: Mapping[Noise, Any]) -> Any:
    """The expression as floats for given draws (scalars or arrays); pieces pick their cell."""
    total: Any = to_float(value.const)
    for variable, coefficient in value.terms.items():
        number = _pick(variable, draws) if isinstance(variable, Piece) else draws[variable]  # type: ignore[index]
        total = total + to_float(coefficient) * number
    return total


def holds(condition: Condition, draws: Mapping[Noise, Any]) -> Any:
    """Whether the condition holds for given draws, elementwise."""
    left, right = evaluate(condition.left, draws), evaluate(condition.right, draws)
    return left > right if condition.strict else left >= right


def _pick(piece: Piece, draws: Mapping[Noise, Any]) -> Any:
    result: Any = np.nan
    for cell, value in zip(piece.partition.cells, piece.values, strict=True):
        inside: Any = True
        for condition in cell:
            inside = inside & holds(condition, draws)
        result = np.where(inside, evaluate(value, draws), result)
    return result
