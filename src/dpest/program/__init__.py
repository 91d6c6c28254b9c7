"""The thing we reason about: paths of affine conditions and outputs over inputs and noise."""

from dpest.program.linear import (
    Cases,
    Cell,
    Condition,
    Contest,
    Input,
    Linear,
    Noise,
    Partition,
    Piece,
    Source,
)
from dpest.program.program import Leaf, Output, Path, Program

__all__ = [
    "Cases", "Cell", "Condition", "Contest", "Input", "Leaf", "Linear", "Noise", "Output",
    "Partition", "Path", "Piece", "Program", "Source",
]
