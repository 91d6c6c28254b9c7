"""An event: a set of outputs, described by a score and a threshold.

A scorer gives each output a number that should be larger where the first input is likelier; the
event is "score at least t" or, looking from the other input, "score at most t".
"""

from __future__ import annotations

import ast
import math
import re
import sys
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from dpest.engines.blackbox.features import Features, Table
from dpest.engines.blackbox.outputs import Outputs

_ENTRY = re.compile(r"output(\[\d+\])?")
_IS = " is "
_SINGLETONS = ("None", "True", "False")
_SPELLED = 8
"""Outcomes that an event names; of more it says how many."""
Scores = npt.NDArray[np.float64]


class Scorer(Protocol):
    """Gives outputs a score; knows how to say in words what a score above a threshold means."""

    def scores(self, outputs: Outputs) -> Scores: ...

    def description(self, threshold: float, above: bool) -> str: ...

    def python(self, threshold: float, above: bool) -> str:
        """The same as an expression in `output`; empty where there is none."""
        return ""


@dataclass(frozen=True)
class Event:
    """The outputs with a score on one side of a threshold."""

    scorer: Scorer
    threshold: float
    above: bool

    def hits(self, outputs: Outputs) -> npt.NDArray[np.bool_]:
        """Which of the outputs are in the event."""
        return self.of_scores(self.scorer.scores(outputs))

    def of_scores(self, scores: Scores) -> npt.NDArray[np.bool_]:
        """The same, from scores that are known already."""
        return scores >= self.threshold if self.above else scores <= self.threshold

    @property
    def python(self) -> str:
        """The event as a Python expression in `output`; empty where there is none."""
        return self.scorer.python(self.threshold, self.above)

    def __str__(self) -> str:
        return self.scorer.description(self.threshold, self.above)


@dataclass(frozen=True)
class FeatureScorer(Scorer):
    """The score is one feature, as it is."""

    features: Features
    index: int
    name: str

    def scores(self, outputs: Outputs) -> Scores:
        return self.features.column(outputs, self.index)

    def of_table(self, table: Table) -> Scores:
        return table[:, self.index]

    def description(self, threshold: float, above: bool) -> str:
        entry, _, what = self.name.partition(_IS)
        if what and _ENTRY.fullmatch(entry):
            if _is_certain(threshold, above):
                return "any output"
            return self.name if above else f"{entry} is not {what}"
        if self.name.startswith("character ") and 0 <= threshold < sys.maxunicode:
            return f"{self.name} {'>=' if above else '<='} {chr(int(threshold))!r}"
        return f"{self.name} {'>=' if above else '<='} {threshold:.10g}"

    def python(self, threshold: float, above: bool) -> str:
        entry, _, what = self.name.partition(_IS)
        if what and _is_certain(threshold, above):
            return ""
        if not _ENTRY.fullmatch(entry) or self.features.nested:
            return ""
        if not what:
            return f"{self.name} {'>=' if above else '<='} {threshold!r}"
        if what in _SINGLETONS:
            return self.description(threshold, above)
        return f"{entry} {'==' if above else '!='} {what}" if _is_number(what) else ""


def _is_certain(threshold: float, above: bool) -> bool:
    """Whether what is 0 or 1 is on this side of the threshold in any case."""
    return threshold <= 0 if above else threshold >= 1


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


@dataclass(frozen=True)
class CountScorer(Scorer):
    """The score of an outcome is how much likelier it was on the first input among samples."""

    width: int
    keys: npt.NDArray[np.uint64]
    ratios: Scores
    names: tuple[str, ...]

    def scores(self, outputs: Outputs) -> Scores:
        found = outputs.keys(self.width)
        place = np.minimum(np.searchsorted(self.keys, found), len(self.keys) - 1)
        return np.where(self.keys[place] == found, self.ratios[place], 0.0)

    def description(self, threshold: float, above: bool) -> str:
        chosen = self._chosen(threshold, above)
        more = f" and {len(chosen) - _SPELLED} more" if len(chosen) > _SPELLED else ""
        return f"output in {{{'; '.join(chosen[:_SPELLED])}{more}}}"

    def _chosen(self, threshold: float, above: bool) -> list[str]:
        """The outcomes in the event, the most telling first."""
        inside = self.ratios >= threshold if above else self.ratios <= threshold
        order = np.argsort(-self.ratios if above else self.ratios, kind="stable")
        return [self.names[i] for i in order if inside[i]]

    def python(self, threshold: float, above: bool) -> str:
        chosen = self._chosen(threshold, above)
        try:
            outcomes = [ast.literal_eval(name) for name in chosen]
        except (ValueError, SyntaxError):
            return ""
        return f"output in {outcomes!r}"


@dataclass(frozen=True)
class ClassifierScorer(Scorer):
    """The score is a fitted classifier's log-odds for the first input."""

    features: Features
    classifier: Any
    kind: str
    example: str

    def scores(self, outputs: Outputs) -> Scores:
        return self.of_table(self.features.table(outputs))

    def of_table(self, table: Table) -> Scores:
        return np.asarray(self.classifier.decision_function(table), np.float64)

    def description(self, threshold: float, above: bool) -> str:
        side = ">=" if above else "<="
        return f"log-odds of a {self.kind} {side} {threshold:.4g}; leans on: {self.example}"
