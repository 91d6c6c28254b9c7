"""assert_private: what passes, what fails, and what a failure tells."""

import functools
import inspect
import re
import signal

import numpy as np
import pytest

import dpest
from dpest import spec
from dpest.target import target_of, typed_name
from dpest.testing.mend import noise_needed


def counts(x, rng, eps=1.0):
    return x + rng.laplace(scale=1 / eps, size=len(x))


def best_score(scores, rng, eps=1.0):
    noisy = scores + rng.laplace(scale=2 / eps, size=len(scores))
    winner = np.argmax(noisy)
    return winner, noisy[winner]


def one_sided(x, rng):
    return x + rng.exponential(size=len(x))


def product(x, rng):
    return x * rng.laplace(size=len(x))


def one(x, rng):
    return x + rng.laplace()


def line_of(function):
    """The first line of the function's body."""
    return inspect.getsourcelines(function)[1] + 1


def failure(*arguments, **options):
    with pytest.raises(AssertionError) as caught:
        dpest.assert_private(*arguments, **options)
    return str(caught.value)


def test_what_holds_returns_the_report():
    report = dpest.assert_private(
        counts, inputs=dpest.reals(3), neighbors=dpest.l1(1), epsilon=0.5, params={"eps": 0.5}
    )
    assert report.verdict is dpest.audit(
        counts, dpest.reals(3), dpest.l1(1), 0.5, params={"eps": 0.5}
    ).verdict
    assert report.upper == 0.5


def test_a_refuted_claim_tells_the_witness_the_factor_and_the_claim_that_would_hold():
    said = failure(best_score, inputs=dpest.reals(4), neighbors=dpest.linf(1), epsilon=1.0)
    assert said.startswith("The claim of 1-DP is refuted: the privacy loss is at least 2.\n")
    assert re.search(r"x  = \[.*\]\n +x' = \[.*\]\n +the output is .*: P = .*, P' = ", said)
    assert f"Multiply the scale of the laplace noise in line {line_of(best_score)} by 2;" in said
    assert "Or claim epsilon=2: that is proved." in said
    assert "def best_score(scores, rng, eps=1.0):" in said


def test_the_snippet_in_the_message_runs_and_shows_the_loss(capsys):
    said = failure(one, dpest.reals(1), dpest.pairs([(0.0, 3.0)]), 1.0)
    code = said.split("needs numpy only):\n")[1]
    exec(compile("\n".join(line[4:] for line in code.splitlines()), "repro", "exec"), {})
    measured = re.findall(r"P'? = (\S+) expected (\S+)", capsys.readouterr().out)
    for found, expected in measured:
        assert float(found) == pytest.approx(float(expected), rel=0.1)
    assert len(measured) == 2


def test_a_partial_is_named_after_its_function():
    said = failure(functools.partial(counts, eps=2.0), dpest.reals(2), dpest.l1(1), 1.0)
    assert "counts(eps=2.0) on reals(2)" in said
    assert "by 2;" in said


def test_an_infinite_loss_promises_no_factor():
    said = failure(one_sided, dpest.reals(2), dpest.linf(1), 1.0)
    assert "the privacy loss is infinite" in said
    assert "Multiply" not in said
    assert "can only be shifted upward" in said


def test_undecided_fails_and_says_what_would_decide():
    mechanism = dpest.zoo.svt1
    report = dpest.audit(mechanism, dpest.reals(3), dpest.l2(1), 0.06)
    assert str(report.verdict) == "unknown", "pick another undecided claim for this test"
    said = failure(mechanism, dpest.reals(3), dpest.l2(1), 0.06)
    assert "is undecided" in said
    assert "What would decide it:" in said
    assert "refuted" not in said


def test_what_cannot_be_audited_fails_with_the_refusal():
    said = failure(product, dpest.reals(2), dpest.l1(1), 1.0)
    assert said.startswith("product cannot be audited")
    assert f"test_assert_private.py:{line_of(product)}" in said


