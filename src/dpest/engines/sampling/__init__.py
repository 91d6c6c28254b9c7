"""Traced programs as vectorised numpy, and lower bounds from their samples."""

from dpest.engines.sampling.sampler import Sampler
from dpest.engines.sampling.samples import Samples

__all__ = ["Sampler", "Samples"]
