"""Linear programs in floating point (HiGHS). Nothing here is a proof; results are re-checked."""

from __future__ import annotations

from collections.abc import Sequence

import highspy
import numpy as np


def _solver() -> highspy.Highs:
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("threads", 1)
    return solver


def largest_slack(
    rows: Sequence[Sequence[float]],
    constants: Sequence[float],
    bounds: Sequence[tuple[float | None, ...]],
) -> float | None:
    """The largest t <= 1 with `row . v + constant >= t * size(row)` for each row; None: unknown."""
    matrix = np.asarray(rows, float).reshape(len(rows), -1)
    sizes = np.maximum(np.abs(matrix).max(axis=1, initial=0), 1e-300)
    count = matrix.shape[1]
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = count + 1, len(matrix)
    lp.sense_ = highspy.ObjSense.kMaximize
    lp.col_cost_ = np.append(np.zeros(count), 1.0)
    lp.col_lower_ = np.array([-np.inf if b[0] is None else b[0] for b in bounds] + [-1e6])
    lp.col_upper_ = np.array([np.inf if b[1] is None else b[1] for b in bounds] + [1.0])
    lp.row_lower_ = -np.asarray(constants, float) / sizes
    lp.row_upper_ = np.full(len(matrix), np.inf)
    dense = np.column_stack([matrix / sizes[:, None], -np.ones(len(matrix))])
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_ = np.arange(len(matrix) + 1) * (count + 1)
    lp.a_matrix_.index_ = np.tile(np.arange(count + 1), len(matrix))
    lp.a_matrix_.value_ = dense.ravel()
    solver = _solver()
    solver.passModel(lp)
    solver.run()
    if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return None
    return float(solver.getObjectiveValue())
