"""What two counts say about a privacy loss: exact binomial bounds, one side each and jointly.

An event fell `k` times in `n` runs on one input and `k_prime` times in `n_prime` runs on its
neighbour. The claim "loss at most eps" says `p <= exp(eps) * p' + delta`. The joint bound tests
that sentence for every possible `p'` at once: two independent exact binomial p-values, one per
side, are added as normal scores with weights fixed beforehand, and the least favourable `p'` in a
small confidence region decides. Nothing is approximated; where a supremum over `p'` is needed it
is bounded from above cell by cell, using that either p-value is monotone in `p'`.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

REGION_SHARE = 0.02
"""Part of the allowed error spent on the region that `p'` is confined to."""
CELLS = 192
BISECTIONS = 24


def clopper_pearson_lower(k: npt.ArrayLike, n: npt.ArrayLike, alpha: float) -> Floats:
    """Largest `p` that `k` or more hits in `n` reject at level `alpha`; 0 where `k` is 0."""
    from scipy.special import betaincinv

    hits, runs = np.asarray(k, float), np.asarray(n, float)
    bound = betaincinv(np.maximum(hits, 1), runs - np.maximum(hits, 1) + 1, alpha)
    return np.where(hits > 0, bound, 0.0)


def clopper_pearson_upper(k: npt.ArrayLike, n: npt.ArrayLike, alpha: float) -> Floats:
    """Smallest `p` that `k` or fewer hits in `n` reject at `alpha`; positive even at 0 hits."""
    return 1.0 - clopper_pearson_lower(np.asarray(n, float) - np.asarray(k, float), n, alpha)


def split_lower_bound(
    k: npt.ArrayLike,
    n: npt.ArrayLike,
    k_prime: npt.ArrayLike,
    n_prime: npt.ArrayLike,
    *,
    alpha: float,
    delta: float = 0.0,
    share: float = 0.5,
) -> Floats:
    """`log((p_low - delta) / p'_high)`, never below 0; `share` of `alpha` is spent on `p_low`."""
    low = clopper_pearson_lower(k, n, alpha * share) - delta
    high = clopper_pearson_upper(k_prime, n_prime, alpha * (1 - share))
    return np.log(np.maximum(low / high, 1.0))


def joint_lower_bound(
    k: int,
    n: int,
    k_prime: int,
    n_prime: int,
    *,
    alpha: float,
    delta: float = 0.0,
    weight: float = math.sqrt(0.5),
) -> float:
    """Lower confidence bound at `1 - alpha` for `log((p - delta) / p')`, never below 0.

    `weight` in (0, 1) is that of the first side's score; the squares of both weights add to 1. It
    must be fixed before the counts are known; a poor one costs power, not validity.
    """
    if k <= 0:
        return 0.0
    test = _Test(k, n, k_prime, n_prime, alpha, delta, weight)
    if not test.rejects(0.0):
        return 0.0
    low, high = 0.0, _ceiling(k, n, k_prime, n_prime)
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if test.rejects(middle) else (low, middle)
    return low


def _ceiling(k: int, n: int, k_prime: int, n_prime: int) -> float:
    """A loss that no test can reject: above the point estimate with half a hit added below."""
    return max(math.log((k / n) / ((k_prime + 0.5) / n_prime)), 0.0) + 2.0


class _Test:
    """The joint test of `p <= exp(eps) * p' + delta` for fixed counts."""

    def __init__(
        self,
        k: int,
        n: int,
        k_prime: int,
        n_prime: int,
        alpha: float,
        delta: float,
        weight: float,
    ) -> None:
        from scipy.special import ndtri

        self.k, self.n, self.k_prime, self.n_prime, self.delta = k, n, k_prime, n_prime, delta
        region = REGION_SHARE * alpha
        self.p_low = float(clopper_pearson_lower(k, n, region / 2))
        self.p_prime_high = float(clopper_pearson_upper(k_prime, n_prime, region / 2))
        self.needed = -float(ndtri(alpha - region))
        self.weight, self.weight_prime = weight, math.sqrt(1 - weight**2)

    def rejects(self, eps: float) -> bool:
        ratio = math.exp(eps)
        lowest = (self.p_low - self.delta) / ratio
        if lowest >= self.p_prime_high:
            return True
        if lowest <= 0.0:
            return False
        edges = np.geomspace(lowest, self.p_prime_high, CELLS + 1)
        p = np.minimum(ratio * edges[1:] + self.delta, 1.0)
        score = self.weight * _surplus_score(self.k, self.n, p)
        score += self.weight_prime * _deficit_score(self.k_prime, self.n_prime, edges[:-1])
        return bool(np.min(score) >= self.needed)


def _surplus_score(k: int, n: int, p: Floats) -> Floats:
    """Normal score of "k or more hits": positive when `k` is more than `p` explains."""
    from scipy.special import betainc, ndtri

    return np.asarray(-ndtri(betainc(k, n - k + 1, p)))


def _deficit_score(k: int, n: int, p: Floats) -> Floats:
    """Normal score of "k or fewer hits": positive when `k` is less than `p` explains."""
    from scipy.special import betaincc, ndtri

    if k >= n:
        return np.full_like(p, -np.inf)
    return np.asarray(-ndtri(betaincc(k + 1, n - k, p)))
