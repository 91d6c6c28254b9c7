"""What the user's module sees while its function is traced.

Names in the module's globals are replaced for the time of the trace: numpy by a view whose array
makers keep symbols, `max`, `float` and the like by versions that know symbols, and every source
of randomness other than `rng` by a refusal. Nothing outside that module changes.
"""

from __future__ import annotations

import math
import os
import random
import secrets
import sys
import sysconfig
import types
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from dpest.program import Source
from dpest.trace.refusals import DivergingReplay, HiddenRandomness
from dpest.trace.stand_ins import BUILTINS, LINALG, MATH, NUMPY, View

_HIDDEN_MODULES = (random, secrets)
_ALLOWED_RANDOM = {"Generator", "SeedSequence", "BitGenerator", "default_rng"}


def _numpy_name(name: str) -> Any:
    if name == "random":
        return View(np.random, _numpy_random_name)
    if name == "linalg":
        return View(np.linalg, lambda n: LINALG.get(n) or getattr(np.linalg, n))
    return NUMPY[name] if name in NUMPY else getattr(np, name)


def _numpy_random_name(name: str) -> Any:
    if name == "default_rng":
        return _default_rng
    return getattr(np.random, name) if name in _ALLOWED_RANDOM else _hidden(f"np.random.{name}")


def _default_rng(seed: Any = None) -> Any:
    if isinstance(seed, np.random.Generator):
        return seed
    raise HiddenRandomness("np.random.default_rng() makes a generator of its own")


def _hidden(name: str) -> Callable[..., Any]:
    def refuse(*_: Any, **__: Any) -> Any:
        raise HiddenRandomness(f"{name} is randomness that does not come from rng")

    return refuse


def replacement(value: Any) -> Any:
    """What stands in for a global of the user's module, or the value itself."""
    if value is np:
        return View(np, _numpy_name)
    if value is math:
        return View(math, lambda name: MATH.get(name) or getattr(math, name))
    if value is np.random:
        return View(np.random, _numpy_random_name)
    if value is np.random.default_rng:
        return _default_rng
    if any(value is module for module in _HIDDEN_MODULES):
        return View(value, lambda name: _hidden(f"{value.__name__}.{name}"))
    owner = getattr(value, "__self__", None)
    if isinstance(owner, (random.Random, np.random.RandomState)):
        return _hidden(getattr(value, "__name__", "this function"))
    if callable(value):
        name = getattr(value, "__name__", "")
        for module, known in ((np, NUMPY), (math, MATH), (np.linalg, LINALG)):
            if name in known and getattr(module, name, None) is value:
                return known[name]
    return value


@contextmanager
def traced_names(names: dict[str, Any]) -> Iterator[None]:
    """The globals of the user's module, and of the modules of his that it uses, replaced."""
    with ExitStack() as stack:
        for found in _reachable(names):
            stack.enter_context(_replaced(found))
        yield


@contextmanager
def _replaced(names: dict[str, Any]) -> Iterator[None]:
    before = dict(names)
    names.update({k: v for k, v in BUILTINS.items() if k not in names})
    for name, value in before.items():
        stand_in = replacement(value)
        if stand_in is not value:
            names[name] = stand_in
    try:
        yield
    finally:
        for name in BUILTINS:
            if name not in before:
                names.pop(name, None)
        names.update(before)


def _reachable(names: dict[str, Any]) -> list[dict[str, Any]]:
    """These globals and those of every module of the user's own that they lead to."""
    found = [names]
    for current in found:
        for value in list(current.values()):
            other = _names_behind(value)
            if other is not None and not any(other is known for known in found):
                found.append(other)
    return found


def _names_behind(value: Any) -> dict[str, Any] | None:
    """The globals of the module that a value comes from, if that module is the user's."""
    if not isinstance(value, types.ModuleType):
        home = getattr(value, "__module__", None)
        value = sys.modules.get(home) if isinstance(home, str) else None
    names = getattr(value, "__dict__", {})
    file = names.get("__file__")
    own = isinstance(file, str) and not file.startswith(_FOREIGN)
    return names if own else None


_PACKAGE = str(Path(__file__).resolve().parents[1])
_FOREIGN = (
    *(sysconfig.get_path(key) for key in ("stdlib", "platstdlib", "purelib", "platlib")),
    *(str(Path(_PACKAGE) / part) for part in sorted(os.listdir(_PACKAGE)) if part != "zoo"),
)


@contextmanager
def watched_randomness(source: Source | None) -> Iterator[None]:
    """Refuse when a run moved a global random generator, wherever that happened."""
    before = _random_states()
    try:
        yield
    except DivergingReplay:
        if _random_states() == before:
            raise
    if _random_states() != before:
        reason = "the function draws from a global random generator"
        raise HiddenRandomness(reason, source=source)


def _random_states() -> tuple[Any, ...]:
    state: Any = np.random.get_state(legacy=False)
    inner = state["state"]
    return random.getstate(), inner["key"].tobytes(), inner["pos"], state["gauss"]
