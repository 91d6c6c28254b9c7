"""Continuous mechanisms against closed forms and rigorous integrals written by hand."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable

import numpy as np
import pytest
from flint import acb, arb, ctx

import dpest
from dpest.engines.exact import ExactLaw
from dpest.trace import trace_values

REL = 1e-12


@pytest.fixture(autouse=True)
def _many_bits():
    before, ctx.prec = ctx.prec, 200
    yield
    ctx.prec = before


def integral(f: Callable[[acb], acb], points: Iterable[float]) -> arb:
    """The integral of a function that is analytic between neighbouring points.

    `f(t, middle)` may branch on the real number `middle`.
    """
    points = sorted(points)
    total = arb(0)
    for low, high in itertools.pairwise(points):
        middle = (low + high) / 2
        total += acb.integral(lambda t, _, m=middle: f(t, m), acb(low), acb(high),
                              rel_tol=arb(2) ** -80, abs_tol=arb(10) ** -420).real  # fmt: skip
    return total


def log_of(value: arb) -> float:
    return float(value.log().mid())


def laplace_pdf(t, m, b=1):
    return ((-t if m > 0 else t) / b).exp() / (2 * b)


def laplace_cdf(t, m, b=1):
    return 1 - (-t / b).exp() / 2 if m > 0 else (t / b).exp() / 2


def normal_pdf(t, s=1):
    return (-((t / s) ** 2) / 2).exp() / (acb.pi() * 2).sqrt() / s


def normal_cdf(t, s=1):
    return (-t / s / acb(2).sqrt()).erfc() / 2


def logs(mechanism, x, outcomes):
    found = dpest.distribution(mechanism, x)
    return [found.log_density(outcome) for outcome in outcomes]


# -- selection --------------------------------------------------------------------------------

X = np.array([0.0, 1.5, -0.5])
FAR = np.array([0.0, 700.0, 3.0])


@pytest.mark.parametrize("x", [X, FAR, np.array([0.0, 1000.0, 2000.0])])
def test_argmax_with_gumbel_noise_is_softmax(x):
    found = logs(lambda v, rng: np.argmax(v + rng.gumbel(scale=2.0, size=3)), x, range(3))
    expected = x / 2 - np.logaddexp.reduce(x / 2)
    assert found == pytest.approx(expected, rel=REL, abs=1e-13)


@pytest.mark.parametrize("x", [X, FAR])
def test_argmax_with_laplace_noise(x):
    found = logs(lambda v, rng: np.argmax(v + rng.laplace(size=3)), x, range(3))
    for k in range(3):
        others = [j for j in range(3) if j != k]

        def f(t, m, k=k, others=others):
            value = laplace_pdf(t - x[k], m - x[k])
            for j in others:
                value *= laplace_cdf(t - x[j], m - x[j])
            return value

        truth = integral(f, [*x, min(x) - 900, max(x) + 900])
        assert found[k] == pytest.approx(log_of(truth), rel=REL, abs=REL)


def test_argmax_of_two_with_exponential_noise():
    for gap in (0.5, 10.0, 700.0):
        found = logs(lambda v, rng: np.argmax(v + rng.exponential(size=2)), np.array([0.0, gap]),
                     range(2))  # fmt: skip
        assert found[0] == pytest.approx(math.log(0.5) - gap, rel=REL)
        assert found[1] == pytest.approx(math.log1p(-math.exp(-gap) / 2), rel=REL)


def test_argmax_of_two_with_normal_noise():
    for gap in (0.5, 5.0, 37.0, 52.0):
        found = logs(lambda v, rng: np.argmax(v + rng.normal(scale=1.0, size=2)),
                     np.array([0.0, gap]), [0])  # fmt: skip
        truth = normal_cdf(acb(-gap) / acb(2).sqrt()).real
        assert found[0] == pytest.approx(log_of(truth), rel=REL)


def test_argmax_of_three_with_normal_noise():
    x = np.array([0.0, 30.0, 1.0])
    found = logs(lambda v, rng: np.argmax(v + rng.normal(size=3)), x, range(3))
    for k in range(3):
        def f(t, m, k=k):
            value = normal_pdf(t - x[k])
            for j in range(3):
                value *= normal_cdf(t - x[j]) if j != k else 1
            return value

        truth = integral(f, [-20, 0, 5, 10, 15, 20, 25, 30, 60])
        assert found[k] == pytest.approx(log_of(truth), rel=REL, abs=REL)


def test_argmax_of_two_with_logistic_noise():
    for gap in (1.0, 20.0, 600.0):
        found = logs(lambda v, rng: np.argmax(v + rng.logistic(size=2)), np.array([0.0, gap]), [0])
        g = arb(gap)
        truth = ((-g).exp() * (g - 1) + (-2 * g).exp()) / (1 - (-g).exp()) ** 2
        assert found[0] == pytest.approx(log_of(truth), rel=REL)


def test_argmax_of_two_with_uniform_noise():
    for gap in (0.0, 0.25, 0.999999):
        found = logs(lambda v, rng: np.argmax(v + rng.random(2)), np.array([0.0, gap]), [0])
        assert found[0] == pytest.approx(2 * math.log(1 - gap) - math.log(2), rel=1e-10, abs=1e-15)
    found = logs(lambda v, rng: np.argmax(v + rng.random(2)), np.array([0.0, 1.5]), [0])
    assert found[0] == -math.inf


# -- released numbers -------------------------------------------------------------------------


def test_density_of_a_noisy_maximum():
    x = np.array([0.0, 2.0, -1.0])

    def mechanism(v, rng):
        return np.max(v + rng.laplace(size=3))

    for y in (-700.0, -3.0, 0.5, 4.0, 700.0):
        truth = arb(0)
        for k in range(3):
            term = laplace_pdf(acb(y) - x[k], y - x[k])
            for j in range(3):
                term *= laplace_cdf(acb(y) - x[j], y - x[j]) if j != k else 1
            truth += term.real
        assert logs(mechanism, x, [y])[0] == pytest.approx(log_of(truth), rel=REL, abs=REL)


def test_cdf_of_a_noisy_maximum():
    x = np.array([0.0, 2.0])
    law = dpest.distribution(lambda v, rng: np.max(v + rng.normal(size=2)), x)
    for y in (-5.0, 0.0, 1.0, 4.0):
        truth = (normal_cdf(acb(y)) * normal_cdf(acb(y - 2))).real
        assert law.cdf(y) == pytest.approx(float(truth), rel=REL)


def test_density_of_a_sum_of_two_draws():
    def mechanism(x, rng):
        return x + rng.laplace(scale=1.0) + rng.laplace(scale=2.0)

    for y in (0.0, 1.0, -40.0, 700.0):
        a = arb(abs(y))
        truth = (2 * (-a / 2).exp() - (-a).exp()) / 6
        assert logs(mechanism, 0.0, [y])[0] == pytest.approx(log_of(truth), rel=REL)


def test_density_of_laplace_plus_normal():
    def mechanism(x, rng):
        return x + rng.laplace() + rng.normal()

    for y in (0.0, 2.0, -30.0):
        def f(t, m, y=y):
            return laplace_pdf(t, m) * normal_pdf(acb(y) - t)

        truth = integral(f, [-60, -40, -30, -20, -10, 0, 10, 20, 40])
        assert logs(mechanism, 0.0, [y])[0] == pytest.approx(log_of(truth), rel=REL)


def test_sum_of_two_maxima():
    x = np.array([0.0, 1.0, -1.0, 0.5])

    def mechanism(v, rng):
        noisy = v + rng.laplace(size=4)
        return np.max(noisy[:2]) + np.max(noisy[2:])

    def max_pdf(t, m, a, b):
        return laplace_pdf(t - a, m - a) * laplace_cdf(t - b, m - b) + laplace_pdf(
            t - b, m - b
        ) * laplace_cdf(t - a, m - a)

    for y in (-10.0, 0.75, 30.0):
        def f(t, m, y=y):
            return max_pdf(t, m, x[0], x[1]) * max_pdf(y - t, y - m, x[2], x[3])

        kinks = [x[0], x[1], y - x[2], y - x[3], -80.0, 110.0]
        truth = integral(f, kinks)
        assert logs(mechanism, x, [y])[0] == pytest.approx(log_of(truth), rel=REL)


def test_sorted_values_and_prefix_sums():
    x = np.array([0.0, 1.0])
    y = [0.25, 2.0]
    pdf = lambda v: -abs(v) - math.log(2)  # noqa: E731
    found = logs(lambda v, rng: np.sort(v + rng.laplace(size=2)), x, [y, y[::-1]])
    truth = np.logaddexp(pdf(y[0]) + pdf(y[1] - 1), pdf(y[1]) + pdf(y[0] - 1))
    assert found[0] == pytest.approx(truth, rel=REL)
    assert found[1] == -math.inf
    found = logs(lambda v, rng: np.cumsum(v + rng.laplace(size=2)), x, [y])
    assert found[0] == pytest.approx(pdf(y[0]) + pdf(y[1] - y[0] - 1), rel=REL)


def test_a_minimum_released_beside_its_place():
    x = np.array([0.0, 1.0, 3.0])

    def mechanism(v, rng):
        noisy = v + rng.exponential(size=3)
        return np.argmin(noisy), np.min(noisy)

    # P(place k, value y) = density of k at y times the tails of the others
    for y in (0.5, 1.5, 3.5, 600.0):
        for k in range(3):
            truth = -math.inf if y < x[k] else sum(min(0.0, xj - y) for xj in x)
            assert logs(mechanism, x, [(k, y)])[0] == pytest.approx(truth, rel=REL)


# -- thresholds and branches ------------------------------------------------------------------


def test_comparisons_that_share_a_threshold():
    x = np.array([0.0, 2.0, -1.0])

    def mechanism(v, rng):
        threshold = rng.laplace(scale=2.0)
        return [bool(q + rng.laplace(scale=4.0) >= threshold) for q in v]

    for outcome in ([True, False, True], [False, False, False], [False, True, False]):
        def f(t, m, outcome=outcome):
            value = laplace_pdf(t, m, 2)
            for q, above in zip(x, outcome, strict=True):
                below = laplace_cdf(t - q, m - q, 4)
                value *= 1 - below if above else below
            return value

        truth = integral(f, [*x, -400.0, 400.0])
        assert logs(mechanism, x, [outcome])[0] == pytest.approx(log_of(truth), rel=REL)


def test_a_shared_threshold_far_below_the_smallest_double():
    x = np.array([0.0, -1400.0])

    def mechanism(v, rng):
        threshold = rng.laplace(scale=2.0)
        return [bool(q + rng.laplace(scale=2.0) >= threshold) for q in v]

    def f(t, m):
        return laplace_pdf(t, m, 2) * laplace_cdf(t, m, 2) * (
            1 - laplace_cdf(t + 1400, m + 1400, 2) if m < -1400
            else (-(t + 1400) / 2).exp() / 2
        )  # fmt: skip

    truth = integral(f, [-4000.0, -1400.0, -700.0, 0.0, 100.0, 2000.0])
    assert log_of(truth) < -600
    found = logs(mechanism, x, [[False, True]])[0]
    assert found == pytest.approx(log_of(truth), rel=REL)


def test_a_coin_between_two_mechanisms():
    def mechanism(x, rng):
        if rng.random() < 0.25:
            return x + rng.laplace(scale=1.0)
        return x + rng.normal(scale=3.0)

    for y in (0.0, -2.0, 50.0):
        truth = laplace_pdf(acb(y), y) / 4 + normal_pdf(acb(y), 3) * 3 / 4
        assert logs(mechanism, 0.0, [y])[0] == pytest.approx(log_of(truth.real), rel=REL, abs=REL)


def test_clipped_outputs_have_atoms():
    law = dpest.distribution(lambda x, rng: np.clip(x + rng.laplace(), -1, 2), 0.5)
    assert law.density(-1.0) == pytest.approx(math.exp(-1.5) / 2, rel=REL)
    assert law.density(2.0) == pytest.approx(math.exp(-1.5) / 2, rel=REL)
    assert law.density(0.0) == pytest.approx(math.exp(-0.5) / 2, rel=REL)
    assert law.density(3.0) == 0
    assert law.cdf(-1.0) == pytest.approx(math.exp(-1.5) / 2, rel=REL)
    assert law.cdf(2.0) == 1
    assert law.quantile(0.5) == pytest.approx(0.5, abs=1e-9)


def test_absolute_values_and_where():
    law = dpest.distribution(lambda x, rng: abs(x + rng.laplace()), 1.0)
    assert law.density(0.5) == pytest.approx((math.exp(-0.5) + math.exp(-1.5)) / 2, rel=REL)
    assert law.density(-0.5) == 0

    def thresholded(v, rng):
        noisy = v[0] + rng.laplace()
        return np.where(noisy > 1, noisy, 0)

    law = dpest.distribution(thresholded, np.array([0.0, 0.0]))
    assert law.density(0.0) == pytest.approx(1 - math.exp(-1) / 2, rel=REL)
    assert law.density(2.0) == pytest.approx(math.exp(-2) / 2, rel=REL)


# -- integers ---------------------------------------------------------------------------------


def test_two_sided_geometric_noise():
    p = 0.25

    def mechanism(x, rng):
        return x + rng.geometric(p) - rng.geometric(p)

    law = dpest.distribution(mechanism, 3)
    for k in (-900, 0, 3, 4, 700):
        truth = math.log(p / (2 - p)) + abs(k - 3) * math.log1p(-p)
        assert law.log_density(k) == pytest.approx(truth, rel=REL)
    assert law.total() == pytest.approx(1, abs=1e-12)


def test_discrete_laplace_and_its_comparisons():
    a = math.exp(-0.5)

    def released(x, rng):
        return x + dpest.discrete_laplace(rng, 2.0)

    law = dpest.distribution(released, 5)
    for k in (5, 0, 1000, -1000):
        truth = math.log((1 - a) / (1 + a)) - abs(k - 5) / 2
        assert law.log_density(k) == pytest.approx(truth, rel=REL)

    law = dpest.distribution(lambda x, rng: released(x, rng) > 7, 5)
    assert law.density(True) == pytest.approx(a**3 / (1 + a), rel=REL)


def test_discrete_gaussian():
    sigma = 1.5
    weights = {k: math.exp(-(k**2) / (2 * sigma**2)) for k in range(-60, 61)}
    total = math.fsum(weights.values())
    law = dpest.distribution(lambda x, rng: x + dpest.discrete_gaussian(rng, sigma), 0)
    for k in (0, 1, -3, 20):
        assert law.density(k) == pytest.approx(weights[k] / total, rel=REL)
    law = dpest.distribution(lambda x, rng: x + dpest.discrete_gaussian(rng, sigma) >= 2, 0)
    upper = math.fsum(w for k, w in weights.items() if k >= 2) / total
    assert law.density(True) == pytest.approx(upper, rel=REL)


def test_argmax_of_integers_breaks_ties_for_the_first():
    law = dpest.distribution(lambda x, rng: np.argmax(x + rng.geometric(0.5, size=2)),
                             np.array([0, 0]))  # fmt: skip
    assert law.density(0) == pytest.approx(2 / 3, rel=REL)
    assert law.density(1) == pytest.approx(1 / 3, rel=REL)


# -- losses with a closed form ----------------------------------------------------------------


def loss(mechanism, x, y):
    x, y = (np.asarray(v, float) for v in (x, y))
    return ExactLaw(trace_values(mechanism, [x, y])).pair(x, y).loss


def test_losses_in_closed_form():
    assert loss(lambda v, rng: v + rng.laplace(scale=0.5, size=2), [0, 0], [1, -1]) == (
        pytest.approx(4, rel=1e-12)
    )
    assert loss(lambda v, rng: v[0] + rng.logistic(scale=2.0), [0, 0], [1, 0]) == (
        pytest.approx(0.5, rel=1e-9)
    )
    assert loss(lambda v, rng: np.argmax(v + rng.gumbel(size=2)), [0, 5], [1, 4]) == (
        pytest.approx(math.log((1 + math.exp(5)) / (1 + math.exp(3))), rel=1e-12)
    )

    def response(v, rng):
        return v[0] > 0 if rng.random() < 0.5 else rng.integers(0, 2) == 1

    assert loss(response, [1], [-1]) == pytest.approx(math.log(3), rel=1e-12)
