"""The laws a mechanism may draw from.

Every law answers the same few questions, vectorised and in log space, so that a probability of
1e-300 keeps all its digits: its density (or mass on the integers), the mass of an interval, where
it is not smooth, and where it lives. Locations are not part of a law: a draw at `loc` is
`loc + noise`.
"""

from dpest.noise.continuous import Exponential, Gumbel, Laplace, Logistic, Normal, Uniform
from dpest.noise.finite import Integers, Table, binomial_law, choice_law
from dpest.noise.lattice import DiscreteGaussian, DiscreteLaplace, Geometric
from dpest.noise.law import Law

__all__ = [
    "DiscreteGaussian",
    "DiscreteLaplace",
    "Exponential",
    "Geometric",
    "Gumbel",
    "Integers",
    "Laplace",
    "Law",
    "Logistic",
    "Normal",
    "Table",
    "Uniform",
    "binomial_law",
    "choice_law",
]
