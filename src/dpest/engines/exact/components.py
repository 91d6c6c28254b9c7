"""Split a program into independent components, once, before any input is known.

Paths that can return the same outcome form a group. Within a group, parts that share no noise are
independent: each becomes a component with its own outcomes, and an outcome of the group is one
outcome of every component. A component is a list of cases: conditions on noise, and the values of
its leaves.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce

from dpest.engines.exact.refusal import OutOfReach
from dpest.program import Condition, Linear, Noise, Partition, Path, Piece, Program
from dpest.program.linear import Variable, pieces, references, roots
from dpest.program.remaining import keeps_noise

MAX_CASES = 20_000
MAX_REWRITTEN = 200_000
"""So many conditions are rewritten in some ten seconds."""
_SHORT_LIST = 64


@dataclass(frozen=True)
class Case:
    """One way to an outcome: affine conditions on noise, and the leaf values.

    In a program that was traced value by value it belongs to some `variants` only.
    """

    conditions: tuple[Condition, ...]
    leaves: tuple[Linear, ...]
    variants: frozenset[int] | None = None

    def substitute(self, partition: Partition, cell: int) -> Case:
        """The case inside one cell of the partition."""
        values: dict[Variable, Linear] = {
            piece: piece.values[cell]
            for piece in pieces([*self.leaves, *self.conditions])
            if piece.partition is partition
        }
        conditions = tuple(c.substitute(values) for c in self.conditions) + tuple(
            c.substitute(values) for c in partition.cell(cell)
        )
        return replace(
            self,
            conditions=conditions,
            leaves=tuple(leaf.substitute(values) for leaf in self.leaves),
        )


@dataclass(frozen=True)
class Component:
    """Cases that share noise; `positions` are the places of its leaves in the output."""

    unexpanded: tuple[Case, ...]
    positions: tuple[int, ...]

    @cached_property
    def cases(self) -> tuple[Case, ...]:
        """The cases with every piece resolved."""
        result: list[Case] = []
        work = _Work()
        for case in self.unexpanded:
            for pure in _expanded(case, work):
                result.append(pure)
                if len(result) > MAX_CASES:
                    raise OutOfReach(f"one part of the output has more than {MAX_CASES} cases")
        return tuple(result)


@dataclass(frozen=True)
class Group:
    """Outcomes with one skeleton: every combination of its components' outcomes."""

    skeleton: Hashable
    kinds: tuple[str, ...]
    components: tuple[Component, ...]


def split(program: Program) -> tuple[Group, ...]:
    """All outcomes of the program as groups of independent components."""
    shared: dict[_Part, Component] = {}
    return tuple(
        _group([program.paths[k] for k in members], shared) for members in _overlapping(program)
    )


# -- which paths can return the same outcome --------------------------------------------------


def _overlapping(program: Program) -> Iterator[list[int]]:
    buckets: dict[Hashable, list[int]] = {}
    for k, path in enumerate(program.paths):
        buckets.setdefault(path.output.skeleton, []).append(k)
    for members in buckets.values():
        yield from _merge_compatible(program, members)


def _merge_compatible(program: Program, members: Sequence[int]) -> Iterator[list[int]]:
    """Classes of paths that may share an outcome (constants in the same place must agree)."""
    classes: dict[tuple[object, ...], list[int]] = {}
    for k in members:
        classes.setdefault(_signature(program.paths[k]), []).append(k)
    owner = _Union()
    for one in classes:
        if None in one:
            for other in classes:
                if _compatible(one, other):
                    owner.join(one, other)
    merged: dict[Hashable, list[int]] = {}
    for signature, paths in classes.items():
        merged.setdefault(owner.root(signature), []).extend(paths)
    return iter(merged.values())


def _signature(path: Path) -> tuple[object, ...]:
    """The constant leaves, a mark for those without atoms, None where anything is possible."""
    return tuple(map(_mark, (leaf.value for leaf in path.output.leaves)))


_CONTINUOUS = "continuous"


def _mark(leaf: Linear) -> object:
    if leaf.is_constant:
        return leaf.const
    smooth = keeps_noise(leaf, lambda noise: not noise.law.lattice)
    return _CONTINUOUS if smooth else None


def _compatible(one: tuple[object, ...], other: tuple[object, ...]) -> bool:
    return all(a is None or b is None or a == b for a, b in zip(one, other, strict=True))


