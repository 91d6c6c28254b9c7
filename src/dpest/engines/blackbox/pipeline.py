"""One estimate as it goes: learn an event, choose its cut, measure it afresh.

The runs are split in parts that share no sample. On the first, scorers are learned for every pair;
on the second their cuts, the best event and the best pair are chosen; the third is only counted.
So the confidence statement needs no correction for pairs, scorers or cuts: the measured event was
fixed before the measured samples were drawn. Where a claim can be refuted early, the third part is
looked at a few times and the looks share the allowed error.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from dpest.engines.blackbox.blocks import Blocks
from dpest.engines.blackbox.features import COLUMNS_LIMIT
from dpest.engines.blackbox.learn import Candidate, finalists, recounted
from dpest.engines.blackbox.mechanism import CALL_BLOCK, Block, MechanismError, shown
from dpest.engines.blackbox.paired import PairCounts, counted
from dpest.engines.blackbox.pool import Pool
from dpest.engines.blackbox.rules import Rule, best_rule
from dpest.engines.blackbox.settings import SAMPLES_LEAST, Sampling
from dpest.engines.blackbox.thresholds import Planner

LEARN_SHARE, CHOOSE_SHARE = 0.12, 0.12
RECOUNT_SHARES = (0.07, 0.10)
"""Shares of the samples spent, over all pairs, on each step before the event is measured."""
RECOUNTED_AGAIN = 8
"""Candidates that are left for the second recount."""
LEARN_MOST = 400_000
LEARN_SECONDS = 2e-6
"""What learning takes, roughly, per run and feature."""
CHOOSE_MOST = 1_000_000
READABLE_ENOUGH = 0.99
"""An event that promises this share of the best is taken if it is easier to read."""
LOOKS = ((1 / 16, 0.05), (1 / 4, 0.1), (1.0, 0.85))
"""Share of the measuring part after which a claim is tested, and share of the error it may use."""
WAVE = 16
"""Blocks that are handed out together."""
PILOT_RUNS, PILOT_RUNS_TOGETHER = 20, 1_000
PILOT_SECONDS, PILOT_SURE = 0.5, 0.02
"""After a first run that takes longer few follow; a block of more than that is timed well."""
PARTS = 40
"""Blocks that are drawn where time is short, so that some are counted when it ends."""
TIME_TO_USE = 0.7
"""Share of the time limit that the samples are planned to take."""


@dataclass
class Pipeline:
    """What was chosen and counted so far."""

    blocks: Blocks
    pool: Pool
    sampling: Sampling
    delta: float
    claim: float | None
    aim: float = 0.0
    """A delta that events are chosen for, where it is more than that of the claim."""
    samples: int = 0
    """As many as asked for, or as fit the time limit."""
    started: float = field(default_factory=time.monotonic)
    candidate: Candidate | None = None
    rule: Rule | None = None
    counts: PairCounts = field(default_factory=PairCounts)
    lower: float = 0.0
    share: float = LOOKS[-1][1]
    """Of the allowed error: what the last look at the counts may use."""
    complete: bool = True
    notes: list[str] = field(default_factory=list)
    raised: int = 0
    raised_messages: dict[str, None] = field(default_factory=dict)
    printed: int = 0

    def __post_init__(self) -> None:
        self.samples = self.sampling.samples

    @property
    def alpha(self) -> float:
        """The allowed error."""
        return 1 - self.sampling.confidence

    @property
    def refuted(self) -> bool | None:
        """Whether the bound exceeds the claim; None without one."""
        return None if self.claim is None else self.lower > self.claim

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.started

    def run(self) -> None:
        """All three parts."""
        self._pilot()
        self.candidate = self._best_candidate()
        self._measure(self.candidate)

    def stopped(self, reason: str) -> None:
        """Remember why the audit ends early; what was measured so far still counts."""
        self.complete = False
        runs = self.counts.runs
        rest = f"after {runs} measured runs a side" if runs else "before measuring"
        self.notes.append(f"stopped {rest}: {reason}")
        if runs:
            self._look(LOOKS[-1][1])

    # --- a few runs of every input: does it work, and how long does it take?

    def _pilot(self) -> None:
        """Some code wants a plain number, other code may write x[0] where the input is one."""
        broken = self._pilot_runs()
        if broken and self.blocks.has_boxed_numbers:
            self.blocks = self.blocks.with_plain_numbers()
            broken = self._pilot_runs() and broken
        if broken:
            raise MechanismError(f"{self.blocks.mechanism.name} raised on every run: {broken}")

    def _pilot_runs(self) -> str:
        """What went wrong, if every run of every input did."""
        tasks = [
            (self.blocks, pair, side) for pair in range(len(self.blocks.pairs)) for side in (0, 1)
        ]
        tried = list(self.pool.run(_pilot_run, tasks))
        if all(report.raised for report in tried):
            return tried[0].said
        self.blocks = replace(self.blocks, width=max(report.width for report in tried))
        self._fit_in_time(max(report.seconds for report in tried))
        return ""

    def _fit_in_time(self, seconds_per_run: float) -> None:
        """Ask for fewer samples where the limit would be far exceeded."""
        if self.pool.remaining is None:
            return
        affordable = self._affordable(TIME_TO_USE * self.pool.remaining, seconds_per_run)
        limit = f"the time limit of {self.sampling.time_limit:g} s"
        if affordable < SAMPLES_LEAST:
            raise MechanismError(
                f"one run takes {seconds_per_run:.2g} s, so that {max(affordable, 0)} samples a "
                f"side fit {limit}; at least {SAMPLES_LEAST} are needed"
            )
        if affordable < self.samples:
            self.notes.append(
                f"{affordable} of the {self.samples} samples a side asked for fit {limit} "
                f"(one run takes {seconds_per_run:.2g} s)"
            )
            self.samples = affordable
            self.blocks = replace(self.blocks, most=affordable // PARTS + 1)

    def _affordable(self, seconds: float, run: float) -> int:
        """Samples a side that can be drawn and learned from in so much time."""
        seconds *= self._workers / 2
        learn = LEARN_SECONDS * (4 * min(self.blocks.width, COLUMNS_LIMIT) + 20)
        most = LEARN_MOST * len(self.blocks.pairs)
        return int(max(seconds / (run + LEARN_SHARE * learn), (seconds - most * learn) / run))

    @property
    def _workers(self) -> int:
        return self.sampling.jobs if self.sampling.jobs > 0 else os.cpu_count() or 1

    # --- parts one and two

    def _best_candidate(self) -> Candidate:
        pairs = range(len(self.blocks.pairs))
        learn, choose = (
            min(max(int(self.samples * share / len(pairs)), 10), most)
            for share, most in ((LEARN_SHARE, LEARN_MOST), (CHOOSE_SHARE, CHOOSE_MOST))
        )
        learn = self.blocks.learnable(learn)
        tasks = [(self.blocks, pair, learn, choose, self._planner) for pair in pairs]
        found = [c for group in self.pool.run(finalists, tasks) for c in group]
        found = self._recounted(self.blocks, found, RECOUNT_SHARES[0])
        found = sorted(found, key=lambda c: -c.promise)[:RECOUNTED_AGAIN]
        found = self._recounted(replace(self.blocks, again=True), found, RECOUNT_SHARES[1])
        return _readable_best(found)

    def _recounted(
        self, blocks: Blocks, candidates: list[Candidate], share: float
    ) -> list[Candidate]:
        """All candidates judged on fresh samples, which those of one pair have in common."""
        pairs = sorted({candidate.pair for candidate in candidates})
        size = max(int(self.samples * share / len(pairs)), 10)
        groups = [[c for c in candidates if c.pair == pair] for pair in pairs]
        tasks = [(blocks, group, size, self._planner) for group in groups]
        return [c for group in self.pool.run(recounted, tasks) for c in group]

    @property
    def _planner(self) -> Planner:
        return Planner(self._to_measure, self.alpha, max(self.delta, self.aim))

    @property
    def _to_measure(self) -> int:
        spent = LEARN_SHARE + CHOOSE_SHARE + sum(RECOUNT_SHARES)
        return max(int(self.samples * (1 - spent)), 1)

    # --- part three

    def _measure(self, candidate: Candidate) -> None:
        sizes = self.blocks.sizes(self._to_measure)
        self.rule = best_rule(
            candidate.counts, self._to_measure, alpha=self.alpha, delta=self.delta
        )
        done = 0
        for until, share in self._looks(len(sizes)):
            for number in range(done, until, WAVE):
                wave = range(number, min(number + WAVE, until))
                self._count(candidate, [(n, sizes[n]) for n in wave])
            done = until
            self._look(share)
            if self.refuted:
                return

    def _looks(self, blocks: int) -> Iterator[tuple[int, float]]:
        """After how many blocks to look, and with what share of the error.

        The bet of a paired rule may be looked at as often as one likes.
        """
        if self.claim is None:
            yield blocks, 1.0
            return
        for until, share in LOOKS:
            yield max(int(blocks * until), 1), 1.0 if self._rule.coupled else share

    @property
    def _rule(self) -> Rule:
        assert self.rule is not None
        return self.rule

    def _count(self, candidate: Candidate, numbered: list[tuple[int, int]]) -> None:
        tasks = [(self.blocks, candidate, self._rule.coupled, *block) for block in numbered]
        for report in self.pool.run(_measured_block, tasks):
            self.counts += report.counts
            self.raised += report.raised
            self.raised_messages.update(dict.fromkeys(report.messages))
            self.printed += report.printed

    def _look(self, share: float) -> None:
        """The bound at this point; it may err with this share of the allowed error."""
        self.share = share
        bound = self._rule.bound(self.counts, alpha=self.alpha * share, delta=self.delta)
        self.lower = max(self.lower, bound)

    def all_notes(self) -> tuple[str, ...]:
        """What happened beside the counting."""
        name, notes = self.blocks.mechanism.name, list(self.notes)
        if self.raised:
            notes.append(
                f"{name} raised on {self.raised} of {2 * self.counts.runs} measured runs, which "
                f"counts as an output of its own: {'; '.join(list(self.raised_messages)[:3])}"
            )
        if self.printed:
            notes.append(f"{name} printed {self.printed} characters, which were dropped")
        return tuple(notes)


def _readable_best(candidates: list[Candidate]) -> Candidate:
    """The most promising candidate, or one about as good whose event is easier to read."""
    best = max(candidate.promise for candidate in candidates)
    enough = best * READABLE_ENOUGH if best > 0 else best
    return min(
        (candidate for candidate in candidates if candidate.promise >= enough),
        key=lambda candidate: (len(str(candidate.event)), -candidate.promise),
    )


@dataclass(frozen=True)
class _Measured:
    counts: PairCounts
    raised: int
    messages: tuple[str, ...]
    printed: int


def _measured_block(
    blocks: Blocks, candidate: Candidate, coupled: bool, number: int, size: int
) -> _Measured:
    """Draw one block on both inputs and count the event in it."""
    drawn = [
        blocks.block(candidate.pair, side, "measure", number, size, coupled)
        for side in (candidate.first, 1 - candidate.first)
    ]
    return _Measured(
        counted(*(candidate.event.hits(block.outputs) for block in drawn)),
        sum(block.raised for block in drawn),
        tuple(message for block in drawn for message in block.raised_messages),
        sum(block.printed for block in drawn),
    )


@dataclass(frozen=True)
class _Tried:
    """What a few runs of one input have shown."""

    raised: bool
    """Whether all of them raised."""
    said: str
    seconds: float
    """What a run takes, without what it takes to begin."""
    width: int


def _pilot_run(blocks: Blocks, pair: int, side: int) -> _Tried:
    """More and more runs until what they take stands out from what it takes to begin."""
    x, first = shown(blocks.pairs[pair][side]), _timed(blocks, pair, side, 1, 1)
    if blocks.mechanism.takes_size:
        block, seconds = _timed(blocks, pair, side, 0, PILOT_RUNS_TOGETHER)
        return _tried(block, PILOT_RUNS_TOGETHER, seconds / PILOT_RUNS_TOGETHER, x)
    beginning = first[1]
    runs = 2 if beginning > PILOT_SECONDS else PILOT_RUNS
    while True:
        block, seconds = _timed(blocks, pair, side, 0, runs)
        if seconds > 1.5 * beginning + PILOT_SURE or 10 * runs > CALL_BLOCK:
            each = max((seconds - beginning) / (runs - 1), seconds / (10 * runs))
            return _tried(block, runs, each, x)
        runs *= 10


def _timed(blocks: Blocks, pair: int, side: int, number: int, runs: int) -> tuple[Block, float]:
    started = time.perf_counter()
    return blocks.block(pair, side, "pilot", number, runs), time.perf_counter() - started


def _tried(block: Block, runs: int, seconds: float, x: str) -> _Tried:
    said = f"{'; '.join(block.raised_messages)} on input {x}"
    return _Tried(block.raised == runs, said, seconds, block.width)
