"""Lower bounds for mechanisms of which only the outputs are known."""

from dpest.engines.blackbox.estimate import Estimate, estimate
from dpest.engines.blackbox.finding import finding_of
from dpest.engines.blackbox.mechanism import BlackBox, MechanismError, blackbox
from dpest.engines.blackbox.pairs import pairs_to_try
from dpest.engines.blackbox.settings import Sampling

__all__ = [
    "BlackBox", "Estimate", "MechanismError", "Sampling", "blackbox", "estimate", "finding_of",
    "pairs_to_try",
]  # fmt: skip