# -- independence within a path ---------------------------------------------------------------


@dataclass(frozen=True)
class _Part:
    """Conditions and leaf positions of a path that share noise with each other only."""

    conditions: tuple[Condition, ...]
    positions: tuple[int, ...]
    leaves: tuple[Linear, ...]
    variant: int | None

    def joined(self, other: _Part) -> _Part:
        """Both parts as one, positions in order."""
        values = dict(zip(self.positions, self.leaves, strict=True))
        values |= dict(zip(other.positions, other.leaves, strict=True))
        positions = tuple(sorted(values))
        leaves = tuple(values[place] for place in positions)
        return _Part(self.conditions + other.conditions, positions, leaves, self.variant)

    @property
    def case(self) -> Case:
        return Case(self.conditions, self.leaves, _only(self.variant))


def _only(variant: int | None) -> frozenset[int] | None:
    return None if variant is None else frozenset([variant])


def _parts(path: Path) -> list[_Part]:
    """The independent parts of a path."""
    items: list[tuple[Linear | Condition, int]] = [(c, -1) for c in path.conditions]
    items += [(leaf.value, place) for place, leaf in enumerate(path.output.leaves)]
    found = [[v for v in roots([item]) if isinstance(v, Noise)] for item, _ in items]
    owner = _Union()
    for noises in found:
        for noise in noises:
            owner.join(noises[0], noise)
    blocks: dict[Hashable, list[tuple[Linear | Condition, int]]] = {}
    for noises, pair in zip(found, items, strict=True):
        blocks.setdefault(owner.root(noises[0]) if noises else None, []).append(pair)
    return [
        _Part(
            tuple(i for i, _ in block if isinstance(i, Condition)),
            tuple(place for i, place in block if isinstance(i, Linear)),
            tuple(i for i, _ in block if isinstance(i, Linear)),
            path.variant,
        )
        for block in blocks.values()
    ]


class _Union:
    """Disjoint sets."""

    def __init__(self) -> None:
        self._parent: dict[Hashable, Hashable] = {}

    def root(self, item: Hashable) -> Hashable:
        while (parent := self._parent.setdefault(item, item)) != item:
            item = parent
        return item

    def join(self, one: Hashable, other: Hashable) -> None:
        self._parent[self.root(other)] = self.root(one)


def _group(paths: Sequence[Path], shared: dict[_Part, Component]) -> Group:
    parts = [_parts(path) for path in paths]
    variants = [path.variant for path in paths]
    if len(set(variants)) == len(variants):
        components = _blockwise(parts, shared)
    else:
        components = _factored(parts, shared)
    return Group(paths[0].output.skeleton, _kinds(paths), tuple(components))


def _blockwise(parts: list[list[_Part]], shared: dict[_Part, Component]) -> list[Component]:
    """At most one of the paths is possible at any input, so its parts stay independent."""
    if len(parts) == 1:
        return [_component(part, shared) for part in parts[0]]
    owner = _Union()
    for path in parts:
        for part in path:
            for place in part.positions:
                owner.join(part.positions[0], place)
    blocks: dict[Hashable, list[Case]] = {}
    positions: dict[Hashable, tuple[int, ...]] = {}
    for path in parts:
        merged: dict[Hashable, _Part] = {}
        for part in path:
            block = owner.root(part.positions[0]) if part.positions else None
            merged[block] = merged[block].joined(part) if block in merged else part
        merged.setdefault(None, _Part((), (), (), path[0].variant if path else None))
        for block, part in merged.items():
            blocks.setdefault(block, []).append(part.case)
            positions[block] = part.positions
    return [Component(_alike(cases), positions[block]) for block, cases in blocks.items()]


def _alike(cases: Sequence[Case]) -> tuple[Case, ...]:
    """Cases that differ only in their variants, as one."""
    found: dict[tuple[object, ...], list[Case]] = {}
    for case in cases:
        found.setdefault((case.conditions, case.leaves), []).append(case)
    return tuple(
        replace(same[0], variants=frozenset().union(*(case.variants or () for case in same)))
        for same in found.values()
    )


def _factored(parts: list[list[_Part]], shared: dict[_Part, Component]) -> list[Component]:
    """Several paths lead to the same outcomes: what they have in common is factored out."""
    common = set(parts[0]).intersection(*parts[1:])
    components = [_component(part, shared) for part in parts[0] if part in common]
    rest = [[part for part in path if part not in common] for path in parts]
    if any(rest):
        whole = [reduce(_Part.joined, path) for path in rest if path]
        empty = [Case((), ()) for path in rest if not path]
        cases = [*(part.case for part in whole), *empty]
        components.append(Component(tuple(cases), whole[0].positions))
    return components


