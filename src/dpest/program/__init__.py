"""The thing we reason about: paths of affine conditions and outputs over inputs and noise."""

from dpest.program.linear import Condition, Input, Linear, Noise, Partition, Piece, Source
from dpest.program.program import Leaf, Output, Path, Program

__all__ = [
    "Condition", "Input", "Leaf", "Linear", "Noise", "Output", "Partition", "Path", "Piece",
    "Program", "Source",
]
