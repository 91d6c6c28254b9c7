"""A line of progress on a terminal; nothing in a pipe or a log."""

from __future__ import annotations

import sys
import time

_SECONDS_BETWEEN_LINES = 0.2


class Progress:
    """Says on a terminal how far a long command is; says nothing elsewhere."""

    def __init__(self, verb: str, unit: str) -> None:
        self._verb, self._unit = verb, unit
        self._done, self._shown = 0, 0.0
        self._visible = sys.stderr.isatty()

    def add(self, more: int) -> None:
        """So many more are done."""
        self.show(self._done + more)

    def show(self, done: int, total: int | None = None) -> None:
        """So many are done, of so many."""
        self._done, now = done, time.monotonic()
        too_soon = now - self._shown < _SECONDS_BETWEEN_LINES and done != total
        if too_soon or not self._visible:
            return
        self._shown = now
        of = "" if total is None else f" of {total:,}"
        print(f"\r{self._verb} {done:,}{of} {self._unit}", end="", file=sys.stderr, flush=True)

    def end(self) -> None:
        """Leave the line."""
        if self._visible and self._shown:
            print(file=sys.stderr)
            self._shown = 0.0
