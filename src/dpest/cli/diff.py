"""dpest diff BEFORE AFTER: what a change of a mechanism did to its privacy."""

from __future__ import annotations

import argparse
import json
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dpest
from dpest.cli.exits import HOLDS, REFUTED, UNDECIDED
from dpest.cli.mechanism import add_domain, add_neighbors, params_of
from dpest.cli.output import emit, emit_sections
from dpest.cli.question import add_claim, audited, exit_code

if TYPE_CHECKING:
    from dpest.explain import Difference
    from dpest.report.result import Report

_EPILOG = (
    "Exit codes with --claim: 0 it holds after the change, 1 refuted, 3 undecided. Without: 0 the "
    "privacy loss did not grow, 1 it grew, 3 the bounds do not say. 2 is bad input."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """BEFORE and AFTER, their inputs and neighbours, the claim."""
    parser.epilog = _EPILOG
    names = "a name from `dpest list`, or path/file.py::function"
    parser.add_argument("before", help=f"the mechanism as it was: {names}")
    parser.add_argument("after", help="the mechanism as it is now, named likewise")
    add_domain(parser)
    add_neighbors(parser)
    add_claim(parser)
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    """Print what the change did; the exit code is the claim's, or says whether the loss grew."""
    from dpest.explain import difference

    with _own_helpers():
        before = _report(arguments, arguments.before)
    after = _report(arguments, arguments.after)
    found = difference(before, after)
    if arguments.json:
        emit(json.dumps(found.to_json(), indent=2))
    else:
        emit_sections(found.sections())
    return _exit_code(found)


def _exit_code(found: Difference) -> int:
    if found.after.claim is not None:
        return exit_code(found.after)
    return {True: REFUTED, False: HOLDS, None: UNDECIDED}[found.grew]


def _report(arguments: argparse.Namespace, name: str) -> Report:
    """The audit of one side; what is not typed is what either side is registered with."""
    from dpest import spec
    from dpest.target import target_of

    target = target_of(name)
    inputs = (
        spec.inputs_of(arguments.inputs) if arguments.inputs
        else _registered(arguments, "inputs", "reals:10")
    )  # fmt: skip
    neighbors = (
        spec.neighbors_of(arguments.neighbors, inputs) if arguments.neighbors
        else _registered(arguments, "neighbors", "linf:1")
    )  # fmt: skip
    claim = spec.claim_of(arguments.claim) if arguments.claim else None
    return audited(target, inputs, neighbors, claim, params_of(arguments, target))


def _registered(arguments: argparse.Namespace, what: str, example: str) -> Any:
    """The inputs or neighbours that both sides are registered with."""
    from dpest.zoo import find

    entries = [find(name) for name in (arguments.before, arguments.after)]
    known = list(dict.fromkeys(getattr(entry, what) for entry in entries if entry))
    if len(known) == 1:
        return known[0]
    differ = f"; {' and '.join(map(str, known))} are registered" if known else ""
    raise ValueError(f"say on which {what} to compare, e.g. --{what} {example}{differ}")


@contextmanager
def _own_helpers() -> Iterator[None]:
    """Modules that are imported inside are forgotten: the other side may have its own."""
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        file = getattr(sys.modules[name], "__file__", None) or ""
        if not file.startswith(_INSTALLED):
            del sys.modules[name]


_INSTALLED = (
    *(sysconfig.get_path(key) for key in ("stdlib", "platstdlib", "purelib", "platlib")),
    str(Path(dpest.__file__).parent),
)
"""Where Python, dpest and what they need are installed."""
