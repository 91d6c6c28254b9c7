"""Progress on a terminal; nothing in a pipe or a log."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")
_WORTH_A_WORKER = 4
"""So many items justify starting a process."""


def followed(items: Sequence[T], name: Callable[[T], str]) -> Iterator[T]:
    """The items one by one, with a bar that says which one is being worked on."""
    if not sys.stderr.isatty():
        yield from items
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=len(items))
        for item in items:
            progress.update(task, description=name(item))
            yield item
            progress.advance(task)


def mapped(function: Callable[[T], R], items: Sequence[T], name: Callable[[T], str]) -> list[R]:
    """function(item) for all items, on all cores where there is enough to do."""
    workers = min(os.cpu_count() or 1, len(items) // _WORTH_A_WORKER)
    if workers < 2:
        return [function(item) for item in followed(items, name)]
    from concurrent.futures import ProcessPoolExecutor

    with ProcessPoolExecutor(workers) as pool:
        started = [(item, pool.submit(function, item)) for item in items]
        try:
            return [future.result() for _, future in followed(started, lambda s: name(s[0]))]
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


@contextmanager
def working(what: str) -> Iterator[None]:
    """A spinner for as long as the block runs."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(what):
        yield
