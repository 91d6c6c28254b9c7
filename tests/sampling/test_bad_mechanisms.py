"""Mechanisms that misbehave end in a clear message with the partial result, never in a hang."""

import contextlib
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from dpest.engines.blackbox import Sampling, blackbox, estimate

PAIR = [(0.0, 1.0)]


def raises_on_one_input(x, rng):
    if x == 1.0 and rng.random() < 0.5:
        raise KeyError("no such user")
    return rng.random() < 0.5


def always_raises(x, rng):
    raise RuntimeError("not today")


def raises_together(x, rng, size):
    if x == 1.0:
        raise ValueError("bad batch")
    return rng.random(size)


def changes_type(x, rng):
    return [1, "one", None, [1.0], {"a": 1}, b"1"][rng.integers(6)]


def talks(x, rng):
    print("debug", x)
    return rng.laplace() + x


def sleeps(x, rng):
    time.sleep(0.02)
    return rng.random() < 0.5 + x / 4


def never_returns(x, rng):
    while True:
        with contextlib.suppress(BaseException):
            time.sleep(3600)


def gets_stuck_later(x, rng, size):
    if size > 1000:
        while True:
            pass
    return rng.laplace(size=size)


def dies(x, rng):
    os._exit(3)


def test_an_exception_is_an_output_that_an_observer_sees():
    result = estimate(
        blackbox(raises_on_one_input), PAIR, Sampling(samples=20_000, time_limit=None)
    )
    assert result.lower > 3
    assert "raises KeyError" in result.event
    assert "no such user" in result.notes[0]


def test_a_mechanism_that_always_raises():
    result = estimate(blackbox(always_raises), PAIR, Sampling(samples=1000, time_limit=None))
    assert not result.complete
    assert result.lower == 0.0
    assert "raised on every run: RuntimeError: not today" in result.notes[0]


@pytest.mark.parametrize("time_limit", [None, 60.0])
def test_a_block_that_raises_names_the_input(time_limit):
    result = estimate(
        blackbox(raises_together), PAIR, Sampling(samples=1000, time_limit=time_limit)
    )
    assert not result.complete
    assert "ValueError (bad batch) on input 1.0" in result.notes[0]


def test_outputs_of_changing_type_are_fine():
    result = estimate(blackbox(changes_type), PAIR, Sampling(samples=5000, time_limit=None))
    assert result.complete
    assert result.lower == 0.0


def test_what_a_mechanism_prints_is_dropped_and_told(capsys):
    result = estimate(blackbox(talks), PAIR, Sampling(samples=2000, time_limit=None))
    assert capsys.readouterr().out == ""
    assert "printed" in result.notes[0]


def test_a_slow_mechanism_gets_fewer_samples():
    started = time.monotonic()
    result = estimate(blackbox(sleeps), PAIR, Sampling(samples=1_000_000, time_limit=12.0))
    assert time.monotonic() - started < 20
    assert "fit the time limit of 12 s" in result.notes[0]
    assert result.samples < 1000


@pytest.mark.parametrize("mechanism", [never_returns, gets_stuck_later])
def test_a_mechanism_that_never_returns_is_stopped(mechanism):
    started = time.monotonic()
    result = estimate(blackbox(mechanism), PAIR, Sampling(samples=50_000, time_limit=4.0))
    assert time.monotonic() - started < 15
    assert not result.complete
    assert result.notes[-1] == "stopped before measuring: the time limit of 4 s passed"


def test_a_command_that_never_answers_is_stopped():
    box = blackbox(command=[sys.executable, "-c", "import time; time.sleep(3600)"])
    result = estimate(box, PAIR, Sampling(samples=1000, time_limit=3.0))
    assert "the time limit of 3 s passed" in result.notes[-1]


def test_a_mechanism_that_kills_its_process():
    result = estimate(blackbox(dies), PAIR, Sampling(samples=1000, time_limit=60.0))
    assert not result.complete
    assert "worker process died" in result.notes[0]


def test_what_cannot_travel_to_a_worker_is_refused():
    lock = __import__("threading").Lock()

    def locked(x, rng):
        with lock:
            return rng.random()

    result = estimate(blackbox(locked), PAIR, Sampling(samples=1000, time_limit=60.0))
    assert "cannot be sent to a worker process" in result.notes[0]
    assert estimate(blackbox(locked), PAIR, Sampling(samples=1000, time_limit=None)).complete


SCRIPT = """
import time
from dpest.engines.blackbox import Sampling, blackbox, estimate

def slow(x, rng, size):
    time.sleep(size / 50_000)
    return x + rng.laplace(size=size)

print("ready", flush=True)
estimate(blackbox(slow), [(0.0, 1.0)], Sampling(samples=100_000_000, jobs=2, time_limit={limit}))
"""


def _group_ends(group):
    for _ in range(50):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.1)
    return False


@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")
def test_ctrl_c_stops_everything():
    code = SCRIPT.format(limit=100_000.0)
    with subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(3)
        os.killpg(process.pid, signal.SIGINT)
        _, stderr = process.communicate(timeout=30)
    assert process.returncode != 0
    assert "KeyboardInterrupt" in stderr
    assert _group_ends(process.pid)


def test_inputs_may_be_lists():
    def total(x, rng):
        return float(np.sum(x) + rng.laplace())

    assert (
        estimate(blackbox(total), [([1, 2], [1, 3])], Sampling(samples=5000, time_limit=None)).lower
        > 0.5
    )
