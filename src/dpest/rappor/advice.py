"""Parameters for a privacy budget, a population and a detection goal, by formula."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass

import numpy as np

from dpest.rappor.decoding.results import finite
from dpest.rappor.errors import RapporError
from dpest.rappor.params import Params

_HASHES = (1, 2, 4, 8)
_WIDTHS = (16, 32, 64, 128, 256)
_Q_STARS = np.linspace(0.3, 0.98, 69).round(2)
_GOOD_ENOUGH = 1.05
_ROWS_PER_CANDIDATE = 8
_REPORTS_PER_COHORT = 200
_SHOWN = 5


@dataclass(frozen=True)
class Prediction:
    """What a deployment will see: the share found half the time, and the strings found."""

    std_error: float
    limit: float
    recall: float
    limit_from_counts: float
    recall_from_counts: float


@dataclass(frozen=True)
class Proposal:
    """Parameters, what they cost and what they find."""

    label: str
    params: Params
    eps_1: float
    eps_infinity: float
    prediction: Prediction
    within_budget: bool
    meets_goal: bool


@dataclass(frozen=True)
class Advice:
    """The best parameters, the next best, and the published settings for comparison."""

    best: Proposal
    runners_up: tuple[Proposal, ...]
    published: tuple[Proposal, ...]
    reports: int
    detect: float
    candidates: int

    def to_json(self) -> str:
        """Everything as JSON."""
        return json.dumps(finite(asdict(self)), indent=2)

    def to_table(self) -> str:
        """The proposals as text."""
        head = f"{'':<21}{'k':>5}{'h':>4}{'m':>6}{'f':>8}{'p':>8}{'q':>8}{'eps_1':>8}{'eps_inf':>9}"
        lines = [head + f"{'limit':>9}{'recall':>8}  verdict"]
        lines += [_line(x) for x in (self.best, *self.runners_up, *self.published)]
        verdict = "reaches" if self.best.meets_goal else "misses"
        lines += [
            "",
            f"The best proposal {verdict} the goal of finding a share of {self.detect:g} among "
            f"{self.reports:,} reports and {self.candidates:,} candidates.",
            "limit: the share found half the time; recall: of the strings of a Zipf population",
            f"that fills half of the {self.candidates:,} candidates. Both from whole reports.",
        ]
        return "\n".join(lines) + "\n"


def advise(
    epsilon: float,
    reports: float,
    detect: float,
    *,
    epsilon_infinity: float = math.inf,
    candidates: int = 200,
    alpha: float = 0.05,
) -> Advice:
    """Propose parameters that spend `epsilon` per report and find shares down to `detect`.

    `epsilon_infinity` bounds what all reports of one value may ever tell; without it there is no
    permanent response, so clients should report a value once. The proposal with the lowest
    detection limit wins; among nearly equal ones the shortest report does.
    """
    _check(epsilon, reports, detect, epsilon_infinity, candidates, alpha)
    total = int(reports)
    tried = [
        _proposal(label, params, total, detect, candidates, alpha, epsilon, epsilon_infinity)
        for label, params in _choices(epsilon, epsilon_infinity, total, candidates)
    ]
    if not tried:
        raise RapporError(
            f"epsilon={epsilon:g} per report is out of reach under epsilon_infinity="
            f"{epsilon_infinity:g}; lower epsilon or raise epsilon_infinity"
        )
    tried.sort(key=lambda x: x.prediction.limit)
    near = [x for x in tried if x.prediction.limit <= _GOOD_ENOUGH * tried[0].prediction.limit]
    best = min(near, key=lambda x: (x.params.k, x.params.h, x.prediction.limit))
    published = tuple(
        _proposal(f"published, h={h}", Params(128, h, 8, 0.0, 0.5, 0.75), total, detect, candidates,
                  alpha, epsilon, epsilon_infinity)
        for h in sorted({_published_h(epsilon), 8})
    )  # fmt: skip
    return Advice(best, _different(tried, best), published, total, detect, candidates)


def predict(
    params: Params, reports: int, probabilities: np.ndarray, candidates: int, alpha: float = 0.05
) -> Prediction:
    """Standard error, detection limit and recall of a population among so many candidates.

    The threshold is where the expected share of false discoveries is `alpha`.
    """
    from_counts = _count_error(params, reports, candidates)
    x = (params.q_star - params.p_star) ** 2 / (params.p_star * (1 - params.p_star))
    hashes = params.h
    gain = (((1 + x) ** hashes - 1) / (hashes * x)) if x < 1e6 else math.inf
    whole = from_counts / math.sqrt(gain)
    limit, recall = _detection(whole, reports, probabilities, candidates, alpha)
    count_limit, count_recall = _detection(from_counts, reports, probabilities, candidates, alpha)
    return Prediction(whole, limit, recall, count_limit, count_recall)


def zipf_half(candidates: int) -> np.ndarray:
    """The shares of a Zipf population that fills half of the candidates."""
    weights = 1 / np.arange(1, max(candidates // 2, 1) + 1)
    return weights / weights.sum()


def _count_error(params: Params, reports: int, candidates: int) -> float:
    """The standard error of a rare string's share from bit sums, other strings estimated too."""
    density = 1 - (1 - 1 / params.k) ** params.h
    rate = params.p_star + (params.q_star - params.p_star) * density
    noise = rate * (1 - rate) / (params.q_star - params.p_star) ** 2
    useful_bits = params.k * density * (1 - density)
    freedom = max(1 - candidates / (params.k * params.m), 0.5)
    return math.sqrt(noise / (reports * useful_bits * freedom))


