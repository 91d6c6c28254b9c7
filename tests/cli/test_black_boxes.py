"""`dpest audit` of what can only be run: programs of other languages, and how it is steered."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time

import pytest

AWK = """\
BEGIN { srand(ENVIRON["DPEST_SEED"] % 1000000007) }
{ print ($1 == 1) != (rand() < 0.25) }
"""
MECHANISMS = """\
import random
import time

def rounded(x, rng):
    return round(float(x) + rng.laplace(scale=2.0))

def hidden(x, rng):
    return x + random.gauss(0, 0.5)

def vectorised(x, rng, size):
    return x + rng.laplace(scale=10.0, size=size)

def alone(x):
    return x + random.expovariate(2.0)

def stuck(x, rng):
    while True:
        time.sleep(0.1)

def chatty(x, rng):
    print("debugging")
    return rng.random() < 0.5

def slow(x, rng, size):
    time.sleep(size / 20_000)
    return x + rng.laplace(size=size)
"""
ONE = ("--inputs", "reals:1", "--neighbors", "l1:1")
BITS = ("--inputs", "integers:1:0:1", "--neighbors", "l1:1")
HERE = ("--time-limit", "none")


@pytest.fixture
def boxes(here):
    (here / "boxes.py").write_text(MECHANISMS)
    (here / "flip.awk").write_text(AWK)
    return here


@pytest.mark.skipif(shutil.which("awk") is None, reason="needs awk")
@pytest.mark.parametrize(("claim", "code"), [("0.5", 1), ("1.1", 3), (None, 0)])
def test_a_program_of_another_language(run, boxes, claim, code):
    """Randomised response that lies with probability 1/4 loses log(3)."""
    claimed = ("--claim", claim) if claim else ()
    result = run("audit", "--command", "awk -f flip.awk", *BITS, *claimed, *HERE,
                 "--samples", "20000", "--json")  # fmt: skip
    found = json.loads(result.out)
    assert result.code == code
    assert 0.5 < found["lower"] < 1.0987
    assert (found["lower_status"], found["upper_status"]) == ("statistical", "none")
    assert (found["method"], found["upper"]) == ("blackbox", "inf")
    assert found["mechanism"] == "awk -f flip.awk"
    assert found["witness"]["event"] in ("output >= 1", "output <= 0")


def test_a_program_that_fails_says_what_it_said(run, boxes):
    (boxes / "fails.py").write_text("import sys\nsys.exit('no database')\n")
    result = run("audit", "--command", f"{sys.executable} fails.py", *ONE, *HERE, "--claim", "1")
    assert result.code == 3
    assert "ended with exit code 1: no database" in result.out


def test_a_function_that_cannot_be_traced_is_run(run, boxes):
    result = run("audit", "boxes.py::rounded", *ONE, "--claim", "0.2", "--samples", "2e4", *HERE)
    assert result.code == 1
    assert "it could not be traced, so it was run as a black box: " in result.out
    assert "rounding" in result.out
    assert result.err == ""


def test_hidden_randomness_is_run_with_a_warning(run, boxes):
    result = run("audit", "boxes.py::hidden", *ONE, "--claim", "0.2", "--samples", "2e4", *HERE)
    assert result.code == 1
    assert "does not come from rng" in result.out


@pytest.mark.parametrize("name", ["vectorised", "alone"])
def test_other_signatures_are_run_when_asked_for(run, boxes, name):
    result = run("audit", f"boxes.py::{name}", *ONE, "--engine", "blackbox", *HERE,
                 "--samples", "20000", "--confidence", "0.99", "--json")  # fmt: skip
    found = json.loads(result.out)
    assert result.code == 0
    assert found["lower"] > 0.05
    assert found["witness"]["confidence"] == 0.99


def test_a_function_that_makes_many_runs_is_run_by_itself(run, boxes):
    words = ("audit", "boxes.py::vectorised", *ONE, "--claim", "0.05", "--samples", "2e4")
    result = run(*words, *HERE)
    assert result.code == 1
    assert "so it was run as a black box" in result.out


def test_low_bits_refute_a_textbook_sampler(run, boxes):
    result = run("audit", "boxes.py::vectorised", "--inputs", "reals:1",
                 "--neighbors", "pairs:[0,1]", "--claim", "0.1", "--low-bits",
                 "--samples", "50000", *HERE)  # fmt: skip
    assert result.code == 1
    assert "about doubles" in result.out


def test_engines_and_seeds(run, boxes):
    words = ("audit", "laplace_mechanism", "--samples", "20000", "--json")
    by_engine = {
        engine: json.loads(run(*words, "--engine", engine).out)
        for engine in ("analytic", "proof", "exact", "sampling")
    }
    methods = {engine: found["method"] for engine, found in by_engine.items()}
    assert methods == {
        "analytic": "proof and witness", "proof": "proof", "exact": "witness",
        "sampling": "sampling",
    }  # fmt: skip
    lower = [
        json.loads(run(*words, "--engine", "sampling", "--seed", seed).out)["lower"]
        for seed in ("1", "1", "2")
    ]
    assert lower[0] == lower[1] != lower[2]


def test_what_never_returns_meets_the_time_limit(run, boxes):
    started = time.monotonic()
    result = run("audit", "boxes.py::stuck", *ONE, "--claim", "1", "--engine", "blackbox",
                 "--time-limit", "3")  # fmt: skip
    assert time.monotonic() - started < 60
    assert result.code == 3
    assert "the time limit of 3 s passed" in result.out


def test_what_prints_does_not_spoil_the_json(run, boxes):
    result = run("audit", "boxes.py::chatty", *ONE, "--engine", "blackbox", "--samples", "2000",
                 "--json", *HERE)  # fmt: skip
    assert any("printed" in note for note in json.loads(result.out)["notes"])


@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
def test_ctrl_c_stops_workers_and_is_quiet(boxes):
    process = subprocess.Popen(
        [sys.executable, "-m", "dpest.cli", "audit", "boxes.py::slow", *ONE,
         "--engine", "blackbox", "--samples", "100000000", "--jobs", "2"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    time.sleep(6)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in err
    assert out == ""
    for _ in range(100):
        try:
            os.killpg(process.pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.1)
    pytest.fail("a worker is left")


def test_a_cluster_gives_the_result_of_one_process(run, boxes):
    distributed = pytest.importorskip("distributed")
    words = ("audit", "boxes.py::rounded", *ONE, "--samples", "20000", "--seed", "3", "--json")
    alone = json.loads(run(*words, *HERE).out)
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster:
        there = ("--backend", "dask", "--scheduler", cluster.scheduler_address)
        shared = json.loads(run(*words, *there).out)
    for found in (alone, shared):
        del found["seconds"]
    assert shared == alone


@pytest.mark.slow
def test_a_cluster_that_does_not_answer_is_named(run, boxes):
    result = run("audit", "boxes.py::rounded", *ONE, "--backend", "dask",
                 "--scheduler", "tcp://127.0.0.1:9")  # fmt: skip
    assert result.code == 2
    assert "no Dask scheduler answers there" in result.err
