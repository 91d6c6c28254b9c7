"""Outcomes of many runs, coded compactly: which form a run returned, and its numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpest.program import Output
from dpest.program.program import SLOT

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Samples(Sequence[Any]):
    """Runs of a mechanism; `samples[i]` is the i-th outcome as the mechanism would return it.

    `form[i]` says which of the `forms` the outcome has: a skeleton of plain values with slots for
    numbers. `numbers[i]` are the numbers in its slots; entries beyond them mean nothing.
    """

    forms: tuple[Output, ...]
    form: NDArray[np.int32]
    numbers: Array

    @property
    def width(self) -> int:
        """The most numbers that an outcome has."""
        return int(self.numbers.shape[1])

    def __len__(self) -> int:
        return len(self.form)

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return Samples(self.forms, self.form[place], self.numbers[place])
        return self._restored(self.forms[self.form[place]], self.numbers[place].tolist())

    def __iter__(self) -> Iterator[Any]:
        for form, numbers in zip(self.form.tolist(), self.numbers.tolist(), strict=True):
            yield self._restored(self.forms[form], numbers)

    @staticmethod
    def _restored(form: Output, numbers: Sequence[Any]) -> Any:
        values = [leaf.restore(n) for leaf, n in zip(form.leaves, numbers, strict=False)]
        return form.restore(values)

    def counts(self) -> Counter[str]:
        """How often each outcome was seen, by its repr."""
        keys = np.column_stack([self.form, self.numbers])
        _, first, times = np.unique(keys, axis=0, return_index=True, return_counts=True)
        seen: Counter[str] = Counter()
        for place, n in zip(first, times.tolist(), strict=True):
            seen[repr(self[place])] += n
        return seen

    def __array__(self, dtype: Any = None, copy: Any = None) -> Array:
        """One row per run, where all outcomes are numbers, or flat lists of equal length."""
        if len(self.forms) == 1 and self.forms[0].skeleton == SLOT:
            return np.asarray(self.numbers[:, 0], dtype)
        if len(self.forms) == 1 and self.forms[0].skeleton == ("list", (SLOT,) * self.width):
            return np.asarray(self.numbers, dtype)
        return np.array(list(self), dtype)

    def __repr__(self) -> str:
        return f"<{len(self):,} samples of {len(self.forms)} form{'s' * (len(self.forms) > 1)}>"
