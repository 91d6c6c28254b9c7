"""Mechanisms explained: how one works, what pays for its loss, what a change did to it."""

from dpest.explain.difference import Difference, difference
from dpest.explain.explanation import Section, explain, folded, plain

__all__ = ["Difference", "Section", "difference", "explain", "folded", "plain"]
