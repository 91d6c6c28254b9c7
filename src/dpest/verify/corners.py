"""One shift per corner of the box of differences, where no single rule is the best.

In the maximum norm every difference d of the inputs of a path is a mixture of the corners of a
box. Without extremes all conditions and outputs are linear in d and the shift together, so the
same mixture of the corners' shifts keeps the path; prices are convex, so it costs no more than the
dearest corner.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping

from flint import fmpq

from dpest.verify.model import Model, Part, Terms
from dpest.verify.price import Malformed, Price
from dpest.verify.reach import Form, Neighborhood
from dpest.verify.shift import part_price

MAX_INPUTS = 6
Signs = str
"""A corner: + or - for every input, in their order."""
Corners = Mapping[Signs, Mapping[int, Form]]


def signs_of(inputs: set[int]) -> list[Signs]:
    if len(inputs) > MAX_INPUTS:
        raise Malformed(f"corners of {len(inputs)} inputs")
    return ["".join(signs) for signs in itertools.product("+-", repeat=len(inputs))]


def direction(inputs: set[int], signs: Signs, radius: fmpq) -> Terms:
    """The corner as a difference of two inputs."""
    moves = zip(sorted(inputs), signs, strict=True)
    return {i: radius if sign == "+" else -radius for i, sign in moves}


def corner_prices(
    model: Model, part: Part, inputs: set[int], radius: fmpq, listed: Corners
) -> dict[Signs, Price]:
    """The price of every corner; those that are not listed need no shift."""
    corners = signs_of(inputs)
    if not listed.keys() <= set(corners):
        raise Malformed("shifts for what is not a corner")
    if any(model.lines[k].extremes for k in model.line_ids(part)):
        raise Malformed("corners of a part with extremes")
    result = {}
    for signs in corners:
        changes = listed.get(signs, {})
        if any(model.noise[j].lattice for j in changes):
            raise Malformed("mixtures of shifts of integers")
        near = Neighborhood("pair", None, direction(inputs, signs, radius))
        result[signs] = part_price(model, part, near, changes)
    return result


def within(signs: Signs, inputs: set[int], kept: set[int]) -> Signs:
    """The corner of the box of fewer inputs."""
    at = dict(zip(sorted(inputs), signs, strict=True))
    return "".join(at[i] for i in sorted(kept))
