"""Events in words, and as tests of an output in Python."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from flint import fmpq

from dpest.engines.exact.extreme import Slab
from dpest.numbers.rational import to_float
from dpest.program.program import SLOT


def structure_tests(
    skeleton: Any, path: str, paths: list[str], alone: bool
) -> Iterator[str]:
    """Tests of the fixed values and lengths; the place of every number goes to `paths`.

    Where outputs have other forms too, their types are tested first.
    """
    if skeleton == SLOT:
        paths.append(path)
        if not alone:
            yield f"isinstance({path}, (int, float))"
        return
    kind, content = skeleton
    if kind == "value":
        yield f"{path} is None" if content is None else f"{path} == {content!r}"
        return
    if isinstance(kind, type):
        if not alone:
            yield f"type({path}).__name__ == {kind.__name__!r}"
        for name, item in content:
            yield from structure_tests(item, f"{path}.{name}", paths, alone)
        return
    if kind != "dict":
        if not alone:
            yield f"isinstance({path}, (list, tuple))"
        yield f"len({path}) == {len(content)}"
        content = enumerate(content)
    for key, item in content:
        yield from structure_tests(item, f"{path}[{key!r}]", paths, alone)


def slab_tests(slab: Slab, paths: Sequence[str]) -> Iterator[str]:
    total = " + ".join(
        paths[k] if c == 1 else f"{to_float(c)!r} * {paths[k]}" for k, c in slab.coefficients
    )
    if slab.low > -math.inf:
        yield f"{total} >= {slab.low!r}"
    if slab.high < math.inf:
        yield f"{total} <= {slab.high!r}"


class Blank(float):
    """Stands for a released number in a printed outcome."""

    place: int | str

    def __new__(cls, place: int | str) -> Blank:
        made = super().__new__(cls, math.nan)
        made.place = place
        return made

    def __repr__(self) -> str:
        return f"y{self.place}"


def slab_text(slab: Slab, count: int) -> str:
    name = " ".join(_term(k, c, count) for k, c in slab.coefficients).removeprefix("+ ")
    if slab.low == slab.high:
        return f"{name} = {slab.low:.10g}"
    if slab.low == -math.inf:
        return f"{name} <= {slab.high:.10g}"
    if slab.high == math.inf:
        return f"{name} >= {slab.low:.10g}"
    return f"{slab.low:.10g} <= {name} <= {slab.high:.10g}"


def name_of(place: int, count: int) -> str:
    return "y" if count == 1 else f"y{place}"


def _term(place: int, coefficient: fmpq, count: int) -> str:
    name = name_of(place, count)
    size = "" if abs(coefficient) == 1 else f"{to_float(abs(coefficient)):g} "
    return f"{'-' if coefficient < 0 else '+'} {size}{name}"
