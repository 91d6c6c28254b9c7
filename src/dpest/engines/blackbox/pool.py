"""Run independent tasks here, in worker processes, or on a Dask cluster, within a time limit.

Where a limit must hold, tasks run in worker processes: a process can be killed whatever the
mechanism does, which an alarm inside the process cannot promise. Results come in task order, so
they do not depend on who ran what.
"""

from __future__ import annotations

import contextlib
import importlib
import multiprocessing
import os
import sys
import sysconfig
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from dpest.engines.blackbox.mechanism import MechanismError
from dpest.engines.blackbox.settings import Sampling


class OutOfTime(RuntimeError):
    """The time limit passed before all tasks were done."""


@dataclass
class Pool:
    """Where tasks run and until when. Use as a context manager."""

    sampling: Sampling
    trusted: bool = False
    """Whether tasks are known to end, so that one process is enough for a time limit."""
    started: float = field(default_factory=time.monotonic)
    _cleanup: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)

    def __enter__(self) -> Pool:
        if self.sampling.backend == "dask":
            self._connect()
        return self

    def __exit__(self, *error: object) -> None:
        self._cleanup.close()

    @property
    def remaining(self) -> float | None:
        """Seconds left, or None where there is no limit."""
        if self.sampling.time_limit is None:
            return None
        return self.started + self.sampling.time_limit - time.monotonic()

    def run(self, function: Callable[..., Any], tasks: Iterable[tuple[Any, ...]]) -> Iterator[Any]:
        """Results of `function(*task)` in order; raises `OutOfTime` at the limit."""
        if self.sampling.is_local:
            return (function(*task) for task in tasks)
        if self.trusted and self.sampling.backend is None and self.sampling.jobs == 1:
            return self._run_here(function, tasks)
        return self._run_in_workers(function, list(tasks))

    def _run_here(
        self, function: Callable[..., Any], tasks: Iterable[tuple[Any, ...]]
    ) -> Iterator[Any]:
        for task in tasks:
            self._timeout()
            yield function(*task)

    def _run_in_workers(
        self, function: Callable[..., Any], tasks: list[tuple[Any, ...]]
    ) -> Iterator[Any]:
        from joblib import Parallel, delayed

        jobs, alone = self.sampling.jobs, self.sampling.backend != "dask"
        with _errors_in_words():
            calls = [delayed(_call)(_packed(function, task), alone) for task in tasks]
            parallel = Parallel(
                n_jobs=2 if jobs == 1 else jobs,
                pre_dispatch=1 if jobs == 1 else "2*n_jobs",
                batch_size=1,
                return_as="generator",
                timeout=self._timeout(),
            )
            results = parallel(calls)
            for _ in tasks:
                parallel.timeout = self._timeout()
                yield next(results)

    def _timeout(self) -> float | None:
        remaining = self.remaining
        if remaining is not None and remaining <= 0:
            raise OutOfTime
        return remaining

    def _connect(self) -> None:
        try:
            from distributed import Client
        except ImportError:
            raise ImportError(
                'backend="dask" needs the extra: pip install "dpest-privacy[dask]"'
            ) from None
        from joblib import parallel_config

        try:
            self._cleanup.enter_context(Client(self.sampling.scheduler, timeout=10))
        except OSError as error:
            raise ValueError(
                f"scheduler={self.sampling.scheduler!r}: no Dask scheduler answers there ({error})"
            ) from None
        self._cleanup.enter_context(parallel_config(backend="dask"))


@contextlib.contextmanager
def _errors_in_words() -> Iterator[None]:
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    try:
        yield
    except (TimeoutError, multiprocessing.TimeoutError):
        raise OutOfTime from None
    except TerminatedWorkerError:
        raise MechanismError(
            "a worker process died while it ran the mechanism (crash, or out of memory)"
        ) from None


def _packed(function: Callable[..., Any], task: tuple[Any, ...]) -> bytes:
    """A task as bytes that a fresh process can read, functions of the user's modules included."""
    cloudpickle = _cloudpickle()

    mechanism = getattr(task[0], "mechanism", None)
    module = sys.modules.get(getattr(getattr(mechanism, "function", None), "__module__", ""))
    by_value = module is not None and not _installed(module)
    if by_value:
        cloudpickle.register_pickle_by_value(module)
    try:
        return bytes(cloudpickle.dumps((function, task)))
    except Exception as error:
        raise MechanismError(
            f"the mechanism cannot be sent to a worker process ({error}); "
            "use jobs=1 and time_limit=None, or create what it holds inside the function"
        ) from None
    finally:
        if by_value:
            cloudpickle.unregister_pickle_by_value(module)


def _cloudpickle() -> ModuleType:
    """The pickler of functions that joblib brings along, bundled or as a dependency."""
    try:
        return importlib.import_module("cloudpickle")
    except ImportError:
        return importlib.import_module("joblib.externals.cloudpickle")


def _installed(module: ModuleType) -> bool:
    """Whether a fresh interpreter can import the module: standard library or site-packages."""
    path = getattr(module, "__file__", None)
    if path is None or module.__name__.partition(".")[0] == "dpest":
        return True
    return any(path.startswith(root) for root in sysconfig.get_paths().values())


def _call(packed: bytes, alone: bool) -> Any:
    import pickle

    with _nothing_said() if alone else contextlib.nullcontext():
        function, task = pickle.loads(packed)
        return function(*task)


@contextlib.contextmanager
def _nothing_said() -> Iterator[None]:
    """Drop what is written past Python to this process's standard output and error."""
    kept = [(descriptor, os.dup(descriptor)) for descriptor in (1, 2)]
    with open(os.devnull, "wb") as nowhere:
        for descriptor, _ in kept:
            os.dup2(nowhere.fileno(), descriptor)
    try:
        yield
    finally:
        for descriptor, copy in kept:
            os.dup2(copy, descriptor)
            os.close(copy)
