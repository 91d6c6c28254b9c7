"""Outcomes as plain data, so that a check that was answered once need not be asked again."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

from dpest.claims import Claim
from dpest.evidence import Bound, Certificate, Counted, Witness
from dpest.report.result import Report
from dpest.testing.check import Check, Outcome
from dpest.testing.fingerprint import fingerprint

if TYPE_CHECKING:
    from dpest.curves import Curves


class Store(Protocol):
    """A place for one outcome per check, which outlives the process."""

    def get(self) -> Any: ...
    def set(self, data: Any) -> None: ...


@dataclass(frozen=True)
class RememberedReport(Report):
    """A report without its program and its samples; the audit is repeated for a curve."""

    again: Callable[[], Outcome] = field(kw_only=True, repr=False, compare=False)

    @cached_property
    def curves(self) -> Curves:
        report = self.again().report
        assert report is not None
        return report.curves


def key_of(check: Check) -> str | None:
    """The fingerprint of a check; None where it must be asked anew every time."""
    from dpest.engines.blackbox import BlackBox

    if isinstance(check.mechanism, BlackBox):  # which may run any program
        return None
    return fingerprint(
        check.mechanism, dict(check.params), check.inputs, check.neighbors, check.claim,
        check.sampling,
    )  # fmt: skip


def recall(check: Check, key: str, store: Store) -> Outcome | None:
    """The outcome that is stored for exactly this check."""
    data = store.get()
    if not isinstance(data, dict) or data.get("key") != key:
        return None
    report = data["report"] and _report(check, data["report"])
    outcome = Outcome(data["verdict"], data["message"], Bound(**data["measured"]), report, True)
    return check.restored(outcome)


def remember(outcome: Outcome, key: str, store: Store) -> None:
    """Store the outcome, unless plain data cannot say all of it."""
    data = {
        "key": key, "verdict": outcome.verdict, "message": outcome.message,
        "measured": asdict(outcome.measured),
        "report": outcome.report and _content(outcome.report),
    }  # fmt: skip
    try:
        same = json.loads(json.dumps(data)) == data
    except (TypeError, ValueError):
        return
    if same:
        store.set(data)


def _content(report: Report) -> dict[str, Any]:
    """What the audit found, without what the check itself says."""
    proof, witness = report.proof, report.witness
    return {
        "bound": asdict(report.bound), "method": report.method, "seconds": report.seconds,
        "witness": witness and {**asdict(witness), "balls": witness.balls and [*witness.balls]},
        "proof": proof and {"upper": proof.upper, "content": dict(proof.content)},
        "notes": [*report.notes], "growth": [[*pair] for pair in report.growth],
    }  # fmt: skip


def _report(check: Check, data: dict[str, Any]) -> Report:
    claim: Claim = check.claim
    witness, proof = data["witness"], data["proof"]
    if witness:
        balls, counted = witness["balls"], witness["counted"]
        witness |= {"balls": balls and tuple(balls), "counted": counted and Counted(**counted)}
    return RememberedReport(
        check.name, check.inputs, check.neighbors, dict(check.params), claim,
        Bound(**data["bound"]), data["method"], data["seconds"],
        witness and Witness(**witness), proof and Certificate(**proof), tuple(data["notes"]),
        tuple((n, upper) for n, upper in data["growth"]), None, check.mechanism, again=check.run,
    )  # fmt: skip
