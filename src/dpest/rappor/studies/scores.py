"""How many of the words that occur decoders find, and how many others, for several h."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from dpest.rappor.candidates import Candidates
from dpest.rappor.counting import count
from dpest.rappor.decoding import Decoding, decode
from dpest.rappor.errors import RapporError
from dpest.rappor.params import Params
from dpest.rappor.simulate import population, simulate_reports, value_names
from dpest.rappor.studies.files import as_csv

HASHES = (1, 2, 4, 8, 16, 32)
METHODS = ("seed", "counts", "reports")
LABELS = {
    "seed": "seed: LASSO + OLS",
    "counts": "ours, bit counts",
    "reports": "ours, whole reports",
}
_BITS, _WORDS, _ACTIVE, _COHORTS, _REPORTS, _ZIPF = 128, 200, 100, 8, 20_000, 0.7

Told = Callable[[int, int], None]


@dataclass(frozen=True)
class Score:
    """The mean over runs of a decoder's precision, recall and L1 error, with standard errors."""

    h: int
    eps_1: float
    method: str
    precision: float
    precision_error: float
    recall: float
    recall_error: float
    l1: float
    l1_error: float


def precision_recall(
    hashes: Sequence[int] = HASHES, runs: int = 16, seed: int = 0, told: Told | None = None
) -> list[Score]:
    """Which of 200 words decoders find, of which 100 occur, for several numbers of hashes.

    Every run hashes fresh words of 128 bits in 8 cohorts of 2,500 reports with q = 0.75, p = 0.5;
    the 100 words have Zipf shares with exponent 0.7. All decoders see the same reports.
    """
    _check(hashes, runs)
    scores = []
    for done, h in enumerate(hashes):
        params = Params(_BITS, h, _COHORTS, 0.0, 0.5, 0.75)
        outcomes = []
        for run in range(runs):
            if told:
                told(done * runs + run, len(hashes) * runs)
            outcomes.append(_run(params, np.random.default_rng([seed, h, run])))
        scores += [_score(params, m, np.array([x[m] for x in outcomes])) for m in METHODS]
    return scores


def _run(params: Params, rng: np.random.Generator) -> dict[str, tuple[float, float, float]]:
    probabilities = population("zipf", _WORDS, shape=_ZIPF, active=_ACTIVE)
    candidates = Candidates.hashed(value_names(_WORDS), params, salt=rng.bytes(8).hex())
    sizes = [_REPORTS // _COHORTS] * _COHORTS
    reports, values = simulate_reports(params, candidates, probabilities, sizes, rng)
    truth = np.bincount(values, minlength=_WORDS) / len(values)
    counts = count(reports, params)
    return {
        method: _judged(decode(params, candidates, counts, reports, method=method), truth)
        for method in METHODS
    }


def _judged(decoding: Decoding, truth: np.ndarray) -> tuple[float, float, float]:
    found = decoding.detected
    right = int(found[:_ACTIVE].sum())
    error = np.abs(np.where(found, decoding.proportion, 0) - truth).sum()
    return right / max(int(found.sum()), 1), right / _ACTIVE, float(error)


def _score(params: Params, method: str, outcomes: np.ndarray) -> Score:
    mean = outcomes.mean(axis=0)
    error = (
        outcomes.std(axis=0, ddof=1) / np.sqrt(len(outcomes))
        if len(outcomes) > 1
        else mean * np.nan
    )
    interleaved = [float(x) for pair in zip(mean, error, strict=True) for x in pair]
    return Score(params.h, params.eps_1, method, *interleaved)


def scores_table(scores: Sequence[Score]) -> str:
    """Precision, recall and L1 error of each decoder for each h, with standard errors."""
    lines = [
        f"{'h':>3}{'eps_1':>8}  {'decoder':<20}{'precision':>15}{'recall':>15}{'L1 error':>15}"
    ]
    for x in scores:
        cells = [
            f"{mean:.3f} ± {error:.3f}"
            for mean, error in (
                (x.precision, x.precision_error), (x.recall, x.recall_error), (x.l1, x.l1_error)
            )
        ]  # fmt: skip
        lines.append(
            f"{x.h:>3}{x.eps_1:>8.2f}  {LABELS[x.method]:<20}" + "".join(f"{c:>15}" for c in cells)
        )
    return "\n".join(lines) + "\n"


def scores_csv(scores: Sequence[Score]) -> str:
    """The scores as CSV."""
    return as_csv([asdict(score) for score in scores])


def _check(hashes: Sequence[int], runs: int) -> None:
    if runs < 1:
        raise RapporError(f"runs={runs} must be 1 or more")
    if not hashes or not all(1 <= h <= _BITS for h in hashes):
        raise RapporError(f"hashes={list(hashes)} must be numbers between 1 and {_BITS}")
