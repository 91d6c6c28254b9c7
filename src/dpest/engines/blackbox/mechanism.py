"""A mechanism of which only the outputs are known.

`blackbox` accepts a function `f(x, rng)`, one that draws many outputs at once `f(x, rng, size)`,
one that makes its own randomness `f(x)`, a method of an object, or a command. Whatever it is, the
rest of the package only calls `BlackBox.draw`.
"""

from __future__ import annotations

import functools
import itertools
import shlex
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from dpest.engines.blackbox.calling import (
    Convention,
    convention_of,
    message_of,
    outcome,
    seeded_globals,
    silenced,
    streams,
)
from dpest.engines.blackbox.coding import Raised, WrongOutputs, coded, coded_one_by_one
from dpest.engines.blackbox.command import Command, CommandError
from dpest.engines.blackbox.outputs import Outputs

VECTOR_BLOCK = 200_000
CALL_BLOCK = 5_000
MESSAGES_KEPT = 3


class MechanismError(RuntimeError):
    """The mechanism could not be run; the message says on which input and why."""


@dataclass(frozen=True)
class Block:
    """Outputs of one block of runs, and what went on beside them."""

    outputs: Outputs
    raised: int = 0
    raised_messages: tuple[str, ...] = ()
    printed: int = 0
    width: int = 1
    """Entries of an output before those beyond a limit are folded."""


class Mechanism(Protocol):
    """Something that can be run many times on an input: a black box, or a traced program."""

    @property
    def name(self) -> str: ...
    @property
    def block_size(self) -> int: ...
    @property
    def takes_size(self) -> bool: ...
    @property
    def low_bits(self) -> bool: ...
    @property
    def is_trusted(self) -> bool: ...
    def draw(self, x: Any, seed: np.random.SeedSequence, size: int) -> Block: ...
    def scorers(self, x: Any, x_prime: Any) -> Sequence[Any]: ...


@dataclass(frozen=True)
class BlackBox:
    """Something that turns an input into random outputs. Made by `blackbox`."""

    function: Callable[..., Any] | Command
    name: str
    convention: Convention
    low_bits: bool = False
    """Whether the last bits of floating-point outputs are looked at."""

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """The mechanism itself, as it is."""
        if isinstance(self.function, Command):
            raise TypeError(f"{self.name} is a program; it is run by an audit only")
        return self.function(*arguments, **named)

    @property
    def callable(self) -> Callable[..., Any] | None:
        """What is wrapped, where it is called as f(x, rng)."""
        if isinstance(self.function, Command) or self.takes_size or not self.takes_rng:
            return None
        return self.function

    is_trusted = False
    """Whether it may run in this process although there is a time limit."""

    @property
    def takes_rng(self) -> bool:
        """Whether it draws from a generator that it is given."""
        return self.convention.takes_rng

    @property
    def takes_size(self) -> bool:
        """Whether one call makes many runs."""
        return self.convention.takes_size

    def scorers(self, x: Any, x_prime: Any) -> Sequence[Any]:
        """What is known about the outputs before they are seen: nothing."""
        return ()

    def bound_to(self, params: Mapping[str, Any]) -> BlackBox:
        """The same mechanism with some of its parameters fixed."""
        if not params:
            return self
        if isinstance(self.function, Command):
            raise ValueError(
                f"params={dict(params)!r}: a command takes its parameters as words of the command"
            )
        function = functools.partial(self.function, **params)
        return replace(_function_box(function, self.name), low_bits=self.low_bits)

    @property
    def block_size(self) -> int:
        """Runs that are drawn and held in memory together."""
        return VECTOR_BLOCK if self.takes_size else CALL_BLOCK

    def draw(self, x: Any, seed: np.random.SeedSequence, size: int) -> Block:
        """`size` outputs on input `x`, the same for the same seed."""
        noted = _Noted()
        try:
            with silenced() as sink:
                outputs = self._drawn(x, seed, size, noted)
        except (CommandError, WrongOutputs) as error:
            raise MechanismError(str(error)) from error
        messages = tuple(noted.messages)[:MESSAGES_KEPT]
        width = max(noted.width, outputs.width)
        return Block(outputs, noted.raised, messages, sink.printed, width)

    def _drawn(self, x: Any, seed: np.random.SeedSequence, size: int, noted: _Noted) -> Outputs:
        if isinstance(self.function, Command):
            return coded_one_by_one(self.function.run(x, seed, size))
        if self.takes_size:
            together = self._draw_together(x, seed, size)
            noted.width = np.size(together) // size if isinstance(together, np.ndarray) else 1
            return coded(together, size)
        return coded_one_by_one(noted.seen(self._draw_one_by_one(x, seed, size)))

    def _draw_together(self, x: Any, seed: np.random.SeedSequence, size: int) -> Any:
        assert callable(self.function)
        rng = np.random.default_rng(seed)
        try:
            with seeded_globals(seed):
                return self.convention.called(self.function, x, rng, size=size)
        except (Exception, SystemExit) as error:
            raise MechanismError(
                f"{self.name} raised {type(error).__name__} ({message_of(error)}) on input "
                f"{shown(x)} with size={size}"
            ) from error

    def _draw_one_by_one(self, x: Any, seed: np.random.SeedSequence, size: int) -> Iterator[Any]:
        assert callable(self.function)
        call = functools.partial(self.convention.called, self.function, x)
        with seeded_globals(seed):
            for rng in streams(seed, size) if self.takes_rng else itertools.repeat(None, size):
                yield outcome(call, rng)


