"""An audit says the same in every process: whatever the hash seed, the addresses of objects and
the instructions that sums of floats are made of."""

import os
import subprocess
import sys

SCRIPT = """
import json
import numpy as np
import dpest
from dpest.zoo.found import BUGS

def best_score(scores, rng, eps=1.0):
    noisy = scores + rng.laplace(scale=2 / eps, size=len(scores))
    winner = np.argmax(noisy)
    return winner, noisy[winner]

audits = [(best_score, dpest.reals(4), dpest.linf(1), 1.0, {})]
audits += [(e.function, e.inputs, e.neighbors, e.claim, e.params) for e in dpest.zoo.ENTRIES
           if e.name in ("svt3", "report_noisy_max3", "noisy_hist1", "rappor")]
audits += [(bug.wrong, bug.inputs, bug.neighbors, bug.claim, {}) for bug in BUGS[-3:]]
for function, inputs, neighbors, claim, params in audits:
    report = dpest.audit(function, inputs, neighbors, claim, params=params)
    found = report.to_json()
    del found["seconds"]
    print(json.dumps(found))
    print(report)
    print(report.witness.balls)
"""


def test_reports_are_the_same_in_every_process():
    settings = [
        {"PYTHONHASHSEED": "0"},
        {"PYTHONHASHSEED": "1", "OPENBLAS_CORETYPE": "SkylakeX"},
        {"PYTHONHASHSEED": "2", "OPENBLAS_CORETYPE": "Nehalem", "OPENBLAS_NUM_THREADS": "1"},
        {"PYTHONHASHSEED": "random", "NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512F AVX512_SKX"},
    ]
    running = [
        subprocess.Popen(
            [sys.executable, "-W", "ignore", "-c", SCRIPT], env={**os.environ, **setting},
            stdout=subprocess.PIPE, text=True,
        )
        for setting in settings
    ]  # fmt: skip
    printed = [process.communicate()[0] for process in running]
    assert all(process.returncode == 0 for process in running)
    assert len(printed[0].splitlines()) > 50
    assert set(printed) == {printed[0]}
