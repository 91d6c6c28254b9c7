"""What an audit has established so far, for somebody who may have to stop it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from dpest.evidence import Bound

Listener = Callable[[Bound], None]
_listeners: list[tuple[Listener, list[Bound]]] = []


@contextmanager
def told_to(listener: Listener) -> Iterator[None]:
    """Tell the listener of every better bound that is found inside."""
    entry = (listener, [Bound(0.0, math.inf)])
    _listeners.append(entry)
    try:
        yield
    finally:
        _listeners.remove(entry)


def at_least(loss: float) -> None:
    """A pair with this loss was found."""
    for listener, best in _listeners:
        if best[0].lower < loss <= best[0].upper:
            best[0] = replace(best[0], lower=loss, lower_status="numeric")
            listener(best[0])


def at_most(loss: float) -> None:
    """No pair of neighbours loses more: that is proved."""
    for listener, best in _listeners:
        if best[0].lower <= loss < best[0].upper:
            best[0] = replace(best[0], upper=loss, upper_status="proved")
            listener(best[0])
