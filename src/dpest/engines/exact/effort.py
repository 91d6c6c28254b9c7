"""How much has been computed, so that a search stops after the same work on every machine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from dpest.engines.exact.refusal import OutOfReach

_AT_ONCE = 20_000_000
"""More values than this would not fit into memory together."""


class _Effort:
    """Values of factors that were computed, and how many there may be."""

    def __init__(self) -> None:
        self.spent = 0
        self.limit: int | None = None


_EFFORT = _Effort()


def spend(values: int, cost: int = 1) -> None:
    """Note so many more values, each worth `cost`; refuse them where they are too many."""
    _EFFORT.spent += values * cost
    if values > _AT_ONCE or (_EFFORT.limit is not None and _EFFORT.spent > _EFFORT.limit):
        raise OutOfReach("the integrals over shared noise take too long")


def spent() -> int:
    """How many values were computed so far."""
    return _EFFORT.spent


@contextmanager
def limited(values: int) -> Iterator[None]:
    """Refuse what goes beyond so many values from here."""
    before, _EFFORT.limit = _EFFORT.limit, _EFFORT.spent + values
    try:
        yield
    finally:
        _EFFORT.limit = before
