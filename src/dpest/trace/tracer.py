"""trace(function, inputs) -> Program: run the function until every path has been taken."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import functools
import inspect
import linecache
import math
import numbers
import signal
import threading
import time
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from flint import fmpq

from dpest.inputs import Inputs, Integers, OneOf, Reals
from dpest.numbers.rational import exact
from dpest.program import Input, Leaf, Linear, Output, Path, Program, Source
from dpest.program.program import SLOT
from dpest.trace import symbol as scalar
from dpest.trace.array import SymbolArray, objects, vector
from dpest.trace.feasible import Bounds, Region
from dpest.trace.fork import Decision, Replay, Shared, running
from dpest.trace.graph import Graph
from dpest.trace.merge import merged
from dpest.trace.ranks import coarsened
from dpest.trace.refusals import (
    DivergingReplay,
    EndlessLoop,
    NeedsConcreteInput,
    NeedsConcreteNoise,
    Refusal,
    TooManyPaths,
    UnknownOutput,
    Unsupported,
    source_of,
)
from dpest.trace.rng import Draws, SymbolicGenerator
from dpest.trace.surroundings import traced_names, watched_randomness
from dpest.trace.symbol import Symbol
from dpest.trace.weights import Weight

MAX_PATHS = 16_384
"""A function with more paths is refused."""
RUN_SECONDS = 20
"""One run of the function may take this long."""
_GRAPH_RUNS = 40


def trace(function: Callable[..., Any], inputs: Inputs | int, **params: Any) -> Program:
    """Trace `function(x, rng, **params)` with symbolic inputs.

    `inputs` is a domain (`dpest.reals(n)`, ...) or just a number of inputs. Raises a `Refusal`
    that names the line where the function leaves the world of affine paths.
    """
    domain = Reals(inputs) if isinstance(inputs, int) else inputs
    if isinstance(domain, OneOf):
        raise NeedsConcreteInput(f"{domain} has no symbolic form")
    symbols = tuple(Input(k) for k in range(domain.size))
    return _Tracer(function, params, domain, symbols).run()


def trace_values(
    function: Callable[..., Any], values: Sequence[Any], **params: Any
) -> Program:
    """Trace the function once per concrete input; the paths of all of them are one program."""
    name = getattr(function, "__name__", type(function).__name__)
    draws: Draws = []
    shared = Shared()
    paths: list[Path] = []
    graph = None
    for variant, x in enumerate(values):
        tracer = _Tracer(function, params, None, (), x, draws, shared)
        program = tracer.run(probe=variant == 0)
        paths += [replace(path, variant=variant) for path in program.paths]
        graph = graph or program.graph
        if len(paths) > MAX_PATHS:
            raise TooManyPaths(f"{name} has more than {MAX_PATHS} paths over {len(values)} inputs")
    return Program((), tuple(paths), name, tuple(values), graph)


class _Tracer:
    """Runs the function along one path after another, depth first."""

    def __init__(
        self, function: Callable[..., Any], params: dict[str, Any],
        domain: Reals | Integers | None, symbols: tuple[Input, ...], x: Any = None,
        draws: Draws | None = None, shared: Shared | None = None,
    ) -> None:  # fmt: skip
        self.function = functools.partial(function, **params) if params else function
        self.name = getattr(function, "__name__", type(function).__name__)
        self.names = _globals_of(function)
        self.source = _source_of(function)
        self.domain, self.symbols, self.x = domain, symbols, x
        self.draws: Draws = [] if draws is None else draws
        self.shared = shared or Shared()
        self.graph = Graph()
        self.lines = [Linear.of(symbol) for symbol in symbols]
        self.bounds = {s: _exact_bounds(domain) for s in symbols} if domain else {}

    def run(self, probe: bool = True) -> Program:
        """The program; a plain array that noise is written into becomes one that can hold it."""
        try:
            return self._run(probe)
        except (Unsupported, NeedsConcreteNoise) as refusal:
            if not isinstance(self.x, np.ndarray) or self.x.dtype.kind not in "biuf":
                raise
            self.x = SymbolArray(objects(self.x), scalar.kind_of_dtype(self.x.dtype))
            self.graph = Graph()
            try:
                return self._run(probe)
            except Refusal:
                raise refusal from None

    def _run(self, probe: bool) -> Program:
        with traced_names(self.names), watched_randomness(self.source):
            if probe:
                self._probe()
            paths = merged(list(self._paths()))
        return Program(self.symbols, paths, self.name, graph=self.graph)

    def _probe(self) -> None:
        """Two runs that always take the last way: they find endless loops and hidden state."""
        first = self._once((), last=True, keep_graph=True)
        second = self._once((), last=True)
        if first[0].decisions != second[0].decisions or first[1] != second[1]:
            if (stranger := _stranger(first[1].output.skeleton)) is not None:
                raise UnknownOutput(_incomparable(stranger), source=self.source)
            raise DivergingReplay(
                "two runs on the same path gave different results", source=self.source
            )

    def _paths(self) -> Iterator[Path]:
        prefix: tuple[Decision, ...] | None = ()
        count = 0
        while prefix is not None:
            count += 1
            if count > MAX_PATHS:
                raise TooManyPaths(f"{self.name} has more than {MAX_PATHS} paths")
            replay, path = self._once(prefix, keep_graph=count <= _GRAPH_RUNS)
            if len(replay.decisions) < len(prefix):
                raise DivergingReplay(
                    "a run made fewer decisions than the run before it", source=self.source
                )
            yield path
            prefix = _next_prefix(replay)

    def _once(
        self, prefix: tuple[Decision, ...], last: bool = False, keep_graph: bool = False
    ) -> tuple[Replay, Path]:
        graph = self.graph if keep_graph else None
        replay = Replay(prefix, Region(self.bounds), self.shared, graph, last)
        with running(replay):
            x = self._input(replay)
            with _time_limit(self.name), _written_plainly():
                result = self.function(x, SymbolicGenerator(self.draws))
            leaves: list[Symbol] = []
            try:
                skeleton = _skeleton(result, leaves)
            except UnknownOutput as refusal:
                raise UnknownOutput(refusal.reason, refusal.rewrite, self.source) from None
            if graph is not None:
                graph.output(leaves)
            settled = [Leaf(replay.settled(v.value), v.kind) for v in leaves]
            output = Output(skeleton, coarsened(settled))
        return replay, Path(tuple(replay.conditions), output)

    def _input(self, replay: Replay) -> Any:
        if replay.graph is not None:
            replay.graph.begin()
        if self.domain is None:
            return copy.deepcopy(self.x)
        node = replay.graph.input(len(self.symbols)) if replay.graph is not None else None
        kind = "int" if self.domain.integral else "float"
        traced = [Symbol(line, kind, node) for line in self.lines]
        if self.domain.size == 1:
            return traced[0]
        return SymbolArray(vector(traced))


def skeleton_of(outcome: Any) -> tuple[Hashable, list[fmpq]]:
    """The skeleton of a plain output, and its numbers."""
    leaves: list[Any] = []
    skeleton = _skeleton(outcome, leaves, exact)
    return skeleton, leaves


def _next_prefix(replay: Replay) -> tuple[Decision, ...] | None:
    """The decisions of the next path in depth-first order; None after the last."""
    decisions = replay.decisions
    while decisions:
        last = decisions.pop()
        place = last.possible.index(last.picked) + 1
        if place < len(last.possible):
            return (*decisions, last._replace(picked=last.possible[place]))
    return None


def _skeleton(
    value: Any, leaves: list[Any], number: Callable[[Any], Any] = scalar.lift
) -> Hashable:
    """The output with every number replaced by a slot; the numbers go to `leaves`."""
    if isinstance(value, (SymbolArray, np.ndarray)) and np.ndim(value):
        return ("list", tuple(_skeleton(item, leaves, number) for item in value))
    if isinstance(value, (list, tuple)):
        kind = "tuple" if isinstance(value, tuple) else "list"
        return (kind, tuple(_skeleton(item, leaves, number) for item in value))
    if isinstance(value, dict):
        items = ((key, _skeleton(item, leaves, number)) for key, item in value.items())
        return ("dict", tuple(items))
    if isinstance(value, set):
        value = frozenset(value)
    if isinstance(value, (np.generic, np.ndarray)):
        value = value.item()
    if isinstance(value, Symbol) or (isinstance(value, numbers.Real) and math.isfinite(value)):
        leaves.append(number(value))
        return SLOT
    if isinstance(value, Weight):
        value.refuse()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = getattr(value, "__dict__", None) or {
            field.name: getattr(value, field.name) for field in dataclasses.fields(value)
        }
        items = ((name, _skeleton(item, leaves, number)) for name, item in fields.items())
        return (type(value), tuple(items))
    if inspect.isgenerator(value) or inspect.iscoroutine(value):
        value.close()
        raise TypeError("a mechanism must return its output: it is a generator or a coroutine")
    if not isinstance(value, Hashable):
        raise UnknownOutput(_incomparable(value))
    return ("value", value)


def _incomparable(value: Any) -> str:
    return f"an output of type {type(value).__name__} cannot be compared"


def _stranger(skeleton: Any) -> Any:
    """An object in the output that equals nothing but itself."""
    if skeleton == SLOT:
        return None
    kind, content = skeleton
    if kind == "value":
        return content if type(content).__eq__ is object.__eq__ else None
    named = kind == "dict" or isinstance(kind, type)
    found = (_stranger(item[1] if named else item) for item in content)
    return next((value for value in found if value is not None), None)


def _code_behind(function: Callable[..., Any]) -> Any:
    """The plain function that a method, a partial or a callable object runs."""
    plain = inspect.unwrap(function)
    while isinstance(plain, functools.partial):
        plain = plain.func
    if inspect.ismethod(plain):
        plain = plain.__func__
    if not inspect.isfunction(plain):
        plain = getattr(type(plain), "__call__", plain)  # noqa: B004 - the code of an object
    return plain


def _globals_of(function: Callable[..., Any]) -> dict[str, Any]:
    return getattr(_code_behind(function), "__globals__", {})


def _source_of(function: Callable[..., Any]) -> Source | None:
    code = getattr(_code_behind(function), "__code__", None)
    if code is None:
        return None
    text = linecache.getline(code.co_filename, code.co_firstlineno).strip()
    return Source(code.co_filename, code.co_firstlineno, text)


def _exact_bounds(domain: Reals | Integers) -> Bounds:
    low, high = domain.bounds()
    return (
        None if np.isinf(low) else exact(low),
        None if np.isinf(high) else exact(high),
    )


@contextlib.contextmanager
def _written_plainly() -> Iterator[None]:
    """numpy's complaint about a traced number in a plain array, as a refusal."""
    try:
        yield
    except ValueError as error:
        if isinstance(error, Refusal) or "setting an array element" not in str(error):
            raise
        raise Unsupported(
            "writing a traced number into a plain array is not traced",
            "make the array with np.zeros or np.array, or collect the numbers in a list",
            source=source_of(error),
        ) from None


@contextlib.contextmanager
def _time_limit(name: str) -> Iterator[None]:
    """Stop a run that does not return; possible in the main thread only.

    A timer of somebody else, such as a test runner's, goes on afterwards.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_: Any) -> None:
        raise EndlessLoop(f"one run of {name} took longer than {RUN_SECONDS} s")

    before = signal.signal(signal.SIGALRM, stop)
    left, interval = signal.setitimer(signal.ITIMER_REAL, RUN_SECONDS)
    start = time.monotonic()
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        if left:
            due = left - (time.monotonic() - start)
            signal.setitimer(signal.ITIMER_REAL, max(due, 1e-3), interval)
