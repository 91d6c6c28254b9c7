"""What a run of tests says about all its privacy checks together."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

_WORDS = {
    "holds": "private", "unrefuted": "not refuted by samples", "refuted": "refuted",
    "unknown": "undecided", "refused": "not auditable",
}  # fmt: skip
_LOOSE = 2.0
"""A claim that is this many times what is lost is worth a look."""

Seen = tuple[str, dict[str, Any]]


def lines(seen: Sequence[Seen]) -> Iterator[str]:
    """How many checks with which verdicts, and which claims are the tightest and the loosest."""
    verdicts = Counter(told["verdict"] for _, told in seen)
    counts = ", ".join(f"{verdicts[v]} {word}" for v, word in _WORDS.items() if verdicts[v])
    cached = sum(told["cached"] for _, told in seen)
    remembered = f" ({cached} from the cache)" if cached else ""
    checks = "privacy check" if len(seen) == 1 else "privacy checks"
    yield f"{len(seen)} {checks}{remembered}: {counts}"
    held = sorted((one for one in seen if _is_measured(one[1])), key=lambda one: _slack(one[1]))
    if held:
        yield f"tightest claim: {_described(held[0])}"
    if len(held) > 1:
        yield f"loosest claim: {_described(held[-1])}"


def _is_measured(told: dict[str, Any]) -> bool:
    return told["verdict"] == "holds" and math.isfinite(told["claimed"])


def _slack(told: dict[str, Any]) -> float:
    """The claim in multiples of what is lost."""
    return told["claimed"] / told["measured"] if told["measured"] > 0 else math.inf


def _described(one: Seen) -> str:
    nodeid, told = one
    slack = _slack(told)
    times = f", {slack:.3g} times as much as needed" if _LOOSE <= slack < math.inf else ""
    return (
        f"{told['mechanism']} in {nodeid}: {told['measure']} is at most {told['measured']:.6g}, "
        f"claimed {told['claimed']:.6g}{times}"
    )
