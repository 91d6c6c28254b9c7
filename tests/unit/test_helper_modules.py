"""Code that a mechanism calls in another module of the user's is traced like its own."""

from __future__ import annotations

import importlib
import sys

import numpy as np
import pytest

import dpest
from dpest.trace.refusals import HiddenRandomness

HELPERS = """
import numpy as np

def noisy_rows(x, rng, scale):
    out = np.zeros(len(x))
    for k, value in enumerate(x):
        out[k] = float(value) + rng.laplace(scale=scale)
    return out

def largest(values):
    return max(values)

def hidden(x):
    return x + np.random.laplace()

class Clipper:
    def __init__(self, low):
        self.low = low

    def __call__(self, value):
        return max(value, self.low)
"""


@pytest.fixture
def helpers(tmp_path, monkeypatch):
    (tmp_path / "my_helpers.py").write_text(HELPERS)
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("my_helpers")
    globals()["my_helpers"] = module
    yield module
    del globals()["my_helpers"], sys.modules["my_helpers"]


def test_helpers_make_arrays_and_call_builtins(helpers, agrees):
    def mechanism(x, rng):
        return my_helpers.largest(my_helpers.noisy_rows(x, rng, 2.0))  # noqa: F821

    program = agrees(mechanism, 3)
    assert len(program.paths) == 1


def test_objects_of_helper_classes(helpers, agrees):
    clip = helpers.Clipper(0.5)

    def mechanism(x, rng):
        return [my_helpers.Clipper(1.0)(x[0] + rng.laplace()), clip(x[1])]  # noqa: F821

    agrees(mechanism, 2)


def test_hidden_randomness_in_a_helper_names_its_line(helpers):
    def mechanism(x, rng):
        return my_helpers.hidden(x[0]) + rng.laplace()  # noqa: F821

    with pytest.raises(HiddenRandomness, match=r"my_helpers\.py:14"):
        dpest.trace(mechanism, 2)


def test_helper_modules_are_left_as_they_were(helpers):
    dpest.trace(lambda x, rng: my_helpers.largest(x) + rng.laplace(), 2)  # noqa: F821
    assert helpers.np is np
    assert "max" not in vars(helpers)
