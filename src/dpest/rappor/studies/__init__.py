"""The two studies of the seed documents, with the published decoder and ours side by side."""

from dpest.rappor.studies.scores import Score, precision_recall
from dpest.rappor.studies.shapes import Shape, normal_shape

__all__ = ["Score", "Shape", "normal_shape", "precision_recall"]
