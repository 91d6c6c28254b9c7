"""The witness that is shown speaks against what is claimed, and is likely enough to be seen."""

import math

import numpy as np
import pytest

import dpest


def gaussian(x, rng, sigma=2.0):
    return x.sum() + rng.normal(scale=sigma)


def several(x, rng):
    return x + rng.normal(scale=1.0, size=len(x))


def spread_out(x, rng):
    return x + rng.choice([1.0, 4.0], p=[0.7, 0.3]) * rng.normal()


def keep_or_flip(x, rng):
    return x if rng.random() < 0.75 else 1 - x


def noisy_threshold(x, rng):
    threshold = rng.normal(scale=1.0)
    return [bool(query + rng.normal(scale=2.0) >= threshold) for query in x]


def softmax(x, rng):
    w = np.exp(x)
    return rng.choice(len(x), p=w / w.sum())


CASES = [
    (gaussian, dpest.reals(3), dpest.l1(1), 1.0),
    (several, dpest.reals(4), dpest.l2(1), 1.0),
    (spread_out, dpest.reals(1), dpest.l1(1), 1.0),
    (keep_or_flip, dpest.integers(1, 0, 1), dpest.any_pair(), 0.5),
    (noisy_threshold, dpest.reals(3), dpest.linf(1), 0.1),
]


@pytest.mark.parametrize(("mechanism", "inputs", "neighbors", "eps"), CASES)
def test_the_event_against_a_delta_exceeds_it(mechanism, inputs, neighbors, eps):
    report = dpest.audit(mechanism, inputs, neighbors, dpest.approx(eps, 1e-3))
    assert report.verdict == "refuted"
    found = report.witness
    seen = found.p - math.exp(eps) * found.p_prime
    assert 1e-3 < seen <= report.delta(eps).upper * (1 + 1e-9)
    assert neighbors.relates(*map(inputs.check, (found.x, found.x_prime)))
    assert f"P - e^{eps:g} P' = {seen:.6g}, and at most 0.001 is claimed" in str(report)


def test_the_best_event_of_a_gaussian_shows_all_of_delta():
    report = dpest.audit(gaussian, dpest.reals(3), dpest.l1(1), dpest.approx(1, 1e-5))
    found = report.witness
    assert found.p - math.e * found.p_prime == pytest.approx(report.delta(1).lower, rel=1e-6)


@pytest.mark.parametrize("claim", [dpest.zcdp(0.4), dpest.renyi(3, 1.4)])
def test_a_moment_is_that_of_the_inputs_that_are_shown(claim):
    report = dpest.audit(several, dpest.reals(3), dpest.l2(1), claim)
    x, x_prime = (np.array(v) for v in (report.witness.x, report.witness.x_prime))
    assert np.linalg.norm(x - x_prime) == pytest.approx(1)
    assert f"{claim.measure} is at least {claim.bound(report).lower:.6g}" in str(report)
    assert min(report.witness.p, report.witness.p_prime) > 1e-3


def test_without_a_largest_loss_a_likely_event_is_shown():
    report = dpest.audit(gaussian, dpest.reals(3), dpest.l1(1), 1.0)
    assert report.lower > 10
    assert 1 < report.witness.loss < 2
    assert report.witness.p_prime > 1e-3
    assert "events further out show more" in str(report)


def test_inputs_are_pulled_together_where_they_refute_the_claim_all_the_same():
    report = dpest.audit(softmax, dpest.reals(4), dpest.linf(1), 1.0)
    assert report.lower == pytest.approx(2)
    assert report.witness.loss > 1
    assert report.witness.p_prime > 1e-3


def test_a_likely_event_stays_with_the_largest_loss():
    def clipped(x, rng):
        return np.clip(x, -5, 5).sum() + rng.laplace(scale=5)

    report = dpest.audit(clipped, dpest.reals(3), dpest.l1(10), 1.0)
    assert report.witness.loss == pytest.approx(2)


@pytest.mark.parametrize("claim", [1.0, dpest.approx(1, 1e-5)])
def test_the_snippet_takes_seconds_and_shows_the_claim_broken(claim, capsys):
    report = dpest.audit(gaussian, dpest.reals(3), dpest.l1(1), claim)
    code = report.repro()
    runs = int(code.partition("runs = ")[2].split()[0].replace("_", ""))
    assert 10_000 <= runs <= 2_000_000
    exec(compile(code, "snippet", "exec"), {})
    said = capsys.readouterr().out
    assert "P =" in said
    if claim != 1.0:
        assert float(said.split()[-1]) > 1e-3


def test_a_probability_below_every_double_is_not_printed_as_zero():
    report = dpest.audit(dpest.zoo.svt1, dpest.reals(2), dpest.linf(1))
    assert "P = 0," not in str(report)
    from dpest.report.text import _probability

    assert _probability(0.0, "[8.3255812e-35575 +/- 1e-35590]") == "8.32558e-35575"
    assert _probability(0.0, "0") == "0"
    assert _probability(0.25, "[0.25 +/- 1e-30]") == "0.25"


def test_a_sampled_verdict_says_how_sure_it_is():
    box = dpest.blackbox(gaussian)
    report = dpest.audit(box, dpest.reals(1), dpest.l1(1), 0.1, samples=20_000, time_limit=None)
    assert report.headline.startswith("The claim of 0.1-DP is refuted with 95% confidence: ")


def test_a_clip_is_named_in_the_proof():
    def clipped_mean(x, rng):
        return np.clip(x, 0, 1).mean() + rng.laplace(scale=0.5)

    said = str(dpest.audit(clipped_mean, dpest.reals(2), dpest.l1(1)).proof)
    assert "by -1/2*(the change of min(max(x[0], 0), 1))" in said
    assert "extreme" not in said
