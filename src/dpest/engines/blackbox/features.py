"""Numbers that describe an output, for telling two inputs apart.

Which features exist is learned once from the outputs of both inputs (`fitted`) and then applied to
any block. A feature is a column of a table with a name that a person understands.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dpest.engines.blackbox.low_bits import low_bit_features
from dpest.engines.blackbox.outputs import Kind, Outputs, concatenated
from dpest.engines.blackbox.texts import TextFeatures, text_features

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
FEW_VALUES = 12
"""So many values of an entry are told apart by thresholds."""
LUMPS_LIMIT, LUMP_LEAST, LUMP_FACTOR = 8, 20, 20.0
"""A number is a lump if it was seen so often, and so many times as often as the average value."""
MANY_VALUES, BITS_LIMIT = 64, 128
"""Integers of more values than this are looked at bit by bit, but not at too many bits."""


@dataclass(frozen=True)
class Features:
    """Which features to compute, and the constants that they need."""

    width: int
    numeric: tuple[int, ...]
    """Places where a number can stand, those that tell most where there are very many."""
    categories: tuple[tuple[int, int, float, str], ...]
    """Column, kind, value and name of each entry that is asked "is it this?"."""
    levels: tuple[float, ...]
    step_levels: tuple[float, ...]
    references: tuple[float, ...]
    """Inputs whose distance the low bits are taken of; empty when low bits are not looked at."""
    nested: bool = False
    """Whether outputs hold lists in lists, so that entry j is not output[j]."""
    bits: tuple[tuple[int, int], ...] = ()
    """Places of integers of many values, and how many bits they have."""
    texts: tuple[tuple[int, TextFeatures], ...] = ()
    """Places of strings of many values, and what is looked at in them."""

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
        groups = (
            self._entries, self._is, self._summary, self._steps, self._bits, self._texts,
            self._low_bits,
        )  # fmt: skip
        return itertools.chain.from_iterable(group(wide) for group in groups)

    def _entries(self, outputs: Outputs) -> Columns:
        for j in self.numeric:
            number = outputs.kinds[:, j] == Kind.NUMBER
            yield f"output{_at(j, self.width)}", np.where(number, outputs.values[:, j], np.nan)

    def _is(self, outputs: Outputs) -> Columns:
        for j, kind, value, name in self.categories:
            matches = outputs.kinds[:, j] == kind
            if not math.isnan(value):
                matches &= outputs.values[:, j] == value
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

    def _bits(self, outputs: Outputs) -> Columns:
        for j, bits in self.bits:
            number = outputs.kinds[:, j] == Kind.NUMBER
            whole = np.where(number, outputs.values[:, j], 0.0).astype(np.int64)
            for k in range(bits):
                bit = np.where(number, (whole >> k) & 1, np.nan)
                yield f"bit {k} of output{_at(j, self.width)}", bit

    def _texts(self, outputs: Outputs) -> Columns:
        for j, features in self.texts:
            table = features.table(outputs.values[:, j], outputs.texts)
            yield from zip(features.names(f"output{_at(j, self.width)}"), table.T, strict=True)

    def _low_bits(self, outputs: Outputs) -> Columns:
        if self.references:
            for j in self.numeric:
                yield from low_bit_features(
                    outputs.values[:, j], self.references, f"output{_at(j, self.width)}"
                )


def fitted(a: Outputs, b: Outputs, references: tuple[float, ...] = ()) -> Features:
    """The features worth computing for outputs like `a` and `b`."""
    width = max(a.width, b.width)
    a, b = a.padded(width), b.padded(width)
    both = concatenated([a, b])
    kinds, values = both.kinds, both.values
    number = kinds == Kind.NUMBER
    places = _telling(a, b)
    levels = _levels(values[number]) if width > 1 and number.any() else ()
    whole = 2 < width <= COLUMNS_LIMIT and number.mean() > 0.9
    steps = _levels(_steps_of(both, width)[:, 1:].ravel()) if whole else ()
    return Features(
        width,
        tuple(j for j in places if number[:, j].any()),
        tuple(_categories(both, places)),
        levels,
        steps,
        references,
        nested=bool((kinds == Kind.OPEN).any()),
        bits=tuple(_bits_of(both, places)),
        texts=tuple(_texts_of(both, places)),
    )


def _telling(a: Outputs, b: Outputs) -> list[int]:
    """All places; where there are very many, those at which the two samples differ most."""
    if a.width <= COLUMNS_LIMIT:
        return list(range(a.width))
    differences = np.zeros(a.width)
    for of_a, of_b in ((a.kinds, b.kinds), (a.values, b.values), (a.values**2, b.values**2)):
        error = np.sqrt(of_a.var(axis=0) / len(of_a) + of_b.var(axis=0) / len(of_b))
        apart = np.abs(of_a.mean(axis=0) - of_b.mean(axis=0))
        differences = np.fmax(differences, apart / np.where(error > 0, error, np.inf))
    return sorted(np.argsort(-differences, kind="stable")[:COLUMNS_LIMIT].tolist())


def _categories(outputs: Outputs, places: list[int]) -> Iterator[tuple[int, int, float, str]]:
    """What an entry is asked to be: a kind or a word if that varies, a number that is common."""
    stride = len(outputs) // ROWS_FOR_CATEGORIES + 1
    for j in places:
        kinds, values = outputs.kinds[::stride, j], outputs.values[::stride, j]
        yield from _kinds_of_entry(kinds, values, j, outputs.names)
        numbers = outputs.values[outputs.kinds[:, j] == Kind.NUMBER, j]
        yield from ((j, int(Kind.NUMBER), v, repr(v)) for v in _lumps(numbers))


def _kinds_of_entry(
    kinds: npt.NDArray[np.int8], values: Table, j: int, names: dict[float, str]
) -> Iterator[tuple[int, int, float, str]]:
    number = kinds == Kind.NUMBER
    if number.all():
        return
    pairs, counts = np.unique(
        np.column_stack([kinds, np.where(number, np.inf, values)]), axis=0, return_counts=True
    )
    if len(pairs) == 1:
        return
    commonest = np.argsort(-counts, kind="stable")[:CATEGORIES_LIMIT]
    for kind, value in pairs[commonest]:
        is_number = kind == Kind.NUMBER
        name = WORDS[Kind.NUMBER] if is_number else names.get(value) or WORDS[Kind(int(kind))]
        yield j, int(kind), math.nan if is_number else float(value), name


def _lumps(numbers: Table) -> list[float]:
    """Numbers that come again and again among many that do not."""
    values, counts = np.unique(numbers, return_counts=True)
    if len(values) <= FEW_VALUES:
        return []
    often = counts >= max(LUMP_LEAST, LUMP_FACTOR * len(numbers) / len(values))
    order = np.argsort(-counts[often], kind="stable")[:LUMPS_LIMIT]
    return [float(value) for value in values[often][order]]


def _bits_of(outputs: Outputs, places: list[int]) -> Iterator[tuple[int, int]]:
    """Integers of many values, as long as there are not too many bits in all."""
    left = BITS_LIMIT
    for j in places:
        numbers = outputs.values[outputs.kinds[:, j] == Kind.NUMBER, j]
        if len(np.unique(numbers[:ROWS_FOR_CATEGORIES])) <= MANY_VALUES:
            continue
        if not (np.trunc(numbers) == numbers).all() or np.abs(numbers).max() > 2.0**53:
            continue
        bits = int(np.abs(numbers).max()).bit_length()
        if bits <= left:
            left -= bits
            yield j, bits


def _texts_of(outputs: Outputs, places: list[int]) -> Iterator[tuple[int, TextFeatures]]:
    for j in places:
        keys = outputs.values[np.isin(outputs.kinds[:, j], (Kind.STRING, Kind.OTHER)), j]
        different = np.unique(keys[:ROWS_FOR_CATEGORIES]).tolist()
        texts = [outputs.texts[key] for key in different if key in outputs.texts]
        if len(texts) > CATEGORIES_LIMIT:
            yield j, text_features(texts)


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
