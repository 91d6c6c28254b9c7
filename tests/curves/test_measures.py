"""epsilon(delta), trade-offs and Rényi divergences against closed forms; what they refuse."""

import math

import numpy as np
import pytest
from scipy.stats import norm

import dpest


def gaussian(x, rng, sigma=1.0):
    return x + rng.normal(scale=sigma)


def laplace(x, rng, scale=1.0):
    return x + rng.laplace(scale=scale)


def discrete_gaussian(x, rng):
    return x + dpest.discrete_gaussian(rng, 1)


def last_bit_unprotected(bits, rng):
    flipped = rng.random(size=len(bits) - 1) < 0.25
    return np.concatenate([np.where(flipped, 1 - bits[:-1], bits[:-1]), bits[-1:]])


@pytest.fixture(scope="module")
def normal():
    return dpest.audit(gaussian, dpest.reals(1), dpest.l2(1))


@pytest.fixture(scope="module")
def double_exponential():
    return dpest.audit(laplace, dpest.reals(1), dpest.l1(1))


def test_epsilon_undoes_delta(normal):
    eps = np.linspace(0.1, 5, 20)
    found = normal.epsilon([bound.upper for bound in normal.delta(eps)])
    assert [bound.upper for bound in found] == pytest.approx(eps, rel=1e-10)
    assert all(bound.is_exact for bound in found)


def test_epsilon_at_the_ends(normal, double_exponential):
    assert normal.epsilon(0).lower == math.inf
    assert double_exponential.epsilon(0).upper == pytest.approx(1, abs=1e-12)
    assert double_exponential.epsilon(1).upper == 0


def test_trade_off_of_the_gaussian(normal):
    alpha = np.linspace(0, 1, 50)
    truth = norm.cdf(norm.ppf(1 - alpha) - 1)
    found = normal.trade_off(alpha)
    assert [bound.lower for bound in found] == pytest.approx(truth, abs=1e-13)
    assert [bound.upper for bound in found] == pytest.approx(truth, abs=1e-13)


def test_trade_off_of_laplace_noise(double_exponential):
    alpha = np.linspace(0, 1, 50)
    truth = _laplace_cdf(_laplace_quantile(1 - alpha) - 1)
    found = [bound.lower for bound in double_exponential.trade_off(alpha)]
    assert found == pytest.approx(truth, abs=1e-13)


def _laplace_cdf(z):
    return np.where(z < 0, np.exp(-np.abs(z)) / 2, 1 - np.exp(-np.abs(z)) / 2)


def _laplace_quantile(p):
    with np.errstate(divide="ignore"):
        return np.where(p < 0.5, np.log(2 * p), -np.log(2 * (1 - p)))


def test_renyi_takes_lists(normal):
    assert [str(bound) for bound in normal.renyi([1, 2, 10])] == ["0.5", "1", "5"]


def test_an_outcome_of_one_input_alone_is_no_large_loss():
    report = dpest.audit(last_bit_unprotected, dpest.integers(2, 0, 1), dpest.l1(1))
    assert report.delta(5).lower == 1
    assert report.epsilon(0.5).lower == math.inf
    assert report.trade_off(0.1).upper == 0


def test_what_lies_too_far_out_is_not_forgotten():
    report = dpest.audit(discrete_gaussian, dpest.integers(1, 0, 5), dpest.l1(1))
    assert report.renyi(2).upper == pytest.approx(1, abs=1e-12)
    high = report.renyi(100)
    assert high.lower <= 50 <= high.upper
    assert report.epsilon(0).upper == math.inf


def test_integer_noise_on_real_inputs_has_no_worst_pair_a_whole_number_apart():
    report = dpest.audit(discrete_gaussian, dpest.reals(1), dpest.l1(1))
    assert report.delta(1).upper == 1


BAD = [
    ("delta", -1, "eps must be a number >= 0, got -1"),
    ("delta", math.nan, "eps must be a number >= 0, got nan"),
    ("delta", "one", "eps must be a number >= 0, got 'one'"),
    ("delta", [0.5, None], "eps must be a number >= 0, got None"),
    ("delta", [[1]], r"eps must be a number >= 0, got \[\[1\]\]"),
    ("epsilon", 1.5, "delta must be a probability, got 1.5"),
    ("epsilon", True, "delta must be a probability, got True"),
    ("trade_off", -0.1, "type I error alpha must be a probability, got -0.1"),
    ("renyi", 0.5, "order of a divergence must be a finite number >= 1, got 0.5"),
    ("renyi", math.inf, "order of a divergence must be a finite number >= 1, got inf"),
]


@pytest.mark.parametrize(("name", "value", "message"), BAD)
def test_bad_questions(double_exponential, name, value, message):
    with pytest.raises(ValueError, match=message):
        getattr(double_exponential, name)(value)


def test_bad_direction(double_exponential):
    with pytest.raises(ValueError, match="direction must be 'both', 'forward' or 'backward'"):
        double_exponential.delta(1, "sideways")


def test_the_plot_draws_every_curve(double_exponential):
    figure = double_exponential.plot()
    assert len(figure.axes) == 3
    assert all(axes.lines for axes in figure.axes)


@pytest.mark.slow
def test_outcomes_too_rare_for_a_double_leave_the_curve_alone():
    def gap(x, rng):
        threshold = rng.laplace(scale=2.0)
        for place, query in enumerate(x):
            noisy = query + rng.laplace(scale=4.0)
            if noisy >= threshold:
                return {"index": place, "gap": noisy - threshold}
        return {"index": None}

    pair = dpest.pairs([([81920.0, -81920.0], [81921.0, -81921.0])])
    report = dpest.audit(gap, dpest.reals(2), pair)
    assert 0 < report.delta(0.1).lower <= report.delta(0.1).upper < 1
