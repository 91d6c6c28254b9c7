"""A proved upper bound on the privacy loss over all neighbouring inputs."""

from dpest.engines.proof.prove import Proof, Worst, prove

__all__ = ["Proof", "Worst", "prove"]
