"""Exact probabilities: independent components, closed forms, quadrature for shared noise."""

from dpest.engines.exact.certified import NoEnclosure, certified_log_ratio, enclosure
from dpest.engines.exact.events import Event, event_from, event_of, forms_of
from dpest.engines.exact.loss import ExactLaw, LawAt, PairLoss
from dpest.engines.exact.refusal import OutOfReach

__all__ = [
    "Event", "ExactLaw", "LawAt", "NoEnclosure", "OutOfReach", "PairLoss", "certified_log_ratio",
    "enclosure", "event_from", "event_of", "forms_of",
]  # fmt: skip
