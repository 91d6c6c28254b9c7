"""Cut the paths of a program into parts that share no noise, and resolve their pieces.

A piece that is the k-th smallest of some lines can stay whole ("extremes"): then a proof may
use that it never moves further than those lines. All other pieces are resolved into cases, and
every case is a path of its own.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import reduce

from flint import fmpq

from dpest.engines.proof.extremes import Extreme, extreme_of, largest_of, winners
from dpest.engines.proof.refusal import NoProof
from dpest.program import Condition, Linear, Noise, Partition, Path, Piece, Program
from dpest.program.linear import Variable, pieces, roots

MAX_CONDITIONS = 60_000
MAX_PATHS = 100_000


@dataclass(frozen=True)
class Winner:
    """One line comes out ahead of all others of a group."""

    line: Linear
    group: tuple[Linear, ...]


@dataclass(frozen=True)
class Fragment:
    """Conditions and outputs that are tied together by the noise they share."""

    when: tuple[Condition, ...]
    beats: tuple[Winner, ...]
    out: tuple[tuple[int, Linear], ...]


@dataclass(frozen=True)
class Route:
    """A path as a set of fragments."""

    fragments: tuple[Fragment, ...]
    path: Path


Options = list[list[Fragment]]
"""For every tie of a path its cases."""


Keep = Callable[[Piece], bool]
"""Which pieces stay as they are, besides extremes."""


def options(
    path: Path, keep_extremes: bool, known: dict[tuple[object, ...], list[Fragment]],
    keep: Keep | None = None,
) -> Options:  # fmt: skip
    """The cases of everything that is tied together on a path; equal ties are opened once."""
    result = []
    for when, out in _ties(path):
        key = (when, out)
        if key not in known:
            known[key] = _limited(_cases(Fragment(when, (), out), keep_extremes, keep))
        result.append(known[key])
    return result


def routes(program: Program, keep_extremes: bool, keep: Keep | None = None) -> list[Route]:
    """Every path with every choice of cases for its fragments."""
    known: dict[tuple[object, ...], list[Fragment]] = {}
    result: list[Route] = []
    for whole in program.paths:
        path = replace(whole, output=whole.output.folded)
        found = options(path, keep_extremes, known, keep)
        count = reduce(lambda total, cases: total * len(cases), found, 1)
        if len(result) + count > MAX_PATHS:
            raise NoProof(f"there are more than {MAX_PATHS} cases")
        result += [Route(choice, path) for choice in itertools.product(*found)]
    return result


def has_extremes(program: Program) -> bool:
    """Whether some piece could stay whole."""
    expressions: list[Linear | Condition] = []
    for path in program.paths:
        expressions += [*path.conditions]
        expressions += [leaf.value for leaf in path.output.leaves]
    return any(extreme_of(piece) is not None for piece in pieces(expressions))


def _limited(cases: Iterator[Fragment]) -> list[Fragment]:
    found: list[Fragment] = []
    size = 0
    for case in cases:
        found.append(case)
        size += 1 + len(case.when) + len(case.beats)
        if size > MAX_CONDITIONS:
            raise NoProof(f"the cases of one part have more than {MAX_CONDITIONS} conditions")
    return found


Tie = tuple[tuple[Condition, ...], tuple[tuple[int, Linear], ...]]


def _ties(path: Path) -> list[Tie]:
    """The path's conditions and outputs, grouped by the noise they share."""
    parent: dict[Noise | None, Noise | None] = {None: None}

    def root(noise: Noise | None) -> Noise | None:
        while parent[noise] is not noise:
            parent[noise] = parent[parent[noise]]
            noise = parent[noise]
        return noise

    def tied(item: Linear | Condition) -> Noise | None:
        noises = [v for v in roots([item]) if isinstance(v, Noise)]
        for noise in noises:
            parent.setdefault(noise, noise)
            parent[root(noise)] = root(noises[0])
        return noises[0] if noises else None

    conditions = [(tied(c), c) for c in path.conditions]
    leaves = [(tied(leaf.value), k, leaf.value) for k, leaf in enumerate(path.output.leaves)]
    blocks: dict[Noise | None, tuple[list[Condition], list[tuple[int, Linear]]]] = {}
    for noise, condition in conditions:
        blocks.setdefault(root(noise), ([], []))[0].append(condition)
    for noise, k, value in leaves:
        blocks.setdefault(root(noise), ([], []))[1].append((k, value))
    return [(tuple(when), tuple(out)) for when, out in blocks.values()]


# -- resolving pieces -------------------------------------------------------------------------


def _cases(
    fragment: Fragment, keep_extremes: bool, keep: Keep | None = None,
    chosen: Mapping[int, int] | None = None,
) -> Iterator[Fragment]:  # fmt: skip
    chosen = chosen or {}
    partition = _next_partition(fragment, keep_extremes, keep)
    if partition is None:
        plain = replace(fragment, when=tuple(map(_without_common_pieces, fragment.when)))
        yield _joined(plain) if keep_extremes else plain
        return
    known = chosen.get(id(partition))
    group = winners(partition)
    for cell in range(len(partition)) if known is None else [known]:
        inside = _inside(fragment, partition, cell, group, known is None)
        if inside is not None:
            known_now = {**chosen, id(partition): cell}
            yield from _cases(inside, keep_extremes, keep, known_now)


