"""Which draws, inputs and conditions of a part play the same role.

Colour refinement: two variables keep the same colour while they appear in equally coloured rows
with equal coefficients. Alignments are then sought that treat equal roles equally, which loses
nothing where the roles really are symmetric. Colours are named by what they mean, so equal shapes
get equal colours in different parts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from flint import fmpq

from dpest.verify.model import Model, Part

MAX_OPENED = 5_000
Variable = tuple[str, int]
"""("x", i), ("noise", j) or ("extreme", z)."""


@dataclass(frozen=True)
class Row:
    """`coefficients . variables`, to stay >= 0 or to stay zero, or one line of an extreme."""

    kind: str
    terms: dict[Variable, fmpq]
    constant: bool = False


def line_terms(model: Model, k: int) -> dict[Variable, fmpq]:
    line = model.lines[k]
    terms: dict[Variable, fmpq] = {("x", i): c for i, c in line.inputs.items()}
    terms.update({("noise", j): c for j, c in line.noise.items()})
    terms.update({("extreme", z): c for z, c in line.extremes.items()})
    return terms


def _difference(one: dict[Variable, fmpq], other: dict[Variable, fmpq]) -> dict[Variable, fmpq]:
    total = dict(one)
    for variable, c in other.items():
        value = total.get(variable, fmpq(0)) - c
        if value == 0:
            total.pop(variable, None)
        else:
            total[variable] = value
    return total


def rows_of(model: Model, part: Part) -> list[Row]:
    """The conditions and outputs of the part, and the lines of its extremes."""
    lines = {k: line_terms(model, k) for k in model.line_ids(part)}
    rows = [
        Row("when", _difference(lines[left], lines[right])) for left, right in model.pairs(part)
    ]
    rows += _reduced([lines[k] for _, k in part.out])
    return [row for row in rows if row.terms]


def _reduced(outputs: list[dict[Variable, fmpq]]) -> list[Row]:
    """Outputs that say the same with as little overlap as possible (reduced echelon form)."""
    from flint import fmpq_mat

    order = list(dict.fromkeys(v for terms in outputs for v in terms))
    order.sort(key=lambda v: v[0] != "noise")
    if len(outputs) < 2 or len(outputs) * len(order) > 40_000:
        return [Row("out", terms) for terms in outputs]
    matrix = fmpq_mat(
        len(outputs), len(order), [t.get(v, fmpq(0)) for t in outputs for v in order]
    )
    echelon, rank = matrix.rref()
    return [
        Row("out", {v: echelon[r, c] for c, v in enumerate(order) if echelon[r, c] != 0})
        for r in range(rank)
    ]


def member_rows(model: Model, rows: list[Row]) -> list[Row]:
    """Rows that tie every extreme to its lines."""
    found: list[Row] = []
    pending = [v[1] for row in rows for v in row.terms if v[0] == "extreme"]
    seen: set[int] = set()
    while pending:
        z = pending.pop()
        if z in seen:
            continue
        seen.add(z)
        for k in model.extremes[z].of:
            terms = line_terms(model, k)
            pending += [v[1] for v in terms if v[0] == "extreme"]
            found.append(Row(f"of{model.extremes[z].rank}", {**terms, ("extreme", z): fmpq(7)}))
    return found


def opened(model: Model, rows: list[Row]) -> list[Row] | None:
    """Rows in which every extreme stands for each of its lines in turn."""
    result: list[Row] = []
    pending = list(rows)
    while pending:
        row = pending.pop()
        z = next((v for v in row.terms if v[0] == "extreme"), None)
        if z is None:
            result.append(row)
        elif model.extremes[z[1]].by:
            return None
        else:
            factor = row.terms[z]
            rest = {v: c for v, c in row.terms.items() if v != z}
            for k in model.extremes[z[1]].of:
                terms = dict(rest)
                for v, c in line_terms(model, k).items():
                    terms[v] = terms.get(v, fmpq(0)) + factor * c
                pending.append(Row(row.kind, {v: c for v, c in terms.items() if c != 0}))
        if len(result) + len(pending) > MAX_OPENED:
            return None
    return result


class Names:
    """Small numbers for anything that can be compared; shared by all parts of a proof."""

    def __init__(self) -> None:
        self._known: dict[Any, int] = {}

    def __call__(self, key: Any) -> int:
        return self._known.setdefault(key, len(self._known))


@dataclass(frozen=True)
class Coloring:
    """The colour of every variable and row, and the shape that they make up."""

    variables: dict[Variable, int]
    rows: list[int]
    shape: Any


def color(
    model: Model, rows: list[Row], names: Names, moves: Mapping[int, fmpq] | None = None
) -> Coloring:
    """The coarsest stable colouring; `moves` tells inputs apart that move differently."""
    coded = [
        (row.kind, [(v, names(("c", str(c)))) for v, c in row.terms.items()]) for row in rows
    ]
    touching: dict[Variable, list[tuple[int, int]]] = {}
    for r, (_, terms) in enumerate(coded):
        for v, code in terms:
            touching.setdefault(v, []).append((r, code))
    current = {v: names(start(model, v, moves)) for v in touching}
    count = len(set(current.values()))
    row_colors: list[int] = []
    while True:
        row_colors = [
            names((kind, tuple(sorted((current[v], code) for v, code in terms))))
            for kind, terms in coded
        ]
        finer = {
            v: names((current[v], tuple(sorted((row_colors[r], code) for r, code in where))))
            for v, where in touching.items()
        }
        new_count = len(set(finer.values()))
        if new_count == count:
            break
        current, count = finer, new_count
    shape = (
        frozenset(Counter(current.values()).items()), frozenset(Counter(row_colors).items())
    )  # fmt: skip
    return Coloring(current, row_colors, shape)


def start(model: Model, variable: Variable, moves: Mapping[int, fmpq] | None) -> Any:
    """What a variable is before its rows are looked at."""
    kind, index = variable
    if kind == "noise":
        draw = model.noise[index]
        return ("noise", draw.law, str(draw.parameter), tuple(map(str, draw.weights)))
    if kind == "x" and moves is not None:
        return ("x", str(moves.get(index, 0)))
    if kind == "extreme":
        return ("extreme", str(model.width(index)), model.can_jump(index, moves))
    return (kind,)
