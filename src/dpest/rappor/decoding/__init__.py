"""From counts or reports to frequencies: decoding, association, unknown strings."""

from dpest.rappor.decoding.association import Association, Variable, associate
from dpest.rappor.decoding.comparison import Comparison, compare
from dpest.rappor.decoding.decoder import decode
from dpest.rappor.decoding.goodness import BitFit
from dpest.rappor.decoding.results import Decoding, Row
from dpest.rappor.decoding.unknown import NgramReports, Unknown, unknown

__all__ = [
    "Association",
    "BitFit",
    "Comparison",
    "Decoding",
    "NgramReports",
    "Row",
    "Unknown",
    "Variable",
    "associate",
    "compare",
    "decode",
    "unknown",
]
