"""dpest check FILE: verify a proof without any engine."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from dpest.cli.exits import HOLDS, REFUTED
from dpest.cli.output import emit


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The file with the proof."""
    parser.add_argument("proof", type=Path, help="JSON, as `dpest audit --json` prints it")


def run(arguments: argparse.Namespace) -> int:
    """Print whether the proof is right."""
    from dpest.check import check

    try:
        content = json.loads(arguments.proof.read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise ValueError(f"{arguments.proof} is not JSON: {error}") from error
    proof = content.get("proof", content) if isinstance(content, dict) else content
    if not isinstance(proof, dict):
        raise ValueError(f"{arguments.proof} holds no proof")
    result = check(proof)
    emit(str(result))
    return HOLDS if result else REFUTED
