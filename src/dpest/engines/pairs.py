"""The exact loss of listed pairs of inputs, as evidence."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpest.engines.exact import (
    Event,
    ExactLaw,
    NoEnclosure,
    PairLoss,
    certified_log_ratio,
    enclosure,
    event_of,
)
from dpest.evidence import Witness
from dpest.numbers.ties import clearly_above

Pair = tuple[Any, Any]


@dataclass(frozen=True)
class WorstPair:
    """The pair with the largest loss, turned so that the first input is the likelier one."""

    x: Any
    x_prime: Any
    loss: PairLoss

    @classmethod
    def of(cls, law: ExactLaw, listed: Sequence[Pair]) -> WorstPair:
        found = [cls(x, y, law.pair(x, y)) for x, y in listed]
        worst = found[0]
        for pair in found[1:]:
            worst = pair if pair.loss.exceeds(worst.loss) else worst
        return cls.found(worst.x, worst.x_prime, worst.loss)

    @classmethod
    def found(cls, x: Any, x_prime: Any, loss: PairLoss) -> WorstPair:
        """The pair turned so that its loss is the forward one."""
        turned = PairLoss(loss.backward, loss.forward)
        if turned.forward.status == "impossible" != loss.forward.status:
            return cls(x_prime, x, turned)
        if clearly_above(turned.forward.loss, loss.forward.loss):
            return cls(x_prime, x, turned)
        return cls(x, x_prime, loss)

    def witness(self, law: ExactLaw, enough: float = 10.0) -> Witness:
        """Inputs and an event that show the loss, or nearly all of it, in balls where possible.

        Where the loss is unbounded, the event shows a loss of `enough`.
        """
        directed = self.loss.forward
        event = event_of(law, directed, self.x, self.x_prime, enough)
        attained = directed.status in ("attained", "impossible")
        x, x_prime = plain(self.x), plain(self.x_prime)
        try:
            p, q = (enclosure(event, law, place) for place in (self.x, self.x_prime))
        except NoEnclosure:
            return self._approximate(law, event, x, x_prime, attained)
        return Witness(
            x, x_prime, event.describe(), p.middle, q.middle, certified_log_ratio(p, q),
            attained, True, (str(p), str(q)), directed.status == "unbounded", event.python(),
        )  # fmt: skip

    def _approximate(
        self, law: ExactLaw, event: Event, x: Any, x_prime: Any, attained: bool
    ) -> Witness:
        log_p, log_q = (event.log_probability(law, place) for place in (self.x, self.x_prime))
        loss = log_p - log_q if log_p > -math.inf else 0.0
        return Witness(
            x, x_prime, event.describe(), math.exp(log_p), math.exp(log_q), loss, attained,
            unbounded=self.loss.forward.status == "unbounded", test=event.python(),
        )  # fmt: skip


def plain(x: Any) -> Any:
    """An input as plain Python numbers, for printing and for JSON."""
    if isinstance(x, np.ndarray):
        return x.tolist()
    if isinstance(x, (list, tuple)):
        return [plain(v) for v in x]
    if isinstance(x, np.generic):
        return x.item()
    if isinstance(x, float):
        return float(x)
    return int(x) if isinstance(x, int) and not isinstance(x, bool) else x
