"""Count the reports of many files on all cores, in bounded memory, and survive being killed.

Files are cut into chunks; chunks are counted anywhere, by any process or by the workers of a Dask
cluster, and their counts are added here. A checkpoint remembers which chunks are in the sum.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from dpest.rappor.counting.checkpoint import Ledger, Notes
from dpest.rappor.counting.counts import Counts, count
from dpest.rappor.counting.workers import end_with
from dpest.rappor.errors import RapporError
from dpest.rappor.params import Params
from dpest.rappor.reports import Reports
from dpest.rappor.wire.files import Chunk, Piece, chunks, describe, file_pieces, pieces

_NAMED_IN_ALL = 20
Progress = Callable[[int, int], None]


@dataclass
class Tally:
    """The outcome of counting: the counts, and what was left out of them.

    `kinds` counts the bad records by kind; `named` says of the first ones where they are and what
    is wrong.
    """

    counts: Counts
    kinds: Counter[str] = field(default_factory=Counter)
    named: list[str] = field(default_factory=list)

    @property
    def bad(self) -> int:
        """How many records were left out."""
        return sum(self.kinds.values())

    @property
    def bad_records(self) -> str:
        """The same in words."""
        return f"{self.bad} bad record" + "s" * (self.bad != 1)

    def note(self, path: str, before: int, notes: Notes) -> None:
        """Add the bad records of a chunk that comes after so many records of its file."""
        self.kinds.update(notes.kinds)
        room = _NAMED_IN_ALL - len(self.named)
        self.named += [describe(path, before, bad) for bad in notes.named[:room]]

    def refuse_bad(self) -> None:
        """Raise an error if any record was left out."""
        if self.bad:
            raise RapporError(f"{self.bad_records}, the first: {self.named[0]}; mend or skip")


def count_files(
    paths: Sequence[str | Path],
    params: Params,
    *,
    bad: str = "skip",
    jobs: int = -1,
    checkpoint: str | Path | None = None,
    dask: str | None = None,
    progress: Progress | None = None,
) -> Tally:
    """Count the reports of files in any mixture of formats.

    A bad record is left out and named in the result, or refused with `bad="refuse"`. `jobs` is the
    number of processes (-1: one per core); `dask` is the address of a Dask scheduler whose workers
    see the same files. With a `checkpoint`, a run that was killed goes on where it was.
    """
    if bad not in ("skip", "refuse"):
        raise RapporError(f"bad={bad!r} must be 'skip' or 'refuse'")
    if jobs == 0 or jobs < -1:
        raise RapporError(f"jobs={jobs} must be 1 or more, or -1 for one per core")
    if not paths:
        raise RapporError("there are no files to count; name at least one")
    plan = [chunk for path in paths for chunk in chunks(path)]
    ledger = Ledger(plan, params, checkpoint)
    for number, counts, notes in _outcomes(plan, params, set(ledger.notes), jobs, dask):
        ledger.add(number, counts, notes)
        if progress:
            progress(len(ledger.notes), len(plan))
    ledger.save()
    tally = _tally(plan, ledger)
    if bad == "refuse":
        tally.refuse_bad()
    return tally


def count_stream(params: Params, *, bad: str = "skip") -> Tally:
    """Count the reports of a CSV file on standard input, such as a pipe."""
    tally = Tally(Counts.none(params))
    for reports in good_reports(["-"], params, tally):
        tally.counts += count(reports, params)
    if bad == "refuse":
        tally.refuse_bad()
    return tally


def good_reports(paths: Iterable[str | Path], params: Params, tally: Tally) -> Iterator[Reports]:
    """The reports of files in order, `-` being standard input; the tally takes note of bad ones.

    A tally counts bad records by itself; it is for the caller to add what the reports come to.
    """
    for path in paths:
        before = 0
        for piece in file_pieces(path, params):
            tally.note(str(path), before, _notes(piece))
            before += piece.records
            yield piece.reports


def _count_chunk(number: int, chunk: Chunk, params: Params) -> tuple[int, Counts, Notes]:
    counts, notes = Counts.none(params), Notes(0, {}, [])
    for piece in pieces(chunk, params):
        counts += count(piece.reports, params)
        notes = notes.then(_notes(piece))
    return number, counts, notes


def _notes(piece: Piece) -> Notes:
    return Notes(piece.records, dict(piece.kinds), piece.named)


def _tally(plan: Sequence[Chunk], ledger: Ledger) -> Tally:
    """The ledger in the order of the files, so that bad records get their line numbers."""
    tally, before = Tally(ledger.counts), 0
    for number, chunk in enumerate(plan):
        before = 0 if chunk.start == 0 else before
        notes = ledger.notes[number]
        tally.note(chunk.path, before, notes)
        before += notes.records
    return tally


def _outcomes(
    plan: Sequence[Chunk], params: Params, done: Container[int], jobs: int, dask: str | None
) -> Iterator[tuple[int, Counts, Notes]]:
    """Count the chunks that are not done yet, here or elsewhere, in any order."""
    todo = [(number, chunk) for number, chunk in enumerate(plan) if number not in done]
    if dask is None and (jobs == 1 or len(todo) < 2):
        yield from (_count_chunk(number, chunk, params) for number, chunk in todo)
        return
    from joblib import Parallel, delayed

    with _cluster(dask):
        own = {} if dask else {"initializer": end_with, "initargs": (os.getpid(),)}
        work = Parallel(n_jobs=-1 if dask else jobs, return_as="generator_unordered", **own)
        yield from work(delayed(_count_chunk)(number, chunk, params) for number, chunk in todo)


@contextmanager
def _cluster(address: str | None) -> Iterator[None]:
    """Send the work of joblib to a Dask cluster while the context lasts."""
    if address is None:
        yield
        return
    try:
        from distributed import Client
    except ImportError:
        raise RapporError("dask is not installed; pip install 'dpest-privacy[dask]'") from None
    import joblib

    try:
        client = Client(address)
    except (OSError, ValueError) as error:
        raise RapporError(f"there is no Dask scheduler at {address}: {error}") from None
    with client, joblib.parallel_config(backend="dask"):
        yield
