"""`dpest.audit` and `dpest.trace` are functions, although modules have these names too."""

import importlib
from types import ModuleType

import pytest

import dpest


@pytest.mark.parametrize("name", dpest.__all__)
def test_public_names_are_not_modules(name):
    importlib.import_module("dpest.audit")
    importlib.import_module("dpest.trace.tracer")
    assert not isinstance(getattr(dpest, name), ModuleType)


def test_packages_are_reached_by_attribute():
    assert dpest.zoo.svt1.__name__ == "svt1"


def test_unknown_names_are_named():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = dpest.nothing
