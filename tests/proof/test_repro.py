"""Snippets run on their own, where there is no dpest, and show what the witness says."""

import os
import re
import subprocess
import sys

import pytest

import dpest
from dpest.zoo.found import BUGS


@pytest.mark.parametrize(
    "name", ["last_bit_unprotected", "budget_spent_twice", "true_values_pass", "half_the_noise"]
)
def test_a_snippet_shows_the_violation(name, tmp_path):
    bug = next(bug for bug in BUGS if bug.name == name)
    report = dpest.audit(bug.wrong, bug.inputs, bug.neighbors, bug.claim)
    (tmp_path / "dpest.py").write_text("raise ImportError\n")
    done = subprocess.run(
        [sys.executable, "-c", report.repro()], capture_output=True, text=True, check=True,
        env={**os.environ, "PYTHONPATH": str(tmp_path)}, cwd=tmp_path,
    )  # fmt: skip
    p, p_prime = (float(v) for v in re.findall(r"^P'? = ([\d.e-]+)", done.stdout, re.M))
    assert p == pytest.approx(report.witness.p, rel=0.1)
    assert p_prime == pytest.approx(report.witness.p_prime, rel=0.1)
