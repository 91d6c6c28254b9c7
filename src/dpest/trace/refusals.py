"""What cannot be traced: one exception per reason, each with the rewrite that works."""

from __future__ import annotations

import linecache
import sys
from pathlib import Path
from types import FrameType

from dpest.program import Source

_OWN = str(Path(__file__).resolve().parents[1])
_ZOO = str(Path(_OWN) / "zoo")
_PAGE = "docs/refusals/{}.md"
"""Where the documentation explains a refusal; the pages are part of the repository."""
_FOREIGN = ("/numpy/", "functools", "<frozen", "<string>")


def user_source() -> Source | None:
    """The innermost line of the user's own code that is running now."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if _is_users(frame):
            return _line(frame, frame.f_lineno)
        frame = frame.f_back
    return None


def source_of(error: BaseException) -> Source | None:
    """The innermost line of the user's own code that an error came through."""
    found, trace = None, error.__traceback__
    while trace is not None:
        if _is_users(trace.tb_frame):
            found = _line(trace.tb_frame, trace.tb_lineno)
        trace = trace.tb_next
    return found


def _is_users(frame: FrameType) -> bool:
    name = frame.f_code.co_filename
    own = name.startswith(_OWN) and not name.startswith(_ZOO)
    return not own and not any(part in name for part in _FOREIGN)


def _line(frame: FrameType, number: int) -> Source:
    name = frame.f_code.co_filename
    return Source(name, number, linecache.getline(name, number).strip())


class Refusal(ValueError):
    """The function does something that tracing cannot follow.

    `rewrite` says what works instead, and `more` where the documentation explains why.
    """

    page = ""
    rewrite = "audit it as a black box: dpest.blackbox(f)"

    def __init__(
        self, reason: str, rewrite: str | None = None, source: Source | None = None
    ) -> None:
        self.reason = reason
        self.rewrite = rewrite or self.rewrite
        self.source = source or user_source()
        place = f"{self.source}: " if self.source else ""
        quote = f" in `{self.source.text}`" if self.source and self.source.text else ""
        super().__init__(f"{place}{reason}{quote}. Instead: {self.rewrite}. See {self.more}.")

    @property
    def more(self) -> str:
        """The page of the documentation on this reason."""
        return _PAGE.format(self.page) if self.page else "docs/refusals.md"


class NonAffine(Refusal):
    """An operation whose result is not affine in the inputs and the noise."""

    page = "non-affine"
    rewrite = (
        "return the value before this step (a step that only transforms released values cannot "
        "add privacy loss), or audit fixed pairs with neighbors=dpest.pairs([...])"
    )


class NeedsConcreteInput(Refusal):
    """The code needs the number itself, not a symbol: hashing, int(x), a table look-up."""

    page = "concrete-input"
    rewrite = (
        "give a finite domain, inputs=dpest.integers(n, low, high) or dpest.one_of(...), or fixed "
        "pairs, neighbors=dpest.pairs([...]); then the code is traced once per value"
    )


class NeedsConcreteNoise(Refusal):
    """The code turns a random number into a plain one: int(noisy), float(noisy), a dict key."""

    page = "concrete-noise"
    rewrite = (
        "return the value before rounding or converting it (that step cannot add privacy loss), "
        "or audit it as a black box: dpest.blackbox(f)"
    )


class HiddenRandomness(Refusal):
    """Randomness that does not come from the `rng` argument."""

    page = "hidden-randomness"
    rewrite = "draw it from the rng argument, e.g. rng.laplace(scale=...)"


class DivergingReplay(Refusal):
    """Running the function again on the same path did something else."""

    page = "diverging-replay"
    rewrite = "make the function depend on x and rng only (no global state, clock or set order)"


class TooManyPaths(Refusal):
    """More paths through the code than the cap allows."""

    page = "too-many-paths"
    rewrite = (
        "keep comparisons as arrays (np.where(noisy > t, a, b), noisy > t) instead of an `if` per "
        "element, or use fewer elements"
    )


class EndlessLoop(Refusal):
    """A loop that some outcome of the noise never leaves."""

    page = "endless-loop"
    rewrite = "bound the loop, e.g. `for _ in range(100):`"


class Unsupported(Refusal):
    """A numpy function or Generator method that tracing does not know."""

    page = "unsupported"


class UnknownOutput(Refusal):
    """An output of a type whose values cannot be told apart."""

    page = "unknown-output"
    rewrite = "return numbers, strings, None, or lists, tuples, dicts and dataclasses of them"
