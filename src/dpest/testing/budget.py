"""A check in a process of its own, which is ended when its time is up.

Nothing that the check does can outlast that, be it a loop that never ends or a long call into
compiled code, and no signal or timer of the test runner is touched. What the engines had
established until then was sent on, so a check that is stopped still says what is known.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import signal
import time
import warnings
from dataclasses import replace
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

from dpest.engines import known
from dpest.evidence import Bound
from dpest.testing.blame import RaisedElsewhere, raised_in
from dpest.testing.check import UNKNOWN, Check, Outcome


def run_within(seconds: float, check: Check) -> Outcome:
    """The outcome, or that it was not found in time."""
    receiver, sender = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("fork").Process(
        target=_work, args=(check, sender)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # other threads: not forked, not needed
        process.start()
    sender.close()
    try:
        found = _awaited(receiver, time.monotonic() + seconds)
    finally:
        _end(process)
        receiver.close()
    if isinstance(found, Bound):
        return check.stopped(found, seconds)
    if isinstance(found, Exception):
        raise RaisedElsewhere(found)
    return check.restored(found)


def _end(process: BaseProcess) -> None:
    """Kill the process, and those that it started to run a black box."""
    assert process.pid is not None
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.join()


def _awaited(receiver: Connection, deadline: float) -> Any:
    """An outcome or an error, or the last bound that was known at the deadline."""
    best = UNKNOWN
    while receiver.poll(max(0.0, deadline - time.monotonic())):
        try:
            found = receiver.recv()
        except EOFError:
            return RuntimeError("the process of the check ended without an answer")
        if not isinstance(found, Bound):
            return found
        best = found
    return best


def _work(check: Check, sender: Connection) -> None:
    """In the process of its own: run the check and send what comes of it."""
    os.setsid()
    if check.sampling is not None:  # no further process: this one can be ended as it is
        check = replace(check, sampling={**check.sampling, "time_limit": None})
    try:
        with known.told_to(sender.send):
            found: Any = _portable(check.run())
    except Exception as error:
        found = _portable_error(error)
    sender.send(found)


def _portable(outcome: Outcome) -> Outcome:
    """The outcome without what only lives in one process."""
    if outcome.report is None:
        return outcome
    theirs: dict[str, Any] = {"function": None, "inputs": None, "neighbors": None, "params": {}}
    report = replace(outcome.report, **theirs)
    if not _can_be_sent(report):
        report = replace(report, program=None)
    return replace(outcome, report=report)


def _portable_error(error: Exception) -> Exception:
    """The error with the lines that raised it; of its own type where that can be sent."""
    sent = error if _can_be_sent(error) else RuntimeError(f"{type(error).__name__}: {error}")
    sent.add_note(raised_in(error))
    return sent.with_traceback(None)  # some libraries teach pickle to send tracebacks along


def _can_be_sent(value: Any) -> bool:
    try:
        pickle.loads(pickle.dumps(value))
    except Exception:
        return False
    return True
