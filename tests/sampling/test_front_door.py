"""Audits by samples through `dpest.audit`: what is wrapped, what is chosen, what is said."""

import contextlib
import math
import time

import numpy as np
import pytest

import dpest
from dpest.engines.blackbox import MechanismError, pairs_to_try
from dpest.evidence import Verdict

QUICK = {"samples": 20_000, "time_limit": None}
ONE = (dpest.reals(1), dpest.l1(1))


def vectorised(x, rng, size, scale=2.0):
    return x + rng.laplace(scale=scale, size=size)


def one_run(x, rng, scale=2.0):
    return float(x) + rng.laplace(scale=scale)


def rounded(x, rng):
    return round(float(x) + rng.laplace(scale=2.0))


def hidden(x, rng):
    return x + np.random.laplace(scale=2.0)


def in_c(x, rng):
    return math.floor(math.fsum([x, rng.laplace(scale=2.0)]))


def redraws(x, rng):
    """A loop that ends with probability one, after no fixed number of rounds."""
    while True:
        noise = rng.laplace(scale=2.0)
        if abs(noise) > 0.1:
            return x + noise


def never_returns(x, rng):
    while True:
        with contextlib.suppress(BaseException):
            time.sleep(3600)


def raises(x, rng):
    raise RuntimeError("no connection")


def test_a_black_box_gives_an_ordinary_report():
    report = dpest.audit(dpest.blackbox(vectorised), *ONE, claim=0.2, **QUICK)
    assert report.verdict is Verdict.REFUTED
    assert 0.2 < report.lower <= 0.5
    assert report.upper == math.inf
    assert (report.bound.lower_status, report.bound.upper_status) == ("statistical", "none")
    assert report.method == "blackbox"
    text = str(report)
    assert "95% confidence" in text
    assert "runs on x and in" in text
    assert "samples prove no upper bound" in text
    found = report.to_json()["witness"]
    assert found["p"] == found["hits"] / found["runs"]
    assert found["confidence"] == 0.95


def test_a_claim_that_stands_is_undecided_not_proved():
    report = dpest.audit(dpest.blackbox(vectorised), *ONE, claim=0.5, **QUICK)
    assert report.verdict is Verdict.UNKNOWN
    assert 0.3 < report.lower <= 0.5


def test_parameters_reach_a_black_box():
    box = dpest.blackbox(vectorised)
    report = dpest.audit(box, *ONE, params={"scale": 0.5}, **QUICK)
    assert 1.5 < report.lower <= 2
    needed = dpest.blackbox(lambda x, b: x + np.random.laplace(scale=b))
    assert dpest.audit(needed, *ONE, params={"b": 0.5}, **QUICK).lower > 1


def test_what_can_be_read_is_not_sampled():
    report = dpest.audit(one_run, *ONE, claim=0.5, params={"scale": 2})
    assert report.method == "proof and witness"


@pytest.mark.parametrize(
    ("mechanism", "why"),
    [
        (rounded, "rounding"),
        (hidden, "does not come from rng"),
        (redraws, "loop"),
    ],
)
def test_what_cannot_be_read_is_run_and_the_report_says_so(mechanism, why):
    report = dpest.audit(mechanism, *ONE, claim=0.2, **QUICK)
    assert report.verdict is Verdict.REFUTED
    assert report.method == "blackbox"
    assert report.notes[0].startswith("it could not be traced, so it was run as a black box: ")
    assert why in report.notes[0]


def test_code_that_chokes_on_traced_numbers_is_run():
    report = dpest.audit(in_c, *ONE, claim=0.2, **QUICK)
    assert report.verdict is Verdict.REFUTED
    assert report.method == "blackbox"


def test_engines_can_be_forced():
    proof = dpest.audit(one_run, *ONE, engine="proof")
    assert (proof.lower, proof.upper, proof.method) == (0, 0.5, "proof")
    assert proof.bound.lower_status == "none"
    exact = dpest.audit(one_run, *ONE, engine="exact")
    assert exact.lower == pytest.approx(0.5, rel=1e-9)
    assert exact.bound.upper_status == "none"
    both = dpest.audit(one_run, *ONE, engine="analytic")
    assert both.method == "proof and witness"
    box = dpest.audit(one_run, *ONE, engine="blackbox", **QUICK)
    assert box.bound.lower_status == "statistical"


@pytest.mark.parametrize("engine", ["analytic", "proof", "exact"])
def test_a_forced_engine_refuses_instead_of_giving_way(engine):
    with pytest.raises(ValueError, match="rounding"):
        dpest.audit(rounded, *ONE, engine=engine)
    with pytest.raises(ValueError, match="a black box is only run"):
        dpest.audit(dpest.blackbox(rounded), *ONE, engine=engine)


def test_an_engine_of_no_kind_is_named():
    with pytest.raises(ValueError, match="engine='magic': give 'analytic'"):
        dpest.audit(one_run, *ONE, engine="magic")


def test_a_proof_has_no_use_for_listed_pairs():
    with pytest.raises(ValueError, match='use engine="exact"'):
        dpest.audit(one_run, dpest.reals(1), dpest.pairs([(0, 1)]), engine="proof")


