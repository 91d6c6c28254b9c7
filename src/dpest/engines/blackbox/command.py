"""A mechanism in another program: inputs go in and outputs come out as JSON lines."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from typing import Any

import numpy as np


class CommandError(RuntimeError):
    """The program failed or did not answer line by line; the message quotes what it said."""


@dataclass(frozen=True)
class Command:
    """A program that is started once per block and answers each input line with an output line."""

    words: tuple[str, ...]

    def run(self, x: Any, seed: np.random.SeedSequence, size: int) -> list[Any]:
        """`size` outputs on input `x`; the program finds its seed in `DPEST_SEED`."""
        line = json.dumps(x.tolist() if isinstance(x, np.ndarray) else x) + "\n"
        environment = {**os.environ, "DPEST_SEED": str(int(seed.generate_state(1, np.uint64)[0]))}
        try:
            finished = subprocess.run(
                self.words, input=line * size, capture_output=True, text=True, env=environment
            )
        except OSError as error:
            raise CommandError(
                f"command={list(self.words)}: cannot be started ({error.strerror}); "
                "check the path and that it is executable"
            ) from None
        if finished.returncode != 0:
            raise CommandError(
                f"command={list(self.words)} ended with exit code {finished.returncode}"
                f"{_said(finished.stderr)}"
            )
        return self._answers(finished.stdout, size)

    def _answers(self, text: str, size: int) -> list[Any]:
        lines = text.splitlines()
        if len(lines) != size:
            raise CommandError(
                f"command={list(self.words)} was sent {size} input lines and wrote {len(lines)}; "
                "it must answer every line with one line of JSON"
            )
        try:
            return [json.loads(line) for line in lines]
        except json.JSONDecodeError as error:
            raise CommandError(
                f"command={list(self.words)} wrote a line that is not JSON ({error})"
            ) from None


def _said(stderr: str) -> str:
    last = stderr.strip().splitlines()[-1:] or [""]
    return f": {last[0][:200]}" if last[0] else " and wrote nothing to standard error"
