"""Every public name is on the reference pages, has a docstring, and nothing else is listed."""

import importlib
import inspect
import re
from pathlib import Path

import pytest
from numpy.random import Generator

from dpest.trace.rng import SymbolicGenerator

DOCS = Path(__file__).parents[2] / "docs"
LISTED = re.compile(r"^\.\. auto(?:function|class|data):: (\S+)$", re.M)
PAGES = {"dpest": "api.md", "dpest.rappor": "api-rappor.md", "dpest.zoo": "api-zoo.md"}


def listed(page):
    return LISTED.findall((DOCS / page).read_text())


def resolved(name):
    """The object that a dotted name stands for."""
    home, _, last = name.rpartition(".")
    return getattr(importlib.import_module(home), last)


@pytest.mark.parametrize("package", PAGES)
def test_every_public_name_is_listed_once(package):
    names = listed(PAGES[package])
    assert len(names) == len(set(names))
    public = {f"{package}.{name}" for name in importlib.import_module(package).__all__}
    assert public <= set(names), sorted(public - set(names))


@pytest.mark.parametrize("name", [name for page in PAGES.values() for name in listed(page)])
def test_every_listed_name_exists_and_says_what_it_is(name):
    thing = resolved(name)
    if inspect.isclass(thing) or inspect.isfunction(thing):
        assert inspect.getdoc(thing), f"{name} has no docstring"


def test_every_law_that_is_traced_is_listed():
    page = (DOCS / "operations.md").read_text()
    noise = page[page.index("## Noise") :]
    traced = {
        name for name, method in vars(SymbolicGenerator).items()
        if inspect.isfunction(method) and method.__name__ == name and name in dir(Generator)
    }  # fmt: skip
    listed = set(re.findall(r"`(\w+)`", noise))
    assert {name for name in traced if not name.startswith("_")} == listed - {"rng"}
