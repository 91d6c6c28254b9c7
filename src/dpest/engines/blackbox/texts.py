"""Numbers that describe strings: how long they are, what stands where, and numbers written in them.

Features are computed once per string that occurs and then looked up.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, islice

import numpy as np
import numpy.typing as npt

Table = npt.NDArray[np.float64]
CHARACTERS = 128
"""Places that are looked at, from the start of a string."""
ENDS = 4
"""Places that are looked at, from its end."""
NUMBERS = 6
LETTERS = 24
"""Characters that are counted, the commonest."""
EXAMPLES = 2_000
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|[-+]?inf\b|\bnan\b")


@dataclass(frozen=True)
class TextFeatures:
    """Which features of strings tell them apart."""

    places: tuple[int, ...]
    """Characters whose code is a feature; from -1 on downwards they count from the end."""
    letters: str
    numbers: int

    def names(self, of: str) -> list[str]:
        """What the columns are, for a person."""
        return [
            f"length of {of}",
            *(f"character {place} of {of}" for place in self.places),
            *(f"number of {letter!r} in {of}" for letter in self.letters),
            *(f"number {k + 1} written in {of}" for k in range(self.numbers)),
        ]

    def table(self, keys: Table, texts: dict[float, str]) -> Table:
        """A row per key; where it is no string, nothing is known."""
        known, place = np.unique(keys, return_inverse=True)
        width = 1 + len(self.places) + len(self.letters) + self.numbers
        nothing = [np.nan] * width
        rows = [self._row(texts[key]) if key in texts else nothing for key in known.tolist()]
        return np.array(rows, float).reshape(len(known), width)[place.ravel()]

    def _row(self, text: str) -> list[float]:
        size = len(text)
        codes = (ord(text[at]) if -size <= at < size else np.nan for at in self.places)
        counts = Counter(text) if self.letters else {}
        numbers = _numbers(text, self.numbers)
        row = (float(size), *codes, *(float(counts.get(a, 0)) for a in self.letters), *numbers)
        return list(map(float, row))


def text_features(texts: Sequence[str]) -> TextFeatures:
    """The features worth computing for strings like these; few where they are all alike."""
    texts = texts[:EXAMPLES]
    longest = max(map(len, texts), default=0)
    candidates = chain(range(min(longest, CHARACTERS)), range(-1, -1 - min(longest, ENDS), -1))
    places = tuple(at for at in candidates if len({_at(text, at) for text in texts}) > 1)
    if len(set(map(len, texts))) == 1:
        places = tuple(at for at in places if at >= 0 or longest + at >= CHARACTERS)
    letters = "".join(a for a, _ in Counter(chain.from_iterable(texts)).most_common(LETTERS))
    numbers = max((len(_NUMBER.findall(text)) for text in texts), default=0)
    return TextFeatures(places, letters, min(numbers, NUMBERS))


def _at(text: str, place: int) -> str:
    return text[place] if -len(text) <= place < len(text) else ""


def _numbers(text: str, most: int) -> list[float]:
    """The first numbers that are written in a text, and NaN for those that are not there."""
    found = [float(match.group()) for match in islice(_NUMBER.finditer(text), most)]
    return [*(number if np.isfinite(number) else np.nan for number in found),
            *[np.nan] * (most - len(found))]  # fmt: skip
