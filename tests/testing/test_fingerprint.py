"""The fingerprint: equal for what behaves equally, different for what may not, none in doubt."""

import collections
import dataclasses
import enum
import functools
import math
import os
import random
import subprocess
import sys
import time
import types

import numpy as np
import pytest

import dpest
from dpest.testing.fingerprint import fingerprint


def made(source, name="f", **names):
    """A function of a module of its own, as if read from a file."""
    module = types.ModuleType("made")
    module.__dict__.update(names, np=np, math=math, functools=functools)
    exec(compile(source, "made.py", "exec"), module.__dict__)
    return module.__dict__[name]


class Color(enum.Enum):
    RED = 1
    BLUE = 2


@dataclasses.dataclass
class Settings:
    eps: float = 1.0
    names: list = dataclasses.field(default_factory=list)

    def scale(self):
        return 1 / self.eps


class Mechanism:
    def __init__(self, scale):
        self.scale = scale

    def run(self, x, rng):
        return x + rng.laplace(scale=self.scale)


Point = collections.namedtuple("Point", "a b")
PLAIN = "def f(x, rng): return x + rng.laplace(scale={})"
USES = "def f(x, rng): return x + rng.laplace(scale=value)"
CALLS = "def g(): return {}\ndef f(x, rng): return x + rng.laplace(scale=g())"
WRAPS = """
def twice(h):
    @functools.wraps(h)
    def inner(x, rng): return {} * h(x, rng)
    return inner
@twice
def f(x, rng): return x + rng.laplace()
"""
MAKES = "def make(k):\n    def f(x, rng): return x + rng.laplace(scale=k)\n    return f"
DIFFERENT = {
    "constant": (made(PLAIN.format(1)), made(PLAIN.format(2))),
    "int or float": (made(PLAIN.format(1)), made(PLAIN.format("1.0"))),
    "line": (made(PLAIN.format(1)), made("\n" + PLAIN.format(1))),
    "global": (made(USES, value=1), made(USES, value=2)),
    "global array": (made(USES, value=np.array([1])), made(USES, value=np.array([2]))),
    "array type": (made(USES, value=np.array([1])), made(USES, value=np.array([1.0]))),
    "global list": (made(USES, value=[1, [2]]), made(USES, value=[1, [3]])),
    "order of keys": (made(USES, value={1: 1, 2: 2}), made(USES, value={2: 2, 1: 1})),
    "missing global": (made(USES, value=1), made(USES)),
    "helper": (made(CALLS.format(1)), made(CALLS.format(2))),
    "decorator": (made(WRAPS.format(1)), made(WRAPS.format(2))),
    "closure": (made(MAKES, "make")(1), made(MAKES, "make")(2)),
    "default": (made("def f(x, rng, a=1): return x"), made("def f(x, rng, a=2): return x")),
    "keyword": (made("def f(x, rng, *, a=1): return x"), made("def f(x, rng, *, a=2): return x")),
    "method": (Mechanism(1).run, Mechanism(2).run),
    "partial": (functools.partial(math.pow, 1), functools.partial(math.pow, 2)),
    "numpy's function": (made(USES, value=np.argmax), made(USES, value=np.argmin)),
    "ufunc": (made(USES, value=np.add), made(USES, value=np.subtract)),
    "enum": (made(USES, value=Color.RED), made(USES, value=Color.BLUE)),
    "dataclass": (made(USES, value=Settings(1)), made(USES, value=Settings(2))),
    "named tuple": (made(USES, value=Point(1, 2)), made(USES, value=Point(2, 2))),
    "inputs": (dpest.reals(3), dpest.reals(4)),
    "bounds": (dpest.reals(3), dpest.reals(3, 0, 1)),
    "kind of inputs": (dpest.reals(3, 0, 1), dpest.integers(3, 0, 1)),
    "options": (dpest.one_of("a", "b"), dpest.one_of("a", "c")),
    "neighbors": (dpest.l1(1), dpest.linf(1)),
    "pairs": (dpest.pairs([(1, 2)]), dpest.pairs([(1, 3)])),
    "claim": (dpest.pure(1), dpest.zcdp(1)),
    "zero and minus zero": (0.0, -0.0),
}


@pytest.mark.parametrize(("one", "other"), DIFFERENT.values(), ids=DIFFERENT.keys())
def test_what_may_behave_differently_differs(one, other):
    assert fingerprint(one) is not None
    assert fingerprint(other) is not None
    assert fingerprint(one) != fingerprint(other)


@pytest.mark.parametrize(
    "build",
    [lambda: made(CALLS.format(1)), lambda: made(WRAPS.format(2)), lambda: Mechanism(3).run,
     lambda: made(USES, value=Settings(2)), lambda: made(USES, value={"a", "b", "c"}),
     lambda: made(MAKES, "make")(7), lambda: dpest.zoo.numerical_svt,
     lambda: made("def f(n): return 1 if n == 0 else f(n - 1)"),
     lambda: made(USES, value=[np.float64(2), (1, None), {"k": 3j}])],
)  # fmt: skip
def test_what_is_built_the_same_is_the_same(build):
    assert fingerprint(build()) == fingerprint(build()) is not None


OPAQUE = {
    "the environment": made("def f(x, rng): return os.environ['A']", os=os),
    "the clock": made("def f(x, rng): return x + clock()", clock=time.time),
    "other randomness": made("def f(x, rng): return x + random.random()", random=random),
    "a generator": made(USES, value=np.random.default_rng(0)),
    "a file": made("def f(x, rng): return x + float(open('a').read())"),
    "an attribute by name": made("def f(x, rng): return getattr(math, 'p' + 'i')"),
    "its globals": made("def f(x, rng): return globals()['value']", value=1),
    "code in a text": made("def f(x, rng): return eval('value')", value=1),
    "an import": made("def f(x, rng):\n    import time\n    return time.time()"),
    "a relative import": made("def f(x, rng):\n    from .math import pi\n    return pi"),
    "an iterator": made(USES, value=iter([1, 2])),
    "the address of an object": made("def f(x, rng): return id(x)"),
    "a module as a value": made(USES, value=[os]),
}


@pytest.mark.parametrize("function", OPAQUE.values(), ids=OPAQUE.keys())
def test_what_cannot_be_seen_into_has_none(function):
    assert fingerprint(function) is None


def test_a_module_counts_by_what_is_taken_from_it():
    helpers = types.ModuleType("helpers")
    helpers.__file__ = "helpers.py"
    helpers.scale, helpers.other = 1.0, 1.0
    function = made("def f(x, rng): return x + rng.laplace(scale=helpers.scale)", helpers=helpers)
    before = fingerprint(function)
    helpers.other = 2.0
    assert fingerprint(function) == before is not None
    helpers.scale = 2.0
    assert fingerprint(function) != before


def test_a_function_put_into_numpy_is_seen(monkeypatch):
    function = made("def f(x, rng): return np.argmax(x + rng.laplace(size=len(x)))")
    before = fingerprint(function)
    monkeypatch.setattr(np, "argmax", lambda x: 0)
    assert fingerprint(function) != before


def test_it_is_the_same_in_another_process():
    code = (
        "import dpest; from dpest.testing.fingerprint import fingerprint; "
        "print(fingerprint(dpest.zoo.svt1, dpest.one_of('a', 'b'), {'a', 'b', 'c'}))"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", code], env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True, text=True, check=True,
        ).stdout
        for seed in ("1", "2")
    }  # fmt: skip
    assert len(found) == 1
    assert "None" not in found.pop()
