"""From a pair of inputs to delta(eps), Rényi divergences, trade-off functions and compositions.

Everything here is a functional of one law: that of the privacy loss log P/Q under P.
"""

from dpest.curves.curves import Curves
from dpest.curves.neighbors import curves_of

__all__ = ["Curves", "curves_of"]
