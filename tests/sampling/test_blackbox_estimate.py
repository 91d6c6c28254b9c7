"""The whole estimate: what it finds, that it is reproducible, and what it says."""

import math

import numpy as np
import pytest

from dpest.engines.blackbox import Sampling, blackbox, estimate


def laplace(x, rng, size):
    return x + rng.laplace(scale=2.0, size=size)


def one_laplace(x, rng):
    return float(x + rng.laplace(scale=2.0))


def noisy_max(x, rng, size):
    return np.argmax(x + rng.laplace(scale=4.0, size=(size, len(x))), axis=1)


def first_above(x, rng):
    """A sparse vector: lists of varying length, None below and a string above."""
    threshold = rng.laplace(scale=2.0)
    answers = []
    for value in x:
        if value + rng.laplace(scale=4.0) >= threshold:
            return [*answers, "above"]
        answers.append(None)
    return answers


def bits(x, rng, size):
    probability = np.where(np.arange(8) < x, 0.6, 0.4)
    return rng.random((size, 8)) < probability


def special_values(x, rng, size):
    drawn = rng.random(size)
    return np.where(drawn < 0.1 * x, np.nan, np.where(drawn < 0.5, np.inf, drawn))


@pytest.mark.parametrize(
    ("mechanism", "pair", "truth", "share"),
    [
        (laplace, (0.0, 1.0), 0.5, 0.95),
        (one_laplace, (0.0, 1.0), 0.5, 0.8),
        (noisy_max, (np.ones(3), np.array([0.0, 2.0, 2.0])), 0.5, 0.7),
        (first_above, (np.zeros(3), np.ones(3)), 1.0, 0.2),
        (bits, (0, 8), 8 * math.log(1.5), 0.6),
        (special_values, (1.0, 2.0), math.log(2), 0.85),
    ],
)
def test_most_of_the_loss_is_found_and_no_more(mechanism, pair, truth, share):
    box = blackbox(mechanism)
    samples = 200_000 if box.takes_size else 30_000
    result = estimate(box, [pair], Sampling(samples=samples, time_limit=None))
    assert share * truth < result.lower <= truth
    assert result.complete
    assert not result.notes


def test_the_pair_and_its_direction_are_told():
    pairs = [(np.zeros(3), np.array([0.1, 0.0, 0.0])), (np.zeros(3), np.array([3.0, 0.0, 0.0]))]
    result = estimate(blackbox(noisy_max), pairs, Sampling(samples=100_000, time_limit=None))
    assert any(np.array_equal(x, pairs[1][1]) for x in result.pair)
    order = (0, 1) if result.direction == "forward" else (1, 0)
    assert all(np.array_equal(x, pairs[1][i]) for x, i in zip(result.pair, order, strict=True))
    assert result.counts[0] > result.counts[1]
    assert result.event.startswith("output ")


def test_a_private_mechanism_has_no_loss():
    def constant(x, rng, size):
        return rng.random(size)

    assert (
        estimate(blackbox(constant), [(0.0, 1.0)], Sampling(samples=50_000, time_limit=None)).lower
        == 0
    )


def test_delta_explains_a_rare_leak():
    def leaky(x, rng, size):
        drawn = rng.random(size)
        return np.where((drawn < 0.01) & (x > 0), 7.0, 1.0)

    pair, box = [(0.0, 1.0)], blackbox(leaky)
    assert estimate(box, pair, Sampling(samples=50_000, time_limit=None)).lower > 3
    assert estimate(box, pair, Sampling(samples=50_000, time_limit=None), delta=0.02).lower == 0


def test_a_refuted_claim_stops_the_audit_early():
    result = estimate(blackbox(laplace), [(0.0, 1.0)], Sampling(samples=4_000_000), claim=0.3)
    assert result.refuted
    assert result.lower > 0.3
    assert result.measured < 1_000_000


def test_a_true_claim_is_not_refuted():
    result = estimate(blackbox(laplace), [(0.0, 1.0)], Sampling(samples=200_000), claim=0.5)
    assert result.refuted is False
    assert 0.45 < result.lower <= 0.5


def facts(result):
    pair = tuple(np.asarray(x).tolist() for x in result.pair)
    return (result.lower, result.event, result.counts, result.measured, pair, result.direction)


@pytest.fixture(scope="module")
def in_one_process():
    return facts(_audit(time_limit=None))


def _audit(**where):
    pairs = [(np.ones(3), np.array([0.0, 2.0, 2.0])), (np.ones(3), 2 * np.ones(3))]
    return estimate(blackbox(noisy_max), pairs, Sampling(samples=600_000, seed=4, **where))


@pytest.mark.parametrize("where", [{"jobs": 2}, {"jobs": 1, "time_limit": 300.0}])
def test_worker_processes_give_the_same_result(where, in_one_process):
    assert facts(_audit(**where)) == in_one_process


def test_a_dask_cluster_gives_the_same_result(in_one_process):
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster:
        address = cluster.scheduler_address
        result = _audit(backend="dask", scheduler=address, jobs=2, time_limit=None)
        assert facts(result) == in_one_process


def test_another_seed_gives_other_samples(in_one_process):
    pairs = [(np.ones(3), np.array([0.0, 2.0, 2.0])), (np.ones(3), 2 * np.ones(3))]
    other = estimate(blackbox(noisy_max), pairs, Sampling(samples=600_000, seed=5, time_limit=None))
    assert facts(other)[2] != in_one_process[2]


def test_the_estimate_prints_for_people():
    text = str(estimate(blackbox(laplace), [(0.0, 1.0)], Sampling(samples=50_000, time_limit=None)))
    assert text.startswith("loss >= 0.")
    assert "95% confidence" in text
    assert "\n  event: " in text


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"samples": 5}, "samples=5"),
        ({"samples": 1e6}, "samples=1000000.0"),
        ({"confidence": 95}, "confidence=95"),
        ({"jobs": 0}, "jobs=0"),
        ({"time_limit": 0.0}, "time_limit=0.0"),
        ({"backend": "spark"}, "backend='spark'"),
        ({"backend": "dask"}, "scheduler=None"),
        ({"seed": -1}, "seed=-1"),
    ],
)
def test_bad_arguments_are_refused(arguments, words):
    with pytest.raises(ValueError, match=words):
        Sampling(**arguments)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"delta": 1.0}, "delta=1.0"),
        ({"claim": -1.0}, "claim=-1.0"),
        ({"claim": math.nan}, "claim=nan"),
    ],
)
def test_bad_claims_are_refused(arguments, words):
    with pytest.raises(ValueError, match=words):
        estimate(blackbox(laplace), [(0.0, 1.0)], **arguments)


def test_no_pairs_are_refused():
    with pytest.raises(ValueError, match="at least one"):
        estimate(blackbox(laplace), [])
