"""Numbers that describe an output, for telling two inputs apart.

Which features exist is learned once from the outputs of both inputs (`fitted`) and then applied to
any block. A feature is a column of a table with a name that a person understands.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dpest.engines.blackbox.low_bits import low_bit_features
from dpest.engines.blackbox.outputs import Kind, Outputs

Table = npt.NDArray[np.float64]
Columns = Iterator[tuple[str, Table]]
WORDS = {
    Kind.ABSENT: "absent", Kind.NUMBER: "a number", Kind.NONE: "None", Kind.TRUE: "True",
    Kind.FALSE: "False", Kind.NAN: "nan", Kind.INF: "inf", Kind.NEG_INF: "-inf",
    Kind.STRING: "a string", Kind.OPEN: "a list", Kind.CLOSE: "past the end",
    Kind.RAISED: "an exception", Kind.OTHER: "an object",
}  # fmt: skip
QUANTILES = (0.05, 0.15, 0.3, 0.5, 0.7, 0.85, 0.95)
CATEGORIES_LIMIT = 16
ROWS_FOR_CATEGORIES = 20_000
COLUMNS_LIMIT = 128


@dataclass(frozen=True)
class Features:
    """Which features to compute, and the constants that they need."""

    width: int
    numeric: tuple[int, ...]
    """Places where a number can stand."""
    categories: tuple[tuple[int, int, float, str], ...]
    """Column, kind, value and name of each entry that is asked "is it this?"."""
    levels: tuple[float, ...]
    step_levels: tuple[float, ...]
    references: tuple[float, ...]
    """Inputs whose distance the low bits are taken of; empty when low bits are not looked at."""
    nested: bool = False
    """Whether outputs hold lists in lists, so that entry j is not output[j]."""

    def table(self, outputs: Outputs) -> Table:
        """One row per output, one column per feature."""
        return np.column_stack([column for _, column in self._columns(outputs)])

    def names(self, outputs: Outputs) -> list[str]:
        """What the columns of `table` are, for a person."""
        return [name for name, _ in self._columns(outputs.rows(slice(0, 1)))]

    def column(self, outputs: Outputs, index: int) -> Table:
        """One column of `table`, without computing those after it."""
        return next(itertools.islice(self._columns(outputs), index, None))[1]

    def _columns(self, outputs: Outputs) -> Columns:
        wide = outputs.padded(self.width)
        groups = (self._entries, self._is, self._summary, self._steps, self._low_bits)
        return itertools.chain.from_iterable(group(wide) for group in groups)

    def _entries(self, outputs: Outputs) -> Columns:
        for j in self.numeric:
            number = outputs.kinds[:, j] == Kind.NUMBER
            yield f"output{_at(j, self.width)}", np.where(number, outputs.values[:, j], np.nan)

    def _is(self, outputs: Outputs) -> Columns:
        for j, kind, value, name in self.categories:
            matches = (outputs.kinds[:, j] == kind) & (outputs.values[:, j] == value)
            if kind == Kind.NUMBER:
                matches = outputs.kinds[:, j] == kind
            yield f"output{_at(j, self.width)} is {name}", matches.astype(float)

    def _summary(self, outputs: Outputs) -> Columns:
        if self.width == 1:
            return
        for kind in sorted({kind for _, kind, _, _ in self.categories}):
            matches = outputs.kinds[:, : self.width] == kind
            what = WORDS[Kind(kind)]
            yield f"number of entries that are {what}", matches.sum(axis=1).astype(float)
            yield f"place of the first entry that is {what}", _first(matches)
        if not self.numeric:
            return
        number = outputs.kinds[:, : self.width] == Kind.NUMBER
        values = outputs.values[:, : self.width]
        yield from _order_features(np.where(number, values, np.nan), self.levels, "entries")
        yield "first number", _at_first(values, number)
        yield "last number", _at_first(values[:, ::-1], number[:, ::-1])

    def _steps(self, outputs: Outputs) -> Columns:
        if not self.step_levels:
            return
        steps = _steps_of(outputs, self.width)
        for j in range(steps.shape[1]):
            yield f"output[{j + 1}] - output[{j}]", steps[:, j]
        yield from _order_features(steps, self.step_levels, "steps", summary=False)

    def _low_bits(self, outputs: Outputs) -> Columns:
        if self.references:
            for j in self.numeric:
                yield from low_bit_features(
                    outputs.values[:, j], self.references, f"output{_at(j, self.width)}"
                )


def fitted(a: Outputs, b: Outputs, references: tuple[float, ...] = ()) -> Features:
    """The features worth computing for outputs like `a` and `b`."""
    width = min(max(a.width, b.width), COLUMNS_LIMIT)
    a, b = a.padded(width), b.padded(width)
    kinds = np.concatenate([a.kinds[:, :width], b.kinds[:, :width]])
    values = np.concatenate([a.values[:, :width], b.values[:, :width]])
    names = {**a.names, **b.names}
    both = Outputs(kinds, values, names)
    number = kinds == Kind.NUMBER
    categories = [c for j in range(width) for c in _categories(kinds[:, j], values[:, j], j, names)]
    levels = _levels(values[number]) if width > 1 and number.any() else ()
    whole = width > 2 and number.mean() > 0.9
    steps = _levels(_steps_of(both, width)[:, 1:].ravel()) if whole else ()
    numeric = tuple(int(j) for j in np.flatnonzero(number.any(axis=0)))
    nested = bool((kinds == Kind.OPEN).any())
    return Features(width, numeric, tuple(categories), levels, steps, references, nested)


def _categories(
    kinds: npt.NDArray[np.int8], values: Table, j: int, names: dict[float, str]
) -> list[tuple[int, int, float, str]]:
    """The commonest things that entry `j` can be, if it is not always a number."""
    if (kinds == Kind.NUMBER).all():
        return []
    stride = len(kinds) // ROWS_FOR_CATEGORIES + 1
    kinds, values = kinds[::stride], values[::stride]
    number = kinds == Kind.NUMBER
    pairs, counts = np.unique(
        np.column_stack([kinds, np.where(number, 0.0, values)]), axis=0, return_counts=True
    )
    if len(pairs) == 1:
        return []
    commonest = np.argsort(-counts, kind="stable")[:CATEGORIES_LIMIT]
    return [
        (j, int(kind), float(value), names.get(value) or WORDS[Kind(int(kind))])
        for kind, value in pairs[commonest]
    ]


def _levels(values: Table) -> tuple[float, ...]:
    return tuple(float(q) for q in np.unique(np.quantile(values, QUANTILES)))


def _order_features(
    values: Table, levels: tuple[float, ...], noun: str, summary: bool = True
) -> Columns:
    """Features that do not change when entries swap places; NaN entries do not count."""
    there = ~np.isnan(values)
    for level in levels:
        with np.errstate(invalid="ignore"):
            above = (values >= level).sum(axis=1).astype(float)
        yield f"number of {noun} >= {level:.6g}", above
    if summary:
        filled_low, filled_high = np.where(there, values, -np.inf), np.where(there, values, np.inf)
        empty = ~there.any(axis=1)
        yield f"number of {noun}", there.sum(axis=1).astype(float)
        yield f"sum of {noun}", np.where(there, values, 0.0).sum(axis=1)
        for name, extreme in (("max", filled_low.max(axis=1)), ("min", filled_high.min(axis=1))):
            yield f"{name} of {noun}", np.where(empty, np.nan, extreme)
        yield f"place of the max of {noun}", filled_low.argmax(axis=1).astype(float)
        yield f"place of the min of {noun}", filled_high.argmin(axis=1).astype(float)


def _steps_of(outputs: Outputs, width: int) -> Table:
    number = outputs.kinds[:, :width] == Kind.NUMBER
    return np.diff(np.where(number, outputs.values[:, :width], np.nan), axis=1)


def _first(matches: npt.NDArray[np.bool_]) -> Table:
    """Place of the first match, the width where there is none."""
    return np.where(matches.any(axis=1), matches.argmax(axis=1), matches.shape[1]).astype(float)


def _at_first(values: Table, chosen: npt.NDArray[np.bool_]) -> Table:
    """The value at the first chosen place, NaN where there is none."""
    rows = np.arange(len(values))
    return np.where(chosen.any(axis=1), values[rows, chosen.argmax(axis=1)], np.nan)


def _at(j: int, width: int) -> str:
    return f"[{j}]" if width > 1 else ""