class _Noted:
    """How often runs raised, and what; how wide outputs are."""

    def __init__(self) -> None:
        self.raised = 0
        self.messages: dict[str, None] = {}
        self.width = 1

    def seen(self, outputs: Iterator[Any]) -> Iterator[Any]:
        """The same outputs, while exceptions among them are counted."""
        for output in outputs:
            if isinstance(output, Raised):
                self.raised += 1
                self.messages[f"{output.type_name}: {output.message}"] = None
            yield output


def blackbox(
    mechanism: Any = None,
    *,
    method: str | None = None,
    command: str | Sequence[str] | None = None,
    low_bits: bool = False,
) -> BlackBox:
    """Wrap a mechanism that is only to be called, never read.

    `mechanism` is `f(x, rng)`, `f(x, rng, size)` (a numpy-style function that returns `size`
    outputs along the first axis), `f(x)`, or an object together with the name of its `method`.
    `command` starts a program that answers each JSON line on its standard input (the input of the
    mechanism) with one JSON line (an output); `DPEST_SEED` in its environment is a seed to use.
    `low_bits` also looks at the last bits of floating-point outputs; a bound from those is about
    doubles, not about the real numbers that they stand for.
    """
    box = _box(mechanism, method, command)
    return replace(box, low_bits=low_bits or box.low_bits)


def _box(mechanism: Any, method: str | None, command: str | Sequence[str] | None) -> BlackBox:
    if (mechanism is None) == (command is None):
        raise TypeError("blackbox() takes either a function or command=[...], and one of them")
    if command is not None:
        return _command_box(command)
    if isinstance(mechanism, BlackBox):
        return mechanism
    if method is not None:
        mechanism = _method(mechanism, method)
    if not callable(mechanism):
        raise TypeError(
            f"blackbox({mechanism!r:.60}): not callable; pass a function, or an object with "
            'method="name"'
        )
    return _function_box(mechanism, _name(mechanism))


def _name(function: Any) -> str:
    return getattr(function, "__qualname__", None) or type(function).__name__


def _command_box(command: str | Sequence[str]) -> BlackBox:
    words = tuple(shlex.split(command) if isinstance(command, str) else command)
    if not words or not all(isinstance(word, str) for word in words):
        raise ValueError(f"command={command!r}: give the program and its arguments, as strings")
    if shutil.which(words[0]) is None:
        raise ValueError(
            f"command={list(words)}: no such program; check the path and that it is executable"
        )
    return BlackBox(Command(words), shlex.join(words), Convention(True, False))


def _method(owner: Any, name: str) -> Any:
    try:
        return getattr(owner, name)
    except AttributeError:
        raise ValueError(
            f"method={name!r}: {type(owner).__name__} objects have no such method"
        ) from None


def _function_box(function: Callable[..., Any], name: str) -> BlackBox:
    return BlackBox(function, name, convention_of(function, name))


def shown(x: Any) -> str:
    """An input as a person would write it."""
    return repr(x.tolist() if isinstance(x, np.ndarray) else x)[:120]
