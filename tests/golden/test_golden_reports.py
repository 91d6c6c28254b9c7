"""Reports as they are printed and as JSON, against files beside this one.

After an intended change run this file as a script: it writes the files anew.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpest

HERE = Path(__file__).parent


def thresholded_response(x, rng, keep=0.75):
    """Tells whether x is positive, or lies."""
    return bool(x > 0) if rng.random() < keep else bool(x <= 0)


def audits() -> dict[str, Any]:
    """The three reports: a claim that holds, one that is refuted, and a listed pair."""
    return {
        "holds": dpest.audit(
            dpest.zoo.svt1, dpest.reals(3), dpest.linf(1), claim=0.1, params={"eps": 0.1}
        ),
        "refuted": dpest.audit(
            dpest.zoo.report_noisy_max4, dpest.reals(2), dpest.linf(1), claim=0.1,
            params={"eps": 0.1},
        ),
        "pair": dpest.audit(
            thresholded_response, dpest.reals(1), dpest.pairs([(1.0, -1.0)]), claim=1.0
        ),
    }  # fmt: skip


def shown(report: Any) -> str:
    """The report as text, and its JSON without the time and the proof's inner parts."""
    data = report.to_json()
    del data["seconds"]
    data["proof"] = data["proof"] and sorted(data["proof"])
    text = str(report).replace(str(HERE.parents[1]) + "/", "")
    lines = [line for line in text.splitlines() if "seconds" not in line]
    return "\n".join([*lines, "", json.dumps(_rounded(data), indent=1), ""])


def _rounded(value: Any) -> Any:
    """Numbers to 9 digits: the last ones differ between machines."""
    if isinstance(value, dict):
        return {k: _rounded(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_rounded(v) for v in value]
    return float(f"{value:.9g}") if isinstance(value, (float, np.floating)) else value


@pytest.fixture(scope="module")
def reports() -> dict[str, Any]:
    return audits()


@pytest.mark.parametrize("name", ["holds", "refuted", "pair"])
def test_report_is_the_golden_one(name, reports):
    assert shown(reports[name]) == (HERE / f"{name}.txt").read_text()


if __name__ == "__main__":
    for name, report in audits().items():
        (HERE / f"{name}.txt").write_text(shown(report))