def test_the_message_is_the_same_every_time():
    said = {failure(best_score, dpest.reals(3), dpest.linf(1), 1.2) for _ in range(2)}
    assert len(said) == 1


def test_the_timer_of_a_test_runner_goes_on():
    before = signal.setitimer(signal.ITIMER_REAL, 500, 7)
    try:
        dpest.assert_private(one, dpest.reals(1), dpest.l1(1), 1)
        left, interval = signal.getitimer(signal.ITIMER_REAL)
        assert 300 < left < 500
        assert interval == 7
    finally:
        signal.setitimer(signal.ITIMER_REAL, *before)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ((counts, 3, dpest.l1(1), 1.0), "inputs must be"),
        ((counts, dpest.reals(2), 1, 1.0), "neighbors must be"),
        ((counts, dpest.reals(2), dpest.l1(1), -1.0), "claim must be"),
        (("counts", dpest.reals(2), dpest.l1(1), 1.0), "a mechanism is"),
    ],
)
def test_bad_arguments_are_errors_not_failures(arguments, problem):
    with pytest.raises((TypeError, ValueError), match=problem):
        dpest.assert_private(*arguments)


# -- the factor -------------------------------------------------------------------------------


@pytest.mark.parametrize("claim", [0.9, 0.37, 1 / 3, 0.1234567])
@pytest.mark.parametrize("relation", [dpest.l1(1), dpest.linf(1), dpest.linf(0.3)])
def test_the_factor_makes_the_claim_true_and_little_less_does_not(claim, relation):
    def grown(x, rng, factor=1.0):
        return x + rng.laplace(scale=factor, size=len(x))

    report = dpest.audit(grown, dpest.reals(2), relation, claim)
    growth = noise_needed(report)
    if report.upper <= claim:
        assert growth is None
        return
    with_factor = functools.partial(grown, factor=growth.factor)
    assert dpest.assert_private(with_factor, dpest.reals(2), relation, claim)
    with_less = functools.partial(grown, factor=growth.factor * 0.998)
    assert "refuted" in failure(with_less, dpest.reals(2), relation, claim)


def test_no_factor_where_only_some_of_the_noise_has_a_scale():
    def geometric(x, rng):
        return x + rng.geometric(0.5)

    report = dpest.audit(geometric, dpest.integers(1, 0, 3), dpest.l1(1), 0.1)
    assert noise_needed(report) is None


# -- commands that are quoted in messages -----------------------------------------------------


@pytest.mark.parametrize(
    "inputs",
    [dpest.reals(10), dpest.reals(5, -1, 1), dpest.reals(2, 0.1, 1e-7 + 1),
     dpest.integers(1, 0, 5), dpest.one_of("red", "green"), dpest.one_of(1, 2.5)],
)  # fmt: skip
def test_inputs_are_typed_as_they_are_read(inputs):
    assert spec.inputs_of(spec.typed_inputs(inputs)) == inputs


@pytest.mark.parametrize(
    "relation",
    [dpest.l1(1), dpest.linf(0.25), dpest.l2(3), dpest.any_pair(),
     dpest.pairs([([1.0, 2.0], [3.0, 4.0])])],
)  # fmt: skip
def test_neighbors_are_typed_as_they_are_read(relation):
    again = spec.neighbors_of(spec.typed_neighbors(relation), dpest.reals(2))
    assert str(again) == str(relation)


def test_params_are_typed_as_they_are_read():
    params = {"eps": 0.1, "c": 2, "mode": "fast", "weights": [1, 2.5], "flag": True}
    assert spec.params_of(spec.typed_params(params)) == params


def test_functions_are_typed_as_they_are_read(monkeypatch):
    assert typed_name(dpest.zoo.svt1) == "svt1"
    name = typed_name(counts)
    assert target_of(name).function(1.0 * np.zeros(2), np.random.default_rng(0)).shape == (2,)
    assert typed_name(lambda x, rng: x) is None
