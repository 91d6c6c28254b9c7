"""Every script in examples/ runs from beginning to end and draws a picture."""

import runpy
import sys
from pathlib import Path

import pytest

SCRIPTS = sorted((Path(__file__).parents[2] / "examples").glob("*.py"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_it_runs_and_draws(script, tmp_path, monkeypatch):
    import matplotlib.pyplot as plt

    plt.switch_backend("agg")
    plt.close("all")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    runpy.run_path(str(script), run_name="__main__")
    assert plt.get_fignums()
    plt.close("all")
