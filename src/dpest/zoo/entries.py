"""The register of the seed mechanisms: how each is run, what is claimed, what others measured."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from dpest.inputs import Inputs, integers, reals
from dpest.neighbors import Neighbors, any_pair, l1, linf
from dpest.zoo import additive, geometric, local, noisy_max, sparse_vector


@dataclass(frozen=True)
class Figures:
    """What the seed documents print: dpest's two runs, DP-Sniper, StatDP, and their seconds."""

    dpest_run1: float
    dpest_run2: float
    dp_sniper: float | None
    statdp: float | None
    dpest_seconds: float
    sniper_seconds: float | None = None
    statdp_seconds: float | None = None


@dataclass(frozen=True)
class Entry:
    """A mechanism with the inputs, the neighbours and the claim it was published with.

    A claim of infinity says that the literature gives no finite epsilon.
    """

    name: str
    function: Callable[..., Any]
    title: str
    citation: str
    inputs: Inputs
    neighbors: Neighbors
    claim: float
    params: dict[str, Any]
    figures: Figures = field(repr=False)


_LAPLACE = "Dwork, McSherry, Nissim, Smith (TCC 2006)"
_DING = "Ding, Wang, Wang, Zhang, Kifer (CCS 2018)"
_LYU = "Lyu, Su, Li (PVLDB 2017)"
_WANG = "Wang, Ding, Wang, Kifer, Zhang (PLDI 2019)"
_RAPPOR = "Erlingsson, Pihur, Korolova (CCS 2014)"
_BALCER = "Balcer, Vadhan (ITCS 2018)"
_SNIPER = "Bichsel, Steffen, Bogunovic, Vechev (S&P 2021)"

_BITS = {"h": 4, "k": 20}
_ONE = {"eps": 0.1}
_SVT = {"eps": 0.1, "t": 1.0, "c": 1}


def _entry(
    title: str, function: Callable[..., Any], citation: str, inputs: Inputs, neighbors: Neighbors,
    claim: float, params: dict[str, Any], *figures: Any,
) -> Entry:  # fmt: skip
    name = function.__name__
    return Entry(
        name, function, title, citation, inputs, neighbors, claim, params, Figures(*figures)
    )


ENTRIES: tuple[Entry, ...] = (
    _entry("LaplaceMechanism", additive.laplace_mechanism, _LAPLACE, reals(1), l1(1),
           0.1, _ONE, 0.1002, 0.1, None, None, 0.01),
    _entry("LaplaceParallel", additive.laplace_parallel, _SNIPER, reals(1), l1(1),
           0.1, {"eps_each": 0.005, "copies": 20}, 0.101, 0.1003, None, None, 0.04),
    _entry("NoisyHist1", additive.noisy_hist1, f"{_DING}, Algorithm 9", reals(5), l1(1),
           0.1, _ONE, 0.1002, 0.5001, None, None, 0.01),
    _entry("NoisyHist2", additive.noisy_hist2, f"{_DING}, Algorithm 10", reals(5), l1(1),
           10.0, _ONE, 10.0001, 19.9901, None, None, 0.01),
    _entry("ReportNoisyMax1", noisy_max.report_noisy_max1, f"{_DING}, Algorithm 5",
           reals(5), linf(1), 0.1, _ONE, 0.1069, 0.104, 0.092, 0.092, 2.75, 22.0, 46.0),
    _entry("ReportNoisyMax2", noisy_max.report_noisy_max2, f"{_DING}, Algorithm 6",
           reals(5), linf(1), 0.1, _ONE, 0.0964, 0.0964, None, None, 2.75),
    _entry("ReportNoisyMax3", noisy_max.report_noisy_max3, f"{_DING}, Algorithm 7",
           reals(5), linf(1), math.inf, _ONE, 0.8477, 1.552, None, None, 2.73),
    _entry("ReportNoisyMax4", noisy_max.report_noisy_max4, f"{_DING}, Algorithm 8",
           reals(5), linf(1), math.inf, _ONE, 8.6719, 8.6719, None, None, 2.74),
    _entry("NoisyMaxSum", noisy_max.noisy_max_sum, "the seed documents", reals(20), linf(1),
           math.inf, _ONE, 1.8692, 2.7707, None, None, 24.4),
    _entry("SVT1", sparse_vector.svt1, f"{_LYU}, Algorithm 1", reals(10), linf(1),
           0.1, _SVT | {"t": 0.5}, 0.092, 0.1393, None, None, 276.45),
    _entry("SVT2", sparse_vector.svt2, f"{_LYU}, Algorithm 2", reals(10), linf(1),
           0.1, _SVT, 0.0843, 0.1559, None, None, 282.88),
    _entry("SVT3", sparse_vector.svt3, f"{_LYU}, Algorithm 3", reals(10), linf(1),
           math.inf, _SVT, math.inf, 2.6391, None, None, 47.02),
    _entry("SVT4", sparse_vector.svt4, f"{_LYU}, Algorithm 4", reals(10), linf(1),
           0.175, _SVT, 0.1761, 0.2024, None, None, 310.38),
    _entry("SVT5", sparse_vector.svt5, f"{_LYU}, Algorithm 5", reals(10), linf(1),
           math.inf, {"eps": 0.1, "t": 1.0}, math.inf, 0.5611, None, None, 24.79),
    _entry("SVT6", sparse_vector.svt6, f"{_LYU}, Algorithm 6", reals(10), linf(1),
           math.inf, {"eps": 0.1, "t": 1.0}, 0.4976, 0.2805, None, None, 278.91),
    _entry("NumericalSVT", sparse_vector.numerical_svt, _WANG, reals(10), linf(1),
           0.1, _SVT | {"c": 2}, math.inf, 2.7726, None, None, 57.76),
    _entry("SVT34Parallel", sparse_vector.svt34_parallel, _SNIPER, reals(10), linf(1),
           math.inf, _SVT | {"c": 2}, math.inf, 2.9444, None, None, 105.22),
    _entry("PrefixSum", additive.prefix_sum, _WANG, reals(10), l1(1),
           0.1, _ONE, math.inf, math.inf, None, None, 123.84),
    _entry("OneTimeRAPPOR", local.one_time_rappor, f"{_RAPPOR}, steps 1 and 2",
           integers(1, -10, 10), any_pair(), 0.8, _BITS | {"f": 0.95},
           0.6005, 0.6005, 0.6, 0.476, 0.01, 60.0, 420.0),
    _entry("RAPPOR", local.rappor, f"{_RAPPOR}, steps 1 to 3", integers(1, -10, 10), any_pair(),
           0.4, _BITS | {"f": 0.75, "p": 0.45, "q": 0.55}, 0.3001, 0.3001, None, None, 0.01),
    _entry("TruncatedGeometric", geometric.truncated_geometric, f"{_BALCER}, Algorithm 4.8",
           integers(1, 0, 5), l1(1), 0.12, {"eps": 0.1, "n": 5},
           0.1312, 0.1527, None, None, 23.92),
)  # fmt: skip
"""In the order of the seed documents' report."""


def find(name: str) -> Entry | None:
    """The entry with this function name or title, in any case."""
    wanted = name.lower()
    return next((e for e in ENTRIES if wanted in (e.name, e.title.lower())), None)
