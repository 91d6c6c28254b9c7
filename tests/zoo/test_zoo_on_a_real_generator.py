"""Every mechanism of the zoo is plain numpy: it runs on a real Generator."""

import math

import numpy as np
import pytest

from dpest.engines.analytic import traced
from dpest.engines.exact import ExactLaw
from dpest.neighbors import pairs
from dpest.zoo import ENTRIES, find
from dpest.zoo.found import BUGS

DISCRETE = [
    "report_noisy_max1", "report_noisy_max2", "svt1", "svt2", "svt4", "svt5", "svt6",
    "one_time_rappor", "rappor", "truncated_geometric",
]  # fmt: skip


def example(inputs):
    """A value of the domain as the mechanism gets it."""
    values = inputs.values()
    return inputs.give(np.ones(inputs.size) if values is None else next(values))


def plain(value):
    if isinstance(value, (list, tuple, np.ndarray)):
        return [plain(item) for item in value]
    return value if value is None else float(value)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_seed_mechanism_runs_and_repeats(entry):
    x = example(entry.inputs)
    first, again = (
        plain(entry.function(x, np.random.default_rng(3), **entry.params)) for _ in range(2)
    )
    assert first == again
    defaults = plain(entry.function(x, np.random.default_rng(3)))
    assert defaults == first, "the function's own defaults are the register's"


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_bug_and_twin_run(bug):
    x = example(bug.inputs)
    for function in (bug.wrong, bug.right):
        first, again = (plain(function(x, np.random.default_rng(5))) for _ in range(2))
        assert first == again


@pytest.mark.parametrize("name", DISCRETE)
def test_probabilities_of_all_outcomes_sum_to_one(name):
    entry = find(name)
    x = example(entry.inputs)
    program = traced(entry.function, entry.inputs, pairs([(x, x)]), entry.params)
    law = ExactLaw(program)
    at = law.at(x)
    total = math.fsum(
        math.prod(
            math.fsum(map(math.exp, at.component(component).log_probability.values()))
            for component in group.components
        )
        for group in law.groups
    )
    assert total == pytest.approx(1, abs=1e-10)


def test_truncated_geometric_in_exact_arithmetic():
    """Counting the draws that give each answer is the law itself."""
    entry = find("truncated_geometric")

    class Every:
        def __init__(self, u):
            self.u = u

        def integers(self, low, high):
            self.high = high
            return self.u

    n, k = 2, math.ceil(math.log(2 / 1.0))
    d = (2 ** (k + 1) + 1) * (2**k + 1) ** (n - 1)
    counts = {c: [0] * (n + 1) for c in range(n + 1)}
    for c in counts:
        for u in range(1, d + 1):
            counts[c][entry.function(c, Every(u), eps=1.0, n=n)] += 1
    ratios = [
        max(a / b, b / a) for c in range(n) for a, b in zip(counts[c], counts[c + 1], strict=True)
    ]
    assert max(ratios) == pytest.approx(1 + 2.0**-k)


def test_rappor_refuses_what_is_no_probability():
    rappor = find("rappor").function
    for wrong in ({"f": 1.5}, {"p": -0.1}, {"q": 2}):
        with pytest.raises(ValueError, match="probability between 0 and 1"):
            rappor(3, np.random.default_rng(0), **wrong)
