"""The seven input patterns of StatDP (Ding et al. 2018), as named pairs of inputs."""

from __future__ import annotations

from dpest.neighbors import Neighbors, Norm

Pair = tuple[list[float], list[float]]

NAMES = (
    "one_above", "one_below", "one_above_rest_below", "one_below_rest_above", "half_half",
    "all_above_all_below", "x_shape",
)  # fmt: skip


def patterns(n: int, neighbors: Neighbors) -> dict[str, Pair]:
    """The patterns for n numbers whose pairs are neighbours.

    Where one unit in all is what neighbours may differ by (the l1 norm, or a single number), only
    the two patterns that change one entry are left.
    """
    ones, rest = [1.0] * n, n - 1
    changed = {
        "one_above": (ones, [2.0] + [1.0] * rest),
        "one_below": (ones, [0.0] + [1.0] * rest),
    }
    if n == 1 or not (isinstance(neighbors, Norm) and neighbors.kind == "linf"):
        return changed
    less, more = n // 2, n - n // 2
    return changed | {
        "one_above_rest_below": (ones, [2.0] + [0.0] * rest),
        "one_below_rest_above": (ones, [0.0] + [2.0] * rest),
        "half_half": (ones, [0.0] * more + [2.0] * less),
        "all_above_all_below": (ones, [2.0] * n),
        "x_shape": ([1.0] * less + [0.0] * more, [0.0] * less + [1.0] * more),
    }
