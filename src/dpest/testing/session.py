"""What the test runner decides about checks: how long they may take, where they are remembered."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dpest.testing.check import Check, Outcome
    from dpest.testing.memory import Store


@dataclass(frozen=True)
class Session:
    """Without a test runner: take as long as it takes, remember nothing, tell nobody."""

    budget: float | None = None
    store: Callable[[], Store | None] = lambda: None
    """The place for the check that is asked next."""
    observe: Callable[[Check, Outcome], None] = lambda check, outcome: None

    def outcome(self, check: Check) -> Outcome:
        """Answer the check, from memory where it was answered before."""
        found = self._answered(check)
        self.observe(check, found)
        return found

    def _answered(self, check: Check) -> Outcome:
        from dpest.testing.memory import key_of, recall, remember

        store = self.store()
        key = key_of(check) if store is not None else None
        if store is None or key is None:
            return self._asked(check)
        known = recall(check, key, store)
        if known is not None:
            return known
        outcome = self._asked(check)
        if not outcome.late:
            remember(outcome, key, store)
        return outcome

    def _asked(self, check: Check) -> Outcome:
        if self.budget is None:
            return check.run()
        from dpest.testing.budget import run_within

        return run_within(self.budget, check)


_current = [Session()]


def current() -> Session:
    """The session of the test runner that is running."""
    return _current[-1]


def begin(session: Session) -> None:
    """From now on this session decides."""
    _current.append(session)


def end(session: Session) -> None:
    """The session before it decides again."""
    _current.remove(session)
