"""Mechanisms as teams ship them, right and wrong: plain functions `f(x, rng, **params)`."""

from dpest.zoo.additive import (
    laplace_mechanism,
    laplace_parallel,
    noisy_hist1,
    noisy_hist2,
    prefix_sum,
)
from dpest.zoo.entries import ENTRIES, Entry, Figures, find
from dpest.zoo.geometric import truncated_geometric
from dpest.zoo.local import one_time_rappor, rappor
from dpest.zoo.noisy_max import (
    noisy_max_sum,
    report_noisy_max1,
    report_noisy_max2,
    report_noisy_max3,
    report_noisy_max4,
)
from dpest.zoo.patterns import patterns
from dpest.zoo.sparse_vector import (
    numerical_svt,
    svt1,
    svt2,
    svt3,
    svt4,
    svt5,
    svt6,
    svt34_parallel,
)

__all__ = [
    "ENTRIES",
    "Entry",
    "Figures",
    "find",
    "laplace_mechanism",
    "laplace_parallel",
    "noisy_hist1",
    "noisy_hist2",
    "noisy_max_sum",
    "numerical_svt",
    "one_time_rappor",
    "patterns",
    "prefix_sum",
    "rappor",
    "report_noisy_max1",
    "report_noisy_max2",
    "report_noisy_max3",
    "report_noisy_max4",
    "svt1",
    "svt2",
    "svt3",
    "svt4",
    "svt5",
    "svt6",
    "svt34_parallel",
    "truncated_geometric",
]
