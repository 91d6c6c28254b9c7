"""The loss over outputs against enumeration and closed forms; sizes and their growth."""

import math

import numpy as np
import pytest

import dpest
from dpest.report.losses import losses
from dpest.report.sizes import Size, growth, relations, sizes
from dpest.zoo import svt1, svt3


def program_of(mechanism, n):
    return dpest.trace(mechanism, n)


def flips(x, rng):
    return [bool(x[k] + rng.laplace(scale=1.0) > 0) for k in range(2)]


def test_every_outcome_with_its_loss():
    x, y = np.array([0.0, 0.0]), np.array([1.0, 0.0])
    found = losses(program_of(flips, 2), x, y)
    up = 1 - math.exp(-1) / 2
    expected = {
        (True, True): math.log(0.5 / up), (True, False): math.log(0.5 / up),
        (False, True): math.log(0.5 / (1 - up)), (False, False): math.log(0.5 / (1 - up)),
    }  # fmt: skip
    if found.outcomes:
        got = {tuple(o.output): o.loss for o in found.outcomes}
        assert got == pytest.approx(expected)
    else:
        total = sum(max(f.forward, f.backward) for f in found.forms)
        assert total == pytest.approx(max(map(abs, expected.values())))


def test_outcomes_add_up_to_one():
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(2, 4)) * 10
    found = losses(program_of(svt1, 4), x, y)
    assert math.fsum(math.exp(o.log_p) for o in found.outcomes) == pytest.approx(1)
    assert math.fsum(math.exp(o.log_q) for o in found.outcomes) == pytest.approx(1)
    losses_listed = [o.loss for o in found.outcomes]
    assert losses_listed == sorted(losses_listed, reverse=True)


def test_an_impossible_outcome_has_an_infinite_loss():
    def step(x, rng):
        return bool(x[0] + rng.random() > 1)

    found = losses(program_of(step, 2), np.array([0.5, 0]), np.array([0.0, 0]))
    assert found.outcomes[0].loss == math.inf


def test_the_curve_of_a_number_is_that_of_its_noise():
    def noisy(x, rng):
        return x[0] + rng.laplace(scale=2.0)

    found = losses(program_of(noisy, 2), np.zeros(2), np.array([1.0, 0.0]))
    curve = found.curve
    expected = [(abs(y - 1) - abs(y)) / 2 for y in curve.y]
    assert curve.loss == pytest.approx(expected, abs=1e-12)


def test_forms_of_output_where_numbers_are_released():
    found = losses(program_of(svt3, 4), np.zeros(4), np.ones(4))
    assert found.all_forms == 5
    assert not found.parts
    assert max(f.forward for f in found.forms) <= 0.2 + 1e-9
    assert "y0" in repr([f.output for f in found.forms])


def of_counts(counts):
    return [Size(n, count, 0, 0, 0.0) for n, count in counts.items()]


@pytest.mark.parametrize(
    ("count", "said"),
    [
        (lambda n: 7, "O(1)"),
        (lambda n: 3 * n + 1, "O(n)"),
        (lambda n: n * (n + 1) // 2, "O(n²)"),
        (lambda n: n**3, "O(n³)"),
        (lambda n: 2**n, "O(2ⁿ)"),
        (lambda n: 3**n + 5, "O(3ⁿ)"),
        (lambda n: [1, 1, 4, 2, 9][n % 5], ""),
    ],
)
def test_growth_is_read_off_counts(count, said):
    found = of_counts({n: count(n) for n in (1, 2, 3, 4, 5, 10)})
    assert growth(found, lambda size: size.paths) == said


def test_too_few_sizes_say_nothing():
    assert growth(of_counts({1: 1, 2: 2, 3: 3}), lambda size: size.paths) == ""


def test_sizes_and_relations_of_a_report():
    def histogram(x, rng):
        return x + rng.laplace(scale=10.0, size=len(x))

    report = dpest.audit(histogram, dpest.reals(8), dpest.l1(1))
    found = sizes(report)
    assert [(s.n, s.draws) for s in found] == [(n, n) for n in (1, 2, 3, 4, 5, 8)]
    bounds = {norm.kind: bound for norm, bound in relations(report)}
    assert bounds["l1"].upper == pytest.approx(0.1)
    assert bounds["linf"].upper == pytest.approx(0.3), "at three inputs"
    assert bounds["l1"].upper <= bounds["l2"].upper <= bounds["linf"].upper


def test_sizes_at_which_the_code_does_not_run_are_left_out():
    def third(x, rng):
        return x[2] + rng.laplace(scale=1.0)

    report = dpest.audit(third, dpest.reals(4), dpest.l1(1))
    assert [size.n for size in sizes(report)] == [3, 4]


def test_no_sizes_without_a_function_that_scales():
    report = dpest.audit(lambda x, rng: x if rng.random() < 0.5 else "b",
                         dpest.one_of("a", "b"), dpest.any_pair())  # fmt: skip
    assert sizes(report) == []
    assert relations(report) == []
