"""What the bits of a double give away that its real value does not.

A sum `x + noise` is rounded to the grid of its larger term. So whether the last bits of an output
(or of its distance to a possible input) are used tells which input it came from, although the real
number it stands for hardly does.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

Column = npt.NDArray[np.float64]
NO_BITS = 2000.0
"""Stands for the lowest bit of zero."""


def lowest_bit(values: Column) -> Column:
    """The exponent of the lowest set bit: -1 for 0.5 and 2.5, -53 for 1 + 2**-53's neighbour."""
    mantissa, exponent = np.frexp(values)
    whole = np.abs(mantissa * 2.0**53).astype(np.int64)
    trailing = np.frexp((whole & -whole).astype(float))[1] - 1
    return np.where(whole == 0, NO_BITS, exponent - 53 + trailing)


def low_bit_features(
    values: Column, references: tuple[float, ...], name: str
) -> Iterator[tuple[str, Column]]:
    """Lowest bit and magnitude of an output and of its distance to each possible input."""
    for reference in (0.0, *(r for r in references if r != 0.0)):
        distance = values - reference
        of = name if reference == 0.0 else f"({name} - {reference:g})"
        lowest = lowest_bit(distance)
        exponent = np.frexp(distance)[1].astype(float)
        yield f"lowest bit of {of}", lowest
        yield f"exponent of {of}", exponent
        yield f"bits used by {of}", exponent - lowest
