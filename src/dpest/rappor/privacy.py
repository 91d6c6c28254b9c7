"""How much a report, or many, may tell about a value: by formula, and by auditing the encoder.

Bits are independent given the value, so the loss of a pair of values adds up over the bits in
which their filters differ. A bit that only the first value sets can at worst be seen as 1, one
that only the second sets as 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from dpest.rappor.candidates import Candidates
from dpest.rappor.errors import RapporError
from dpest.rappor.params import Params

if TYPE_CHECKING:
    from scipy.sparse import csc_matrix, csr_matrix

_BLOCK = 2048


@dataclass(frozen=True)
class PairLoss:
    """The exact privacy loss of telling two values apart, in the cohort where it is largest."""

    first: str
    second: str
    cohort: int
    distance: int
    epsilon: float


def bit_losses(params: Params, reports: float = 1) -> tuple[float, float]:
    """What a bit gives away at worst: seen as 1 if only one value sets it, as 0 if only the other.

    `reports` is how many reports of the value are seen, `math.inf` for all that will ever be.
    """
    if reports == math.inf:
        both = params.eps_infinity / (2 * params.h)
        return both, both
    if reports < 1 or reports != int(reports):
        raise RapporError(f"reports={reports} must be a whole number, 1 or more, or infinity")
    ones = _seen(params.q, params.p, params.f, int(reports))
    zeros = _seen(1 - params.p, 1 - params.q, params.f, int(reports))
    return (ones, zeros) if params.q > params.p else (-zeros, -ones)


def _seen(likelier: float, rarer: float, f: float, reports: int) -> float:
    """log of P(always this bit | set) / P(always this bit | unset) after the permanent response."""
    keep, lose = math.log(1 - f / 2), math.log(f / 2) if f else -math.inf
    high, low = (reports * math.log(x) if x > 0 else -math.inf for x in (likelier, rarer))
    top = np.logaddexp(keep + high, lose + low)
    bottom = np.logaddexp(lose + high, keep + low)
    return float(top - bottom)


def pair_loss(
    params: Params, candidates: Candidates, first: str, second: str, reports: float = 1
) -> PairLoss:
    """The exact loss of a given pair of candidates, at the cohort that tells them best apart."""
    pair = candidates.subset([_index(candidates, name) for name in (first, second)])
    return worst_pair(params, pair, reports)


def worst_pair(params: Params, candidates: Candidates, reports: float = 1) -> PairLoss:
    """The pair of a dictionary that reports tell apart best.

    No pair can exceed the parameters' own epsilon, which needs two filters without a common bit;
    the search stops when it finds one as bad as two filters of this dictionary can be.
    """
    if len(candidates) < 2:
        raise RapporError(f"{len(candidates)} candidate makes no pair; give two or more")
    design = candidates.design(params).tocsc()
    ones, zeros = bit_losses(params, reports)
    most = _widest(design, params)
    worst = PairLoss(candidates.strings[0], candidates.strings[1], 0, 0, 0.0)
    for cohort in range(params.m):
        filters = design[cohort * params.k : (cohort + 1) * params.k].T.tocsr()
        for start, loss, distance in _losses(filters, ones, zeros):
            at = np.unravel_index(int(np.argmax(loss)), loss.shape)
            if loss[at] > worst.epsilon:
                names = (candidates.strings[start + at[0]], candidates.strings[at[1]])
                worst = PairLoss(*names, cohort, int(distance[at]), float(loss[at]))
        if worst.epsilon >= most * ones + most * zeros - 1e-12:
            break
    return worst


def _widest(design: csc_matrix, params: Params) -> int:
    """The most bits that any candidate sets in any cohort; its hashes may collide in some."""
    rows, columns = design.nonzero()
    filters = columns.astype(np.int64) * params.m + rows // params.k
    return int(np.bincount(filters, minlength=1).max())


def _losses(
    filters: csr_matrix, ones: float, zeros: float
) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """Blocks of first values: the directed loss and the distance to every second value."""
    sizes = np.asarray(filters.sum(axis=1)).ravel()
    for start in range(0, filters.shape[0], _BLOCK):
        block = filters[start : start + _BLOCK]
        common = np.asarray((block @ filters.T).todense())
        only_first = sizes[start : start + _BLOCK, None] - common
        only_second = sizes[None, :] - common
        yield start, _times(only_first, ones) + _times(only_second, zeros), only_first + only_second


def _times(bits: np.ndarray, loss: float) -> np.ndarray:
    return np.multiply(bits, loss, out=np.zeros(bits.shape), where=bits > 0)


def _index(candidates: Candidates, name: str) -> int:
    if name not in candidates.strings:
        raise RapporError(f"{name!r} is not among the {len(candidates)} candidates")
    return candidates.strings.index(name)


def audited(
    params: Params,
    first: str,
    second: str,
    *,
    cohort: int = 0,
    scheme: str = "dpest",
    salt: str = "",
    candidates: Candidates | None = None,
    reports: int = 1,
) -> Any:
    """The same loss by `dpest.audit` of the encoder: a report whose bounds enclose `pair_loss`.

    The two values are the only pair of neighbours. The bits that they set are those of `candidates`
    if given, else those that the encoder finds by hashing.
    """
    dpest: Any = import_module("dpest")
    chosen = None
    if candidates is not None:
        chosen = candidates.subset([_index(candidates, name) for name in (first, second)])
    mechanism = reporter(
        params, cohort=cohort, scheme=scheme, salt=salt, candidates=chosen, reports=reports
    )
    return dpest.audit(
        mechanism,
        inputs=dpest.one_of(first, second),
        neighbors=dpest.pairs([(first, second)]),
    )


def reporter(
    params: Params,
    *,
    cohort: int = 0,
    scheme: str = "dpest",
    salt: str = "",
    candidates: Candidates | None = None,
    reports: int = 1,
) -> Any:
    """A mechanism `f(value, rng)` that reports a value so many times as the client does.

    It hashes with the client's own `Encoder.bloom` or looks the value up among `candidates`, takes
    the permanent response once and an instantaneous response to it for every report, all from
    `rng`.
    """
    from dpest.rappor.client import Encoder

    bloom_of: Any = Encoder(params, bytes(64), cohort=cohort, scheme=scheme, salt=salt).bloom
    if candidates is not None:
        bloom_of = _filters(candidates, params, cohort).__getitem__
    k, forget = params.k, params.f / 2

    def report(value: str, rng: np.random.Generator) -> list[Any]:
        bloom = bloom_of(value)
        rates = [1 - forget if bloom >> i & 1 else forget for i in range(k)]
        permanent = rng.random(size=k) < np.array(rates)
        return [
            np.where(permanent, rng.random(size=k) < params.q, rng.random(size=k) < params.p)
            for _ in range(reports)
        ]

    return report


def _filters(candidates: Candidates, params: Params, cohort: int) -> dict[str, int]:
    """The filter of each candidate in a cohort."""
    packed = candidates.packed_filters(params)[:, cohort]
    filters = [int.from_bytes(row.tobytes(), "little") for row in packed]
    return dict(zip(candidates.strings, filters, strict=True))
