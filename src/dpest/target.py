"""Which mechanism is meant: a name of the zoo, or path/file.py::function."""

from __future__ import annotations

import importlib.util
import inspect
import sys
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from dpest.inputs import Inputs
from dpest.neighbors import Neighbors
from dpest.zoo import ENTRIES, find


@dataclass(frozen=True)
class Target:
    """A mechanism, with what is registered about it where it comes from the zoo."""

    function: Callable[..., Any]
    title: str
    file: str
    inputs: Inputs | None = None
    neighbors: Neighbors | None = None
    claim: float | None = None
    params: Mapping[str, Any] = field(default_factory=dict)


class MechanismFailed(ValueError):
    """The user's own code raised an exception."""


def target_of(text: str) -> Target:
    """The mechanism behind the text."""
    path, separator, name = text.rpartition("::")
    if separator:
        return Target(_function(Path(path), name), name, path)
    entry = find(text) or _bug(text)
    if isinstance(entry, Target):
        return entry
    if entry is None and text.endswith(".py"):
        raise ValueError(f"name a function of the file as well: {text}::function")
    if entry is None:
        raise ValueError(
            f"unknown mechanism {text!r}: `dpest list` shows the {len(ENTRIES)} known ones, and "
            "your own is path/file.py::function"
        )
    return Target(
        entry.function, entry.title, inspect.getfile(entry.function), entry.inputs,
        entry.neighbors, entry.claim, entry.params,
    )  # fmt: skip


def _bug(text: str) -> Target | None:
    """A mechanism of dpest.zoo.found, wrong or right, as it was found."""
    from dpest.zoo.found import BUGS

    for bug in BUGS:
        for function in (bug.wrong, bug.right):
            if function.__name__ == text:
                file = inspect.getfile(function)
                return Target(function, text, file, bug.inputs, bug.neighbors, bug.claim)
    return None


def typed_name(function: Callable[..., Any]) -> str | None:
    """What `target_of` reads as this function; None where it is not at the top of a file."""
    name = getattr(function, "__name__", "")
    if any(entry.function is function for entry in ENTRIES):
        return name
    if not inspect.isfunction(function) or function.__qualname__ != name or name == "<lambda>":
        return None
    path = Path(function.__code__.co_filename)
    if not path.is_file():
        return None
    here = Path.cwd()
    return f"{path.relative_to(here) if path.is_relative_to(here) else path}::{name}"


def check_call(target: Target, params: Mapping[str, Any], together: bool = False) -> None:
    """Refuse a function that cannot be called as f(x, rng, **params).

    `together` allows f(x, rng, size, **params) too, which makes many runs at once.
    """
    signature = inspect.signature(target.function)
    size = {"size": 1} if together and "size" in signature.parameters else {}
    try:
        signature.bind(None, None, **{**size, **params})
    except TypeError as error:
        takes = ", ".join(signature.parameters)
        gets = ", ".join(["x", "rng", *(f"{name}={value!r}" for name, value in params.items())])
        name = target.function.__name__
        raise TypeError(f"{name}({takes}) cannot be called as {name}({gets}): {error}") from None


def blame(error: Exception, file: str) -> Exception:
    """The error as the user's own, with its line, where it was raised below the user's file."""
    full = str(Path(file).resolve())
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == full]
    if not frames:
        return error
    line = frames[-1].line or ""
    quote = f", in `{line}`" if line and not line.startswith("raise") else ""
    place = f"{file}:{frames[-1].lineno}"
    return MechanismFailed(f"{place}: {type(error).__name__}: {error}{quote}")


def _function(path: Path, name: str) -> Callable[..., Any]:
    module = _module(path)
    function = getattr(module, name, None)
    if not callable(function):
        known = [k for k, v in vars(module).items() if inspect.isfunction(v)]
        own = [k for k in known if vars(module)[k].__module__ == module.__name__]
        defined = ", ".join(own) or "no functions"
        raise ValueError(f"{path} has no function {name!r}; it defines {defined}")
    return function


def _module(path: Path) -> ModuleType:
    """The user's file, run as a module; its neighbours can be imported as usual."""
    if not path.is_file():
        raise FileNotFoundError(f"no such file: {path}")
    spec = importlib.util.spec_from_file_location(path.stem, path.resolve())
    if spec is None or spec.loader is None:
        raise ValueError(f"{path} is not a Python file; its name must end in .py")
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(path.resolve().parent))
    try:
        spec.loader.exec_module(module)
    except SyntaxError as error:
        raise MechanismFailed(f"{error.filename}:{error.lineno}: {error.msg}") from None
    except Exception as error:
        raise blame(error, str(path)) from None
    finally:
        sys.path.pop(0)
    return module
