"""Everything `blackbox` accepts, and how it refuses the rest."""

import functools
import random
import sys
import time

import numpy as np
import pytest

from dpest.engines.blackbox import Sampling, blackbox, estimate
from dpest.engines.blackbox.mechanism import BlackBox

SEED = np.random.SeedSequence(7)


def one_at_a_time(x, rng):
    return x + rng.laplace()


def many_at_once(x, rng, size):
    return x + rng.laplace(size=size)


def own_randomness(x):
    return x + random.gauss(0, 1) + np.random.normal()


class Owner:
    def release(self, x, rng):
        return x + rng.laplace()


def values(box: BlackBox, x=1.0, size=50):
    return box.draw(x, SEED, size).outputs.values.ravel().tolist()


@pytest.mark.parametrize(
    "box",
    [
        blackbox(one_at_a_time),
        blackbox(many_at_once),
        blackbox(own_randomness),
        blackbox(Owner().release),
        blackbox(Owner(), method="release"),
        blackbox(functools.partial(many_at_once)),
        blackbox(lambda data, generator: data + generator.laplace()),
        blackbox(lambda x, *, rng: x + rng.laplace()),
        blackbox(lambda x, rng, /: x + rng.laplace()),
        blackbox(lambda x, size, rng: x + rng.laplace(size=size)),
        blackbox(lambda x, size, generator: x + generator.laplace(size=size)),
        blackbox(lambda x, scale=1.0, rng=None: x + rng.laplace(scale=scale)),
        blackbox(functools.partial(lambda x, scale, rng: x + rng.laplace(scale=scale), scale=2.0)),
    ],
)
def test_each_kind_draws_the_same_from_the_same_seed(box):
    drawn = values(box)
    assert len(drawn) == 50
    assert len(set(drawn)) == 50
    assert drawn == values(box)


def test_conventions_are_recognised():
    assert blackbox(many_at_once).takes_size
    assert not blackbox(one_at_a_time).takes_size
    assert not blackbox(own_randomness).takes_rng


def test_global_generators_are_left_as_they_were():
    random.seed(3)
    np.random.seed(3)
    before = random.getstate(), np.random.get_state()[1].tolist()
    values(blackbox(own_randomness))
    assert (random.getstate(), np.random.get_state()[1].tolist()) == before


def test_runs_drawn_one_by_one_are_independent():
    def two(x, rng):
        return [rng.random(), rng.random()]

    drawn = blackbox(two).draw(0, SEED, 4000).outputs.values[:, :2]
    neighbours = np.hstack([drawn[:-1], drawn[1:]])
    correlations = np.corrcoef(neighbours.T)[np.triu_indices(4, 1)]
    assert np.abs(correlations).max() < 4 / np.sqrt(4000)
    low_bits = (drawn * 2**53).astype(np.int64) & 0xFFFF
    assert len(np.unique(low_bits)) > 0.9 * 65536 * (1 - np.exp(-8000 / 65536))


def test_runs_on_two_inputs_share_their_random_numbers_run_by_run():
    def hungry(x, rng):
        drawn = [rng.laplace() for _ in range(int(x))]
        return drawn[0]

    few = blackbox(hungry).draw(1, SEED, 20).outputs.values[:, 0]
    many = blackbox(hungry).draw(9, SEED, 20).outputs.values[:, 0]
    assert few.tolist() == many.tolist()


def test_a_function_may_change_its_input():
    def drains(x, rng):
        x[0] += rng.laplace()
        x += 100
        return float(x[0])

    def drains_together(x, rng, size):
        x += 100
        return x[0] + rng.laplace(size=size)

    given = np.zeros(2)
    for box in (blackbox(drains), blackbox(drains_together)):
        drawn = [v for _ in range(3) for v in values(box, given, 20)]
        assert np.ptp(drawn) < 60
        assert not given.any()


PROGRAM = """
import json, os, random, sys
random.seed(int(os.environ["DPEST_SEED"]))
for line in sys.stdin:
    x = json.loads(line)
    print(json.dumps([x[0] + random.choice([0, 0, 1]), None, "tag"]))
"""


def test_a_command_answers_lines_of_json():
    box = blackbox(command=[sys.executable, "-c", PROGRAM])
    first = box.draw(np.array([1.0]), SEED, 30)
    assert len(first.outputs) == 30
    assert first.outputs.spelled(0) in ("[1, None, 'tag']", "[2, None, 'tag']")
    assert first.outputs.keys(4).tolist() == box.draw([1.0], SEED, 30).outputs.keys(4).tolist()


def test_a_command_is_audited():
    box = blackbox(command=[sys.executable, "-c", PROGRAM])
    result = estimate(box, [([0.0], [1.0])], Sampling(samples=2000, time_limit=None))
    assert result.lower > 2
    assert result.complete


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("import sys; sys.exit('out of order')", "out of order"),
        ("print(1)", "answer every line"),
        ("import sys\nfor line in sys.stdin: print('{')", "not JSON"),
        ("while True: print(1)", "wrote more than"),
        ("import sys\nsys.stdout.buffer.write(bytes([255]) * 99)", "not JSON"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "was killed by SIGKILL"),
    ],
)
def test_a_failing_command_says_what_happened(code, words):
    box = blackbox(command=[sys.executable, "-c", code])
    result = estimate(box, [(0.0, 1.0)], Sampling(samples=1000, time_limit=None))
    assert not result.complete
    assert result.lower == 0.0
    assert words in result.notes[0]


def test_what_a_command_leaves_running_is_ended():
    code = "import subprocess, sys; subprocess.Popen(['sleep', '300']); sys.exit('enough')"
    box, started = blackbox(command=[sys.executable, "-c", code]), time.monotonic()
    result = estimate(box, [(0.0, 1.0)], Sampling(samples=1000, time_limit=None))
    assert "enough" in result.notes[0]
    assert time.monotonic() - started < 60


def test_a_command_may_complain_at_length():
    code = "import sys\nfor line in sys.stdin: print('e' * 5000, file=sys.stderr); print(line)"
    box = blackbox(
        command=[sys.executable, "-c", code.replace("print(line)", "print(line, end='')")]
    )
    assert values(box, 4.0, 100) == [4.0] * 100


def test_a_command_that_does_not_exist():
    with pytest.raises(ValueError, match="no such program"):
        blackbox(command=["no-such-program-anywhere"])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "either a function or command"),
        ({"mechanism": one_at_a_time, "command": "x"}, "one of them"),
        ({"mechanism": 3.0}, "not callable"),
        ({"mechanism": Owner(), "method": "nothing"}, "no such method"),
        ({"mechanism": lambda: 1}, "takes no argument"),
        ({"command": []}, "give the program"),
    ],
)
def test_bad_arguments_are_refused(arguments, words):
    with pytest.raises((TypeError, ValueError), match=words):
        blackbox(**arguments)
