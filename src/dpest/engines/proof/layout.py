"""What makes two parts alike, and how a rule for one of them is carried over to the other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from flint import fmpq

from dpest.engines.proof.colors import Names, Row, Variable, member_rows, start
from dpest.verify.model import Model
from dpest.verify.reach import Form


@dataclass(frozen=True)
class Setting:
    """What is asked: a ball (direction None) or one direction; how extremes are treated."""

    direction: Mapping[int, fmpq] | None
    any_length: bool
    """Whether the direction stands for steps of any real length."""
    frozen: bool
    radius: fmpq | None
    """What the unit of the ball stands for; None where neighbours can be any distance apart."""
    dense: bool = False


Packed = list[tuple[int, fmpq, list[tuple[int, fmpq]], list[tuple[int, fmpq]]]]


class Layout:
    """Rows with their variables numbered by appearance: equal layouts have equal rules."""

    def __init__(self, model: Model, rows: list[Row], setting: Setting, names: Names) -> None:
        self.order: dict[Variable, int] = {}
        for row in (*rows, *member_rows(model, rows)):
            for v in row.terms:
                self.order.setdefault(v, len(self.order))
        self.variables = list(self.order)
        coded = tuple(
            (row.kind, tuple((self.order[v], names(("c", str(c)))) for v, c in row.terms.items()))
            for row in rows
        )
        kinds = tuple(names(start(model, v, setting.direction)) for v in self.variables)
        members = tuple(
            tuple((self.order[v], names(("c", str(c)))) for v, c in row.terms.items())
            for row in member_rows(model, rows)
        )
        self.key = (coded, kinds, members, setting.direction is None, setting.any_length,
                    setting.frozen, setting.dense)  # fmt: skip

    def pack(self, rule: Mapping[int, Form]) -> Packed:
        return [
            (
                self.order[("noise", j)], form.const,
                [(self.order[("x", i)], c) for i, c in form.d.items()],
                [(self.order[("extreme", z)], c) for z, c in form.delta.items()],
            )
            for j, form in rule.items()
        ]  # fmt: skip

    def unpack(self, packed: Packed) -> dict[int, Form]:
        return {
            self.variables[j][1]: Form(
                const,
                {self.variables[i][1]: c for i, c in d},
                {self.variables[z][1]: c for z, c in delta},
            )
            for j, const, d, delta in packed
        }