def test_an_approximate_claim_is_refuted_by_its_delta():
    report = dpest.audit(dpest.blackbox(rounded), *ONE, claim=dpest.approx(0.1, 0.01), **QUICK)
    assert report.verdict is Verdict.REFUTED
    true_delta = 1 - math.exp(-(0.5 - 0.1) / 2)
    assert 0.01 < report.delta(0.1).lower < true_delta
    lenient = dpest.audit(dpest.blackbox(rounded), *ONE, claim=dpest.approx(0.1, 0.3), **QUICK)
    assert lenient.verdict is Verdict.UNKNOWN


def test_other_measures_follow_from_the_counts():
    def noisy(x, rng, size):
        return x + rng.normal(size=size)

    report = dpest.audit(dpest.blackbox(noisy), *ONE, **QUICK)
    assert 0.1 < report.zcdp().lower <= 0.5
    assert 0.1 < report.renyi(2).lower <= 1.0
    refuted = dpest.audit(dpest.blackbox(noisy), *ONE, claim=dpest.zcdp(0.2), **QUICK)
    assert 0.4 < refuted.renyi(2).lower <= 1.0
    assert refuted.verdict is Verdict.REFUTED
    assert report.renyi(2).lower_status == "statistical"
    assert report.epsilon(0).lower == report.lower
    assert [b.lower for b in report.delta([0.0, 50.0])] == [report.delta(0).lower, 0]
    assert 0.01 < report.delta(0).lower < 0.383
    assert report.trade_off(0.3).upper < 0.7
    assert report.delta(0, "backward").lower == 0
    with pytest.raises(ValueError, match="order above 1"):
        report.renyi(1)
    with pytest.raises(ValueError, match="no curve to draw"):
        report.plot()


@pytest.mark.parametrize("how", ["wrapped", "by itself"])
def test_what_never_returns_ends_with_a_report(how):
    mechanism = dpest.blackbox(never_returns) if how == "wrapped" else hangs_when_run
    started = time.monotonic()
    report = dpest.audit(mechanism, *ONE, claim=0.5, time_limit=3)
    assert time.monotonic() - started < 30
    assert report.verdict is Verdict.UNKNOWN
    assert (report.lower, report.bound.lower_status) == (0, "none")
    assert "the time limit of 3 s passed" in str(report)


def hangs_when_run(x, rng):
    if hash(float(x)) != 0.5:  # refused: needs the number itself
        never_returns(x, rng)


def test_what_always_raises_says_what():
    report = dpest.audit(dpest.blackbox(raises), *ONE, time_limit=None)
    assert report.bound.lower_status == "none"
    assert "raised on every run: RuntimeError: no connection" in str(report)


def test_a_library_that_wants_plain_numbers_gets_them():
    def strict(x, rng):
        if type(x) is not float:
            raise TypeError(f"unknown type {type(x)}")
        return x + rng.laplace(scale=2.0)

    assert dpest.audit(dpest.blackbox(strict), *ONE, **QUICK).lower > 0.3


def test_an_event_that_python_can_read_has_a_snippet():
    report = dpest.audit(dpest.blackbox(rounded), *ONE, **QUICK)
    code = report.repro()
    assert "def rounded(x, rng)" in code
    assert report.witness.test in code


# -- which pairs are tried --------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 5, 10])
@pytest.mark.parametrize("neighbors", [dpest.l1(1), dpest.linf(1)], ids=str)
def test_the_published_patterns_are_among_the_pairs(n, neighbors):
    tried = [tuple(np.ravel(x).tolist() for x in pair) for pair in _tried(n, neighbors)]
    for pair in dpest.zoo.patterns(n, neighbors).values():
        assert pair in tried or pair[::-1] in tried


def _tried(n, neighbors):
    return pairs_to_try(dpest.reals(n), neighbors)[0]


@pytest.mark.parametrize(
    "inputs",
    [dpest.reals(3), dpest.reals(4, 0, 1), dpest.reals(1, -3, 0.5), dpest.integers(3, 0, 2)],
    ids=str,
)
@pytest.mark.parametrize(
    "neighbors", [dpest.l1(1.5), dpest.l2(2), dpest.linf(1), dpest.linf(7)], ids=str
)
def test_pairs_are_different_neighbors_in_the_domain(inputs, neighbors):
    pairs, _ = pairs_to_try(inputs, neighbors)
    assert pairs
    for pair in pairs:
        x, y = map(inputs.check, pair)
        assert x != y
        assert neighbors.relates(x, y) or math.isclose(math.dist(x, y), 2)


def test_small_domains_are_tried_in_full():
    assert len(pairs_to_try(dpest.one_of("a", "b", None), dpest.any_pair())[0]) == 3
    assert len(pairs_to_try(dpest.integers(1, 0, 5), dpest.l1(1))[0]) == 5
    many = dpest.one_of(*range(1000))
    assert len(pairs_to_try(many, dpest.any_pair())[0]) == 32


def test_unbounded_pairs_are_refused():
    with pytest.raises(ValueError, match="bound the domain"):
        dpest.audit(dpest.blackbox(one_run), dpest.reals(1), dpest.any_pair())
    assert issubclass(MechanismError, RuntimeError)


def winner_and_gap(x, rng):
    noisy = x + rng.laplace(scale=2, size=len(x))
    ranked = np.sort(noisy)
    return int(np.argmax(noisy)), ranked[-1] - ranked[-2]


def test_where_likelihoods_cost_too_much_samples_are_judged_without_them():
    report = dpest.audit(winner_and_gap, dpest.reals(4), dpest.l1(1), samples=20_000)
    assert report.bound.upper_status == "proved"
    assert report.bound.lower_status == "statistical"
    assert 0 < report.lower <= report.upper
