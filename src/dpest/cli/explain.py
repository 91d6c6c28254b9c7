"""dpest explain MECHANISM: how it works, which noise pays for what, where it is worst."""

from __future__ import annotations

import argparse

from dpest.cli.mechanism import add_mechanism, add_neighbors, inputs_of, neighbors_of, params_of
from dpest.cli.output import emit_sections
from dpest.cli.question import add_claim, audited, exit_code


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """MECHANISM, its inputs and neighbours, the claim."""
    add_mechanism(parser)
    add_neighbors(parser)
    add_claim(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the explanation; the exit code is the verdict."""
    from dpest import spec
    from dpest.explain import explain
    from dpest.target import target_of

    target = target_of(arguments.mechanism)
    inputs = inputs_of(arguments, target)
    neighbors = neighbors_of(arguments, target, inputs)
    claim = spec.claim_of(arguments.claim) if arguments.claim else target.claim
    report = audited(target, inputs, neighbors, claim, params_of(arguments, target))
    emit_sections(explain(report))
    return exit_code(report)
