"""What an engine found out: bounds with their status, a witness, a certificate, a verdict."""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

Status = Literal["proved", "certified", "numeric", "statistical", "none"]
"""How far a side of a bound can be trusted.

proved: exact arithmetic, re-checkable without any engine. certified: rigorous enclosures of the
probabilities. numeric: floating point to about 1e-12 relative. statistical: at a stated
confidence. none: nothing is known.
"""


class Verdict(enum.StrEnum):
    """The answer to a claim; ordered refuted < unknown < holds, and equal to its name."""

    REFUTED = "refuted"
    """A witness shows a loss above the claim."""
    UNKNOWN = "unknown"
    """Neither a witness nor a proof decides the claim."""
    HOLDS = "holds"
    """The loss is shown to be at most the claim for every pair of neighbours that was asked for."""

    @property
    def _rank(self) -> int:
        return list(Verdict).index(self)

    def __lt__(self, other: str) -> bool:
        return self._rank < Verdict(other)._rank

    def __le__(self, other: str) -> bool:
        return self._rank <= Verdict(other)._rank

    def __gt__(self, other: str) -> bool:
        return self._rank > Verdict(other)._rank

    def __ge__(self, other: str) -> bool:
        return self._rank >= Verdict(other)._rank


@dataclass(frozen=True)
class Bound:
    """`lower <= true value <= upper`, with the status of either side."""

    lower: float
    upper: float
    lower_status: Status = "none"
    upper_status: Status = "none"

    def __post_init__(self) -> None:
        if self.lower > self.upper * (1 + 1e-9) + 1e-12:
            raise AssertionError(f"lower {self.lower!r} exceeds upper {self.upper!r}")

    @property
    def is_exact(self) -> bool:
        """Whether both sides meet to 1e-9."""
        if self.lower == self.upper:
            return True
        return math.isfinite(self.upper) and self.upper - self.lower <= 1e-9 * abs(self.upper)

    def __str__(self) -> str:
        low, high = f"{self.lower:.6g}", f"{self.upper:.6g}"
        return high if low == high else f"[{low}, {high}]"


@dataclass(frozen=True)
class Counted:
    """How often an event was seen: hits on either input, each in `runs` runs."""

    hits: int
    hits_prime: int
    runs: int
    confidence: float


@dataclass(frozen=True)
class Witness:
    """Two neighbouring inputs and an event whose probabilities differ by at least e^loss."""

    x: Any
    x_prime: Any
    event: str
    p: float
    p_prime: float
    loss: float
    attained: bool = True
    certified: bool = False
    balls: tuple[str, str] | None = None
    """Rigorous enclosures of both probabilities, as midpoint +/- radius."""
    unbounded: bool = False
    """Whether events further out show any loss, however large."""
    test: str = ""
    """The event as a Python expression in `output`, arrays taken as lists."""
    shows: str = ""
    """What this says about the claim, where another measure than epsilon is claimed."""
    excess: str = ""
    """The same as a Python expression in the probabilities `p` and `p_prime`, where it is one."""
    counted: Counted | None = None
    """Where the event was counted in samples: the probabilities are frequencies, and the loss is
    at least `loss` at the stated confidence."""

    def to_json(self) -> dict[str, Any]:
        counts = asdict(self.counted) if self.counted else {}
        return {
            "x": self.x, "x_prime": self.x_prime, "event": self.event,
            "p": self.p, "p_prime": self.p_prime, **counts,
        }  # fmt: skip


@dataclass(frozen=True)
class Certificate:
    """A proof of an upper bound that `dpest.check` verifies in exact arithmetic.

    `content` is plain JSON data: rationals are strings, and nothing in it depends on this process.
    """

    upper: float
    content: Mapping[str, Any] = field(repr=False)

    def __str__(self) -> str:
        return "\n".join(self.content.get("sentences", ()))

    def to_json(self) -> dict[str, Any]:
        return dict(self.content)
