"""The pictures of the studies."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dpest.rappor.studies.scores import LABELS, METHODS, Score
from dpest.rappor.studies.shapes import Shape

_COLORS = {"seed": "#6b7280", "counts": "#2563eb", "reports": "#d9480f"}
_MARKERS = {"seed": "s", "counts": "o", "reports": "D"}
_TRUTH, _ESTIMATE = "#cbd5e1", "#1d4ed8"


def plot_scores(path: str | Path, scores: Sequence[Score]) -> None:
    """Precision and recall against h, a line per decoder."""
    figure, axes = _figure(2, (9.6, 4.4))
    hashes = sorted({score.h for score in scores})
    for axis, name in zip(axes, ("precision", "recall"), strict=True):
        for method in METHODS:
            mine = [score for score in scores if score.method == method]
            axis.errorbar(
                [x.h for x in mine],
                [getattr(x, name) for x in mine],
                yerr=np.nan_to_num([2 * getattr(x, f"{name}_error") for x in mine]),
                label=LABELS[method], color=_COLORS[method], marker=_MARKERS[method],
                markersize=5, linewidth=1.6, capsize=3,
            )  # fmt: skip
        axis.set_xscale("log", base=2)
        axis.set_xticks(hashes, [str(h) for h in hashes])
        axis.minorticks_off()
        axis.set(xlabel="hash functions h", title=name.capitalize())
    axes[0].axhline(0.95, color="#9ca3af", linewidth=0.9, linestyle=":")
    axes[0].annotate(
        "0.95, asked of ours", (1, 0.95), xytext=(0, -11), textcoords="offset points",
        fontsize=8, color="#6b7280",
    )  # fmt: skip
    lowest = min(score.precision for score in scores)
    axes[0].set_ylim(min(0.7, lowest - 0.08), 1.02)
    axes[1].set_ylim(-0.02, 1.04)
    axes[1].legend(loc="upper left", frameon=False)
    figure.suptitle(
        "200 words, 100 of them present, 20,000 reports of 128 bits in 8 cohorts\n"
        "bars: two standard errors over the runs", fontsize=10,
    )  # fmt: skip
    _save(figure, path)


def plot_shapes(path: str | Path, shapes: Sequence[Shape]) -> None:
    """True and estimated shares of the bins with 95 % error bars, a panel per size."""
    figure, axes = _figure(len(shapes), (4.2 * len(shapes), 4.0), sharey=True)
    for axis, shape in zip(axes, shapes, strict=True):
        centres = 2 * np.arange(len(shape.truth)) + 0.5
        axis.bar(centres, shape.truth, width=1.8, color=_TRUTH, label="true share")
        axis.errorbar(
            centres, shape.estimate, yerr=1.96 * shape.std_error, fmt="o", color=_ESTIMATE,
            markersize=2.6, linewidth=0.9, capsize=1.5, label="estimate, 95 % interval",
        )  # fmt: skip
        axis.axhline(0, color="#374151", linewidth=0.8)
        axis.set(xlabel="value", title=f"{shape.reports:,} reports")
    axes[0].set_ylabel("share of clients")
    axes[-1].legend(loc="upper right", frameon=False, fontsize=9)
    _save(figure, path)


def _figure(columns: int, size: tuple[float, float], **options: Any) -> tuple[Any, Any]:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    FigureCanvasAgg(figure)
    axes = np.atleast_1d(figure.subplots(1, columns, **options))
    for axis in axes:
        axis.grid(axis="y", color="#e5e7eb", linewidth=0.8)
        axis.set_axisbelow(True)
        axis.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _save(figure: Any, path: str | Path) -> None:
    figure.savefig(path, dpi=150, facecolor="white")
