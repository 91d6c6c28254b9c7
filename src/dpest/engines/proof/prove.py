"""prove(program, inputs, neighbors) -> Proof."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from dpest.engines.proof.alignment import Alignment, align, by_corners
from dpest.engines.proof.choices import cases
from dpest.engines.proof.coupling import couplings, ends_data
from dpest.engines.proof.encode import Encoder, domain_data, neighbors_data
from dpest.engines.proof.finite import prove_finite
from dpest.engines.proof.mixture import prove_mixture
from dpest.engines.proof.picks import picked
from dpest.engines.proof.refusal import NoProof
from dpest.engines.proof.related import finite_inputs, finite_relation, one_by_one
from dpest.engines.proof.split import has_extremes, routes
from dpest.engines.proof.subsampling import prove_subsampling
from dpest.engines.proof.worst import Worst, worst_of
from dpest.evidence import Certificate
from dpest.inputs import Inputs, OneOf
from dpest.neighbors import Neighbors
from dpest.program import Program
from dpest.verify.content import seal
from dpest.verify.couplings import ENDS
from dpest.verify.finite import MAX_MEMBERS
from dpest.verify.price import Malformed, Price
from dpest.verify.shift import Wrong


@dataclass(frozen=True)
class Proof:
    """An upper bound over all neighbours and its certificate, or the reason why there is none."""

    upper: float
    """A double that is not below the proved bound; infinity where there is none."""
    price: Price | None
    """The bound exactly: a rational, or with logarithms or square roots."""
    certificate: Certificate | None
    worst: Worst | None
    reason: str = ""
    """Why there is no finite bound."""
    unbounded: bool = False
    """Whether the reason is exact: some pair has an outcome that only one of them can give."""

    @property
    def sentences(self) -> tuple[str, ...]:
        """The proof for people."""
        if self.certificate is None:
            return (f"No finite bound is proved: {self.reason}.",)
        return tuple(self.certificate.content["sentences"])


MAX_SINGLE = 300
"""In a larger domain the inputs are not compared one by one, except where outputs are finite."""
MAX_CASES, MAX_WORK = 128, 8_000
"""Cases that coins make, and the same in all pairs of inputs, that are looked at once more."""
Family = Sequence[tuple[Any, Program]]
"""One program for every value of a finite domain, traced at that value."""
Attempt = Callable[[Program | Family, Inputs, Neighbors], "Proof | None"]


def prove(program: Program | Family, inputs: Inputs, neighbors: Neighbors) -> Proof:
    """The best bound that alignment or exact finite probabilities prove.

    `program` was traced with symbolic inputs, or is a list of `(x, program traced at x)` over
    all values of a finite domain.
    """
    neighbors.check(inputs)
    found: list[Proof] = []
    credited = False
    for attempt in (_finite, _subsampled, _aligned, _coupled, _mixed):
        if credited and _is_long(attempt, program, inputs, neighbors):
            continue
        proof = attempt(program, inputs, neighbors)
        if proof is not None:
            found.append(proof)
            credited |= attempt is _subsampled
            if proof.unbounded or (attempt is _finite and proof.price is not None):
                return proof
    proved = [proof for proof in found if proof.price is not None]
    if not proved:
        return found[-1] if found else _none("no argument fits the program")
    best = proved[0]
    for proof in proved[1:]:
        if proof.price < best.price:  # type: ignore[operator]
            best = proof
    return best


def _is_long(
    attempt: Attempt, program: Program | Family, inputs: Inputs, neighbors: Neighbors
) -> bool:
    """Whether an attempt takes long by what coins do, where they were credited already."""
    assert isinstance(program, Program)
    if attempt is _aligned:
        return one_by_one(inputs, neighbors) and cases(program) > MAX_CASES
    family = _family(program, inputs)
    return family is not None and cases(program) ** 2 * len(family) > MAX_WORK


def _none(reason: str, unbounded: bool = False, worst: Worst | None = None) -> Proof:
    return Proof(math.inf, None, None, worst, reason, unbounded)


def _sealed(
    name: str, argument: str, program: Any, neighbors: Any, alignment: Any, worst: Worst
) -> Proof:
    """The finished proof; the bound is the one that the exact check derives, if it does."""
    try:
        content, price = seal(name, argument, program, neighbors, alignment)
    except (Malformed, Wrong) as reason:
        return _none(f"the checker does not accept what was found: {reason}", worst=worst)
    certificate = Certificate(price.above(), content)
    return Proof(certificate.upper, price, certificate, worst)


# -- alignment --------------------------------------------------------------------------------


def _aligned(program: Program | Family, inputs: Inputs, neighbors: Neighbors) -> Proof | None:
    if not isinstance(program, Program) or isinstance(inputs, OneOf):
        return None
    program = picked(program)
    best: tuple[Alignment, dict[str, Any]] | None = None
    reasons = []
    relation = neighbors_data(neighbors)
    for keep in (True, False) if has_extremes(program) else (False,):
        try:
            data = Encoder().program(domain_data(inputs), routes(program, keep))
            found = align(data, relation)
        except NoProof as reason:
            reasons.append(str(reason))
            continue
        if best is None or found.total < best[0].total:
            best = (found, data)
    if best is None:
        return _none(reasons[-1])
    alignment, worst = best[0], worst_of(best[0])
    if worst.reached is not None and worst.reached < float(alignment.total) * (1 - 1e-9):
        better = by_corners(alignment)
        if better is not alignment:
            alignment, worst = better, worst_of(better)
    return _sealed(program.name, "alignment", best[1], relation, alignment.data, worst)


def _subsampled(program: Program | Family, inputs: Inputs, neighbors: Neighbors) -> Proof | None:
    """Coins that decide whether an input has a say."""
    if not isinstance(program, Program) or isinstance(inputs, OneOf):
        return None
    try:
        found = prove_subsampling(program, inputs, neighbors)
    except NoProof:
        return None
    if found is None:
        return None
    worst = Worst(None, "", found.direction, None)
    return _sealed(program.name, "subsampling", found.program, found.neighbors,
                   found.alignment, worst)  # fmt: skip


# -- finite domains ---------------------------------------------------------------------------


def _finite(program: Program | Family, inputs: Inputs, neighbors: Neighbors) -> Proof | None:
    family = _family(program, inputs)
    if family is None:
        return None
    try:
        found = prove_finite(family, inputs, neighbors)
    except NoProof as reason:
        return _none(str(reason))
    worst = _at_pair(family, found.pair)
    if found.total is None:
        one, other = found.pair
        why = f"the input {family[one][0]!r} can give an outcome that {family[other][0]!r} cannot"
        return _none(why, True, worst)
    return _sealed(family[0][1].name, "finite", found.program, found.neighbors, None,
                   worst)  # fmt: skip


def _family(program: Program | Family, inputs: Inputs) -> Family | None:
    if not isinstance(program, Program):
        return program
    values = inputs.values()
    if values is None:
        return None
    listed = list(values)
    return [(x, program) for x in listed] if len(listed) <= MAX_MEMBERS else None


# -- single inputs ----------------------------------------------------------------------------


def _coupled(program: Program | Family, inputs: Inputs, neighbors: Neighbors) -> Proof | None:
    """Alignments between the programs at single inputs."""
    family = _family(program, inputs)
    if family is None or len(family) > MAX_SINGLE:
        return None
    members, alignments = [], []
    best: tuple[Price, int, int] | None = None
    try:
        for one, other, joined in couplings(family, inputs, neighbors):
            data = ends_data(joined)
            found = align(data, ENDS)
            members.append({"pair": [one, other], "program": data})
            alignments.append(found.data)
            if best is None or best[0] < found.total:
                best = (found.total, one, other)
    except NoProof as reason:
        return _none(str(reason))
    if best is None:
        return None
    data = {"inputs": finite_inputs(inputs), "members": members}
    relation = finite_relation([x for x, _ in family], inputs, neighbors)
    worst = _at_pair(family, best[1:])
    return _sealed(family[0][1].name, "couplings", data, relation, alignments, worst)


def _mixed(program: Program | Family, inputs: Inputs, neighbors: Neighbors) -> Proof | None:
    """Mixtures of programs at single inputs, where coins are thrown."""
    family = _family(program, inputs)
    if family is None or len(family) > MAX_SINGLE:
        return None
    try:
        found = prove_mixture(family, inputs, neighbors)
    except NoProof as reason:
        return _none(str(reason))
    if found is None:
        return None
    worst = _at_pair(family, found.pair)
    return _sealed(family[0][1].name, "mixture", found.program, found.neighbors,
                   found.alignment, worst)  # fmt: skip


def _at_pair(family: Family, pair: tuple[int, int]) -> Worst:
    return Worst(None, "", None, None, pair=(family[pair[0]][0], family[pair[1]][0]))
