"""Moves of a path: what has to be kept when some of its lines move by known numbers.

All paths whose moving lines look alike, whatever the names of their draws, pose the same problem,
and one shift answers them all. There are two kinds of moves:

step: the input x[i] changes by one unit, up or down, in one and the same branch;
swap: the input stays, and a path of one branch becomes the matching path of another. Its lines
then move by numbers that are affine in x. Shifts for the corners of the box of those inputs mix to
shifts for every x in it, and prices are convex, so the dearest corner counts. Shifts of integers do
not mix; there every whole point of the box has its own.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol

from flint import fmpq

from dpest.verify.choices import Mechanism, plus
from dpest.verify.model import Domain, Draw, Line, Model, Part, Path, Terms
from dpest.verify.opening import Branch, OpenPath
from dpest.verify.price import ONE, ZERO, Malformed, Price, largest
from dpest.verify.reach import Neighborhood
from dpest.verify.shift import Wrong

MAX_POINTS = 256
Noise = tuple[tuple[int, fmpq], ...]
Moving = tuple[Noise, fmpq]
"""The draws of a line, and how far the rest of it moves."""


class Problem(NamedTuple):
    """Keep `when` lines from falling and `out` lines from moving, by shifting the draws."""

    kind: str
    draws: tuple[Draw, ...]
    when: tuple[Moving, ...]
    out: tuple[Moving, ...]


class Prices(Protocol):
    """What the shifts that answer a problem cost; raises `Wrong` where there are none."""

    def __call__(self, problem: Problem) -> Price: ...


def as_model(problem: Problem, integral: bool) -> tuple[Model, Part, Neighborhood]:
    """The problem as a program of one number that goes up by one."""
    rows = [*problem.when, *problem.out]
    lines = [Line(ZERO, {0: move} if move != 0 else {}, dict(noise), {}) for noise, move in rows]
    zero, first = len(lines), len(problem.when)
    when = tuple((k, zero, False) for k in range(first))
    part = Part(when, (), tuple((k - first, k) for k in range(first, zero)))
    domain = Domain(1, None, None, integral)
    model = Model(
        domain, problem.draws, (*lines, Line(ZERO, {}, {}, {})), (), (), (part,), (Path((0,), ""),)
    )
    norm = "step" if problem.kind == "step" else "pair"
    return model, part, Neighborhood(norm, None, {0: fmpq(1)})


def problem_of(
    kind: str, mechanism: Mechanism, path: OpenPath, moves: Sequence[fmpq]
) -> Problem | None:
    """What the moves of the conditions and outputs ask for; None where nothing has to be done."""
    if not any(move != 0 for move in moves):
        return None
    noise = [row.movable for row in path.rows]
    met = _tied(noise, moves)
    names: dict[int, int] = {}
    for k in met:
        for j, _ in noise[k]:
            names.setdefault(j, len(names))
    read = [(tuple((names[j], c) for j, c in noise[k]), moves[k]) for k in met]
    first = sum(k < len(path.when) for k in met)
    return Problem(
        kind, tuple(mechanism.model.noise[j] for j in names),
        tuple(dict.fromkeys(read[:first])), tuple(dict.fromkeys(read[first:])),
    )  # fmt: skip


def _tied(noise: Sequence[Noise], moves: Sequence[fmpq]) -> list[int]:
    """The rows that move, and those that share noise with them."""
    met = {k for k, move in enumerate(moves) if move != 0}
    reached: set[int] = set()
    while met:
        draws = {j for k in met for j, _ in noise[k]}
        if draws == reached:
            break
        reached = draws
        met |= {k for k, row in enumerate(noise) if any(j in draws for j, _ in row)}
    return sorted(met)


# -- steps ------------------------------------------------------------------------------------


def mentions(branch: Branch, i: int) -> bool:
    """Whether x[i] has a say in the branch."""
    return any(i in row.inputs for path in branch for row in path.rows)


def step_price(mechanism: Mechanism, branch: Branch, i: int, prices: Prices) -> Price:
    """What one unit of x[i] costs, up or down, on the dearest path of a branch."""
    problems: dict[Problem, None] = {}
    for path in branch:
        slopes = [row.inputs.get(i, ZERO) for row in path.rows]
        for sign in (fmpq(1), fmpq(-1)):
            found = problem_of("step", mechanism, path, [sign * c for c in slopes])
            if found is not None:
                problems[found] = None
    return largest(map(prices, problems))


# -- swaps ------------------------------------------------------------------------------------


def swap_price(mechanism: Mechanism, one: Branch, other: Branch, prices: Prices) -> Price:
    """What it costs to pass from a branch to another at the same input, whatever that is."""
    problems: dict[Problem, None] = {}
    for path, match in matched(one, other):
        gaps = gaps_of(path, match)
        for point in _points(mechanism, path, gaps):
            found = problem_of("swap", mechanism, path, [_at(gap, point) for gap in gaps])
            if found is not None:
                problems[found] = None
    return largest(map(prices, problems))


def matched(one: Branch, other: Branch) -> list[tuple[OpenPath, OpenPath]]:
    """Every path of the one branch with a path of its shape of the other, each taken once."""
    waiting: dict[object, list[OpenPath]] = {}
    for path in reversed(other):
        waiting.setdefault(_shape(path), []).append(path)
    pairs = []
    for path in one:
        alike = waiting.get(_shape(path))
        if not alike:
            raise Wrong("a path of a branch has no counterpart in another")
        pairs.append((path, alike.pop()))
    return pairs


def _shape(path: OpenPath) -> object:
    """All of a path but its constants and what it takes from the inputs."""
    when = tuple((row.shape, strict) for row, strict in path.when)
    return path.returns, when, tuple((position, row.shape) for position, row in path.out)


Gap = tuple[fmpq, Terms]
"""How far a line moves: a constant and coefficients of inputs."""


def gaps_of(path: OpenPath, match: OpenPath) -> list[Gap]:
    """How far the lines of a path move when it becomes its match."""
    return [
        (b.const - a.const, plus(b.inputs, a.inputs, -ONE)) if a is not b else (ZERO, {})
        for a, b in zip(path.rows, match.rows, strict=True)
    ]


def involved(gaps: Iterable[Gap]) -> list[int]:
    """The inputs that decide how far lines move."""
    return sorted({i for _, inputs in gaps for i in inputs})


def _points(
    mechanism: Mechanism, path: OpenPath, gaps: Sequence[Gap]
) -> Iterator[dict[int, fmpq]]:
    """The corners of the box of the inputs that matter, or all its whole points."""
    domain, inputs = mechanism.model.domain, involved(gaps)
    if not inputs:
        yield {}
        return
    if domain.low is None or domain.high is None:
        raise Wrong("inputs that matter to a swap are not bounded")
    ends = [domain.low, domain.high]
    moved = (j for row in path.rows for j, _ in row.movable)
    if any(mechanism.model.noise[j].lattice for j in moved):
        if not domain.integral:
            raise Wrong("a shift of integers that follows a real number")
        whole = range(int(domain.low.ceil()), int(domain.high.floor()) + 1)
        ends = [fmpq(k) for k in whole[: MAX_POINTS + 1]]
    if len(ends) ** len(inputs) > MAX_POINTS:
        raise Malformed("a swap of too many inputs")
    for values in itertools.product(ends, repeat=len(inputs)):
        yield dict(zip(inputs, values, strict=True))


def _at(gap: Gap, point: dict[int, fmpq]) -> fmpq:
    const, inputs = gap
    return const + sum((c * point[i] for i, c in inputs.items()), ZERO)
