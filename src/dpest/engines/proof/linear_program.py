"""Linear programs with exact coefficients, solved in floats and made exact again."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import highspy
import numpy as np
from flint import fmpq, fmpq_mat

Expression = dict[int, fmpq]
"""Coefficients by variable; key -1 is the constant."""
CONST = -1
ZERO = fmpq(0)


class LinearProgram:
    """Minimise a cost under `expression >= 0` and `expression == 0`."""

    def __init__(self) -> None:
        self.cost: list[fmpq] = []
        self.free: list[bool] = []
        self.whole: list[bool] = []
        self.at_least: list[Expression] = []
        self.equal: list[Expression] = []
        self._seen: set[frozenset[tuple[int, fmpq]]] = set()
        self._sizes: dict[frozenset[tuple[int, fmpq]], int] = {}

    def variable(self, cost: fmpq = ZERO, free: bool = True, whole: bool = False) -> int:
        self.cost.append(cost)
        self.free.append(free)
        self.whole.append(whole)
        return len(self.cost) - 1

    def require(self, expression: Expression, equal: bool = False) -> None:
        """That the expression is >= 0, or zero; duplicates are dropped."""
        kept = {k: c for k, c in expression.items() if c != 0}
        key = frozenset([*kept.items(), (-2, fmpq(equal))])
        if key in self._seen or not kept:
            return
        self._seen.add(key)
        (self.equal if equal else self.at_least).append(kept)

    def size(self, expression: Expression) -> Expression:
        """An expression that is at least |expression|."""
        kept = {k: c for k, c in expression.items() if c != 0}
        if set(kept) <= {CONST}:
            return {CONST: abs(kept.get(CONST, ZERO))}
        key = frozenset(kept.items())
        if key not in self._sizes:
            bound = self.variable(free=False)
            self.require({bound: fmpq(1), **{k: -c for k, c in kept.items()}})
            self.require({**kept, bound: fmpq(1)})
            self._sizes[key] = bound
            self._sizes[frozenset((k, -c) for k, c in kept.items())] = bound
        return {self._sizes[key]: fmpq(1)}

    def solve(self) -> np.ndarray | None:
        """An optimum in floats; None where there is none."""
        rows = [*self.at_least, *self.equal]
        if any(set(row) == {CONST} and row[CONST] != 0 for row in self.equal):
            return None
        if any(set(row) == {CONST} and row[CONST] < 0 for row in self.at_least):
            return None
        count = len(self.cost)
        if count == 0 or not rows:
            return np.zeros(count)
        lp = highspy.HighsLp()
        lp.num_col_, lp.num_row_ = count, len(rows)
        lp.col_cost_ = np.array([_float(c) for c in self.cost])
        lp.col_lower_ = np.array([-np.inf if free else 0.0 for free in self.free])
        lp.col_upper_ = np.full(count, np.inf)
        lp.row_lower_ = np.array([-_float(row.get(CONST, ZERO)) for row in rows])
        upper = np.full(len(rows), np.inf)
        upper[len(self.at_least) :] = lp.row_lower_[len(self.at_least) :]
        lp.row_upper_ = upper
        if any(self.whole):
            kinds = (highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger)
            lp.integrality_ = [kinds[whole] for whole in self.whole]
        return optimum(
            lp, [[(k, _float(c)) for k, c in row.items() if k != CONST] for row in rows]
        )

    def exact_candidates(self, point: np.ndarray) -> Iterator[list[fmpq]]:
        """Rational points near an optimum, plainest first: rounded, then on the tight rows."""
        for limit in (64, 10_000):
            yield [_nearest(value, limit) for value in point]
        plain = [_nearest(value, 10_000) for value in point]
        yield _on_rows(self.equal, plain)
        tight = [row for row in self.at_least if abs(_value(row, point)) < 1e-7]
        yield _on_rows([*self.equal, *tight], plain)


def _float(value: fmpq) -> float:
    return int(value.p) / int(value.q)


def _nearest(value: float, limit: int) -> fmpq:
    near = Fraction(float(value)).limit_denominator(limit)
    return fmpq(near.numerator, near.denominator)


def _value(row: Expression, point: np.ndarray) -> float:
    return sum(_float(c) * (1.0 if k == CONST else point[k]) for k, c in row.items())


def _on_rows(rows: list[Expression], point: list[fmpq]) -> list[fmpq]:
    """The point moved onto the rows: pivots are solved for, the rest stays."""
    order = sorted({k for row in rows for k in row if k != CONST}, reverse=True)
    if not order:
        return point
    matrix = fmpq_mat(
        len(rows), len(order) + 1,
        [row.get(k, ZERO) for row in rows for k in (*order, CONST)],
    )  # fmt: skip
    echelon, rank = matrix.rref()
    result = list(point)
    for r in range(rank):
        pivot = next(c for c in range(len(order) + 1) if echelon[r, c] != 0)
        if pivot == len(order):
            break
        others = (echelon[r, c] * point[order[c]] for c in range(pivot + 1, len(order)))
        result[order[pivot]] = -echelon[r, len(order)] - sum(others, ZERO)
    return result


def optimum(lp: highspy.HighsLp, rows: list[list[tuple[int, float]]]) -> np.ndarray | None:
    """The optimum of a program whose matrix has these rows; None where there is none."""
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_ = np.cumsum([0, *map(len, rows)])
    lp.a_matrix_.index_ = np.array([k for row in rows for k, _ in row], dtype=np.int32)
    lp.a_matrix_.value_ = np.array([c for row in rows for _, c in row])
    solver = _solver()
    solver.passModel(lp)
    solver.run()
    if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return None
    return np.array(solver.getSolution().col_value)


_shared: list[highspy.Highs] = []


def _solver() -> highspy.Highs:
    """One solver for all programs: making one costs more than most of them."""
    if not _shared:
        solver = highspy.Highs()
        solver.setOptionValue("output_flag", False)
        solver.setOptionValue("threads", 1)
        # limits that do not depend on how busy the machine is
        solver.setOptionValue("simplex_iteration_limit", 200_000)
        solver.setOptionValue("mip_max_nodes", 2_000)
        _shared.append(solver)
    _shared[0].clearModel()
    return _shared[0]
