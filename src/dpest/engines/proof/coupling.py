"""Join the programs of two inputs into one program of a number that goes from 0 to 1.

Programs that were traced at single inputs have no symbols for the input. Where two of them differ
in constants only, `c` and `c'` become `c + t (c' - c)`: the pair is then t = 0 against t = 1, and
an alignment can be sought as for any other program.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dpest.engines.proof.branches import at
from dpest.engines.proof.encode import Encoder
from dpest.engines.proof.refusal import NoProof
from dpest.engines.proof.related import related
from dpest.engines.proof.split import routes
from dpest.inputs import Inputs
from dpest.neighbors import Neighbors
from dpest.program import Condition, Input, Leaf, Linear, Noise, Output, Path, Program
from dpest.verify.couplings import UNIT

MAX_PAIRS = 500


def couplings(
    programs: Sequence[tuple[Any, Program]], inputs: Inputs, neighbors: Neighbors
) -> list[tuple[int, int, Program]]:
    """(one, other, joined program) for every pair of neighbours."""
    listed = related(programs, inputs, neighbors)
    if len(listed) > MAX_PAIRS:
        raise NoProof(f"there are more than {MAX_PAIRS} pairs of neighbours")
    closed = [Program((), at(program, x), program.name) for x, program in programs]
    return [(a, b, joined(closed[a], closed[b])) for a, b in listed]


def ends_data(both: Program) -> dict[str, Any]:
    """A joined program as the plain data of a certificate, its draws in the order of drawing."""
    encoder = Encoder()
    for noise in both.noises:
        encoder.draw(noise)
    return encoder.program(dict(UNIT), routes(both, False))


def joined(one: Program, other: Program) -> Program:
    if len(one.paths) != len(other.paths):
        raise NoProof("two inputs take different ways through the code")
    t = Input(0)
    join = _Joiner(t)
    paths = tuple(join.path(p, q) for p, q in zip(one.paths, other.paths, strict=True))
    return Program((t,), paths, one.name)


class _Joiner:
    def __init__(self, t: Input) -> None:
        self.t = t

    def path(self, one: Path, other: Path) -> Path:
        same = (
            one.output.skeleton == other.output.skeleton
            and len(one.conditions) == len(other.conditions)
        )
        if not same:
            raise NoProof("two inputs take different ways through the code")
        conditions = tuple(map(self.condition, one.conditions, other.conditions))
        pairs = zip(one.output.leaves, other.output.leaves, strict=True)
        leaves = tuple(Leaf(self.line(p.value, q.value), p.kind) for p, q in pairs)
        return Path(conditions, Output(one.output.skeleton, leaves))

    def condition(self, one: Condition, other: Condition) -> Condition:
        if one.strict != other.strict:
            raise NoProof("two inputs compare differently")
        return Condition(
            self.line(one.left, other.left), self.line(one.right, other.right), one.strict
        )

    def line(self, one: Linear, other: Linear) -> Linear:
        mine = {name_of(v): c for v, c in one.terms.items()}
        if mine != {name_of(v): c for v, c in other.terms.items()}:
            raise NoProof("the noise enters differently for two inputs")
        change = other.const - one.const
        return one + Linear.of(self.t).scaled(change)


def name_of(variable: Any) -> Any:
    """What a draw is called, whatever input the program was traced at."""
    assert isinstance(variable, Noise)
    return variable.index, variable.law
