"""How often each bit is set in each cohort, many bits per machine word at a time.

Reports are put into groups of 32 of one cohort, and the groups side by side, so that whole arrays
of words can be added: first pairs of neighbouring reports into fields of two bits, then four of
those into fields of four bits, then four of those into bytes, which hold sums of up to 32. Only
these bytes, an eighth of a bit's share of memory, are added up cohort by cohort.
"""

from __future__ import annotations

import numpy as np

_GROUP = 32
_STEPS = ((1, 2), (2, 4), (4, 4))
_BLOCK_BYTES = 1 << 21


def bit_sums(cohorts: np.ndarray, packed: np.ndarray, m: int) -> tuple[np.ndarray, np.ndarray]:
    """The number of reports of each cohort, and how often each bit of them is set.

    Bits are numbered as in `Reports`; the sums cover all the bits of the packed bytes.
    """
    width = packed.shape[1]
    sizes, sums = np.zeros(m, np.int64), np.zeros((m, width * 8), np.int64)
    rows = max(_BLOCK_BYTES // width, _GROUP)
    for at in range(0, len(cohorts), rows):
        block = _whole_words(packed[at : at + rows])
        present = np.bincount(cohorts[at : at + rows], minlength=m)
        sizes += present
        sums += _block_sums(cohorts[at : at + rows], block, present)[:, : width * 8]
    return sizes, sums


def _whole_words(packed: np.ndarray) -> np.ndarray:
    """The rows as whole 64-bit words, filled up with zeros."""
    filling = -packed.shape[1] % 8
    wide = np.pad(packed, ((0, 0), (0, filling))) if filling else np.ascontiguousarray(packed)
    return wide.view(np.uint64)


def _block_sums(cohorts: np.ndarray, words: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    groups = -(-sizes // _GROUP)
    fields = _grouped(cohorts, words, sizes, groups)
    for bits, fold in _STEPS:
        fields = _widened(fields, bits, fold)
    sums = np.zeros((len(sizes), words.shape[1] * 64), dtype=np.int64)
    (present,) = np.nonzero(groups)
    starts = np.cumsum(groups)[present] - groups[present]
    if len(present):
        of_bytes = fields.view(np.uint8).reshape(2, 2, 2, groups.sum(), -1)
        by_place = np.add.reduceat(of_bytes, starts, axis=3, dtype=np.int64)
        sums[present] = by_place.transpose(3, 4, 2, 1, 0).reshape(len(present), -1)
    return sums


def _grouped(
    cohorts: np.ndarray, words: np.ndarray, sizes: np.ndarray, groups: np.ndarray
) -> np.ndarray:
    """Shape (32, 1, groups * words): report i of every group, group after group.

    Groups that a cohort does not fill hold empty reports.
    """
    small = cohorts.astype(np.uint16) if len(sizes) <= 1 << 16 else cohorts
    order, total = np.argsort(small, kind="stable"), int(groups.sum())
    rank = np.arange(len(cohorts)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    group = (rank >> 5) + np.repeat(np.cumsum(groups) - groups, sizes)
    row = f"V{words.shape[1] * 8}"
    grouped = np.empty((_GROUP * total, words.shape[1]), dtype=np.uint64)
    grouped.fill(0)  # quicker than np.zeros, whose fresh pages are faulted in one by one
    grouped.view(row)[(rank & _GROUP - 1) * total + group] = words.view(row)[order]
    return grouped.reshape(_GROUP, 1, -1)


def _widened(fields: np.ndarray, bits: int, fold: int) -> np.ndarray:
    """Add `fold` neighbours, in fields twice as wide; low and high halves get a new axis each.

    The axis is split so that, at the end, the places of a byte's bits are (first, second, third).
    """
    reports, places, size = fields.shape
    neighbours = fields.reshape(reports // fold, fold, places, size)
    mask = np.uint64(sum(((1 << bits) - 1) << at for at in range(0, 64, 2 * bits)))
    wide = np.empty((reports // fold, places, 2, size), dtype=np.uint64)
    np.add.reduce(neighbours & mask, axis=1, out=wide[:, :, 0])
    np.add.reduce(neighbours >> np.uint64(bits) & mask, axis=1, out=wide[:, :, 1])
    return wide.reshape(reports // fold, 2 * places, size)
