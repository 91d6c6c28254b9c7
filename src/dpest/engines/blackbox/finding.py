"""An estimate as evidence: a bound, a witness with its counts, and what is left open."""

from __future__ import annotations

import math
from typing import Any

from dpest.claims import Approx, Claim, Pure
from dpest.engines.blackbox.estimate import Estimate, estimate
from dpest.engines.blackbox.mechanism import Mechanism
from dpest.engines.blackbox.pairs import pairs_to_try
from dpest.engines.blackbox.settings import Sampling
from dpest.engines.finding import Finding
from dpest.engines.pairs import plain
from dpest.evidence import Bound, Counted, Witness
from dpest.inputs import Inputs
from dpest.neighbors import Neighbors, Pairs

COMMON = 0.05
"""Events have to gain so much probability where a divergence is claimed."""
_DOUBLES = (
    "the last bits of the outputs were looked at: the bound is about doubles, not about the real "
    "numbers that they stand for"
)


def finding_of(
    mechanism: Mechanism,
    inputs: Inputs,
    neighbors: Neighbors,
    claim: Claim | None,
    sampling: Sampling,
    method: str = "blackbox",
) -> Finding:
    """Run the mechanism on pairs of neighbours and bound its loss from below."""
    pairs, which = pairs_to_try(inputs, neighbors)
    found = estimate(
        mechanism, pairs, sampling, claim=_epsilon(claim), delta=_delta(claim), aim=_aim(claim)
    )
    notes = [] if isinstance(neighbors, Pairs) else [f"tried {which}: {len(pairs)} in all"]
    if mechanism.low_bits:
        notes.append(_DOUBLES)
    return Finding(
        _bound(found), method, _witness(found), None, (*notes, *found.notes), sampled=found.curves
    )


def _epsilon(claim: Claim | None) -> float | None:
    """The loss beyond which the claim is refuted, where the claim names one."""
    if isinstance(claim, (Pure, Approx)) and math.isfinite(claim.epsilon):
        return claim.epsilon
    return None


def _delta(claim: Claim | None) -> float:
    return claim.delta if isinstance(claim, Approx) and claim.delta < 1 else 0.0


def _aim(claim: Claim | None) -> float:
    """Claims about divergences are refuted by common events, which a delta favours."""
    return 0.0 if claim is None or isinstance(claim, (Pure, Approx)) else COMMON


def _bound(found: Estimate) -> Bound:
    return Bound(found.lower, math.inf, "statistical" if found.measured else "none", "none")


def _witness(found: Estimate) -> Witness | None:
    if found.lower == 0:
        return None
    (hits, hits_prime), runs = found.counts, found.measured
    x, x_prime = (_printable(x) for x in found.pair)
    return Witness(
        x, x_prime, found.event, hits / runs, hits_prime / runs, found.lower, test=found.test,
        counted=Counted(hits, hits_prime, runs, found.confidence),
    )  # fmt: skip


def _printable(x: Any) -> Any:
    return x if x is None or isinstance(x, str) else plain(x)
