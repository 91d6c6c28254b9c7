"""The worst mechanism of a given pure epsilon (Kairouz, Oh, Viswanath 2015)."""

from __future__ import annotations

import math

import numpy as np

from dpest.curves.atoms import Atoms
from dpest.curves.law import LossLaw


def worst_of_pure(epsilon: float) -> LossLaw:
    """The loss law of randomised response, which dominates that of every epsilon-DP mechanism."""
    high, low = -math.log1p(math.exp(-epsilon)), -epsilon - math.log1p(math.exp(-epsilon))
    return LossLaw((Atoms.of(np.array([low, high]), np.array([high, low])),))
