"""Integer noise that numpy's Generator does not offer; runs on a Generator, and is traced."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpest.noise import DiscreteGaussian, DiscreteLaplace, Law
from dpest.numbers.rational import exact


def discrete_laplace(rng: np.random.Generator, scale: float, size: Any = None) -> Any:
    """Integers with `P(k)` proportional to `exp(-|k| / scale)`."""
    return _drawn(rng, DiscreteLaplace(exact(scale)), size)


def discrete_gaussian(rng: np.random.Generator, sigma: float, size: Any = None) -> Any:
    """Integers with `P(k)` proportional to `exp(-k^2 / (2 sigma^2))`."""
    return _drawn(rng, DiscreteGaussian(exact(sigma)), size)


def _drawn(rng: np.random.Generator, law: Law, size: Any) -> Any:
    from dpest.trace.rng import SymbolicGenerator

    if isinstance(rng, SymbolicGenerator):
        return rng.draws(law, size)
    drawn = law.sample(rng, 1 if size is None else int(np.prod(size)))
    return int(drawn[0]) if size is None else drawn.reshape(size)
