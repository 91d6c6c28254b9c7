"""Where a component loses most: the form of the outcome, the place in it, a region around it."""

from __future__ import annotations

from dataclasses import dataclass

from flint import fmpq

from dpest.engines.exact.density import Key
from dpest.engines.exact.supremum import Status


@dataclass(frozen=True)
class Slab:
    """`low <= sum(coefficient * leaf) <= high` over leaves of the component, by their place."""

    coefficients: tuple[tuple[int, fmpq], ...]
    low: float
    high: float


@dataclass(frozen=True)
class Extreme:
    """The largest loss of a component: the form of the outcome, and where in it the loss is.

    `y` is a point; `slabs` are a region of positive probability in which the ratio is the loss or
    close to it, where that is known in closed form.
    """

    loss: float
    key: Key
    y: tuple[float, ...] = ()
    status: Status = "attained"
    slabs: tuple[Slab, ...] = ()
    edge: float | None = None
    """The number towards which the loss grows without bound, if it does so at a finite one."""
    cone: tuple[Slab, ...] = ()
    """Half spaces that meet in a corner at `y`, next to which the loss is."""
    slack: float = 0.0
    """How much larger the true supremum may be, where the loss is only the largest one found."""

    @property
    def at_most(self) -> float:
        """What no outcome of this form exceeds."""
        return self.loss + self.slack
