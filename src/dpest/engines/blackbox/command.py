"""A mechanism in another program: inputs go in and outputs come out as JSON lines."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Any

import numpy as np

LINE_LIMIT = 2**26
"""Bytes of an answer; a longer one is refused before it fills the memory."""
SAID_LIMIT = 200
GRACE = 0.5
"""Seconds that others of a program may go on after it has ended."""


class CommandError(RuntimeError):
    """The program failed or did not answer line by line; the message quotes what it said."""


@dataclass(frozen=True)
class Command:
    """A program that is started once per block and answers each input line with an output line."""

    words: tuple[str, ...]

    def run(self, x: Any, seed: np.random.SeedSequence, size: int) -> Iterator[Any]:
        """`size` outputs on input `x`; the program finds its seed in `DPEST_SEED`."""
        line = json.dumps(x.tolist() if isinstance(x, np.ndarray) else x) + "\n"
        with self._started(seed) as process:
            assert process.stdin is not None
            assert process.stderr is not None
            said: deque[bytes] = deque(maxlen=1)
            helpers = [
                threading.Thread(target=_fed, args=(process.stdin, line.encode(), size)),
                threading.Thread(target=_heard, args=(process.stderr, said)),
                threading.Thread(target=_outlived, args=(process,)),
            ]
            for helper in helpers:
                helper.start()
            try:
                yield from self._answers(process, size, said, helpers)
            finally:
                _kill_all_of(process)
                for helper in helpers:
                    helper.join()

    def _started(self, seed: np.random.SeedSequence) -> subprocess.Popen[bytes]:
        environment = {**os.environ, "DPEST_SEED": str(int(seed.generate_state(1, np.uint64)[0]))}
        pipe = subprocess.PIPE
        try:
            return subprocess.Popen(
                self.words, stdin=pipe, stdout=pipe, stderr=pipe, env=environment,
                start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            raise CommandError(
                f"command={list(self.words)}: cannot be started ({error.strerror}); "
                "check the path and that it is executable"
            ) from None

    def _answers(
        self,
        process: subprocess.Popen[bytes],
        size: int,
        said: deque[bytes],
        helpers: list[threading.Thread],
    ) -> Iterator[Any]:
        assert process.stdout is not None
        answered = 0
        while line := process.stdout.readline(LINE_LIMIT):
            answered += 1
            if answered > size:
                self._refuse_count(size, f"more than {size}")
            yield self._answer(line)
        code = process.wait()
        for helper in helpers:
            helper.join()
        if code != 0:
            raise CommandError(f"command={list(self.words)} {_ended(code)}{_quoted(said)}")
        if answered < size:
            self._refuse_count(size, str(answered))

    def _refuse_count(self, size: int, wrote: str) -> None:
        raise CommandError(
            f"command={list(self.words)} was sent {size} input lines and wrote {wrote}; "
            "it must answer every line with one line of JSON"
        )

    def _answer(self, line: bytes) -> Any:
        if len(line) == LINE_LIMIT:
            raise CommandError(
                f"command={list(self.words)} wrote a line of {LINE_LIMIT} bytes or more"
            )
        try:
            return json.loads(line.decode(errors="replace"))
        except (ValueError, RecursionError) as error:
            raise CommandError(
                f"command={list(self.words)} wrote a line that is not JSON ({error})"
            ) from None


def _kill_all_of(process: subprocess.Popen[bytes]) -> None:
    """The program and what it started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (OSError, AttributeError):
        process.kill()


def _outlived(process: subprocess.Popen[bytes]) -> None:
    """Once the program has ended, end what it has left behind, which may hold its output open."""
    process.wait()
    time.sleep(GRACE if _others(process) else 0)
    _kill_all_of(process)


def _others(process: subprocess.Popen[bytes]) -> bool:
    try:
        os.killpg(process.pid, 0)
    except (OSError, AttributeError):
        return False
    return True


def _fed(stdin: IO[bytes], line: bytes, size: int) -> None:
    """Write the input so many times; a program that has enough may stop reading."""
    with contextlib.suppress(OSError):
        for start in range(0, size, 1000):
            stdin.write(line * min(1000, size - start))
    with contextlib.suppress(OSError):
        stdin.close()


def _heard(stderr: IO[bytes], said: deque[bytes]) -> None:
    """Keep the last line that was written there and says something."""
    while line := stderr.readline(LINE_LIMIT):
        if line.strip():
            said.append(line)


def _ended(code: int) -> str:
    if code > 0:
        return f"ended with exit code {code}"
    try:
        return f"was killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"was killed by signal {-code}"


def _quoted(said: deque[bytes]) -> str:
    text = said[0].decode(errors="replace").strip() if said else ""
    return f": {text[:SAID_LIMIT]}" if text else " and wrote nothing to standard error"
