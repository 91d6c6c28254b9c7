"""The finite argument: exact probabilities of every outcome for every input of a finite domain."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dpest.engines.proof.encode import law_data, skeleton_text
from dpest.engines.proof.refusal import NoProof
from dpest.engines.proof.related import finite_inputs, finite_relation
from dpest.engines.proof.split import Fragment, Options, options
from dpest.inputs import Inputs
from dpest.neighbors import Neighbors
from dpest.numbers.rational import exact
from dpest.program import Condition, Linear, Noise, Path, Program
from dpest.program.linear import Variable
from dpest.verify.finite import MAX_MEMBERS, read_finite
from dpest.verify.price import Malformed, Price

_FINITE = frozenset({"uniform", "integers", "choice", "geometric"})
MAX_COMBINATIONS = 20_000


@dataclass(frozen=True)
class FiniteProof:
    """The program section, the neighbours, the bound (None: infinite) and the worst pair."""

    program: dict[str, Any]
    neighbors: dict[str, Any]
    total: Price | None
    pair: tuple[int, int]


def prove_finite(
    programs: Sequence[tuple[Any, Program]], inputs: Inputs, neighbors: Neighbors
) -> FiniteProof:
    """The exact supremum over the neighbours; `NoProof` where outcomes are not finite."""
    if len(programs) > MAX_MEMBERS:
        raise NoProof(f"the domain has more than {MAX_MEMBERS} values")
    known: dict[int, Member] = {}
    ties: dict[tuple[object, ...], list[Fragment]] = {}
    expanded: list[Member] = []
    for x, program in programs:
        expanded.append(_at(program, x, known, ties))
        if len(expanded) == 1:
            _Encoder(expanded).program({})
    data = _Encoder(expanded).program(finite_inputs(inputs))
    relation = finite_relation([x for x, _ in programs], inputs, neighbors)
    try:
        ratios, pairs = read_finite(data, relation)
        total, where = ratios.price(pairs)
    except Malformed as reason:
        raise NoProof(str(reason)) from None
    return FiniteProof(data, relation, total, where)


Member = list[tuple[Path, Options]]


def _at(
    program: Program, x: Any, known: dict[int, Member],
    ties: dict[tuple[object, ...], list[Fragment]],
) -> Member:  # fmt: skip
    """The paths of the program at one input, each with the cases of its ties."""
    if id(program) not in known:
        known[id(program)] = [(path, options(path, False, ties)) for path in program.paths]
    values = program.at(x).numbers
    return [
        (path, [[flat(f, values) for f in cases] for cases in found])
        for path, found in known[id(program)]
    ]


def flat(fragment: Fragment, values: Mapping[Variable, Linear]) -> Fragment:
    when = [c.substitute(values) for c in fragment.when]
    for winner in fragment.beats:
        line = winner.line.substitute(values)
        rivals = [other.substitute(values) for other in winner.group]
        place = next(k for k, other in enumerate(winner.group) if other is winner.line)
        when += [_ahead(line, rival, place, k) for k, rival in enumerate(rivals) if k != place]
    out = tuple((k, line.substitute(values)) for k, line in fragment.out)
    return Fragment(tuple(when), (), out)


def _ahead(line: Linear, rival: Linear, place: int, other: int) -> Condition:
    """Ties go to the one that stands first."""
    return Condition(line, rival, strict=other < place)


class _Encoder:
    """Members as blocks of cases."""

    def __init__(self, members: list[Member]) -> None:
        self.members = members
        self.noise: dict[tuple[int, Any], int] = {}
        self.draws: list[dict[str, Any]] = []
        self.outcomes: dict[str, int] = {}
        texts = {skeleton_text(path.output.skeleton) for member in members for path, _ in member}
        self.coded = len(texts) > 1 or any(len(member) > 1 for member in members)
        self.size = 1 if self.coded else len(members[0][0][0].output.leaves)
        if not self.coded:
            self.outcomes = dict.fromkeys(texts, 0)

    def program(self, inputs: dict[str, Any]) -> dict[str, Any]:
        members = [self._coded(m) if self.coded else self._plain(m) for m in self.members]
        return {"inputs": inputs, "size": self.size, "noise": self.draws,
                "outcomes": list(self.outcomes), "members": members}  # fmt: skip

    def _coded(self, member: Member) -> list[Any]:
        """One block whose only value numbers the outcome."""
        cases: list[dict[str, Any]] = []
        for path, ties in member:
            for chosen in itertools.product(*ties):
                if len(cases) >= MAX_COMBINATIONS:
                    raise NoProof("there are too many outcomes")
                code = Linear(exact(self._outcome(path, chosen)))
                cases.append(self._case([c for f in chosen for c in f.when], [code]))
        return [{"places": [0], "cases": cases}]

    def _outcome(self, path: Path, chosen: Sequence[Fragment]) -> int:
        leaves = {k: line for fragment in chosen for k, line in fragment.out}
        if any(not line.is_constant for line in leaves.values()):
            raise NoProof("an output is not one of finitely many values")
        text = skeleton_text(path.output.skeleton)
        numbers = ", ".join(str(leaves[k].const) for k in sorted(leaves))
        key = f"{text} with {numbers}" if leaves else text
        return self.outcomes.setdefault(key, len(self.outcomes))

    def _plain(self, member: Member) -> list[Any]:
        """A block for every set of outputs that share draws."""
        ((_, ties),) = member
        return [
            {
                "places": [k for k, _ in cases[0].out],
                "cases": [self._case(f.when, [v for _, v in f.out]) for f in cases],
            }
            for cases in ties
        ]

    def _case(self, when: Sequence[Any], values: Sequence[Linear]) -> dict[str, Any]:
        return {
            "when": [{**self._affine(c.gap), "strict": c.strict} for c in when],
            "values": [self._affine(value) for value in values],
        }

    def _affine(self, line: Linear) -> dict[str, Any]:
        noise = {}
        for variable, c in line.terms.items():
            if not isinstance(variable, Noise) or variable.law.name not in _FINITE:
                raise NoProof("an outcome depends on more than finitely many values")
            noise[str(self._draw(variable))] = str(c)
        return {"const": str(line.const), "noise": noise}

    def _draw(self, noise: Noise) -> int:
        key = (noise.index, noise.law)
        if key not in self.noise:
            self.noise[key] = len(self.draws)
            line = noise.source.line if noise.source is not None else None
            self.draws.append({**law_data(noise.law), "line": line})
        return self.noise[key]

