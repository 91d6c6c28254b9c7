"""From a pair of inputs to the events that promise the best bounds: parts one and two of three.

`finalists` learns scorers on one set of samples and cuts them on a second. The best of very many
cuts owes something to luck, so `recounted` draws a third set for the few that are left before one
of them is measured on samples of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from dpest.engines.blackbox.blocks import Blocks
from dpest.engines.blackbox.events import ClassifierScorer, Event, FeatureScorer, Scorer, Scores
from dpest.engines.blackbox.features import fitted
from dpest.engines.blackbox.outputs import Outputs, concatenated
from dpest.engines.blackbox.paired import PairCounts, counted
from dpest.engines.blackbox.scorers import learned
from dpest.engines.blackbox.thresholds import Cut, Planner, Rates

CAUTIONS = (4.5, 3.0, 1.5)
"""Cuts are proposed at each degree of caution: bold ones lie far out in a tail."""
KEPT_PER_CAUTION = 6
RECOUNT_CAUTION = 2.0


@dataclass(frozen=True)
class Candidate:
    """An event for one pair, and what to expect of it; `first` (0 or 1) has the larger rate."""

    pair: int
    event: Event
    first: int
    promise: float
    counts: PairCounts = field(default_factory=PairCounts)
    """What recounts have shown, the first input being the one with the larger rate."""


def finalists(
    blocks: Blocks, pair: int, learn: int, choose: int, planner: Planner
) -> list[Candidate]:
    """Events for one pair: scorers learned on `learn` runs a side, cut on `choose` others."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1):
        a = concatenated([b.outputs for b in blocks.drawn(pair, 0, "learn", learn)])
        b = concatenated([b.outputs for b in blocks.drawn(pair, 1, "learn", learn)])
        features = fitted(a, b, blocks.references(pair))
        own = blocks.mechanism.scorers(*blocks.pairs[pair])
        scorers = [*own, *learned(a, b, features, planner, simple=bool(own))]
        del a, b
        scores = [_all_scores(blocks, pair, side, choose, scorers) for side in (0, 1)]
    found: dict[tuple[int, float, bool], Candidate] = {}
    for caution in CAUTIONS:
        cuts = [replace(planner, caution=caution).best(*both) for both in zip(*scores, strict=True)]
        best = sorted(range(len(cuts)), key=lambda i: -cuts[i].promise)
        for i in best[:KEPT_PER_CAUTION]:
            key = (i, cuts[i].threshold, cuts[i].above)
            found.setdefault(key, _candidate(pair, scorers[i], cuts[i]))
    return list(found.values())


def _candidate(pair: int, scorer: Scorer, cut: Cut) -> Candidate:
    event = Event(scorer, cut.threshold, cut.above)
    return Candidate(pair, event, cut.first, cut.promise)


def recounted(
    blocks: Blocks, candidates: Sequence[Candidate], size: int, planner: Planner
) -> list[Candidate]:
    """The same candidates of one pair, judged on `size` more fresh runs a side."""
    planner = replace(planner, caution=RECOUNT_CAUTION)
    pair, counts = candidates[0].pair, [c.counts for c in candidates]
    sides = (blocks.drawn(pair, side, "recount", size) for side in (0, 1))
    for block_a, block_b in zip(*sides, strict=True):
        more = _pair_counts(block_a.outputs, block_b.outputs, candidates)
        counts = [old + new for old, new in zip(counts, more, strict=True)]
    return [_rejudged(c, n, planner) for c, n in zip(candidates, counts, strict=True)]


def _rejudged(candidate: Candidate, counts: PairCounts, planner: Planner) -> Candidate:
    total = counts.runs + 1.5
    parts = (counts.first + 0.5, counts.second + 0.5, counts.both)
    rates = Rates(*(np.array([part / total]) for part in parts))
    promise = float(planner.promises(rates, counts.runs)[0])
    return replace(candidate, promise=promise, counts=counts)


def _pair_counts(a: Outputs, b: Outputs, candidates: Sequence[Candidate]) -> Iterator[PairCounts]:
    """Counts of every candidate's event in one block; shared scorers run once."""
    scorers = list({id(c.event.scorer): c.event.scorer for c in candidates}.values())
    scores = {
        id(scorer): both
        for scorer, *both in zip(scorers, _scored(a, scorers), _scored(b, scorers), strict=True)
    }
    for candidate in candidates:
        hits = [candidate.event.of_scores(s) for s in scores[id(candidate.event.scorer)]]
        yield counted(hits[candidate.first], hits[1 - candidate.first])


def _all_scores(
    blocks: Blocks, pair: int, side: int, size: int, scorers: list[Scorer]
) -> list[Scores]:
    """Scores of `size` fresh outputs by every scorer, drawn block by block."""
    parts = [
        list(_scored(block.outputs, scorers)) for block in blocks.drawn(pair, side, "choose", size)
    ]
    return [np.concatenate(of_one) for of_one in zip(*parts, strict=True)]


def _scored(outputs: Outputs, scorers: Sequence[Scorer]) -> Iterator[Scores]:
    """Each scorer's scores, with the table of features computed once."""
    table = None
    for scorer in scorers:
        if isinstance(scorer, (FeatureScorer, ClassifierScorer)):
            table = scorer.features.table(outputs) if table is None else table
            yield scorer.of_table(table)
        else:
            yield scorer.scores(outputs)
