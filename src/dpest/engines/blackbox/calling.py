"""How a function is called: which of its parameters is the generator, and what happens on the way.

Each run gets an input of its own, so a function may change what it is given. What it prints goes
nowhere, and how it raises is an output.
"""

from __future__ import annotations

import contextlib
import copy
import inspect
import io
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpest.engines.blackbox.coding import Raised

STRIDE = 0x9E3779B97F4A7C15F39CC0605CEDC835
"""Steps of the generator from one run to the next: the golden ratio of its period."""
MESSAGE_LIMIT = 200
_UNCHANGING = (int, float, str, bytes, type(None))
_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


@dataclass(frozen=True)
class Convention:
    """What a function takes beside its input."""

    takes_rng: bool
    takes_size: bool
    rng: str = ""
    """The name under which the generator is handed over; empty where it comes second."""

    def called(self, function: Callable[..., Any], x: Any, rng: Any, **size: int) -> Any:
        """The function's result on an input of its own."""
        if not self.takes_rng:
            return function(_own(x), **size)
        if self.rng:
            return function(_own(x), **{self.rng: rng}, **size)
        return function(_own(x), rng, **size)


def convention_of(function: Callable[..., Any], name: str) -> Convention:
    """How the function wants to be called, by the names and the order of its parameters."""
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return Convention(takes_rng=False, takes_size=False)
    if not parameters:
        raise TypeError(f"{name}() takes no argument; a mechanism takes its input x first")
    wanted = [p for p in list(parameters.values())[1:] if p.name != "size" and _is_wanted(p)]
    if not wanted:
        return Convention(False, "size" in parameters)
    by_name = wanted[0].kind in _NAMED
    return Convention(True, "size" in parameters, wanted[0].name if by_name else "")


def _is_wanted(parameter: inspect.Parameter) -> bool:
    """Whether it is the generator, or has to be given and may be it."""
    if parameter.name == "rng":
        return True
    return parameter.default is parameter.empty and parameter.kind in (
        parameter.POSITIONAL_ONLY, *_NAMED
    )  # fmt: skip


def _own(x: Any) -> Any:
    """An input that may be changed without a trace."""
    return x if isinstance(x, _UNCHANGING) else copy.deepcopy(x)


def outcome(call: Callable[..., Any], *arguments: Any) -> Any:
    """What one run returns, or the exception that it ends in."""
    try:
        return call(*arguments)
    except (Exception, SystemExit) as error:
        return Raised(type(error).__name__, message_of(error))


def message_of(error: BaseException) -> str:
    """What an exception says, if it can say anything."""
    try:
        return str(error)[:MESSAGE_LIMIT]
    except Exception:
        return "(no message)"


def streams(seed: np.random.SeedSequence, size: int) -> Iterator[np.random.Generator]:
    """One generator, moved to a place of its own for each run.

    So the random numbers of a run do not depend on how many the runs before it used, and runs on
    two inputs can share theirs. The stride is odd: places a power of two apart would be alike.
    """
    bits = np.random.PCG64(seed)
    start = bits.state
    rng = np.random.Generator(bits)
    for i in range(size):
        bits.state = start
        bits.advance(i * STRIDE % 2**128)
        yield rng


@contextlib.contextmanager
def seeded_globals(seed: np.random.SeedSequence) -> Iterator[None]:
    """Make code that draws from numpy's or Python's global generator reproducible."""
    kept, kept_numpy = random.getstate(), np.random.get_state()
    words = seed.generate_state(4)
    random.seed(int(words[0]))
    np.random.seed(words[1:])
    try:
        yield
    finally:
        random.setstate(kept)
        np.random.set_state(kept_numpy)


class Sink(io.TextIOBase):
    """Counts what is printed and keeps none of it; cannot be closed."""

    def __init__(self) -> None:
        super().__init__()
        self.printed = 0

    def write(self, text: str) -> int:
        self.printed += len(text)
        return len(text)

    def close(self) -> None:
        """Stays open for whoever prints next."""

    @property
    def buffer(self) -> io.BufferedIOBase:
        """Where bytes may be written."""
        return io.BytesIO()


@contextlib.contextmanager
def silenced() -> Iterator[Sink]:
    """Drop what is printed, warnings included."""
    sink = Sink()
    with contextlib.redirect_stdout(sink), contextlib.redirect_stderr(sink):
        yield sink
