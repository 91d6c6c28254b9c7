from types import SimpleNamespace

import pytest

from dpest.cli import main

MECHANISMS = '''
import numpy as np

def counts(x, rng, eps=0.1):
    return x + rng.laplace(scale=1 / eps, size=len(x))

def one(x, rng, eps=0.1):
    return x + rng.laplace(scale=1 / eps)

def coin(x, rng, keep=0.75):
    return x if rng.random() < keep else "other"

def no_rng(x):
    return x

def zero_scale(x, rng):
    return x + rng.laplace(scale=0)

def negative_scale(x, rng):
    return x + rng.normal(scale=-2.0)

def out_of_range(x, rng):
    return x[99] + rng.laplace(scale=1)

def hidden(x, rng):
    return x + np.random.laplace(size=len(x))

def weights(x, rng):
    return rng.choice(2, p=[0.7, 0.7]) + x

def remainder(x, rng):
    return (x + rng.laplace(scale=1, size=len(x))) % 2

value = 3
'''


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A directory with a file of mechanisms in it, as a user would have."""
    (tmp_path / "mechanisms.py").write_text(MECHANISMS)
    (tmp_path / "broken.py").write_text("def f(:\n")
    (tmp_path / "needs.py").write_text("import no_such_module_anywhere\n")
    (tmp_path / "null.json").write_text('{"proof": null}')
    (tmp_path / "notes.txt").write_text("not python")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run(here, capsys):
    """Run a command as typed: its exit code, output and errors."""

    def command(*arguments):
        capsys.readouterr()
        code = main(list(arguments))
        out, err = capsys.readouterr()
        return SimpleNamespace(code=code, out=out, err=err)

    return command
