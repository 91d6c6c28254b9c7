"""The loss of every zoo mechanism, computed by hand for that one mechanism; nothing of dpest.

A function takes one pair of inputs and gives the larger loss of its two directions, the supremum
over events of |ln P(event | x) / P(event | x')|, at the parameters of the zoo (eps = 0.1).
Integrals are composite Gauss-Legendre between the kinks, atoms are enumerated, and released numbers
are looked at on a grid that is made finer around its largest value.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import mmh3
import numpy as np
from quadrature import (
    STEPS,
    Array,
    Input,
    Pair,
    around,
    below,
    density,
    grid,
    highest,
    largest,
    of_atoms,
    panels,
    up_to,
)

# -- independent noise on numbers -------------------------------------------------------------


def laplace_numbers(pair: Pair, b: float) -> float:
    """Numbers with independent noise: ln p/q adds up (|y - x'| - |y - x|)/b per number.

    It is linear between the kinks y = x and y = x' and constant beyond them, so that the kinks
    suffice; every number is free to take its own worst one. Running totals are one-to-one with
    the noisy numbers and their Jacobian is 1, so that they lose the same.
    """
    kinks = np.array(pair)
    x, x_prime = kinks
    log_ratios = (np.abs(kinks - x_prime) - np.abs(kinks - x)) / b
    return float(max(log_ratios.max(axis=0).sum(), -log_ratios.min(axis=0).sum()))


def laplace_parallel(pair: Pair) -> float:
    """Twenty copies of one number, each with noise of its own."""
    return laplace_numbers(([pair[0][0]] * 20, [pair[1][0]] * 20), 200)


# -- the largest of noisy answers -------------------------------------------------------------


def report_noisy_max1(x: Input, b: float = 20) -> Array:
    """P(k wins) = ∫ f(y - x_k) Π_{i≠k} F(y - x_i) dy."""
    points, weights = panels(around(x, b))
    gaps = points - np.array(x)[:, None]
    under = below(gaps, b)
    return (density(gaps, b) / under) @ (weights * under.prod(axis=0))


def report_noisy_max2(x: Input, b: float = 20) -> Array:
    """The same integral with f(z) = e^(-z/b)/b and F(z) = 1 - e^(-z/b), for z > 0 alone.

    The winner lies above every answer, so that only y > max(x) counts.
    """
    points, weights = panels(max(x) + b * np.r_[0.0, STEPS])
    gaps = points - np.array(x)[:, None]
    under = -np.expm1(-gaps / b)
    return (np.exp(-gaps / b) / b / under) @ (weights * under.prod(axis=0))


def density_of_max(x: Input, y: Array, b: float) -> Array:
    """d/dy Π F(y - x_i) = Π F_i Σ f_i / F_i, equal answers taken together."""
    product, rate = np.ones_like(y), np.zeros_like(y)
    for value, count in zip(*np.unique(x, return_counts=True), strict=True):
        under = below(y - value, b)
        product *= under**count
        rate += count * density(y - value, b) / under
    return product * rate


def report_noisy_max3(pair: Pair) -> float:
    """ln p/q is constant below all answers, and within e^-40 of its limit at the other end."""

    def log_ratios(y: Array) -> Array:
        p, q = (density_of_max(x, y, 20) for x in pair)
        return np.abs(np.log(p / q))

    return highest(log_ratios, grid([*pair[0], *pair[1]], 20))


def report_noisy_max4(pair: Pair) -> float:
    """P(max <= y) = Π (1 - e^(-(y - x_i)/b)) for y > max(x), else 0.

    Where the two maxima differ, y between them is possible on one side alone. Where they agree, the
    probability vanishes at the edge as the power of y - max(x) that counts the answers there: if
    the counts differ, the ratio has no bound. Else the densities are compared above the edge.
    """
    edges = [max(x) for x in pair]
    middle = sum(edges) / 2
    possible = [np.prod(-np.expm1(np.minimum(np.array(x) - middle, 0) / 20)) > 0 for x in pair]
    ties = [list(x).count(edge) for x, edge in zip(pair, edges, strict=True)]
    if possible[0] != possible[1] or ties[0] != ties[1]:
        return math.inf

    def log_ratios(y: Array) -> Array:
        gaps = [(y - np.array(x)[:, None]) / 20 for x in pair]
        p, q = (np.prod(-np.expm1(-g), axis=0) * np.sum(1 / np.expm1(g), axis=0) for g in gaps)
        return np.abs(np.log(p / q))

    return highest(log_ratios, edges[0] + 20 * np.geomspace(1e-13, 40, 200))


def density_of_sum_of_maxima(x: Input, s: Array, b: float) -> Array:
    """∫ f_1(y) f_2(s - y) dy, where f_1 and f_2 are the densities of the maxima of the halves.

    For every s the panels end at and around the kinks of f_1, and s minus those of f_2.
    """
    left, right = x[: len(x) // 2], x[len(x) // 2 :]
    first, second = around(left, b), around(right, b)
    edges = np.hstack([np.broadcast_to(first, (len(s), len(first))), s[:, None] - second])
    y, weights = panels(np.sort(edges, axis=1))
    return np.sum(
        density_of_max(left, y, b) * density_of_max(right, s[:, None] - y, b) * weights, axis=1
    )


def noisy_max_sum(pair: Pair, b: float = 10) -> float:
    """The supremum is approached only like 1/|s| at the ends, so that these are taken as limits.

    With m answers in either half, f_1 and f_2 fall like C e^(my/b) to the left, C in proportion to
    e^(-Σ x_i/b), and like C e^(-y/b) to the right, C in proportion to Σ e^(x_i/b). Two equal
    exponentials convolve to C_1 C_2 (|s| + const) times the same exponential, so that p/q tends to
    the ratio of the two C_1 C_2. Between the ends a grid is integrated.
    """

    def log_ratios(s: Array) -> Array:
        p, q = (density_of_sum_of_maxima(x, s, b) for x in pair)
        return np.abs(np.log(p / q))

    halves = np.array(pair).reshape(2, 2, -1) / b
    to_left, to_right = halves.sum(axis=(1, 2)), np.log(np.exp(halves).sum(axis=2)).sum(axis=1)
    ends = max(abs(np.subtract(*to_left)), abs(np.subtract(*to_right)))
    half = len(pair[0]) // 2
    kinks = [u + v for x in pair for u in set(x[:half]) for v in set(x[half:])]
    return max(float(ends), highest(log_ratios, grid(kinks, b)))


# -- sparse vector ----------------------------------------------------------------------------


def threshold(x: Input, t: float, b: float, c: float) -> tuple[Array, Array]:
    """The weighted density of the threshold, and per query the mass of its score below it."""
    points, weights = panels(around([*x, t], max(b, c)))
    return weights * density(points - t, b), below(points - np.array(x)[:, None], c)


def all_below(under: Array) -> Array:
    """Row k: the first k queries stay below the threshold."""
    return np.vstack([np.ones_like(under[:1]), np.cumprod(under, axis=0)])


def first_above(x: Input, t: float, b: float, c: float) -> Array:
    """P(k is the first above) = ∫ f(τ - t) Π_{i<k} F(τ - x_i) (1 - F(τ - x_k)) dτ, then P(none)."""
    weighted, under = threshold(x, t, b, c)
    return (all_below(under) * np.vstack([1 - under, np.ones_like(under[:1])])) @ weighted


def first_two_above(x: Input, t: float, b: float, c: float) -> tuple[Array, Array]:
    """P(i and j > i are the first two above), a square; P(only i is), with P(none) at the end.

    The integrand (1 - F_i)/F_i Π_{l<j} F_l (1 - F_j) makes the square one matrix product.
    """
    weighted, under = threshold(x, t, b, c)
    before = all_below(under)
    odds = np.vstack([(1 - under) / under, np.ones_like(under[:1])]) * weighted
    return odds[:-1] @ (before[:-1] * (1 - under)).T, odds @ before[-1]


def svt1(x: Input) -> Array:
    return first_above(x, 0.5, 20, 40)


def svt2(x: Input) -> Array:
    """With one positive answer the threshold is never compared again after it is redrawn."""
    return first_above(x, 1, 20, 40)


def svt4(x: Input) -> Array:
    return first_above(x, 1, 40, 40 / 3)


def svt5(pair: Pair) -> float:
    """Without noise on the queries the answers are a step function of the threshold.

    Their outcomes are the sets {x_i >= τ}, one for τ between neighbouring queries. A set that only
    one input reaches makes the loss infinite.
    """
    laws = []
    for x in pair:
        cuts = np.concatenate([[-math.inf], np.unique(x), [math.inf]])
        outcomes = [tuple(np.array(x) >= high) for high in cuts[1:]]
        laws.append(dict(zip(outcomes, np.diff(below(cuts - 1, 20)), strict=True)))
    p, q = (np.array([law.get(event, 0.0) for event in laws[0] | laws[1]]) for law in laws)
    return largest(p, q)


def svt6(x: Input) -> Array:
    """All 2^n answers: the products over either half of the queries meet in one matrix product."""
    weighted, under = threshold(x, 1, 20, 20)

    def products(masses: Array) -> Array:
        rows = np.ones((1, len(weighted)))
        for mass in masses:
            rows = np.vstack([rows * mass, rows * (1 - mass)])
        return rows

    half = len(x) // 2
    return ((products(under[:half]) * weighted) @ products(under[half:]).T).ravel()


def numerical_svt(pair: Pair) -> float:
    """A released number has fresh noise, which adds |x_k - x'_k|/60 in either direction."""
    (both, alone), (both_prime, alone_prime) = (first_two_above(x, 1, 30, 120) for x in pair)
    fresh = np.abs(np.subtract(*pair)) / 60
    of_two = np.abs(np.log(both / both_prime)) + fresh[:, None] + fresh
    of_one = np.abs(np.log(alone / alone_prime)) + np.append(fresh, 0)
    return float(max(of_two[np.triu_indices(len(fresh), 1)].max(), of_one.max()))


# -- sparse vector that releases the compared scores ------------------------------------------


def no_score_until(x: Input, b: float, c: float, points: Array) -> Array:
    """Row k: f(τ - 1) Π_{l<k} F(τ - x_l)."""
    return density(points - 1, b) * all_below(below(points - np.array(x)[:, None], c))


def score_ratios(pair: Pair, scores: Array, c: float) -> Array:
    """What the score v of query k itself adds to ln p/q: (|v - x'_k| - |v - x_k|)/c."""
    x, x_prime = np.array(pair)[..., None]
    return (np.abs(scores - x_prime) - np.abs(scores - x)) / c


def from_lowest_kink(pair: Pair, b: float) -> Array:
    kinks = [*pair[0], *pair[1], 1.0]
    points = grid(kinks, b)
    return points[points >= min(kinks)]


def svt3(pair: Pair, b: float = 20, c: float = 20) -> float:
    """A score v of query k has density f(v - x_k) ∫_{τ<v} f(τ - 1) Π_{l<k} F(τ - x_l) dτ.

    The last row is the whole integral, the outcome without a score. Below the kinks ln p/q is
    constant.
    """
    edges = from_lowest_kink(pair, max(b, c))
    rates = 1 / b + np.arange(len(pair[0]) + 1) / c

    def log_ratios(scores: Array) -> Array:
        fine = np.union1d(edges, scores)
        p, q = (up_to(partial(no_score_until, x, b, c), rates, fine) for x in pair)
        found = np.log(p / q)
        found[:-1] += score_ratios(pair, fine, c)
        found[-1] = found[-1, -1]
        return np.abs(found[:, np.searchsorted(fine, scores)])

    return highest(log_ratios, edges)


def svt34_parallel(pair: Pair, b: float = 20, c: float = 40) -> float:
    """Algorithms 3 and 4 stop at the second positive answer; their noises are independent.

    Independent outcomes add their log ratios, so that the suprema add up, direction by direction.
    Scores v_i and v_j of Algorithm 3 meet the threshold in their minimum m alone:
    f(v_i - x_i) f(v_j - x_j) ∫_{τ<m} f(τ - 1) Π_{l<j, l≠i} F(τ - x_l) dτ. At a given m one of them
    is m and the other takes its worst value above m, a running maximum from the right.
    """
    n = len(pair[0])
    edges = from_lowest_kink(pair, max(b, c))
    i, j = np.triu_indices(n, 1, n + 1)
    rates = 1 / b + np.append(j - 1, n) / c
    of_answers = extremes_of_two_answers(pair)

    def rows(x: Input, points: Array) -> Array:
        before = no_score_until(x, b, c, points)
        under = below(points - np.array(x)[:, None], c)
        return np.vstack([before[j] / under[i], before[-1:]])

    def log_ratios(scores: Array) -> Array:
        fine = np.union1d(edges, scores)
        p, q = (up_to(partial(rows, x), rates, fine) for x in pair)
        found, own = np.log(p / q), score_ratios(pair, fine, c)
        both = [
            worst_scores(sign * found, sign * own, i, j) + most
            for sign, most in zip((1, -1), of_answers, strict=True)
        ]
        return np.vstack(both)[:, np.searchsorted(fine, scores)]

    return highest(log_ratios, edges)


def worst_scores(found: Array, own: Array, i: Array, j: Array) -> Array:
    """ln p/q of Algorithm 3 with its lowest score at every edge; j = n says that only i has one."""
    later = np.maximum.accumulate(own[:, ::-1], axis=1)[:, ::-1]
    nothing = np.zeros_like(own[:1])
    lower, upper = np.vstack([own, nothing - math.inf]), np.vstack([later, nothing])
    with_scores = found[:-1] + np.maximum(lower[i] + upper[j], upper[i] + lower[j])
    return np.vstack([with_scores, nothing + found[-1, -1]])


def extremes_of_two_answers(pair: Pair) -> tuple[float, float]:
    """The largest ln p/q and ln q/p of Algorithm 4 with c = 2, whose noise does not grow with c."""
    upper = np.triu_indices(len(pair[0]), 1)
    p, q = (
        np.concatenate([both[upper], alone])
        for both, alone in (first_two_above(x, 1, 40, 40 / 3) for x in pair)
    )
    found = np.log(p / q)
    return float(found.max()), float(-found.min())


# -- local privacy and counting ---------------------------------------------------------------


def bits(value: float, h: int = 4, k: int = 20) -> Array:
    """The Bloom filter of the value written as an integer."""
    return np.isin(np.arange(k), [mmh3.hash(str(int(value)), seed) % k for seed in range(h)])


def independent_bits(ones: Array, ones_prime: Array) -> float:
    """Bits reported independently: every bit takes its worst value, all in one direction."""
    log_ratios = np.log([ones / ones_prime, (1 - ones) / (1 - ones_prime)])
    return float(max(log_ratios.max(axis=0).sum(), -log_ratios.min(axis=0).sum()))


def one_time_rappor(pair: Pair, f: float = 0.95) -> float:
    """A bit is reported as 1 with probability f/2, plus 1 - f where it is set."""
    ones, ones_prime = (f / 2 + (1 - f) * bits(x[0]) for x in pair)
    return independent_bits(ones, ones_prime)


def rappor(pair: Pair, f: float = 0.75, p: float = 0.45, q: float = 0.55) -> float:
    """The permanent bit is then reported as 1 with probability q if it is set, else p."""
    permanent, permanent_prime = (f / 2 + (1 - f) * bits(x[0]) for x in pair)
    return independent_bits(p + (q - p) * permanent, p + (q - p) * permanent_prime)


def truncated_geometric(x: Input, n: int = 5) -> Array:
    """The count plus two-sided geometric noise of ratio r, clamped to 0..n.

    With k = ⌈ln(2/eps)⌉ = 3 bits the ratio is r = 2^k/(2^k + 1), and the tails P(noise <= -j) =
    P(noise >= j) = r^j/(1 + r) fall on the two ends.
    """
    r, z = 8 / 9, np.arange(n + 1)
    masses = (1 - r) / (1 + r) * r ** np.abs(z - x[0])
    masses[[0, n]] = r ** np.array([x[0], n - x[0]]) / (1 + r)
    return masses


BY_HAND: dict[str, Callable[[Pair], float]] = {
    "laplace_mechanism": partial(laplace_numbers, b=10),
    "laplace_parallel": laplace_parallel,
    "noisy_hist1": partial(laplace_numbers, b=10),
    "noisy_hist2": partial(laplace_numbers, b=0.1),
    "report_noisy_max1": of_atoms(report_noisy_max1),
    "report_noisy_max2": of_atoms(report_noisy_max2),
    "report_noisy_max3": report_noisy_max3,
    "report_noisy_max4": report_noisy_max4,
    "noisy_max_sum": noisy_max_sum,
    "svt1": of_atoms(svt1),
    "svt2": of_atoms(svt2),
    "svt3": svt3,
    "svt4": of_atoms(svt4),
    "svt5": svt5,
    "svt6": of_atoms(svt6),
    "numerical_svt": numerical_svt,
    "svt34_parallel": svt34_parallel,
    "prefix_sum": partial(laplace_numbers, b=10),
    "one_time_rappor": one_time_rappor,
    "rappor": rappor,
    "truncated_geometric": of_atoms(truncated_geometric),
}
"""The loss of one pair of inputs, by the name of the mechanism in the zoo."""
