"""Samples of a program as the outputs that the statistics look at."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dpest.engines.blackbox.coding import coded
from dpest.engines.blackbox.outputs import Kind, Outputs, concatenated
from dpest.engines.sampling.samples import Samples
from dpest.program import Output

_MARK = 2.0**52
"""Numbers from here on mark the slots of a form."""


def outputs_of(samples: Samples) -> Outputs:
    """The same outcomes, coded as those of a black box are."""
    marked = [_template(form) for form in samples.forms]
    templates = concatenated(marked)
    kinds, values = templates.kinds[samples.form], templates.values[samples.form]
    for number, form in enumerate(samples.forms):
        if form.leaves:
            rows = np.flatnonzero(samples.form == number)
            for place, leaf in enumerate(form.leaves):
                column = int(np.flatnonzero(templates.values[number] == _MARK + place)[0])
                shown = samples.numbers[rows, place]
                is_bool = leaf.kind == "bool"
                values[rows, column] = 0.0 if is_bool else shown
                truth = np.where(shown != 0, Kind.TRUE, Kind.FALSE)
                kinds[rows, column] = truth if is_bool else Kind.NUMBER
    return replace(Outputs(kinds, values, templates.names, templates.texts), origin=samples)


def _template(form: Output) -> Outputs:
    return coded([form.restore([_MARK + k for k in range(len(form.leaves))])], 1)
