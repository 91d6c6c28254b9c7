"""Strings that nobody listed, found from reports of their n-grams.

Each client reports its string and two of its n-grams with their positions. Which n-grams occur
together is an association; strings whose n-grams all occur together pairwise become candidates;
the reports of whole strings decide which of them are real.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from dpest.rappor.candidates import Candidates
from dpest.rappor.decoding.association import OTHER, Variable, associate
from dpest.rappor.decoding.decoder import decode
from dpest.rappor.decoding.results import Decoding

if TYPE_CHECKING:
    from dpest.rappor.params import Params
    from dpest.rappor.reports import Reports

_MOST_STRINGS = 100_000
_MOST_NGRAMS = 40
_LEAST_PAIRS = 50
PADDING = " "

Gram = tuple[int, str]


@dataclass(frozen=True, eq=False)
class NgramReports:
    """Two n-grams per client: `positions[i]` says where in its string client i took them from.

    A position counts characters from 0 in steps of the n-gram's `size`; strings shorter than the
    last position are padded with blanks.
    """

    params: Params
    size: int
    positions: np.ndarray
    first: Reports
    second: Reports


@dataclass(frozen=True, eq=False)
class Unknown:
    """The strings found, the n-grams they were built from, and the pairs that occur together."""

    decoding: Decoding | None
    candidates: tuple[str, ...]
    ngrams: dict[int, tuple[str, ...]]
    pairs: frozenset[tuple[Gram, Gram]]


def unknown(
    params: Params,
    reports: Reports,
    ngrams: NgramReports,
    alphabet: str,
    *,
    scheme: str = "dpest",
    salt: str = "",
    alpha: float = 0.05,
) -> Unknown:
    """Find frequent strings over an alphabet without a list of candidates.

    `reports` are the reports of whole strings with `params`, `ngrams` those of the same clients'
    n-grams; both hash by `scheme` and `salt`, and are decoded with the probabilities that clients
    of this scheme really use. N-grams that are significant at their position are kept; pairs of
    them whose joint share is significantly positive are joined.
    """
    _check(reports, ngrams, alphabet)
    params = params.effective(scheme)
    ngrams = replace(ngrams, params=ngrams.params.effective(scheme))
    grams = _all_ngrams(alphabet, ngrams.size)
    listed = Candidates.hashed(grams, ngrams.params, scheme, salt=salt)
    places = sorted({int(place) for place in ngrams.positions.ravel()})
    found = {place: _ngrams_at(place, ngrams, listed, alpha) for place in places}
    pairs = frozenset(_pairs(ngrams, listed, found, alpha))
    strings = tuple(sorted({text.rstrip(PADDING) for text in _strings(places, found, pairs)}))
    decoding = None
    if strings:
        candidates = Candidates.hashed(strings, params, scheme, salt=salt)
        decoding = decode(params, candidates, reports=reports, alpha=alpha)
    names = {place: tuple(listed.strings[i] for i in kept) for place, kept in found.items()}
    return Unknown(decoding, strings, names, pairs)


def _all_ngrams(alphabet: str, size: int) -> list[str]:
    """All n-grams of the alphabet, padded ones included."""
    letters = sorted(set(alphabet) - {PADDING})
    return [
        "".join(text) + PADDING * (size - full)
        for full in range(size + 1)
        for text in itertools.product(letters, repeat=full)
    ]


def _ngrams_at(place: int, ngrams: NgramReports, listed: Candidates, alpha: float) -> np.ndarray:
    """The most frequent significant n-grams at a position, from either report."""
    from dpest.rappor.reports import Reports

    here = [
        reports[ngrams.positions[:, slot] == place]
        for slot, reports in enumerate((ngrams.first, ngrams.second))
    ]
    decoding = decode(ngrams.params, listed, reports=Reports.concatenate(here), alpha=alpha)
    kept = np.flatnonzero(decoding.detected)
    return kept[np.argsort(-decoding.proportion[kept])][:_MOST_NGRAMS]


def _pairs(
    ngrams: NgramReports, listed: Candidates, found: dict[int, np.ndarray], alpha: float
) -> Iterator[tuple[Gram, Gram]]:
    """N-grams at two positions that significantly often belong to the same client."""
    low, high = ngrams.positions.min(axis=1), ngrams.positions.max(axis=1)
    swapped = (ngrams.positions[:, 0] > ngrams.positions[:, 1])[:, None]
    first, second = _ordered(ngrams, swapped)
    for a, b in itertools.combinations(sorted(found), 2):
        both = (low == a) & (high == b)
        if both.sum() < _LEAST_PAIRS or not (len(found[a]) and len(found[b])):
            continue
        left = Variable(str(a), ngrams.params, listed.subset(found[a]), first[both])
        right = Variable(str(b), ngrams.params, listed.subset(found[b]), second[both])
        for cell in associate([left, right], alpha=alpha, select=False).cells:
            if cell.prop_low_95 > 0 and OTHER not in cell.values:
                yield (a, cell.values[0]), (b, cell.values[1])


def _ordered(ngrams: NgramReports, swapped: np.ndarray) -> tuple[Reports, Reports]:
    """Both reports of every client, the one of the earlier position first."""
    from dpest.rappor.reports import Reports

    one, two = ngrams.first, ngrams.second
    early = (
        np.where(swapped, two.packed, one.packed),
        np.where(swapped[:, 0], two.cohorts, one.cohorts),
    )
    late = (
        np.where(swapped, one.packed, two.packed),
        np.where(swapped[:, 0], one.cohorts, two.cohorts),
    )
    return Reports(one.k, early[1], early[0]), Reports(one.k, late[1], late[0])


def _strings(
    places: list[int], found: dict[int, np.ndarray], pairs: frozenset[tuple[Gram, Gram]]
) -> list[str]:
    """One n-gram per position such that all pairs occur together: the cliques of the graph."""
    grams: dict[int, list[str]] = {place: [] for place in places}
    for pair in pairs:
        for place, gram in pair:
            if gram not in grams[place]:
                grams[place].append(gram)
    partial: list[tuple[Gram, ...]] = [()]
    for place in places:
        partial = [
            (*chain, (place, gram))
            for chain in partial
            for gram in sorted(grams[place])
            if all((earlier, (place, gram)) in pairs for earlier in chain)
        ]
        if len(partial) > _MOST_STRINGS:
            raise ValueError(
                f"more than {_MOST_STRINGS} strings fit the n-grams; use a smaller alpha"
            )
    return ["".join(gram for _, gram in chain) for chain in partial if chain]


def _check(reports: Reports, ngrams: NgramReports, alphabet: str) -> None:
    if not alphabet.strip():
        raise ValueError(f"alphabet={alphabet!r} has no letters; give the characters that occur")
    if not 1 <= ngrams.size <= 3:
        raise ValueError(f"size={ngrams.size} must be 1, 2 or 3 characters")
    sizes = len(reports), len(ngrams.positions), len(ngrams.first), len(ngrams.second)
    if len(set(sizes)) != 1 or sizes[0] == 0:
        raise ValueError(f"each client needs a string and two n-grams, but there are {sizes}")
    if (ngrams.positions[:, 0] == ngrams.positions[:, 1]).any():
        raise ValueError("a client reported two n-grams of one position; take two positions")