def _detection(
    error: float, reports: int, probabilities: np.ndarray, candidates: int, alpha: float
) -> tuple[float, float]:
    """The share found half the time, and how many of the strings are found.

    However little the noise, a share that is too small has no client half the time.
    """
    from scipy.special import ndtr

    active = probabilities[probabilities > 0]
    absent = max(candidates - len(active), 1)
    spread = np.sqrt(error**2 + active * (1 - active) / reports)
    low, high = 0.0, 10.0
    for _ in range(50):
        z = (low + high) / 2
        found = float(ndtr((active - z * error) / spread).sum())
        wrong = absent * float(ndtr(-z))
        low, high = (z, high) if wrong > alpha * (wrong + found) else (low, z)
    held = -math.expm1(-math.log(2) / reports)
    return max(z * error, held), found / len(active)


def _choices(
    epsilon: float, epsilon_infinity: float, reports: int, candidates: int
) -> Iterator[tuple[str, Params]]:
    for h in _HASHES:
        f = 0.0 if math.isinf(epsilon_infinity) else 2 / (math.exp(epsilon_infinity / (2 * h)) + 1)
        for name, q_star in (("best q", None), ("symmetric", _symmetric(epsilon, h))):
            for k in _WIDTHS:
                m = _cohorts(k, reports, candidates)
                params = _tuned(k, h, m, f, epsilon, q_star)
                if params is not None:
                    yield f"h={h}, {name}", params


def _tuned(k: int, h: int, m: int, f: float, epsilon: float, q_star: float | None) -> Params | None:
    """The feasible parameters with the smallest error, over q* or at a given one."""
    choices = _Q_STARS if q_star is None else np.array([q_star])
    made = [_from_stars(k, h, m, f, _paired(q, epsilon / h), float(q)) for q in choices]
    feasible = [params for params in made if params is not None]
    return min(feasible, key=lambda params: _count_error(params, 1, 0), default=None)


def _paired(q_star: float, loss: float) -> float:
    """The p* for which a bit set by one value and one set by the other lose this much together."""
    return float(1 / (1 + math.exp(loss) * (1 - q_star) / q_star))


def _symmetric(epsilon: float, h: int) -> float:
    return 1 / (1 + math.exp(-epsilon / (2 * h)))


def _from_stars(k: int, h: int, m: int, f: float, p_star: float, q_star: float) -> Params | None:
    """The p and q that give these effective probabilities after a permanent response f."""
    p = (p_star * (1 - f / 2) - q_star * f / 2) / (1 - f)
    q = (q_star * (1 - f / 2) - p_star * f / 2) / (1 - f)
    possible = -1e-12 <= p < q <= 1 + 1e-12 and h < k
    return Params(k, h, m, f, max(p, 0.0), min(q, 1.0)) if possible else None


def _cohorts(k: int, reports: int, candidates: int) -> int:
    """A power of two: enough bits for the candidates, enough reports for each cohort."""
    wanted = max(_ROWS_PER_CANDIDATE * candidates / k, 8)
    affordable = max(reports / _REPORTS_PER_COHORT, 1)
    return int(
        2 ** math.floor(math.log2(max(1, min(2 ** math.ceil(math.log2(wanted)), affordable))))
    )


def _published_h(epsilon: float) -> int:
    return max(1, math.floor(epsilon / math.log(3) + 1e-9))


def _proposal(
    label: str, params: Params, reports: int, detect: float, candidates: int, alpha: float,
    epsilon: float, epsilon_infinity: float,
) -> Proposal:  # fmt: skip
    prediction = predict(params, reports, zipf_half(candidates), candidates, alpha)
    slack = 1 + 1e-9
    within = params.eps_1 <= epsilon * slack and params.eps_infinity <= epsilon_infinity * slack
    meets = prediction.limit <= detect
    return Proposal(label, params, params.eps_1, params.eps_infinity, prediction, within, meets)


def _different(tried: list[Proposal], best: Proposal) -> tuple[Proposal, ...]:
    """The best of each other kind."""
    kinds: dict[str, Proposal] = {}
    for proposal in tried:
        kinds.setdefault(proposal.label, proposal)
    kinds.pop(best.label, None)
    return tuple(list(kinds.values())[:_SHOWN])


def _line(x: Proposal) -> str:
    params = x.params
    verdict = "over budget" if not x.within_budget else "ok" if x.meets_goal else "too coarse"
    return (
        f"{x.label:<21}{params.k:>5}{params.h:>4}{params.m:>6}{params.f:>8.4f}{params.p:>8.4f}"
        f"{params.q:>8.4f}{x.eps_1:>8.3f}{x.eps_infinity:>9.3f}"
        f"{_share(x.prediction.limit):>9}{x.prediction.recall:>8.1%}  {verdict}"
    )


def _share(limit: float) -> str:
    """A detection limit, if there is one."""
    return f"{limit:.2g}" if limit < 1 else "none"


def _check(
    epsilon: float, reports: float, detect: float, epsilon_infinity: float, candidates: int,
    alpha: float,
) -> None:  # fmt: skip
    if not 0 < epsilon < 100:
        raise RapporError(f"epsilon={epsilon} must be positive and below 100")
    if not 1 <= reports < 1e15 or reports != int(reports):
        raise RapporError(f"reports={reports} must be a whole number, 1 or more")
    if not 0 < detect < 1:
        raise RapporError(f"detect={detect} must be a share between 0 and 1")
    if not epsilon_infinity >= epsilon:
        raise RapporError(f"epsilon_infinity={epsilon_infinity} must be at least epsilon={epsilon}")
    if candidates < 2:
        raise RapporError(f"candidates={candidates} must be 2 or more")
    if not 0 < alpha < 1:
        raise RapporError(f"alpha={alpha} must lie strictly between 0 and 1")
