"""Mechanisms that misbehave end in a clear message with the partial result, never in a hang."""

import contextlib
import os
import signal
import subprocess
import sys
import time
import tracemalloc
import warnings

import numpy as np
import pytest

from dpest.engines.blackbox import Sampling, blackbox, estimate
from dpest.engines.blackbox.blocks import Blocks

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


def talks_past_python(x, rng):
    os.write(1, b"from below")
    os.write(2, b"from below")
    warnings.warn("beware", stacklevel=1)
    print("and above", file=sys.stderr)
    return rng.random() < 0.5


def closes_its_output(x, rng):
    sys.stdout.write("before")
    sys.stdout.buffer.write(b"bytes")
    sys.stdout.close()
    return rng.random() < 0.5


def test_what_is_written_past_python_is_dropped_in_workers(capfd):
    result = estimate(blackbox(talks_past_python), PAIR, Sampling(samples=500, time_limit=60.0))
    assert result.complete
    assert "from below" not in "".join(capfd.readouterr())
    assert "printed" in result.notes[-1]


def test_closing_the_output_hurts_nobody_else(capsys):
    assert estimate(
        blackbox(closes_its_output), PAIR, Sampling(samples=500, time_limit=None)
    ).complete
    print("still open")
    assert capsys.readouterr().out == "still open\n"


class Unspeakable(Exception):
    def __str__(self):
        raise RuntimeError("no words")

    def __repr__(self):
        raise RuntimeError("no words")


def leaves(x, rng):
    sys.exit("out of service")


def raises_without_words(x, rng):
    if rng.random() < 0.5:
        raise Unspeakable
    return Unspeakable()


def yields(x, rng):
    yield x + rng.laplace()


async def awaits(x, rng):
    return x + rng.laplace()


def contains_itself(x, rng):
    output = []
    output.append(output)
    return output


def maps(x, rng, size):
    return map(float, rng.random(size))


@pytest.mark.parametrize("time_limit", [None, 60.0])
@pytest.mark.parametrize(
    ("mechanism", "words"),
    [
        (leaves, "raised on every run: SystemExit: out of service"),
        (raises_without_words, "Unspeakable: (no message)"),
        (yields, "returned a generator, which has not run; return list(...) of it"),
        (awaits, "returned a coroutine"),
        (maps, "returned a map, which has not run"),
        (contains_itself, "contains itself"),
    ],
)
def test_what_is_no_output_is_named(mechanism, words, time_limit):
    result = estimate(blackbox(mechanism), PAIR, Sampling(samples=500, time_limit=time_limit))
    assert result.lower == 0.0
    assert words in result.notes[0]


def large(x, rng):
    return np.full(300_000, x + rng.laplace())


def large_together(x, rng, size):
    return np.full((size, 20_000), x) + rng.laplace(size=size)[:, None]


@pytest.mark.slow
def test_large_outputs_are_not_held_together():
    tracemalloc.start()
    result = estimate(blackbox(large), PAIR, Sampling(samples=400, time_limit=None))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert result.lower > 0.1
    assert peak < 500e6


def test_blocks_of_wide_outputs_are_small():
    tried = blackbox(large_together).draw(0.0, np.random.SeedSequence(1), 10)
    assert tried.width == 20_000
    blocks = Blocks(blackbox(large_together), ((0.0, 1.0),), 0, width=tried.width)
    assert sum(blocks.sizes(10_000)) == 10_000
    assert max(blocks.sizes(10_000)) * tried.width <= 2**26


def takes_a_second(x, rng):
    time.sleep(1.0)
    return x + rng.laplace()


def test_too_little_time_is_told_at_once():
    started = time.monotonic()
    result = estimate(blackbox(takes_a_second), PAIR, Sampling(samples=1000, time_limit=60.0))
    assert time.monotonic() - started < 30
    assert "fit the time limit of 60 s; at least 100 are needed" in result.notes[-1]


def takes_a_while(x, rng):
    time.sleep(0.02)
    return rng.random() < 0.2 + 0.7 * x


@pytest.mark.slow
def test_what_is_measured_when_time_ends_still_counts():
    """The blocks are small where time is short, so that stopping between them loses little."""
    result = estimate(blackbox(takes_a_while), PAIR, Sampling(samples=10**6, time_limit=15.0))
    assert result.measured > 0
    assert result.lower > 0.3


@pytest.mark.slow
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
from dpest.engines.blackbox.blocks import Blocks

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
