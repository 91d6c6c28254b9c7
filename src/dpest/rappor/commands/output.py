"""What the analysing commands write: a table, google/rappor's CSV, or JSON."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING, Any, Protocol

from dpest.rappor.decoding.results import finite
from dpest.rappor.wire.streams import writing

if TYPE_CHECKING:
    from dpest.rappor.counting import Tally


class Result(Protocol):
    """What a decoder returns."""

    @property
    def metrics(self) -> dict[str, Any]: ...
    def to_csv(self) -> str: ...
    def to_json(self) -> str: ...
    def to_table(self) -> str: ...


def write_result(result: Result, args: argparse.Namespace, text: str | None = None) -> None:
    """The result to the files asked for, or as a table to standard output.

    `text` stands in for the result's own CSV.
    """
    if args.metrics:
        with writing(args.metrics) as out:
            out.write(as_json(result.metrics))
    if not args.output:
        print(result.to_table(), end="")
        return
    if not is_csv(args.output):
        text = result.to_json() + "\n"
    with writing(args.output) as out:
        out.write(result.to_csv() if text is None else text)


def tell_bad(tally: Tally) -> None:
    """Say on standard error which records were left out."""
    if not tally.bad:
        return
    for sentence in tally.named:
        print(sentence, file=sys.stderr)
    by_kind = ", ".join(f"{number} {kind}" for kind, number in sorted(tally.kinds.items()))
    others = ", the first of them named above" if tally.bad > len(tally.named) else ""
    print(f"skipped {tally.bad_records} ({by_kind}){others}", file=sys.stderr)


def is_csv(name: str) -> bool:
    """Whether a file of this name holds CSV; the others hold JSON."""
    return not name.endswith(".json")


def as_json(document: Any) -> str:
    """JSON with words for infinities."""
    return json.dumps(finite(document), indent=2) + "\n"
