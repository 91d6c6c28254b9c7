"""Privacy figures, the advisor and the studies."""

import itertools
import json
import math
from pathlib import Path

import numpy as np
import pytest

from dpest.rappor import Candidates, Params
from dpest.rappor.advice import advise, predict
from dpest.rappor.privacy import audited, bit_losses, pair_loss, reporter, worst_pair
from dpest.rappor.simulate import population, value_names
from dpest.rappor.studies import normal_shape, precision_recall
from dpest.rappor.studies.plots import plot_scores, plot_shapes
from dpest.rappor.studies.scores import scores_table
from dpest.rappor.studies.shapes import bin_shares, shapes_table, simplex

VECTORS = json.loads((Path(__file__).parents[1] / "data/rappor/vectors.json").read_text())
SEED = VECTORS["privacy_loss_seed000"]
ROUNDS = VECTORS["decode"]["eps_after_R_reports_same_value"]["R"]


@pytest.mark.parametrize(("first", "second", "distance", "loss"), SEED["pairs"])
def test_pairs_of_the_seed_document(first, second, distance, loss):
    params = Params.one_time(SEED["k"], SEED["h"], 1, SEED["f"])
    candidates = Candidates.hashed(map(str, range(10)), params, "mmh3")
    pair = pair_loss(params, candidates, str(first), str(second))
    assert pair.distance == distance
    assert pair.epsilon == pytest.approx(loss, abs=1e-4)
    assert worst_pair(params, candidates).epsilon == pytest.approx(SEED["max_2h"])


@pytest.mark.parametrize(("rounds", "loss"), ROUNDS.items())
def test_many_reports_of_one_value(rounds, loss):
    params = Params(128, 2, 16, 0.5, 0.25, 0.75)
    candidates = Candidates.hashed(value_names(30), params)
    worst = worst_pair(params, candidates, float(rounds))
    assert worst.epsilon == pytest.approx(loss, abs=1e-4)
    assert worst.distance == 4


@pytest.mark.parametrize("f", [0.0, 0.4])
@pytest.mark.parametrize(("p", "q"), [(0.2, 0.5), (0.7, 0.1)])
def test_the_loss_of_a_pair_is_the_worst_report(p, q, f):
    """Against all 2^k reports of both values, in both directions."""
    params = Params(6, 2, 2, f, p, q)
    candidates = Candidates.hashed(["a", "b"], params)
    filters = candidates.design(params).toarray().T.reshape(2, 2, 6)
    rates = np.where(filters, params.q_star, params.p_star)
    worst = 0.0
    for cohort, report in itertools.product(range(2), itertools.product((0, 1), repeat=6)):
        chance = np.where(report, rates[:, cohort], 1 - rates[:, cohort]).prod(axis=1)
        worst = max(worst, abs(math.log(chance[0] / chance[1])))
    assert pair_loss(params, candidates, "a", "b").epsilon == pytest.approx(worst)


def test_the_worst_pair_is_the_worst_of_all_pairs():
    params = Params(8, 3, 2, 0.0, 0.1, 0.5)
    candidates = Candidates.hashed(value_names(9), params)
    losses = [
        pair_loss(params, candidates, a, b).epsilon
        for a, b in itertools.combinations(candidates.strings, 2)
    ]
    assert worst_pair(params, candidates).epsilon == pytest.approx(max(losses))


def test_a_pair_is_sought_in_every_cohort_though_its_hashes_collide_in_the_first():
    params = Params(8, 2, 3, 0.25, 0.25, 0.75)
    bits = np.array([[0, 0, 8, 9, 16, 16], [7, 7, 14, 15, 16, 16]], dtype=np.int32)
    worst = worst_pair(params, Candidates(("a", "b"), bits))
    assert (worst.cohort, worst.distance) == (1, 4)
    assert worst.epsilon == pytest.approx(params.eps_1)


def test_no_permanent_response_gives_everything_away_in_the_end():
    params = Params(16, 2, 1, 0.0, 0.25, 0.75)
    candidates = Candidates.hashed(["a", "b"], params)
    assert pair_loss(params, candidates, "a", "b", math.inf).epsilon == math.inf
    assert bit_losses(Params.one_time(16, 2, 1, 0.5), 7) == pytest.approx((math.log(3),) * 2)


def test_the_audited_mechanism_reports_as_the_client_does():
    params = Params(8, 2, 4, 0.3, 0.2, 0.7)
    report, rng = reporter(params, cohort=1), np.random.default_rng(0)
    ones = np.mean([report("x", rng)[0] for _ in range(20_000)], axis=0)
    design = Candidates.hashed(["x"], params).design(params).toarray()[8:16, 0]
    assert ones == pytest.approx(np.where(design, params.q_star, params.p_star), abs=0.02)


@pytest.mark.parametrize("reports", [1, 2, 4])
@pytest.mark.parametrize(
    "params",
    [
        Params(20, 4, 1, 0.95, 0, 1),
        Params(16, 2, 4, 0.5, 0.25, 0.75),
        Params(8, 1, 3, 0, 0.3, 0.8),
        Params(12, 2, 2, 0.2, 0.6, 0.1),
    ],
)
def test_the_audit_of_the_encoder_agrees_with_the_formula(params, reports):
    candidates = Candidates.hashed(["rabbit", "hare"], params)
    loss = pair_loss(params, candidates, "rabbit", "hare", reports)
    audit = audited(params, "rabbit", "hare", cohort=loss.cohort, reports=reports)
    assert audit.lower == pytest.approx(loss.epsilon, abs=1e-9)
    assert audit.upper == pytest.approx(loss.epsilon, abs=1e-9)


