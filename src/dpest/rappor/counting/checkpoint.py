"""Which chunks have been counted and what they came to, kept on disk so that a run can go on."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from dpest.rappor.counting.counts import Counts
from dpest.rappor.errors import RapporError
from dpest.rappor.params import Params
from dpest.rappor.wire.files import MOST_NAMED, Bad, Chunk
from dpest.rappor.wire.streams import Replacing

_SECONDS_BETWEEN_SAVES = 1.0


@dataclass(frozen=True)
class Notes:
    """What a chunk held beside its good reports."""

    records: int
    kinds: dict[str, int]
    named: list[Bad]

    def then(self, later: Notes) -> Notes:
        """These notes and those on the records that follow."""
        room = MOST_NAMED - len(self.named)
        moved = [replace(bad, record=bad.record + self.records) for bad in later.named[:room]]
        kinds = Counter(self.kinds) + Counter(later.kinds)
        return Notes(self.records + later.records, dict(kinds), self.named + moved)


class Ledger:
    """The sum of the counts of the chunks so far, and the notes on each of them.

    With a path, the ledger is read from there if it is there, and saved there now and then by
    replacing the file: it always holds the exact sum of the chunks that it names.
    """

    def __init__(self, plan: Sequence[Chunk], params: Params, path: str | Path | None) -> None:
        self.counts = Counts.none(params)
        self.notes: dict[int, Notes] = {}
        self._path = None if path is None else Path(path)
        self._plan = _fingerprint(plan, params)
        self._saved = time.monotonic()
        if self._path and self._path.exists():
            self._restore(self._path)

    def add(self, number: int, counts: Counts, notes: Notes) -> None:
        """Add a chunk."""
        self.counts += counts
        self.notes[number] = notes
        if time.monotonic() - self._saved > _SECONDS_BETWEEN_SAVES:
            self.save()

    def save(self) -> None:
        """Replace the file by the present state."""
        if self._path is None:
            return
        state = {
            "plan": self._plan,
            "N": self.counts.N.tolist(),
            "ones": self.counts.ones.tolist(),
            "chunks": {number: asdict(notes) for number, notes in self.notes.items()},
        }
        target = Replacing(self._path)
        target.partial.write_text(json.dumps(state), encoding="utf-8")
        target.commit()
        self._saved = time.monotonic()

    def _restore(self, path: Path) -> None:
        try:
            state = json.loads(path.read_text(encoding="utf-8"))
            plan, N, ones, notes = (state[name] for name in ("plan", "N", "ones", "chunks"))
        except (OSError, ValueError, KeyError, TypeError):
            raise RapporError(f"{path} is not a checkpoint; name another file") from None
        if plan != self._plan:
            raise RapporError(
                f"the checkpoint {path} belongs to other files, other contents or other "
                "parameters; delete it to start again"
            )
        self.counts = Counts(np.array(N, dtype=np.int64), np.array(ones, dtype=np.int64))
        self.notes = {int(number): _notes(**fields) for number, fields in notes.items()}


def _notes(records: int, kinds: dict[str, int], named: list[dict]) -> Notes:
    return Notes(records, kinds, [Bad(**fields) for fields in named])


def _fingerprint(plan: Sequence[Chunk], params: Params) -> str:
    """A digest of what is to be counted: files, their sizes and times, cuts and parameters."""
    stats = {path: os.stat(path) for path in {chunk.path for chunk in plan}}
    facts = [
        [os.path.abspath(c.path), stats[c.path].st_size, stats[c.path].st_mtime_ns, c.start, c.stop]
        for c in plan
    ]
    return hashlib.sha256(json.dumps([params.to_json(), facts]).encode()).hexdigest()
