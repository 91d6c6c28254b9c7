"""How much privacy does a numpy function really lose? A proved and a witnessed bound."""

from __future__ import annotations

import importlib
import sys
from functools import cached_property
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpest.audit import audit
    from dpest.check import check
    from dpest.claims import approx, pure, renyi, zcdp
    from dpest.distribution import distribution
    from dpest.engines.blackbox import blackbox
    from dpest.inputs import integers, one_of, reals
    from dpest.neighbors import any_pair, l1, l2, linf, pairs
    from dpest.sample import sample
    from dpest.samplers import discrete_gaussian, discrete_laplace
    from dpest.testing.assertion import assert_private
    from dpest.trace import trace

__version__ = "0.1.0"

_HOME = {
    "assert_private": "dpest.testing.assertion",
    "audit": "dpest.audit",
    "blackbox": "dpest.engines.blackbox",
    "check": "dpest.check",
    "pure": "dpest.claims",
    "approx": "dpest.claims",
    "renyi": "dpest.claims",
    "zcdp": "dpest.claims",
    "reals": "dpest.inputs",
    "integers": "dpest.inputs",
    "one_of": "dpest.inputs",
    "l1": "dpest.neighbors",
    "l2": "dpest.neighbors",
    "linf": "dpest.neighbors",
    "any_pair": "dpest.neighbors",
    "pairs": "dpest.neighbors",
    "distribution": "dpest.distribution",
    "sample": "dpest.sample",
    "discrete_laplace": "dpest.samplers",
    "discrete_gaussian": "dpest.samplers",
    "trace": "dpest.trace",
}
"""Where each public name lives; loaded when first used, so that the command line starts at once."""

_SUBPACKAGES = ("rappor", "zoo")

__all__ = [
    "any_pair", "approx", "assert_private", "audit", "blackbox", "check", "discrete_gaussian",
    "discrete_laplace", "distribution", "integers", "l1", "l2", "linf", "one_of", "pairs", "pure",
    "reals", "renyi", "sample", "trace", "zcdp",
]  # fmt: skip


class _Name:
    """A public name, loaded when first used.

    It stays what it is when the submodule of the same name (`dpest.audit`) is imported, which
    would otherwise put the module in the function's place.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    @cached_property
    def _value(self) -> Any:
        home = _HOME[self._name]
        return getattr(importlib.import_module(home), self._name)

    def __get__(self, package: Any, owner: Any = None) -> Any:
        return self._value

    def __set__(self, package: Any, value: Any) -> None:
        """Ignored: importing a submodule tries to set it as an attribute here."""


class _Package(ModuleType):
    """The package with its public names as attributes."""

    def __getattr__(self, name: str) -> Any:
        if name in _SUBPACKAGES:
            return importlib.import_module(f"dpest.{name}")
        raise AttributeError(f"module 'dpest' has no attribute {name!r}")

    def __dir__(self) -> list[str]:
        return sorted({*self.__dict__, *_HOME, *_SUBPACKAGES})


for _name in _HOME:
    setattr(_Package, _name, _Name(_name))
sys.modules[__name__].__class__ = _Package
