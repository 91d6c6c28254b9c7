"""The curves of a report as a matplotlib figure."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from dpest.evidence import Bound

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from dpest.curves.curves import Curves

_POINTS = 121
_COLOR = "#1f5fa8"
_SMALLEST = 1e-12
"""The least delta that is drawn."""


def picture(curves: Curves, title: str = "") -> Figure:
    """Three pictures side by side; what lies between two bounds is shaded."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 3.8), layout="constrained")
    axes = figure.subplots(1, 3)
    _draw_deltas(axes[0], curves)
    _draw_trade_off(axes[1], curves)
    _draw_renyi(axes[2], curves)
    for each in axes:
        each.grid(alpha=0.25)
        each.spines[["top", "right"]].set_visible(False)
    figure.suptitle(title or curves.scope)
    return figure


def _draw_deltas(axes: Axes, curves: Curves) -> None:
    eps = np.linspace(0, _last_eps(curves), _POINTS)
    _band(axes, eps, curves.delta(eps), _SMALLEST)
    axes.set_yscale("log")
    axes.set(xlabel="ε", ylabel="δ(ε)", title="least δ for every ε")


def _last_eps(curves: Curves) -> float:
    """Where delta has become small, on whichever side that is known."""
    bound = curves.epsilon(1e-9)
    ends = [end for end in (bound.upper, bound.lower) if 0 < end < math.inf]
    return ends[0] * 1.05 if ends else 1.0


def _draw_trade_off(axes: Axes, curves: Curves) -> None:
    alpha = np.linspace(0, 1, _POINTS)
    _band(axes, alpha, curves.trade_off(alpha), 0.0, guaranteed="lower")
    axes.plot([0, 1], [1, 0], color="0.6", linewidth=1, linestyle="--", label="nothing is lost")
    axes.set(xlabel="type I error α", ylabel="least type II error", title="trade-off of a test")
    axes.legend(frameon=False, loc="upper right")


def _draw_renyi(axes: Axes, curves: Curves) -> None:
    orders = np.geomspace(1.01, 100, _POINTS // 2)
    _band(axes, orders, curves.renyi(orders), 0.0)
    axes.set_xscale("log")
    axes.set(xlabel="order α", ylabel="divergence", title="Rényi divergence")


def _band(
    axes: Axes, x: Any, bounds: list[Bound], least: float, guaranteed: str = "upper"
) -> None:
    """Both bounds as lines, the space between them shaded; infinite ones are left out."""
    ends = {"lower": [b.lower for b in bounds], "upper": [b.upper for b in bounds]}
    shown = "lower" if guaranteed == "upper" else "upper"
    lines = {side: _drawable(values, least) for side, values in ends.items()}
    axes.plot(x, lines[guaranteed], color=_COLOR, label="guaranteed")
    if all(bound.is_exact for bound in bounds):
        return
    axes.plot(x, lines[shown], color=_COLOR, linestyle=":", label="shown")
    low = np.where(np.isnan(lines["lower"]), least, lines["lower"])
    axes.fill_between(x, low, lines["upper"], color=_COLOR, alpha=0.15, linewidth=0)


def _drawable(values: list[float], least: float) -> Any:
    """The values as they are drawn: gaps for what is infinite or not above the least."""
    array = np.array(values)
    return np.where(np.isfinite(array) & (array > least if least else True), array, math.nan)
