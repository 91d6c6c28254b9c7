"""A program as certificate data in which the choices that coins make stay whole."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache
from typing import Any

from dpest.engines.proof.clips import Clip
from dpest.engines.proof.encode import Encoder, domain_data
from dpest.engines.proof.finite import flat
from dpest.engines.proof.split import Route, routes
from dpest.inputs import Inputs
from dpest.program import Input, Linear, Noise, Path, Piece, Program
from dpest.program.linear import Variable
from dpest.verify.choices import COINS


def choices_data(program: Program, inputs: Inputs, clip: Clip | None) -> dict[str, Any]:
    """The program section of a certificate; see `dpest.verify.choices`."""
    found = [_plain(route) for route in routes(program, False, is_choice)]
    encoder = _Encoder(inputs.size)
    for noise in program.noises:
        encoder.draw(noise)
    bounds = None if clip is None else [str(bound) for bound in clip]
    data = encoder.program(domain_data(inputs), found)
    return {**data, "choices": encoder.choices, "clip": bounds}


def has_coins(program: Program) -> bool:
    """Whether coins decide anything, at first sight."""
    for path in program.paths:
        if any(_of_coins(condition.gap) for condition in path.conditions):
            return True
        if any(map(is_choice, _all_pieces(path))):
            return True
    return False


def draws_coins(program: Program) -> bool:
    """Whether any draw could be a coin."""
    return any(noise.law.name in COINS for noise in program.noises)


def cases(program: Program) -> int:
    """How many cases there are where every choice of coins is a case by itself."""
    return sum(map(_cases, program.paths))


def _cases(path: Path) -> int:
    cells: dict[object, int] = {}
    for piece in filter(_is_by_coins, _all_pieces(path)):
        coins = piece.partition.roots
        cells[coins] = max(len(piece.partition), cells.get(coins, 1))
    return math.prod(cells.values())


def _all_pieces(path: Path) -> list[Piece]:
    """Every piece that a path mentions, looking into pieces."""
    found: dict[Piece, None] = {}
    pending = [c.gap for c in path.conditions] + [leaf.value for leaf in path.output.leaves]
    while pending:
        new = [v for v in pending.pop().terms if isinstance(v, Piece) and v not in found]
        found.update(dict.fromkeys(new))
        for piece in new:
            pending += [*piece.values, *piece.partition.gaps]
    return list(found)


@lru_cache(maxsize=10_000)
def is_choice(piece: Piece) -> bool:
    """Whether coins alone decide the piece, and all others inside it."""
    inside = [v for value in piece.values for v in value.terms if isinstance(v, Piece)]
    return _is_by_coins(piece) and all(map(is_choice, inside))


def _is_by_coins(piece: Piece) -> bool:
    return all(map(_of_coins, piece.partition.gaps))


def _of_coins(gap: Linear) -> bool:
    return all(isinstance(v, Noise) and v.law.name in COINS for v in gap.terms)


def _plain(route: Route) -> Route:
    """With conditions in place of winners."""
    return replace(route, fragments=tuple(flat(f, {}) for f in route.fragments))


class _Encoder(Encoder):
    """Writes x[n + k] for choice k."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.size = size
        self.choices: list[dict[str, Any]] = []
        self._stand_ins: dict[Piece, Linear] = {}
        self._inputs: dict[int, Linear] = {}

    def line(self, line: Linear) -> int:
        values: dict[Variable, Linear] = {
            piece: self._stand_in(piece) for piece in line.terms if isinstance(piece, Piece)
        }
        return super().line(line.substitute(values))

    def _stand_in(self, piece: Piece) -> Linear:
        if piece not in self._stand_ins:
            number = self.size + self._choice(piece)
            if number not in self._inputs:
                self._inputs[number] = Linear.of(Input(number))
            self._stand_ins[piece] = self._inputs[number]
        return self._stand_ins[piece]

    def _choice(self, piece: Piece) -> int:
        data = {
            "cells": [
                [[self.line(c.left), self.line(c.right), c.strict] for c in cell]
                for cell in piece.partition.cells
            ],
            "values": [self.line(value) for value in piece.values],
        }
        if data not in self.choices:
            self.choices.append(data)
        return self.choices.index(data)
