"""Which path and which difference of inputs cost most, and how much is unavoidable there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import highspy
import numpy as np
from flint import fmpq

from dpest.engines.proof.alignment import Alignment
from dpest.engines.proof.colors import Row, opened, rows_of
from dpest.verify.alignment import inputs_of
from dpest.verify.model import Model, Terms
from dpest.verify.shift import EITHER_WAY, UPWARD

MAX_ROUNDS = 12
MAX_SIZE = 40_000


@dataclass(frozen=True)
class Worst:
    """Where the bound is largest: a start for the search for a witness."""

    path: int | None
    """The path of the certificate's program that costs most."""
    returns: str
    """What that path returns; a dot stands for a computed number."""
    d: tuple[float, ...] | None
    """The difference of the inputs that costs most there."""
    reached: float | None
    """The least any alignment of that path costs for this d: equal to the bound where the rule
    is the best there is."""
    weights: tuple[tuple[str, float], ...] = ()
    """How much every condition and output of the path contributes (dual values)."""
    pair: tuple[Any, Any] | None = None
    """Two inputs that attain the bound, where they are known."""


def worst_of(found: Alignment) -> Worst:
    """The dearest path, and a difference for which no alignment of it is much cheaper."""
    model = found.model
    path = model.paths[found.path]
    rows = opened(model, [row for p in path.parts for row in rows_of(model, model.parts[p])])
    inputs = sorted({i for p in path.parts for i in inputs_of(model, model.parts[p])})
    if not rows or not inputs or len(rows) * len({v for r in rows for v in r.terms}) > MAX_SIZE:
        return Worst(found.path, path.returns, _vector(model, found.direction), None)
    dual = _Dual(model, rows, inputs)
    if found.direction is not None:
        value, weights = dual.at(_array(inputs, found.direction))
        return Worst(found.path, path.returns, _vector(model, found.direction), value, weights)
    return _climb(found, dual, inputs)


def _climb(found: Alignment, dual: _Dual, inputs: list[int]) -> Worst:
    """Follow the dual values uphill from a few starts: each round takes the worst d for them."""
    path = found.model.paths[found.path]
    radius = _radius(found)
    best: tuple[float, np.ndarray, tuple[tuple[str, float], ...]] | None = None
    for start in _starts(dual):
        d, value = start * radius, -1.0
        for _ in range(MAX_ROUNDS):
            new, weights = dual.at(d)
            if new is None or new <= value + 1e-12:
                break
            value = new
            if best is None or value > best[0] + 1e-12:
                best = (value, d.copy(), weights)
            slope = dual.slope(weights)
            d = np.where(slope > 1e-12, radius, np.where(slope < -1e-12, -radius, d))
        if best is not None and best[0] >= float(found.total) * (1 - 1e-9):
            break
    if best is None:
        return Worst(found.path, path.returns, None, None)
    moves = dict(zip(inputs, best[1], strict=True))
    d_full = tuple(float(moves.get(i, 0.0)) for i in range(found.model.domain.size))
    return Worst(found.path, path.returns, d_full, best[0], best[2])


def _radius(found: Alignment) -> float:
    return 1.0 if found.radius is None else int(found.radius.p) / int(found.radius.q)


def _starts(dual: _Dual) -> list[np.ndarray]:
    """First the d that works against the conditions, then some others."""
    rng = np.random.default_rng(0)
    n = dual.w.shape[1]
    conditions = np.array([row.kind == "when" for row in dual.rows])
    against = np.where(dual.w[conditions].sum(axis=0) > 0, -1.0, 1.0)
    some = [rng.choice([-1.0, 1.0], size=n) for _ in range(4)]
    return [against, np.ones(n), -np.ones(n), *some]


def _array(inputs: list[int], direction: Terms) -> np.ndarray:
    return np.array([_float(direction.get(i, fmpq(0))) for i in inputs])


def _vector(model: Model, direction: Terms | None) -> tuple[float, ...] | None:
    if direction is None:
        return None
    return tuple(_float(direction.get(i, fmpq(0))) for i in range(model.domain.size))


def _float(value: fmpq) -> float:
    return int(value.p) / int(value.q)


class _Dual:
    """The cheapest alignment of one path for a given d, in floats, with its dual values."""

    def __init__(self, model: Model, rows: list[Row], inputs: list[int]) -> None:
        self.rows = rows
        draws = sorted({v[1] for row in rows for v in row.terms if v[0] == "noise"})
        movable = [j for j in draws if model.noise[j].law in EITHER_WAY | UPWARD]
        self.a = _matrix(rows, "noise", movable)
        self.w = _matrix(rows, "x", inputs)
        self.rates = np.array([_rate(model, j) for j in movable])
        self.down = np.array([model.noise[j].law in EITHER_WAY for j in movable])

    def at(self, d: np.ndarray) -> tuple[float | None, tuple[tuple[str, float], ...]]:
        """(least cost, dual value of every row); None where there is no alignment."""
        lp = highspy.HighsLp()
        count = self.a.shape[1]
        lp.num_col_, lp.num_row_ = 2 * count, len(self.rows)
        lp.col_cost_ = np.concatenate([self.rates, self.rates])
        lp.col_lower_ = np.zeros(2 * count)
        lp.col_upper_ = np.concatenate([np.full(count, np.inf), np.where(self.down, np.inf, 0.0)])
        need = -(self.w @ d)
        lp.row_lower_ = need
        lp.row_upper_ = np.array(
            [np.inf if row.kind == "when" else n for row, n in zip(self.rows, need, strict=True)]
        )
        dense = np.concatenate([self.a, -self.a], axis=1)
        places = [np.flatnonzero(row) for row in dense]
        lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        lp.a_matrix_.start_ = np.cumsum([0, *map(len, places)])
        lp.a_matrix_.index_ = np.concatenate([*places, []]).astype(np.int32)
        lp.a_matrix_.value_ = np.concatenate(
            [*(row[p] for row, p in zip(dense, places, strict=True)), []]
        )
        solver = highspy.Highs()
        solver.setOptionValue("output_flag", False)
        solver.passModel(lp)
        solver.run()
        if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            return None, ()
        duals = solver.getSolution().row_dual
        value = float(solver.getInfo().objective_function_value)
        kinds = (row.kind for row in self.rows)
        return value, tuple((kind, float(y)) for kind, y in zip(kinds, duals, strict=True))

    def slope(self, weights: tuple[tuple[str, float], ...]) -> np.ndarray:
        """How the cost grows with d."""
        return -(self.w.T @ np.array([y for _, y in weights]))


def _matrix(rows: list[Row], kind: str, order: list[int]) -> np.ndarray:
    place = {k: c for c, k in enumerate(order)}
    matrix = np.zeros((len(rows), len(order)))
    for r, row in enumerate(rows):
        for (found, index), c in row.terms.items():
            if found == kind and index in place:
                matrix[r, place[index]] = _float(c)
    return matrix


def _rate(model: Model, j: int) -> float:
    draw = model.noise[j]
    if draw.law == "geometric":
        return float(-np.log1p(-_float(draw.parameter)))
    return 1 / _float(draw.parameter)
