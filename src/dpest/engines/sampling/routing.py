"""Runs on their way through the questions of a diagram, all that meet a question at once.

A place is a node of the diagram, or an outcome. Runs that wait at several nodes of the same
question are asked together.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpest.engines.sampling.affine import Block, Code, Rows
from dpest.engines.sampling.tree import Diagram, Node

Ints = NDArray[np.int32]
Places = int | Ints
"""Where some runs are: all in one place, or each in its own."""


@dataclass(frozen=True)
class Question:
    """Literals of the code that may all hold, and where that leads to."""

    test: tuple[int, ...]
    leads_to: tuple[int, ...]
    """Questions that come next, -1 for outcomes."""


class Routes:
    """The diagram for one input: what the input decides is not asked."""

    def __init__(self, diagram: Diagram, start: int, outcomes: int, code: Code) -> None:
        self._diagram, self._code = diagram, code
        self._outcomes = outcomes
        self.start = self._resolved(start)
        nodes = self._live()
        self.after = np.zeros(2 * (outcomes + len(diagram.nodes)), np.int32)
        self.question_of = np.full(outcomes + len(diagram.nodes), -1, np.int32)
        numbers: dict[tuple[int, ...], int] = {}
        members: dict[int, list[int]] = defaultdict(list)
        for place, node in nodes.items():
            self.after[2 * place : 2 * place + 2] = node.no, node.yes
            number = numbers.setdefault(node.test, len(numbers))
            self.question_of[place] = number
            members[number].append(place)
        self.questions = [
            Question(test, self._next_questions(members[k])) for test, k in numbers.items()
        ]
        self.order = self._order(nodes)
        self.reached = sorted(
            {end for n in nodes.values() for end in (n.yes, n.no) if end < outcomes}
            | ({self.start} if self.start < outcomes else set())
        )

    # -- before any run -----------------------------------------------------------------------

    def _resolved(self, place: int) -> int:
        """The place where runs that get here go, past questions that the input decides."""
        while place >= 0:
            node = self._diagram.nodes[place]
            answers = [self._decided(literal) for literal in node.test]
            if False in answers:
                place = node.no
            elif None in answers:
                return place + self._outcomes
            else:
                place = node.yes
        return ~place

    def _literal(self, literal: int) -> int:
        number = self._code.literal(self._diagram.conditions[abs(literal) - 1])
        return number if literal > 0 else -number

    def _decided(self, literal: int) -> bool | None:
        number = self._literal(literal)
        test = self._code.tests[abs(number) - 1]
        if test.gap.terms:
            return None
        return bool(test.holds(None)) == (number > 0)  # type: ignore[arg-type]

    def _live(self) -> dict[int, Node]:
        """The nodes that can be met, by place, parents before children."""
        found: dict[int, Node] = {}
        stack = [self.start]
        while stack:
            place = stack.pop()
            if place < self._outcomes or place in found:
                continue
            node = self._diagram.nodes[place - self._outcomes]
            test = tuple(self._literal(k) for k in node.test if self._decided(k) is None)
            found[place] = Node(test, self._resolved(node.yes), self._resolved(node.no))
            stack += [found[place].no, found[place].yes]
        return found

    def _next_questions(self, places: Sequence[int]) -> tuple[int, ...]:
        children = [int(self.after[2 * p + k]) for p in places for k in (0, 1)]
        return tuple(sorted({int(self.question_of[c]) for c in children}))

    def _order(self, nodes: dict[int, Node]) -> list[int]:
        """Questions so that each waits, if possible, for all that lead to it."""
        before: dict[int, int] = defaultdict(int)
        for node in nodes.values():
            for child in (node.yes, node.no):
                before[int(self.question_of[child])] += 1
        pending: dict[int, set[int]] = defaultdict(set)
        if self.start in nodes:
            pending[int(self.question_of[self.start])].add(self.start)
        order = []
        while pending:
            ready = next((q for q in pending if before[q] <= 0), min(pending))
            order.append(ready)
            for place in pending.pop(ready):
                for child in (nodes[place].yes, nodes[place].no):
                    question = int(self.question_of[child])
                    before[question] -= 1
                    if question >= 0:
                        pending[question].add(child)
        return order

    # -- with the random numbers of a block ---------------------------------------------------

    def ends(self, block: Block) -> Ints | None:
        """The outcome of every run; None where there is only one."""
        if not self.order:
            return None
        ends = np.empty(block.size, np.int32)
        waiting: dict[int, list[tuple[Rows, Places]]] = defaultdict(list)
        waiting[self.order[0]].append((None, self.start))
        for number in self.order:
            groups = waiting.pop(number, None)
            if groups:
                rows, places = _joined(groups, block.size)
                self._ask(self.questions[number], rows, places, block, waiting, ends)
        return ends

    def _ask(
        self, question: Question, rows: Rows, places: Places, block: Block,
        waiting: dict[int, list[tuple[Rows, Places]]], ends: Ints,
    ) -> None:  # fmt: skip
        held = block.all_hold(question.test, rows)
        if isinstance(places, int):
            for answer, found in ((1, held), (0, ~held)):
                chosen = np.flatnonzero(found) if rows is None else rows[found]
                place = int(self.after[2 * places + answer])
                self._send(chosen, place, int(self.question_of[place]), waiting, ends)
            return
        after = self.after.take(2 * places + held)
        if len(question.leads_to) == 1:
            self._send(rows, after, question.leads_to[0], waiting, ends)
            return
        questions = self.question_of.take(after)
        for number in question.leads_to:
            chosen = np.flatnonzero(questions == number)
            there = chosen if rows is None else rows[chosen]
            self._send(there, after[chosen], number, waiting, ends)

    def _send(
        self, rows: Rows, places: Any, question: int,
        waiting: dict[int, list[tuple[Rows, Places]]], ends: Ints,
    ) -> None:  # fmt: skip
        if question < 0:
            ends[slice(None) if rows is None else rows] = places
        elif rows is None or len(rows):
            waiting[question].append((rows, places))


def _joined(groups: list[tuple[Rows, Places]], size: int) -> tuple[Rows, Places]:
    """All groups as one; runs that are all there keep their order."""
    if len(groups) == 1:
        return groups[0]
    counts = [0 if rows is None else len(rows) for rows, _ in groups]
    if sum(counts) == size:
        state = np.empty(size, np.int32)
        for rows, places in groups:
            state[rows] = places
        return None, state
    rows = np.concatenate([rows for rows, _ in groups if rows is not None])
    places = np.concatenate(
        [np.full(n, p, np.int32) for n, (_, p) in zip(counts, groups, strict=True)]
    )
    return rows, places
