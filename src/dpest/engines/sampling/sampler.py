"""A traced program as vectorised numpy: draw all noise, ask every question once, route by masks."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpest.engines.sampling.affine import Affine, Block, Code, Rows
from dpest.engines.sampling.collapse import Few, collapsed, parts_of
from dpest.engines.sampling.columns import columns
from dpest.engines.sampling.routing import Routes
from dpest.engines.sampling.samples import Samples
from dpest.engines.sampling.tree import Diagram
from dpest.noise import Law
from dpest.program import Leaf, Linear, Noise, Output, Program
from dpest.program.linear import roots
from dpest.program.program import Place

BLOCK = 1 << 15
"""Runs that are drawn together; what a block needs fits a cache, and bounds the memory."""
Ints = NDArray[np.int32]


class Sampler:
    """Draws outcomes of a program for any of its inputs."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.diagram = Diagram()
        number: dict[Output, int] = {}
        ends = [number.setdefault(path.output.folded, len(number)) for path in program.paths]
        self.outcomes = list(number)
        self._starts: dict[int | None, int] = {}
        for variant in dict.fromkeys(path.variant for path in program.paths):
            chosen = [k for k, path in enumerate(program.paths) if path.variant == variant]
            self._starts[variant] = self.diagram.add(
                [program.paths[k] for k in chosen], [ends[k] for k in chosen]
            )
        self.columns = columns(self.diagram, [_drawn(output) for output in self.outcomes])

    @cached_property
    def laws(self) -> dict[int, Law]:
        """The law of every column."""
        return {column: noise.law for noise, column in self.columns.items()}

    def at(self, x: Any) -> Compiled:
        """The sampler for one input."""
        place = self.program.at(x)
        return Compiled(self, place, self._starts[place.variant])


def _drawn(output: Output) -> frozenset[Noise]:
    found = roots([leaf.value for leaf in output.leaves])
    return frozenset(v for v in found if isinstance(v, Noise))


@dataclass(frozen=True)
class Slot:
    """How the numbers at one place of the outcomes are computed.

    Outcomes with the same expression there are filled together; `line_of` names the expression of
    every outcome, 0 where it has no such place.
    """

    lines: tuple[Affine, ...]
    masks: tuple[tuple[int, ...] | None, ...]
    line_of: Ints
    is_single: bool
    """Whether all outcomes have the place and compute it alike."""

    def fill(self, column: NDArray[Any], block: Block, ends: Ints | None) -> None:
        """Write the numbers of the runs of a block."""
        if ends is None or self.is_single:
            self._put(column, slice(None), 0, block, None)
            return
        line = self.line_of.take(ends)
        for k in range(len(self.lines)):
            rows = np.flatnonzero(line == k + 1)
            if len(rows):
                self._put(column, rows, k, block, rows)

    @property
    def literals(self) -> list[int]:
        """The tests behind the masks."""
        return [literal for mask in self.masks for literal in mask or ()]

    def _put(
        self, column: NDArray[Any], where: Any, line: int, block: Block, rows: Rows
    ) -> None:
        mask = self.masks[line]
        if mask is None:
            column[where] = self.lines[line].value(block, rows)
        else:
            column[where] = block.all_hold(mask, rows)


