"""How a mechanism works, told from its program: draws, comparisons, outputs, paths."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from dpest.program import Program
from dpest.program.program import SLOT, Leaf, Path
from dpest.report.result import Report
from dpest.trace.graph import Graph, Node

_DOES = {
    "Geq": "compares", "Branch": "picks one of two values",
    "PrefixSum": "sums up from the left", "Max": "takes the largest", "Min": "takes the smallest",
    "Argmax": "takes the place of the largest", "Argmin": "takes the place of the smallest",
    "Sort": "sorts",
}  # fmt: skip
"""What an operation of the graph does; the others are plain arithmetic."""
_KINDS = {"bool": "truth values", "int": "whole numbers", "float": "numbers"}
_FEW = 4


@dataclass(frozen=True)
class Step:
    """A line of the source and what happens on it."""

    line: int
    text: str
    does: tuple[str, ...]


def steps(program: Program) -> list[Step]:
    """The lines on which noise is drawn or decides something, in the order of the file."""
    graph: Graph = program.graph
    lines: dict[tuple[str, int], list[tuple[Node, int]]] = {}
    for node, count in graph.counts.items():
        if node.kind == "noise" or node.label in _DOES:
            lines.setdefault((node.file, node.line), []).append((node, count))
    most = "" if _is_straight(program) else "up to "
    return [
        Step(line, found[0][0].text.split("  #")[0],
             tuple(_does(node, count, most) for node, count in found))
        for (_, line), found in sorted(lines.items())
    ]  # fmt: skip


def _does(node: Node, count: int, most: str) -> str:
    what = f"draws {_rounded(node.label)}" if node.kind == "noise" else _DOES[node.label]
    return f"{what}, {most}{count} times" if count > 1 else what


def _rounded(text: str) -> str:
    return re.sub(r"\d+\.\d{7,}", lambda found: f"{float(found[0]):.6g}", text)


def _is_straight(program: Program) -> bool:
    """Whether the noise decides nothing about the way through the code."""
    return len(program.paths) == max(len(program.values), 1)


def inputs_sentence(report: Report) -> str:
    """What is given."""
    given, n = report.inputs, report.inputs.size
    if hasattr(given, "options"):
        return f"It is given one of {_listed([repr(v) for v in given.options])}."
    kind = "whole number" if given.integral else "number"
    low, high = given.bounds()
    between = f" from {low:g} to {high:g}" if high - low < float("inf") else ""
    return f"It is given {n} {kind}s{between}." if n > 1 else f"It is given a {kind}{between}."


def paths_sentences(program: Program) -> Iterator[str]:
    """What is returned, and along how many paths."""
    yield f"It returns {returned(program.paths)}."
    if program.values:
        yield f"It is followed for each of {len(program.values)} inputs by itself."
    if _is_straight(program):
        yield "No `if` depends on the noise: there is one path."
        return
    draws = [len(path.noises) for path in program.paths]
    yield (
        f"The noise decides which of {len(program.paths)} paths is taken; a path uses "
        f"{_span(min(draws), max(draws))} {'draw' if max(draws) == 1 else 'draws'}."
    )


def returned(paths: Iterable[Path]) -> str:
    """The kinds of outputs, in words."""
    shapes: dict[str, list[tuple[Any, list[Leaf]]]] = {}
    for path in paths:
        skeleton: Any = path.output.skeleton
        kind = "number" if skeleton == SLOT else _name(skeleton[0])
        shapes.setdefault(kind, []).append((skeleton, list(path.output.leaves)))
    return _or([_shape(kind, found) for kind, found in shapes.items()])


def _shape(kind: str, found: list[tuple[Any, list[Leaf]]]) -> str:
    if kind == "value":
        return _listed(list(dict.fromkeys(repr(skeleton[1]) for skeleton, _ in found)))
    if kind == "number":
        return _or([f"a {_KINDS[k][:-1]}" for k in dict.fromkeys(x[0].kind for _, x in found)])
    if kind == "dict":
        return f"a dict with the keys {_listed([repr(key) for key, _ in found[0][0][1]])}"
    if isinstance(found[0][0][0], type):
        return f"a {kind} of {_listed([name for name, _ in found[0][0][1]])}"
    sizes = [len(skeleton[1]) for skeleton, _ in found]
    return f"a {kind} of {_span(min(sizes), max(sizes))} {_contents(found)}".rstrip()


def _contents(found: list[tuple[Any, list[Leaf]]]) -> str:
    """What the lists or tuples are made of."""
    words: dict[str, None] = {}
    for skeleton, leaves in found:
        supply = iter(leaves)
        for item in skeleton[1]:
            words[_item(item, supply)] = None
    return _or(list(words))


def _item(item: Any, leaves: Iterator[Leaf]) -> str:
    if item == SLOT:
        return _KINDS[next(leaves).kind]
    kind, content = item
    if kind == "value":
        return repr(content)
    named = kind == "dict" or isinstance(kind, type)
    for each in [value for _, value in content] if named else content:
        _item(each, leaves)
    return f"{_name(kind)}s"


def _name(kind: str | type) -> str:
    return kind.__name__ if isinstance(kind, type) else kind


def _span(low: int, high: int) -> str:
    return str(low) if low == high else f"{low} to {high}"


def _or(words: list[str]) -> str:
    return " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _listed(words: list[str]) -> str:
    if len(words) > _FEW:
        return f"{len(words)} values, such as {_or(words[:_FEW])}"
    return _or(words)
