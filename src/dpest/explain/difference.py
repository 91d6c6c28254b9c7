"""What a change of a mechanism did to its privacy."""

from __future__ import annotations

import difflib
import inspect
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from dpest.claims import Pure
from dpest.evidence import Bound
from dpest.explain.explanation import Section, table, worst
from dpest.explain.payments import Bill, bill_of
from dpest.report import text
from dpest.report.result import Report

_SAME = 1e-6
"""Losses that differ by less, relative to either, are the same: six digits are shown."""


@dataclass(frozen=True)
class Difference:
    """Two audits of what should do the same."""

    before: Report
    after: Report

    @property
    def grew(self) -> bool | None:
        """Whether more is lost than before; None where the bounds do not say."""
        old, new = _measured(self.before), _measured(self.after)
        if new.lower > old.upper * (1 + _SAME):
            return True
        same_program = _digest(self.before) is not None and (
            _digest(self.before) == _digest(self.after)
        )
        return False if same_program or new.upper <= old.lower * (1 + _SAME) else None

    @property
    def shrank(self) -> bool:
        """Whether less is lost than before."""
        return _measured(self.after).upper * (1 + _SAME) < _measured(self.before).lower

    @property
    def headline(self) -> str:
        """What happened, in a sentence."""
        old, new = (_measured(report) for report in (self.before, self.after))
        measure = Pure.measure if self.after.claim is None else self.after.claim.measure
        verb = {True: "grew", None: "may have grown", False: "did not grow"}[self.grew]
        if _shown(old) == _shown(new) and self.grew is False:
            return f"{measure[:1].upper()}{measure[1:]} is what it was: {_shown(new)}."
        return (
            f"{measure[:1].upper()}{measure[1:]} {'shrank' if self.shrank else verb}: "
            f"{_shown(old)} before, {_shown(new)} after."
        )

    def sections(self) -> list[Section]:
        """Everything there is to tell about the change."""
        bills = [_bill(report) for report in (self.before, self.after)]
        found = [
            Section(self.headline, tuple(_subjects(self.before, self.after))),
            *_paid(*bills),
            Section("Where it is worst now", tuple(worst(self.after))) if self.grew else None,
            Section("What changed in the source", tuple(f" {line}" for line in self.source())),
        ]
        return [section for section in found if section is not None and section.lines]

    def source(self) -> list[str]:
        """The change of the function, in unified form."""
        old, new = (_source(report) for report in (self.before, self.after))
        return [*difflib.unified_diff(old, new, "before", "after", lineterm="")]

    def to_json(self) -> dict[str, Any]:
        """Plain data; `grew` is null where the bounds do not say."""
        return {
            "grew": self.grew, "shrank": self.shrank, "headline": self.headline,
            "before": self.before.to_json(), "after": self.after.to_json(),
            "source": self.source(),
        }  # fmt: skip


def difference(before: Report, after: Report) -> Difference:
    """What the change from the one to the other did."""
    return Difference(before, after)


def _measured(report: Report) -> Bound:
    """The bounds on what is claimed; on the privacy loss where nothing is."""
    return report.bound if report.claim is None else report.claim.bound(report)


def _shown(bound: Bound) -> str:
    if bound.lower == math.inf:
        return "infinite"
    if math.isinf(bound.upper):
        return "unknown" if bound.lower_status == "none" else f"at least {bound.lower:.6g}"
    low, high = f"{bound.lower:.6g}", f"{bound.upper:.6g}"
    return high if low == high else f"between {low} and {high}"


def _subjects(before: Report, after: Report) -> Iterator[str]:
    for name, report in (("before", before), ("after ", after)):
        yield f" {name}  {text.called(report.mechanism, report.params)}: {report.headline}"
    yield f" on {after.inputs}, neighbors {after.neighbors}"


def _digest(report: Report) -> Any:
    """The fingerprint of the program that a proof is about."""
    return report.proof.content["program_digest"] if report.proof is not None else None


def _bill(report: Report) -> Bill | None:
    event = report.witness.event if report.witness else ""
    return bill_of(report.proof, event) if report.proof is not None else None


def _paid(old: Bill | None, new: Bill | None) -> Iterator[Section]:
    """Which noise pays for what, before and after."""
    if old is not None and new is not None and _rows(old) == _rows(new):
        yield Section("Which noise pays", ("Every draw costs what it cost before.",))
        return
    for title, bill in (("What paid before", old), ("What pays now", new)):
        nothing = "No finite epsilon is proved, draw by draw."
        rows = [f" {row}" for row in table(bill).splitlines()] if bill else [nothing]
        yield Section(title, tuple(rows))


def _rows(bill: Bill) -> list[tuple[str, int, str, str]]:
    return [(p.noise, p.draws, p.moved, str(p.total)) for p in bill.payments]


def _source(report: Report) -> list[str]:
    """The lines of the function; of nothing where the source is not at hand."""
    assert report.function is not None
    try:
        return inspect.getsource(inspect.unwrap(report.function)).splitlines()
    except (OSError, TypeError):
        return []
