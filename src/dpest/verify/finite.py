"""The finite argument: every outcome of every input has an exact probability.

The certificate holds one program per input, as blocks of independent parts. A block has cases;
a case has conditions, one value per output, and every condition looks at finitely many values of
draws, so its probability is a rational number. The loss of a pair is the sum over blocks of the
largest log ratio, and the bound is the largest over the pairs.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flint import fmpq

from dpest.verify.model import Draw, fields, flag, items, place, read_domain, read_draw, terms, two
from dpest.verify.price import ONE, ZERO, Malformed, Price, rational

MAX_POINTS = 200_000
MAX_MEMBERS = 2_000
Law = dict[tuple[fmpq, ...], fmpq]
"""Probability by outcome."""


@dataclass(frozen=True)
class Case:
    """`const + noise . eta >= 0` (or > 0) for all conditions gives these values."""

    when: tuple[tuple[fmpq, Mapping[int, fmpq], bool], ...]
    values: tuple[tuple[fmpq, Mapping[int, fmpq]], ...]

    @property
    def draws(self) -> set[int]:
        conditions = {j for _, noise, _ in self.when for j in noise}
        return conditions | {j for _, noise in self.values for j in noise}


@dataclass(frozen=True)
class Block:
    """The outputs in some places, decided by draws that no other block looks at."""

    places: tuple[int, ...]
    cases: tuple[Case, ...]

    @property
    def draws(self) -> set[int]:
        return {j for case in self.cases for j in case.draws}


def read_blocks(data: Any, draws: Sequence[Draw], size: int) -> list[Block]:
    """The blocks of one input; they fill all places and share no draw."""
    blocks = [_read_block(block, len(draws), size) for block in items(data)]
    if sorted(k for block in blocks for k in block.places) != list(range(size)):
        raise Malformed("the blocks do not fill the places of the output")
    used = [block.draws for block in blocks]
    if sum(map(len, used)) != len(set().union(*used)):
        raise Malformed("two blocks share a draw")
    return blocks


def _read_block(data: Any, draws: int, size: int) -> Block:
    places, cases = fields(data, "places", "cases")
    where = tuple(place(k, size) for k in items(places))
    return Block(where, tuple(_read_case(case, draws, len(where)) for case in items(cases)))


def _read_case(data: Any, draws: int, size: int) -> Case:
    when, values = fields(data, "when", "values")
    if len(items(values)) != size:
        raise Malformed("a case with the wrong number of values")
    return Case(
        tuple(_read_condition(c, draws) for c in items(when)),
        tuple(_read_value(value, draws) for value in values),
    )


def _read_value(data: Any, draws: int) -> tuple[fmpq, Mapping[int, fmpq]]:
    const, noise = fields(data, "const", "noise")
    return rational(const), terms(noise, draws)


def _read_condition(data: Any, draws: int) -> tuple[fmpq, Mapping[int, fmpq], bool]:
    const, noise, strict = fields(data, "const", "noise", "strict")
    return rational(const), terms(noise, draws), flag(strict)


# -- probabilities ----------------------------------------------------------------------------


def law_of(block: Block, draws: Sequence[Draw]) -> Law:
    """The exact law of the block; its cases must be disjoint and cover everything."""
    law: Law = {}
    cells = _grid(block, draws)
    count = 1
    for axis in cells:
        count *= len(axis)
    if count * max(1, len(block.cases)) > MAX_POINTS:
        raise Malformed("a block with too many combinations of draws")
    order = sorted(block.draws)
    for picked in itertools.product(*cells):
        point = {j: value for j, (value, _) in zip(order, picked, strict=True)}
        weight = ONE
        for _, mass in picked:
            weight *= mass
        if weight == 0:
            continue
        hits = [case for case in block.cases if _holds(case, point)]
        if len(hits) != 1:
            raise Malformed("the cases of a block overlap or leave something out")
        outcome = tuple(_at(const, noise, point) for const, noise in hits[0].values)
        law[outcome] = law.get(outcome, ZERO) + weight
    if sum(law.values(), ZERO) != 1:
        raise Malformed("probabilities that do not sum to one")
    return law


def _at(const: fmpq, noise: Mapping[int, fmpq], point: Mapping[int, fmpq]) -> fmpq:
    return const + sum((c * point[j] for j, c in noise.items()), ZERO)


def _holds(case: Case, point: Mapping[int, fmpq]) -> bool:
    for const, noise, strict in case.when:
        value = _at(const, noise, point)
        if value < 0 or (strict and value == 0):
            return False
    return True


def _grid(block: Block, draws: Sequence[Draw]) -> list[list[tuple[fmpq, fmpq]]]:
    """For every draw representative values with their mass: all conditions are constant between."""
    return [_axis(j, block, draws[j]) for j in sorted(block.draws)]


def _axis(j: int, block: Block, draw: Draw) -> list[tuple[fmpq, fmpq]]:
    if draw.law == "choice":
        return [(fmpq(k), w) for k, w in enumerate(draw.weights)]
    shared = any(
        j in noise and len(noise) > 1 for case in block.cases for _, noise, _ in case.when
    ) or any(j in noise for case in block.cases for _, noise in case.values)
    edges = sorted(
        {-const / noise[j] for case in block.cases for const, noise, _ in case.when
         if set(noise) == {j}}
    )  # fmt: skip
    if draw.law == "integers":
        return _integers(draw, None if shared else edges)
    if shared or draw.law not in ("uniform", "geometric"):
        raise Malformed(f"{draw.law} noise has no exact finite probabilities here")
    return _uniform(draw, edges) if draw.law == "uniform" else _geometric(draw, edges)


def _integers(draw: Draw, edges: list[fmpq] | None) -> list[tuple[fmpq, fmpq]]:
    count = int(draw.parameter.p)
    if edges is None:
        if count > MAX_POINTS:
            raise Malformed("too many integers to enumerate")
        return [(fmpq(k), fmpq(1, count)) for k in range(count)]
    cuts = [-1, count - 1]
    for edge in edges:
        cuts += [int(edge.floor()), int(edge.ceil()) - 1]
    inside = sorted({cut for cut in cuts if -1 <= cut <= count - 1})
    return [
        (fmpq(high), fmpq(high - low, count)) for low, high in itertools.pairwise(inside)
    ]


def _uniform(draw: Draw, edges: list[fmpq]) -> list[tuple[fmpq, fmpq]]:
    cuts = [ZERO, *(e for e in edges if 0 < e < draw.parameter), draw.parameter]
    return [
        ((low + high) / 2, (high - low) / draw.parameter) for low, high in itertools.pairwise(cuts)
    ]


def _geometric(draw: Draw, edges: list[fmpq]) -> list[tuple[fmpq, fmpq]]:
    miss = 1 - draw.parameter
    cuts = [0]
    for edge in edges:
        cuts += [int(edge.floor()), int(edge.ceil()) - 1]
    inside = sorted({cut for cut in cuts if cut >= 0})
    if max(inside) > 10_000:
        raise Malformed("a geometric draw compared with a number that is too large")
    axis = [
        (fmpq(high), miss**low - miss**high) for low, high in itertools.pairwise(inside)
    ]
    return [*axis, (fmpq(inside[-1] + 1), miss ** inside[-1])]


class Laws:
    """Laws of blocks; blocks that differ only in the names of their draws share one."""

    def __init__(self, draws: Sequence[Draw]) -> None:
        self._draws = draws
        self._known: dict[Any, Law] = {}

    def __call__(self, block: Block) -> Law:
        names = {j: k for k, j in enumerate(sorted(block.draws))}
        kinds = tuple((self._draws[j].law, self._draws[j].parameter, self._draws[j].weights)
                      for j in names)  # fmt: skip
        cases = tuple(
            (
                tuple((c, _named(noise, names), strict) for c, noise, strict in case.when),
                tuple((c, _named(noise, names)) for c, noise in case.values),
            )
            for case in block.cases
        )
        key = (kinds, cases)
        if key not in self._known:
            self._known[key] = law_of(block, self._draws)
        return self._known[key]


def _named(noise: Mapping[int, fmpq], names: Mapping[int, int]) -> tuple[tuple[int, fmpq], ...]:
    return tuple(sorted((names[j], c) for j, c in noise.items()))


# -- the loss of a pair -----------------------------------------------------------------------


@dataclass(frozen=True)
class Member:
    """One input, and the laws of the blocks of its output."""

    name: str
    laws: tuple[tuple[tuple[int, ...], Law], ...]


class Ratios:
    """The largest ratios of probabilities between members."""

    def __init__(self, members: Sequence[Member]) -> None:
        self.members = members
        self._known: dict[tuple[int, int], fmpq | None] = {}
        self._kept: list[Law] = []

    def pair(self, one: int, other: int) -> Counter[fmpq] | None:
        """The factors of the largest ratio, one against the other; None is infinite."""
        factors: Counter[fmpq] = Counter()
        for p, q in _matched(self.members[one].laws, self.members[other].laws):
            key = (id(p), id(q))
            if key not in self._known:
                self._known[key] = _ratio(p, q)
                self._kept += [p, q]
            ratio = self._known[key]
            if ratio is None:
                return None
            factors[ratio] += 1
        return factors

    def price(self, pairs: Sequence[tuple[int, int]]) -> tuple[Price | None, tuple[int, int]]:
        """The largest loss over the pairs in both directions (None: infinite), and where."""
        best, where = ONE, pairs[0] if pairs else (0, 0)
        price = Price()
        for a, b in pairs:
            for one, other in ((a, b), (b, a)):
                factors = self.pair(one, other)
                if factors is None:
                    return None, (one, other)
                ratio = _product(factors)
                if ratio > best:
                    best, where = ratio, (one, other)
                    price = Price(ZERO, {f: fmpq(n) for f, n in factors.items()})
        return price, where


def _product(factors: Mapping[fmpq, int]) -> fmpq:
    total = ONE
    for factor, times in factors.items():
        total *= factor**times
    return total


def _ratio(p: Law, q: Law) -> fmpq | None:
    worst = ZERO
    for outcome, mass in p.items():
        if q.get(outcome, ZERO) == 0:
            return None
        worst = max(worst, mass / q[outcome])
    return worst


def _matched(
    one: Sequence[tuple[tuple[int, ...], Law]], other: Sequence[tuple[tuple[int, ...], Law]]
) -> Iterator[tuple[Law, Law]]:
    """Laws of the same places on both sides, joined where they are cut differently."""
    theirs = dict(other)
    if theirs.keys() == {places for places, _ in one}:
        yield from ((law, theirs[places]) for places, law in one)
        return
    groups: list[set[int]] = []
    for places, _ in (*one, *other):
        joined, apart = set(places), []
        for group in groups:
            if group & joined:
                joined |= group
            else:
                apart.append(group)
        groups = [*apart, joined]
    for group in groups:
        order = tuple(sorted(group))
        yield _joint(one, order), _joint(other, order)


def _joint(laws: Sequence[tuple[tuple[int, ...], Law]], order: tuple[int, ...]) -> Law:
    inside = [(places, law) for places, law in laws if set(places) <= set(order)]
    count = 1
    for _, law in inside:
        count *= len(law)
    if count > MAX_POINTS:
        raise Malformed("a joint law with too many outcomes")
    result: Law = {}
    for picked in itertools.product(*(law.items() for _, law in inside)):
        values: dict[int, fmpq] = {}
        mass = ONE
        for (places, _), (outcome, weight) in zip(inside, picked, strict=True):
            values.update(zip(places, outcome, strict=True))
            mass *= weight
        key = tuple(values[k] for k in order)
        result[key] = result.get(key, ZERO) + mass
    return result


# -- reading ----------------------------------------------------------------------------------


def read_finite(program: Any, neighbors: Any) -> tuple[Ratios, list[tuple[int, int]]]:
    """The members with their exact laws, and the pairs of them that are neighbours."""
    inputs, size, noise, outcomes, members = fields(
        program, "inputs", "size", "noise", "outcomes", "members"
    )
    if any(not isinstance(text, str) for text in items(outcomes)):
        raise Malformed("an outcome that is not a text")
    if len(set(outcomes)) != len(outcomes):
        raise Malformed("an outcome that is listed twice")
    if not isinstance(size, int) or isinstance(size, bool) or not 0 <= size < 10_000:
        raise Malformed("an output without a size")
    draws = [read_draw(draw) for draw in items(noise)]
    laws = Laws(draws)
    names, points = finite_inputs(inputs)
    if len(items(members)) != len(names):
        raise Malformed("the members are not the values of the domain")
    read = [
        Member(name, tuple((b.places, laws(b)) for b in read_blocks(data, draws, size)))
        for name, data in zip(names, members, strict=True)
    ]
    return Ratios(read), related(neighbors, points, len(names))


def finite_inputs(data: Any) -> tuple[list[str], list[tuple[int, ...]] | None]:
    """The names of all inputs, and their numbers where they have some."""
    if isinstance(data, Mapping) and data.get("kind") == "one_of":
        _, options = fields(data, "kind", "options")
        if any(not isinstance(text, str) for text in items(options)) or len(options) < 2:
            raise Malformed("a domain without values")
        return list(options), None
    domain = read_domain(data)
    if not domain.integral or domain.low is None or domain.high is None:
        raise Malformed("a domain that is not finite")
    span = range(int(domain.low.ceil()), int(domain.high.floor()) + 1)
    if len(span) ** domain.size > MAX_MEMBERS:
        raise Malformed("a domain with too many values")
    points = list(itertools.product(span, repeat=domain.size))
    return [", ".join(map(str, point)) for point in points], points


def related(
    neighbors: Any, points: list[tuple[int, ...]] | None, count: int
) -> list[tuple[int, int]]:
    """The pairs of members that are neighbours, each in one order."""
    kind = neighbors.get("kind") if isinstance(neighbors, Mapping) else None
    everything = list(itertools.combinations(range(count), 2))
    if kind == "any":
        fields(neighbors, "kind")
        return everything
    if kind == "listed":
        listed = items(fields(neighbors, "kind", "listed")[1])
        return [(place(a, count), place(b, count)) for a, b in map(two, listed)]
    if kind not in ("l1", "linf", "l2") or points is None:
        raise Malformed(f"{kind!r} is not a relation between these inputs")
    radius = rational(fields(neighbors, "kind", "radius")[1])
    if radius <= 0:
        raise Malformed("a radius that is not positive")
    return [(a, b) for a, b in everything if _near(kind, radius, points[a], points[b])]


def _near(kind: str, radius: fmpq, one: tuple[int, ...], other: tuple[int, ...]) -> bool:
    gaps = [abs(a - b) for a, b in zip(one, other, strict=True)]
    if kind == "l2":
        return bool(fmpq(sum(g * g for g in gaps)) <= radius * radius)
    return bool(fmpq(sum(gaps) if kind == "l1" else max(gaps)) <= radius)