def _without_common_pieces(condition: Condition) -> Condition:
    """A piece on both sides decides nothing, so it was never opened."""
    left, right = condition.left.terms, condition.right.terms
    common: dict[Variable, fmpq] = {
        v: c for v, c in left.items() if isinstance(v, Piece) and right.get(v) == c
    }
    if not common:
        return condition
    both = Linear(terms=common)
    return Condition(condition.left - both, condition.right - both, condition.strict)


def _next_partition(
    fragment: Fragment, keep_extremes: bool, keep: Keep | None
) -> Partition | None:
    """The partition of some piece that cannot stay whole."""
    expressions: list[Linear | Condition] = [*fragment.when]
    expressions += [line for _, line in fragment.out]
    expressions += [line for winner in fragment.beats for line in winner.group]
    for piece in pieces(expressions):
        if keep is not None and keep(piece):
            continue
        if not (keep_extremes and _stays_whole(piece)):
            return piece.partition
    return None


def _stays_whole(piece: Piece) -> bool:
    """Whether the piece is an extreme of lines, or of extremes."""
    found = extreme_of(piece)
    return found is not None and all(
        extreme_of(inner) is not None for inner in pieces(found.lines)
    )


def _inside(
    fragment: Fragment, partition: Partition, cell: int, group: tuple[Linear, ...] | None,
    is_new: bool,
) -> Fragment | None:
    expressions: list[Linear | Condition] = [*fragment.when]
    expressions += [line for _, line in fragment.out]
    expressions += [line for winner in fragment.beats for line in winner.group]
    values: dict[Variable, Linear] = {
        p: p.values[cell] for p in pieces(expressions) if p.partition is partition
    }
    if group is not None:
        values |= _without_winner(pieces(expressions), group, cell)
    when = tuple(c.substitute(values) for c in fragment.when)
    beats = tuple(_substituted(winner, values) for winner in fragment.beats)
    if is_new and group is not None and len(group) > 2:
        beats = (*beats, Winner(group[cell], group))
    elif is_new:
        when += partition.cell(cell)
    kept = _tidy(when)
    if kept is None:
        return None
    return Fragment(kept, beats, tuple((k, v.substitute(values)) for k, v in fragment.out))


def _without_winner(
    found: Iterable[Piece], group: tuple[Linear, ...], cell: int
) -> dict[Variable, Linear]:
    """Where the largest of some lines is known, the next one is the largest of the others."""
    others = group[:cell] + group[cell + 1 :]
    known: dict[Variable, Linear] = {}
    for piece in found:
        extreme = extreme_of(piece)
        if extreme is None or extreme.rank is None or set(extreme.lines) != set(group):
            continue
        if extreme.is_largest:
            known[piece] = group[cell]
        elif extreme.rank == len(group) - 2 == len(extreme.lines) - 2:
            known[piece] = largest_of(others)
    return known


def _substituted(winner: Winner, values: dict[Variable, Linear]) -> Winner:
    if not any(v in values for line in winner.group for v in line.terms):
        return winner
    place = next(k for k, line in enumerate(winner.group) if line is winner.line)
    group = tuple(line.substitute(values) for line in winner.group)
    return Winner(group[place], group)


def _tidy(conditions: Iterable[Condition]) -> tuple[Condition, ...] | None:
    """Without repeated and trivial conditions; None where two of them contradict."""
    kept: dict[Condition, None] = {}
    for condition in conditions:
        truth = condition.decided()
        if truth is False or condition.negation in kept:
            return None
        if truth is None:
            kept[condition] = None
    return tuple(kept)


def _joined(fragment: Fragment) -> Fragment:
    """Conditions against all lines of an extreme become one against the extreme itself."""
    found: dict[int, tuple[Piece, Extreme]] = {}
    for piece in pieces([*fragment.when, *(line for _, line in fragment.out)]):
        extreme = extreme_of(piece)
        if extreme is not None:
            found[id(piece)] = (piece, extreme)
    when = list(fragment.when)
    for piece, extreme in found.values():
        if extreme.is_largest or extreme.rank == 0:
            when = _join_one(when, piece, extreme.lines, extreme.is_largest)
    beats = []
    for winner in fragment.beats:
        joined = _join_winner(winner, found.values())
        if joined is None:
            beats.append(winner)
        else:
            when.append(joined)
    return Fragment(tuple(when), tuple(beats), fragment.out)


def _join_one(
    when: list[Condition], piece: Piece, lines: tuple[Linear, ...], largest: bool
) -> list[Condition]:
    sides: dict[Linear, dict[Linear, Condition]] = {}
    for condition in when:
        rival, side = (
            (condition.right, condition.left) if largest else (condition.left, condition.right)
        )
        if rival in lines:
            sides.setdefault(side, {})[rival] = condition
    for side, met in sides.items():
        if len(met) == len(set(lines)):
            gone = {id(c) for c in met.values()}
            whole = Linear.of(piece)
            joined = Condition(side, whole) if largest else Condition(whole, side)
            when = [c for c in when if id(c) not in gone] + [joined]
    return when


def _join_winner(
    winner: Winner, extremes: Iterable[tuple[Piece, Extreme]]
) -> Condition | None:
    """A line that beats exactly the lines of an extreme beats the extreme."""
    rivals = {line for line in winner.group if line is not winner.line}
    for piece, extreme in extremes:
        if extreme.is_largest and rivals == set(extreme.lines):
            return Condition(winner.line, Linear.of(piece))
    return None