def _component(part: _Part, shared: dict[_Part, Component]) -> Component:
    if part not in shared:
        shared[part] = Component((part.case,), part.positions)
    return shared[part]


def _kinds(paths: Sequence[Path]) -> tuple[str, ...]:
    """A float wherever one of the paths returns one."""
    columns = zip(*([leaf.kind for leaf in path.output.leaves] for path in paths), strict=True)
    rank = {"bool": 0, "int": 1, "float": 2}
    return tuple(max(column, key=rank.__getitem__) for column in columns)


# -- resolving pieces -------------------------------------------------------------------------


def _first_partition(case: Case) -> Partition | None:
    """An outermost partition: its own conditions join the case, and are resolved after it."""
    lines = [*case.leaves, *(condition.gap for condition in case.conditions)]
    found = {v.partition: None for line in lines for v in line.terms if isinstance(v, Piece)}
    impure = (partition for partition in found if not partition.is_pure)
    return next(impure, next(iter(found), None))


@dataclass
class _Work:
    """How many conditions were rewritten for the cases of one component."""

    rewritten: int = 0

    def note(self, before: Case, after: Case) -> None:
        changed = zip(before.conditions, after.conditions, strict=False)
        self.rewritten += sum(old is not new for old, new in changed)
        if self.rewritten > MAX_REWRITTEN:
            raise OutOfReach("one part of the output depends on too many choices within choices")


def _expanded(case: Case, work: _Work) -> Iterator[Case]:
    case = _without_extremes(case)
    partition = _first_partition(case)
    if partition is None:
        yield from _enumerated(case)
        return
    for cell in range(len(partition)):
        opened = case.substitute(partition, cell)
        work.note(case, opened)
        inside = _tidy(opened)
        if inside is not None:
            yield from _expanded(inside, work)


def _without_extremes(case: Case) -> Case:
    """Conditions like `max(...) <= bound` taken apart into one condition per candidate."""
    uses = Counter(piece.partition for piece in references([*case.conditions, *case.leaves]))
    conditions: list[Condition] = []
    for condition in case.conditions:
        conditions += _taken_apart(condition, uses)
    return replace(case, conditions=tuple(conditions))


def _taken_apart(condition: Condition, uses: Counter[Partition]) -> list[Condition]:
    for piece, coefficient in condition.gap.terms.items():
        if isinstance(piece, Piece) and uses[piece.partition] == 1:
            sign = piece.extreme
            if (sign > 0 and coefficient < 0) or (sign < 0 and coefficient > 0):
                rest = condition.gap.without(piece)
                lines = [rest + value.scaled(coefficient) for value in piece.values]
                return [Condition(line, Linear(), condition.strict) for line in lines]
    return [condition]


def _enumerated(case: Case) -> Iterator[Case]:
    """The case with every released draw from a short list replaced by its values."""
    for leaf in case.leaves:
        noises = [v for v in leaf.terms if isinstance(v, Noise)]
        for noise in noises if all(n.law.lattice for n in noises) else ():
            if (values := _short_list(noise)) is not None:
                for value in values:
                    yield from _enumerated(_fixed(case, noise, value))
                return
    yield case


def _short_list(noise: Noise) -> Sequence[Linear] | None:
    low, high = noise.law.support
    if low is None or high is None or high - low > _SHORT_LIST:
        return None
    return [Linear(low + k) for k in range(int((high - low).p) + 1)]


def _fixed(case: Case, noise: Noise, value: Linear) -> Case:
    line = Linear.of(noise)
    leaves = tuple(leaf.substitute({noise: value}) for leaf in case.leaves)
    equal = (Condition(line, value), Condition(value, line))
    return replace(case, conditions=case.conditions + equal, leaves=leaves)


def _tidy(case: Case) -> Case | None:
    """Without repeated and trivial conditions; None where two of them contradict."""
    kept: dict[Condition, None] = {}
    for condition in case.conditions:
        truth = condition.decided()
        if truth is False or condition.negation in kept:
            return None
        if truth is None:
            kept[condition] = None
    return replace(case, conditions=tuple(kept))