class Compiled:
    """A program with one input put in."""

    def __init__(self, sampler: Sampler, place: Place, start: int) -> None:
        self._sampler = sampler
        self.code = Code(place.numbers, sampler.columns)
        self._routes = Routes(sampler.diagram, start, len(sampler.outcomes), self.code)
        outputs = {k: _at(sampler.outcomes[k], place) for k in self._routes.reached}
        forms = {form: k for k, form in enumerate(dict.fromkeys(map(_form, outputs.values())))}
        self.forms = tuple(forms)
        self._form_of = np.zeros(len(sampler.outcomes), np.int32)
        for end, output in outputs.items():
            self._form_of[end] = forms[_form(output)]
        self._slots = [self._slot(outputs, k) for k in range(max(len(f.leaves) for f in forms))]
        self._few = self._collapsed()
        self._draws = self._drawn()
        self._dtype = self._common_type()

    def _collapsed(self) -> dict[int, Few]:
        """The numbers, by their place, that one uniform draw each can stand for."""
        asked = [literal for question in self._routes.questions for literal in question.test]
        parts = [parts_of(self.code, slot.lines, slot.literals) for slot in self._slots]
        uses = Counter(column for part in parts for column in part.columns)
        uses.update(parts_of(self.code, (), asked).columns)
        found = {}
        for place, (slot, part) in enumerate(zip(self._slots, parts, strict=True)):
            if slot.is_single and all(uses[column] == 1 for column in part.columns):
                few = collapsed(self.code, slot.lines[0], part, self._sampler.laws)
                if few is not None:
                    found[place] = few
        return found

    def _drawn(self) -> list[tuple[Law, list[int]]]:
        """The columns that have to be drawn, law by law."""
        spared = {
            column
            for place in self._few
            for column in parts_of(self.code, self._slots[place].lines).columns
        }
        by_law: dict[Law, list[int]] = defaultdict(list)
        for column in sorted(self._sampler.laws):
            if column not in spared:
                by_law[self._sampler.laws[column]].append(column)
        return list(by_law.items())

    def _slot(self, outputs: Mapping[int, Output], place: int) -> Slot:
        line_of = np.zeros(len(self._form_of), np.int32)
        lines: dict[Linear, int] = {}
        for end, output in outputs.items():
            if place < len(output.leaves):
                line_of[end] = lines.setdefault(output.leaves[place].value, len(lines)) + 1
        return Slot(
            tuple(map(self.code.line, lines)),
            tuple(map(self.code.mask, lines)),
            line_of,
            is_single=all(line_of[end] == 1 for end in outputs),
        )

    def _common_type(self) -> type:
        kinds = {leaf.kind for form in self.forms for leaf in form.leaves}
        return bool if kinds == {"bool"} else float

    def draw(self, rng: np.random.Generator, size: int) -> Samples:
        """`size` outcomes, drawn block by block."""
        form = np.zeros(size, np.int32)
        numbers: NDArray[Any] = np.zeros((len(self._slots), size), self._dtype)
        for start in range(0, size, BLOCK):
            rows = slice(start, min(start + BLOCK, size))
            self._fill(rng, form[rows], numbers[:, rows])
        return Samples(self.forms, form, numbers.T)

    def _fill(self, rng: np.random.Generator, form: Ints, numbers: NDArray[Any]) -> None:
        size = len(form)
        block = Block(self.code, self._noise(rng, size), size)
        ends = self._routes.ends(block)
        if ends is not None:
            np.take(self._form_of, ends, out=form)
        for place, (slot, column) in enumerate(zip(self._slots, numbers, strict=True)):
            if place in self._few:
                column[:] = self._few[place].of(rng.random(size))
            else:
                slot.fill(column, block, ends)

    def _noise(self, rng: np.random.Generator, size: int) -> dict[int, NDArray[Any]]:
        """The draws of a block, by column; those of one law are drawn together."""
        draws: dict[int, NDArray[Any]] = {}
        for law, places in self._draws:
            drawn = np.asarray(law.sample(rng, len(places) * size), float)
            draws.update(zip(places, drawn.reshape(len(places), size), strict=True))
        return draws


def _form(output: Output) -> Output:
    """The outcome without its expressions."""
    return Output(output.skeleton, tuple(Leaf(Linear(), leaf.kind) for leaf in output.leaves))


def _at(output: Output, place: Place) -> Output:
    """The outcome with the input's numbers put in, and what is then constant written out."""
    leaves = tuple(Leaf(v.value.substitute(place.numbers), v.kind) for v in output.leaves)
    return Output(output.skeleton, leaves).folded