def test_privacy_refuses_what_it_does_not_know():
    params = Params(16, 2, 1, 0.0, 0.25, 0.75)
    candidates = Candidates.hashed(["a", "b"], params)
    with pytest.raises(ValueError, match="'c' is not among"):
        pair_loss(params, candidates, "a", "c")
    with pytest.raises(ValueError, match="reports=0"):
        bit_losses(params, 0)
    with pytest.raises(ValueError, match="two or more"):
        worst_pair(params, candidates.subset([0]))


def test_the_audit_takes_the_bits_of_a_map_that_no_scheme_explains():
    params = Params(8, 2, 2, 0.25, 0.25, 0.75)
    for candidates in (
        Candidates.fixed(["red", "green"], params),
        Candidates.hashed(["red", "green"], params, salt="pepper"),
    ):
        loss = pair_loss(params, candidates, "red", "green")
        audit = audited(params, "red", "green", cohort=loss.cohort, candidates=candidates)
        assert audit.lower == pytest.approx(loss.epsilon)
    salted = audited(params, "red", "green", cohort=loss.cohort, salt="pepper")
    assert salted.lower == pytest.approx(loss.epsilon)


def test_no_share_is_promised_that_nobody_may_have():
    advice = advise(20, 10, 0.05)
    assert advice.best.prediction.limit == pytest.approx(1 - 0.5**0.1)
    assert not advice.best.meets_goal
    assert "none" in advise(0.01, 1000, 0.05).to_table()


def test_one_hash_and_even_odds_win_at_fixed_epsilon():
    advice = advise(2, 1e6, 0.01)
    best = advice.best.params
    assert (best.h, best.f) == (1, 0)
    assert best.q == pytest.approx(0.5, abs=0.05)
    assert best.p == pytest.approx(1 / (math.exp(2) * (1 - best.q) / best.q + 1))
    assert best.eps_1 == pytest.approx(2)
    assert advice.best.meets_goal
    limits = [x.prediction.limit for x in advice.runners_up]
    assert limits == sorted(limits)
    assert advice.best.prediction.limit <= 1.05 * limits[0]


@pytest.mark.parametrize(("epsilon", "lifetime"), [(1, 2), (2, 4), (0.5, 8), (3, 3)])
def test_both_budgets_are_kept(epsilon, lifetime):
    advice = advise(epsilon, 1e5, 0.01, epsilon_infinity=lifetime)
    for proposal in (advice.best, *advice.runners_up):
        assert proposal.params.eps_1 <= epsilon * (1 + 1e-9)
        assert proposal.params.eps_infinity <= lifetime * (1 + 1e-9)
    assert any(not x.within_budget for x in advice.published)


@pytest.mark.parametrize(
    ("h", "counts", "reports"),
    [(4, 0.16, 0.24), (8, 0.26, 0.53), (16, 0.41, 0.94), (32, 0.57, 1.0)],
)
def test_predicted_recall_is_what_the_study_measures(h, counts, reports):
    shares = population("zipf", 200, shape=0.7, active=100)
    prediction = predict(Params(128, h, 8, 0.0, 0.5, 0.75), 20_000, shares, 200)
    assert prediction.recall_from_counts == pytest.approx(counts, abs=0.04)
    assert prediction.recall == pytest.approx(reports, abs=0.05)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"epsilon": 0}, "epsilon=0"),
        ({"epsilon": math.nan}, "epsilon=nan"),
        ({"reports": 0.5}, "reports=0.5"),
        ({"detect": 1}, "detect=1"),
        ({"epsilon_infinity": 1}, "epsilon_infinity=1"),
        ({"candidates": 1}, "candidates=1"),
        ({"alpha": 0}, "alpha=0"),
    ],
)
def test_advice_refuses_what_makes_no_sense(change, words):
    with pytest.raises(ValueError, match=words):
        advise(**({"epsilon": 2, "reports": 1e6, "detect": 0.01} | change))


def test_the_normal_study_has_the_error_of_the_formula():
    shapes = normal_shape((10_000, 100_000, 1_000_000))
    for shape, expected in zip(shapes, (0.0200, 0.0063, 0.0020), strict=True):
        assert shape.expected == pytest.approx(expected, abs=0.0002)
        assert shape.deviation == pytest.approx(expected, rel=0.3)
        assert shape.l1_projected < shape.l1
    assert "1,000,000" in shapes_table(shapes)


def test_bins_and_projection():
    assert bin_shares().sum() == pytest.approx(1)
    assert simplex(np.array([0.6, 0.7, -0.2])) == pytest.approx([0.45, 0.55, 0])


def test_studies_draw_pictures(tmp_path):
    scores = precision_recall([2], runs=1)
    assert [score.method for score in scores] == ["seed", "counts", "reports"]
    assert "whole reports" in scores_table(scores)
    plot_scores(tmp_path / "scores.png", scores)
    plot_shapes(tmp_path / "shapes.png", normal_shape((1000,)))
    for name in ("scores.png", "shapes.png"):
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(("hashes", "runs"), [([], 1), ([0], 1), ([1], 0)])
def test_studies_refuse_empty_plans(hashes, runs):
    with pytest.raises(ValueError, match="must be"):
        precision_recall(hashes, runs)
