"""All outcomes together have probability one."""

from __future__ import annotations

import numpy as np
import pytest

import dpest


@pytest.mark.parametrize("entry", dpest.zoo.ENTRIES, ids=lambda e: e.title)
def test_zoo_mechanism(entry):
    n = entry.inputs.size
    if entry.inputs.integral:
        points = [entry.inputs.give([v]) for v in (1, 3)]
    else:
        points = [np.ones(n), np.arange(n) % 3 * 1.0] if n > 1 else [1.0, -2.5]
    for x in points[: 1 if entry.name == "svt34_parallel" else 2]:
        total = dpest.distribution(entry.function, x, params=entry.params).total()
        assert total == pytest.approx(1, abs=1e-10)
