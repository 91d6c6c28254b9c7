"""Everything that numpy offers, in the spellings people use, against real runs.

`data/numpy_expressions.txt` has one expression per line, of three noisy numbers `v`.
"""

from __future__ import annotations

import functools  # noqa: F401 - used by the expressions
import itertools  # noqa: F401
import math  # noqa: F401
from pathlib import Path

import numpy as np  # noqa: F401
import pytest

LIST = Path(__file__).parents[1] / "data" / "numpy_expressions.txt"
EXPRESSIONS = LIST.read_text().splitlines()


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_spelling(text, agrees):
    operation = eval(f"lambda v: ({text})", globals())

    def mechanism(x, rng):
        return operation(x + rng.laplace(scale=2.0, size=len(x)))

    agrees(mechanism, 3, runs=5)
