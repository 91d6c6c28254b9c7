"""Lower bounds from samples of traced programs: likelihood ratios, choice, where they run."""

import math

import numpy as np
import pytest

import dpest
from dpest.engines import choose
from dpest.engines.blackbox import Sampling, estimate
from dpest.engines.exact import ExactLaw, OutOfReach
from dpest.engines.sampling import Sampler
from dpest.engines.sampling.coding import outputs_of
from dpest.engines.sampling.likelihood import log_densities
from dpest.engines.sampling.mechanism import Traced
from dpest.evidence import Bound, Verdict
from dpest.zoo import ENTRIES, find

SMALL = [e for e in ENTRIES if e.name not in ("svt34_parallel", "numerical_svt", "noisy_max_sum")]


def run(name, **settings):
    entry = find(name)
    settings = {"samples": 100_000, **settings}
    return dpest.audit(
        entry.function, entry.inputs, entry.neighbors, entry.claim,
        params=entry.params, engine="sampling", **settings,
    )  # fmt: skip


@pytest.mark.parametrize("name", ["laplace_mechanism", "noisy_hist1", "report_noisy_max3", "svt4"])
def test_bounds_come_close_to_the_truth_and_stay_below(name):
    entry = find(name)
    truth = dpest.audit(entry.function, entry.inputs, entry.neighbors, params=entry.params).upper
    report = run(name, samples=400_000)
    assert 0.75 * truth < report.lower <= truth
    assert (report.method, report.bound.lower_status) == ("sampling", "statistical")
    assert report.witness.counted.runs > 10_000


def test_a_score_does_not_see_how_sums_were_rounded():
    """In doubles the textbook sampler leaks; a bound about real numbers must not say so."""
    assert run("laplace_mechanism", samples=400_000, seed=3).lower <= 0.1


@pytest.mark.parametrize("entry", SMALL, ids=lambda e: e.name)
def test_densities_of_samples_are_those_of_the_exact_law(entry):
    x = entry.inputs.give([1] * entry.inputs.size)
    program = _program(entry)
    samples = Sampler(program).at(x).draw(np.random.default_rng(1), 12)
    law = ExactLaw(program)
    found = log_densities(law.at(x), law, samples)
    exact = dpest.distribution(entry.function, x, params=entry.params)
    for run_, log_density in zip(samples, found, strict=True):
        assert log_density == pytest.approx(exact.log_density(run_), abs=1e-9)


def _program(entry):
    from dpest.engines.analytic import traced

    return traced(entry.function, entry.inputs, entry.neighbors, entry.params)


def test_samples_are_coded_like_the_outputs_of_the_function():
    def mechanism(x, rng):
        if rng.random() < 0.5:
            return None, [x + rng.laplace(), bool(rng.random() < 0.5)]
        return {"sum": 3, "noisy": int(rng.geometric(0.5))}

    program = dpest.trace(mechanism, 1)
    samples = Sampler(program).at(2.0).draw(np.random.default_rng(0), 200)
    from dpest.engines.blackbox.coding import coded

    listed = coded(list(samples), 200)
    found = outputs_of(samples)
    assert np.array_equal(found.kinds, listed.kinds)
    assert np.array_equal(found.values, listed.values)


def test_a_refuted_claim_names_an_event_that_can_be_checked():
    report = dpest.audit(
        dpest.zoo.report_noisy_max1, dpest.reals(3), dpest.linf(1), 0.05, engine="sampling",
        params={"eps": 0.2}, samples=50_000,
    )  # fmt: skip
    assert report.verdict is Verdict.REFUTED
    assert report.program is not None


# -- the choice -------------------------------------------------------------------------------


def noisy(x, rng):
    return x + rng.laplace(scale=2.0)


ONE = (dpest.reals(1), dpest.l1(1))


def test_where_the_exact_loss_is_out_of_reach_samples_answer(monkeypatch):
    def out_of_reach(*_):
        raise OutOfReach("too many cases")

    monkeypatch.setattr(choose, "examine", out_of_reach)
    report = dpest.audit(noisy, *ONE, claim=0.2)
    assert report.verdict is Verdict.REFUTED
    assert report.method == "sampling"
    assert "the exact loss is out of reach" in report.notes[0]
    assert "too many cases" in report.notes[0]


def test_a_proof_without_a_witness_gets_one_from_samples(monkeypatch):
    def only_proof(mechanism, program, inputs, neighbors, *_):
        return choose.proved(program, inputs, neighbors)

    monkeypatch.setattr(choose, "examine", only_proof)
    report = dpest.audit(noisy, *ONE, claim=0.1)
    assert report.method == "proof and sampling"
    assert report.verdict is Verdict.REFUTED
    assert 0.4 < report.lower <= report.upper == 0.5
    assert (report.bound.lower_status, report.bound.upper_status) == ("statistical", "proved")
    assert dpest.audit(noisy, *ONE, claim=0.5).method == "proof"


def test_a_lucky_sample_never_exceeds_what_is_proved():
    proof = choose.Finding(Bound(0.0, 0.5, "none", "proved"), "proof", proof=None)
    lucky = choose.Finding(Bound(0.51, math.inf, "statistical", "none"), "sampling")
    assert choose._beside(proof, lucky).bound == Bound(0.5, 0.5, "statistical", "proved")


def test_programs_that_cannot_be_traced_are_refused():
    with pytest.raises(ValueError, match="rounding"):
        dpest.audit(lambda x, rng: round(x + rng.laplace()), *ONE, engine="sampling")


# -- where it runs ----------------------------------------------------------------------------


def facts(report):
    return report.lower, report.witness.event, report.witness.counted


WHERE = {"samples": 20_000, "seed": 2}


def test_processes_give_the_result_of_one_process():
    alone = facts(run("report_noisy_max1", **WHERE))
    assert facts(run("report_noisy_max1", jobs=2, **WHERE)) == alone


@pytest.mark.slow
def test_a_cluster_gives_the_result_of_one_process():
    distributed = pytest.importorskip("distributed")
    alone = facts(run("report_noisy_max1", **WHERE))
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster:
        address = cluster.scheduler_address
        shared = run("report_noisy_max1", backend="dask", scheduler=address, **WHERE)
        assert facts(shared) == alone


def test_a_time_limit_holds_for_programs_too():
    pairs = [(np.zeros(3), np.ones(3))]
    program = dpest.trace(dpest.zoo.report_noisy_max1, 3)
    result = estimate(
        Traced.of(program), pairs, Sampling(samples=10**9, time_limit=3.0), claim=None
    )
    assert result.seconds < 15
    assert result.samples < 10**9
