"""The analytic engines together: a proof from above, the exact loss of a witness from below."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from dpest.engines import known
from dpest.engines.exact import ExactLaw, OutOfReach
from dpest.engines.finding import Finding
from dpest.engines.growth import growth, sentence
from dpest.engines.pairs import WorstPair
from dpest.engines.proof import Proof, prove
from dpest.engines.search import Found, Search
from dpest.evidence import Bound, Witness
from dpest.inputs import Inputs, OneOf
from dpest.neighbors import Neighbors, Pairs
from dpest.program import Program
from dpest.trace import trace, trace_values
from dpest.trace.refusals import NeedsConcreteInput, NonAffine, Refusal

MAX_VALUES = 2_000
_CLOSE = 1e-9
"""A search that comes this close to a proved bound has nothing left to find."""
_UNBOUNDED = (
    "the loss grows without bound as the output moves out: no finite epsilon covers it, and the "
    "event shown is one of many"
)
_LARGEST_FOUND = (
    "the released numbers depend on each other: the lower bound is the largest loss that was "
    "found, and no case of the code loses more than the upper one"
)
_FEW_VALUES = 300
_TABLES = {"uniform", "integers", "choice"}
"""Laws whose outcomes can be counted, where uniform draws meet constants only."""
_SHOWN = 1e-6
"""Inputs far apart whose event shows less than this share short are passed over."""
_FEW = 3
"""A witness against a claim is simplified if it changes more entries than this."""
_LIKELY = 1e-3
"""An event that happens less often is worth a likelier one, where that refutes the claim too."""
_MARGIN = 1.01
"""By which factor the simplified witness must still exceed the claim."""


def examine(
    mechanism: Callable[..., Any], program: Program, inputs: Inputs, neighbors: Neighbors,
    params: Mapping[str, Any], claimed: float | None = None,
) -> Finding:  # fmt: skip
    """Bound the loss of a traced mechanism over the neighbours, from both sides."""
    if isinstance(neighbors, Pairs):
        return losses_of_pairs(program, inputs, neighbors, claimed)
    finding = _over_neighbors(program, inputs, neighbors, claimed)
    finding = _value_by_value(mechanism, finding, inputs, neighbors, params, claimed)
    if claimed == math.inf and not program.values and math.isfinite(finding.bound.upper):
        assert not isinstance(inputs, OneOf)
        found = growth(mechanism, inputs, neighbors, params, finding.bound.upper)
        if found:
            return replace(finding, notes=(*finding.notes, sentence(found)), growth=found)
    return finding


def proved(program: Program, inputs: Inputs, neighbors: Neighbors) -> Finding:
    """A bound from above alone."""
    if isinstance(neighbors, Pairs):
        raise ValueError(
            f'engine="proof" bounds all neighbours at once, and neighbors={neighbors} lists '
            'pairs; use engine="exact"'
        )
    proof = _proof(program, inputs, neighbors)
    method = "proof" if proof.certificate else "none"
    return Finding(
        _bound(proof, None), method, None, proof.certificate, _reasons(proof), program
    )


def witnessed(
    program: Program, inputs: Inputs, neighbors: Neighbors, claimed: float | None
) -> Finding:
    """A bound from below alone, or the exact loss of listed pairs."""
    if isinstance(neighbors, Pairs):
        return losses_of_pairs(program, inputs, neighbors, claimed)
    nothing = Proof(math.inf, None, None, None)
    best, shown = _witnesses(program, inputs, neighbors, nothing, claimed)
    notes = (_UNBOUNDED,) if best is not None and best.unbounded else ()
    method = "witness" if best else "none"
    return Finding(_bound(nothing, best), method, shown, None, notes, program)


def losses_of_pairs(
    program: Program, inputs: Inputs, neighbors: Pairs, claimed: float | None
) -> Finding:
    """The exact loss of the listed pairs."""
    law = ExactLaw(program)
    worst = WorstPair.of(law, [(inputs.give(x), inputs.give(y)) for x, y in neighbors])
    witness, loss = worst.witness(law, _enough(claimed)), worst.loss.loss
    if worst.loss.forward.status == "unbounded":
        bound = _bound_below(witness, math.inf)
        if claimed is not None and claimed < witness.loss:
            witness = worst.witness(law, claimed * _MARGIN)
        return Finding(bound, "exact", witness, notes=(_UNBOUNDED,), program=program)
    if (most := worst.loss.at_most) > loss:
        shown = _bound_below(witness, most)
        bound = replace(shown, upper_status="numeric" if math.isfinite(most) else "none")
        return Finding(bound, "exact", witness, notes=(_LARGEST_FOUND,), program=program)
    bound = Bound(loss, loss, "numeric", "numeric")
    return Finding(bound, "exact", witness, program=program)


def _over_neighbors(
    program: Program, inputs: Inputs, neighbors: Neighbors, claimed: float | None
) -> Finding:
    """A proof from above and a witness from below."""
    proof = _proof(program, inputs, neighbors)
    known.at_most(proof.upper)
    notes = list(_reasons(proof))
    best = shown = None
    try:
        best, shown = _witnesses(program, inputs, neighbors, proof, claimed)
    except OutOfReach as reason:
        notes.append(f"no witness was computed: {reason}")
    bound = _bound(proof, best)
    if best is not None and best.unbounded:
        notes.append(_UNBOUNDED)
    method = " and ".join(
        name for name, found in (("proof", proof.certificate), ("witness", best)) if found
    )
    return Finding(bound, method or "none", shown, proof.certificate, tuple(notes), program)


def _value_by_value(
    mechanism: Callable[..., Any], finding: Finding, inputs: Inputs, neighbors: Neighbors,
    params: Mapping[str, Any], claimed: float | None,
) -> Finding:  # fmt: skip
    """A smaller bound where the inputs are few and every draw, once they are known, is too.

    A softmax of whole numbers is such a case: traced at each of them it is a choice from a table.
    """
    bound, values = finding.bound, _finite_values(inputs, neighbors)
    is_met = bound.lower >= bound.upper * (1 - _CLOSE)
    if is_met or values is None or len(values) > _FEW_VALUES:
        return finding
    if finding.program is None or finding.program.values:
        return finding
    try:
        few = all(noise.law.name in _TABLES for noise in _at(mechanism, values[:1], params).noises)
        if not few:
            return finding
        found = _over_neighbors(_at(mechanism, values, params), inputs, neighbors, claimed)
    except Refusal:
        return finding
    return found if found.bound.upper < bound.upper else finding


def _at(mechanism: Callable[..., Any], values: list[Any], params: Mapping[str, Any]) -> Program:
    return trace_values(mechanism, values, **params)


def _proof(program: Program, inputs: Inputs, neighbors: Neighbors) -> Proof:
    return prove(program.members if program.values else program, inputs, neighbors)


def _reasons(proof: Proof) -> tuple[str, ...]:
    return (f"no finite upper bound was proved: {proof.reason}",) if proof.reason else ()


def _bound(proof: Proof, best: Witness | None) -> Bound:
    """What the proof and the best witness establish together."""
    if best is None:
        return Bound(0.0, proof.upper, "none", "none" if proof.certificate is None else "proved")
    if best.loss == math.inf:
        return Bound(math.inf, math.inf, "certified" if best.certified else "numeric", "certified")
    bound = _bound_below(best, proof.upper)
    return bound if proof.certificate is None else replace(bound, upper_status="proved")


def _bound_below(witness: Witness, upper: float) -> Bound:
    """What a witness of a finite loss shows."""
    lower = max(0.0, min(witness.loss, upper))
    return Bound(lower, upper, "certified" if witness.certified else "numeric", "none")


def _enough(claimed: float | None) -> float:
    """A loss that is large enough to show where there is no largest one."""
    finite = claimed is not None and math.isfinite(claimed)
    return max(10.0, 2 * claimed) if finite else 10.0  # type: ignore[operator]


def _witnesses(
    program: Program, inputs: Inputs, neighbors: Neighbors, proof: Proof, claimed: float | None
) -> tuple[Witness | None, Witness | None]:
    """The witness of the largest loss, and the one to show: simpler where a claim is refuted."""
    law = ExactLaw(program)
    if proof.worst is not None and proof.worst.pair is not None:
        x, y = map(inputs.give, proof.worst.pair)
        best = WorstPair.of(law, [(x, y)]).witness(law, _enough(claimed))
        return best, best
    if program.values:
        worst = WorstPair.of(law, _related_values(program, inputs, neighbors))
        best = worst.witness(law, _enough(claimed))
        return best, best
    assert not isinstance(inputs, OneOf)
    hint = None if proof.worst is None else proof.worst.d
    return _searched(Search(law, inputs, neighbors, hint), proof, claimed)


def _searched(
    search: Search, proof: Proof, claimed: float | None
) -> tuple[Witness | None, Witness | None]:
    found = search.worst(proof.upper * (1 - _CLOSE))
    if found is None:
        return None, None
    if found.loss.loss == math.inf:
        found = search.simplified(found, math.inf)
    best = _witness_of(search, found, claimed)
    for nearer in reversed(search.passed):
        if best.loss >= found.loss.loss * (1 - _SHOWN):
            break
        other = _witness_of(search, nearer, claimed)
        best, found = (other, nearer) if other.loss > best.loss else (best, found)
    if claimed is None or not claimed < found.loss.loss:
        return best, best
    return best, _shown(search, found, best, claimed)


def _shown(search: Search, found: Found, best: Witness, claimed: float) -> Witness:
    """The witness against a claim that is the easiest to follow: likely events, few changes."""
    needed = claimed * _MARGIN
    if best.unbounded:
        return WorstPair.found(found.x, found.x_prime, found.loss).witness(search.law, needed)
    if best.loss == math.inf:
        return best
    rare = min(best.p, best.p_prime) < _LIKELY
    simple = search.nearer(found, needed) if rare else found
    if _changed(simple) > _FEW:
        simple = search.simplified(simple, needed)
    if simple is found:
        return best
    shown = _witness_of(search, simple, claimed)
    return shown if shown.loss > claimed else best


def _witness_of(search: Search, found: Found, claimed: float | None) -> Witness:
    pair = WorstPair.found(found.x, found.x_prime, found.loss)
    return pair.witness(search.law, _enough(claimed))


def _changed(found: Found) -> int:
    return int(np.sum(np.ravel(found.x) != np.ravel(found.x_prime)))


def _related_values(
    program: Program, inputs: Inputs, neighbors: Neighbors
) -> list[tuple[Any, Any]]:
    checked = [(x, inputs.check(x)) for x in program.values]
    return [
        (x, y)
        for (x, a), (y, b) in itertools.combinations(checked, 2)
        if neighbors.relates(a, b)
    ]


def traced(
    mechanism: Callable[..., Any], inputs: Inputs, neighbors: Neighbors, params: Mapping[str, Any]
) -> Program:
    """The program with symbolic inputs, or value by value where the code needs the value."""
    try:
        if not isinstance(inputs, OneOf):
            return trace(mechanism, inputs, **params)
        raise NeedsConcreteInput(f"{inputs} has no symbolic form")
    except (NeedsConcreteInput, NonAffine):
        values = _finite_values(inputs, neighbors)
        if values is None:
            raise
        return trace_values(mechanism, values, **params)


def _finite_values(inputs: Inputs, neighbors: Neighbors) -> list[Any] | None:
    """All inputs that matter, as the mechanism gets them; None where they are too many."""
    if isinstance(neighbors, Pairs):
        given = [inputs.give(x) for pair in neighbors for x in pair]
        return list({repr(x): x for x in given}.values())
    domain = inputs.values()
    if domain is None:
        return None
    values = list(itertools.islice(domain, MAX_VALUES + 1))
    return [inputs.give(x) for x in values] if len(values) <= MAX_VALUES else None
