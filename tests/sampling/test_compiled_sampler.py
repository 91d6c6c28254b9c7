"""The compiled sampler against the exact law, the function itself, and the paths one by one."""

import math
import tracemalloc
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2, ks_2samp, kstest

import dpest
from dpest.engines.sampling import Sampler
from dpest.engines.sampling.sampler import BLOCK
from dpest.numbers.rational import to_float
from dpest.program.program import evaluate, holds
from dpest.zoo import ENTRIES

SURE = 1e-6
"""A right sampler fails a test at one seed with this probability; the seeds are fixed."""


def fits(counts, expected, size):
    """Pearson's test of counts by outcome; rare outcomes are put together."""
    assert set(counts) <= set(expected), set(counts) - set(expected)
    common = [key for key, p in expected.items() if p * size >= 5]
    seen = [counts[key] for key in common]
    likely = [expected[key] * size for key in common]
    seen.append(size - sum(seen))
    likely.append(size - math.fsum(likely))
    if likely[-1] < 5:
        assert seen[-1] <= 5 + 20
        seen, likely = seen[:-1], likely[:-1]
    statistic = sum((a - b) ** 2 / b for a, b in zip(seen, likely, strict=True))
    return chi2.sf(statistic, max(len(likely) - 1, 1)) > SURE


def plain(value):
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    if isinstance(value, (list, tuple)):
        items = [plain(item) for item in value]
        return tuple(items) if isinstance(value, tuple) else items
    return value


def exact_law(mechanism, x):
    """The probability of every outcome, by its repr."""
    found = Counter()
    for outcome, p in dpest.distribution(mechanism, x).atoms():
        found[repr(outcome)] += p
    return found


# -- mechanisms with every way to branch ------------------------------------------------------


def threshold_list(x, rng):
    level = rng.laplace(scale=2)
    return [bool(v + rng.laplace(scale=2) > level) for v in x]


def argmax_then_branch(x, rng):
    noisy = x + rng.exponential(scale=2, size=len(x))
    winner = int(np.argmax(noisy))
    if winner == 0:
        return "first"
    return [x[winner] > 1, bool(rng.random() < 0.3)]


def counts_above(x, rng):
    return int(sum(x + rng.normal(size=len(x)) > 1))


def sorted_places(x, rng):
    return np.argsort(x + rng.gumbel(size=len(x)))


def integer_noise(x, rng):
    k = rng.geometric(0.4) - rng.geometric(0.4)
    if k == 0:
        return None
    return {"k": k, "sign": "+" if k > 0 else "-"}


def flips(x, rng):
    bits = np.where(x > 1, 1, 0)
    kept = rng.random(size=len(x)) < 0.75
    return np.where(kept, bits, rng.integers(0, 2, size=len(x)))


def redraws(x, rng):
    for _ in range(4):
        noise = rng.integers(-2, 3)
        if noise != 0:
            return int(noise)
    return 0


def binomial_choice(x, rng):
    picked = rng.choice(["a", "b", "c"], p=[0.5, 0.3, 0.2])
    return picked, rng.binomial(3, 0.25)


def tied_places(x, rng):
    scores = np.array([rng.integers(0, 3) for _ in range(4)])
    return int(np.argmin(scores)), int(np.array([7, 5, 5, 9])[np.argmax(scores)])


DISCRETE = [
    threshold_list, argmax_then_branch, counts_above, sorted_places, integer_noise, flips, redraws,
    binomial_choice, tied_places,
]  # fmt: skip
X = np.array([1.0, 2.0, 0.5])


@pytest.mark.parametrize("mechanism", DISCRETE, ids=lambda f: f.__name__)
def test_outcomes_are_as_frequent_as_the_exact_law_says(mechanism):
    size = 200_000
    expected = exact_law(mechanism, X)
    assert fits(dpest.sample(mechanism, X, size, seed=5).counts(), expected, size)


@pytest.mark.parametrize("mechanism", DISCRETE, ids=lambda f: f.__name__)
def test_outcomes_look_as_the_function_returns_them(mechanism):
    rng = np.random.default_rng(2)
    real = {repr(plain(mechanism(X, rng))) for _ in range(100)}
    sampled = set(dpest.sample(mechanism, X, 300_000).counts())
    assert real <= sampled


RECIPE = st.lists(
    st.tuples(
        st.sampled_from(["laplace", "exponential", "normal", "gumbel", "logistic", "uniform"]),
        st.sampled_from([0.5, 1.0, 2.0]),
        st.sampled_from(["if", "where", "argmax", "count", "clip"]),
    ),
    min_size=1,
    max_size=4,
)


class Made:
    """A discrete mechanism made of a recipe: every step looks at the one before it."""

    __name__ = "made"

    def __init__(self, recipe):
        self.recipe = recipe

    def __call__(self, x, rng):
        last, out = x[0], []
        for law, scale, step in self.recipe:
            noise = rng.uniform(0, scale) if law == "uniform" else getattr(rng, law)(scale=scale)
            here = x[1] + noise
            if step == "if":
                if here > last:
                    out.append("up")
                    last = here
                else:
                    out.append(None)
            elif step == "where":
                out.append(np.where(here > last, 2, np.where(here > last - 1, 1, 0)))
            elif step == "argmax":
                out.append(int(np.argmax(np.array([here, last, 1.0]))))
            elif step == "count":
                out.append(int(sum(np.array([here, last]) > 1.0)))
            else:
                last = np.clip(here, 0.0, 1.0)
                out.append(bool(last >= 0.5))
        return out


@settings(derandomize=True, deadline=None, max_examples=30)
@given(RECIPE)
def test_made_mechanisms_follow_their_law(recipe):
    size, mechanism = 20_000, Made(recipe)
    expected = exact_law(mechanism, [1.0, 0.5])
    assert fits(dpest.sample(mechanism, [1.0, 0.5], size, seed=3).counts(), expected, size)


@settings(derandomize=True, deadline=None, max_examples=8)
@given(RECIPE)
def test_made_mechanisms_run_alike_on_a_generator(recipe):
    size, mechanism, rng = 3_000, Made(recipe), np.random.default_rng(1)
    real = Counter(repr(plain(mechanism([1.0, 0.5], rng))) for _ in range(size))
    sampled = dpest.sample(mechanism, [1.0, 0.5], 100 * size, seed=4).counts()
    expected = {key: n / (100 * size) for key, n in sampled.items()}
    assert fits(real, expected, size)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda e: e.name)
def test_the_seed_mechanisms_agree_with_their_python(entry):
    x, rng = entry.inputs.give([1] * entry.inputs.size), np.random.default_rng(0)
    real = [plain(entry.function(x, rng, **entry.params)) for _ in range(1500)]
    sampled = list(dpest.sample(entry.function, x, 6000, seed=1, params=entry.params))
    for feature in (_form, _total, _first):
        one, other = [list(map(feature, runs)) for runs in (real, sampled)]
        assert ks_2samp(one, other).pvalue > SURE


def _flat(value):
    if isinstance(value, (list, tuple)):
        return [entry for item in value for entry in _flat(item)]
    return [value]


def _form(value):
    kinds = [0 if v is None else 1 + isinstance(v, bool) for v in _flat(value)]
    return sum(3**k * kind for k, kind in enumerate(kinds))


def _total(value):
    return sum(v for v in _flat(value) if v is not None)


def _first(value):
    return next((v for v in _flat(value) if v is not None), -1e9)


# -- run by run -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["svt2", "svt3", "numerical_svt", "report_noisy_max3", "svt6"])
def test_every_run_takes_the_one_path_whose_conditions_hold(name, monkeypatch):
    entry = next(e for e in ENTRIES if e.name == name)
    program = dpest.trace(entry.function, dpest.reals(4), **entry.params)
    x = np.array([1.0, 0.0, 2.0, 1.0])
    sampler = Sampler(program)
    compiled = sampler.at(x)
    noise = compiled._noise(np.random.default_rng(3), 60)
    monkeypatch.setattr(compiled, "_noise", lambda rng, size: noise)
    found = compiled.draw(np.random.default_rng(0), 60)
    known = {symbol: to_float(line.const) for symbol, line in program.at(x).numbers.items()}
    for run in range(60):
        draws = known | {v: noise[column][run] for v, column in sampler.columns.items()}
        taken = [p for p in program.paths if all(bool(holds(c, draws)) for c in p.conditions)]
        (path,) = taken
        numbers = [leaf.restore(evaluate(leaf.value, draws)) for leaf in path.output.leaves]
        assert found[run] == pytest.approx(path.output.restore(numbers))


def test_draws_that_meet_in_a_run_have_columns_of_their_own():
    for entry in ENTRIES[:16]:
        program = dpest.trace(entry.function, entry.inputs, **entry.params)
        columns = Sampler(program).columns
        for path in program.paths:
            used = [columns[noise] for noise in path.noises if noise in columns]
            assert len(set(used)) == len(used)


def test_draws_that_never_meet_share_a_column():
    def either(x, rng):
        first, second = rng.laplace(), rng.laplace()
        return first if rng.random() < 0.5 else second

    program = dpest.trace(either, 1)
    assert len(set(Sampler(program).columns.values())) == 2


# -- the public function ----------------------------------------------------------------------


def noisy(x, rng, scale=1.0):
    return x + rng.laplace(scale=scale)


def test_numbers_follow_the_exact_distribution_function():
    found = np.asarray(dpest.sample(noisy, 2.0, 100_000, seed=1, params={"scale": 3.0}))
    law = dpest.distribution(noisy, 2.0, params={"scale": 3.0})
    grid = np.sort(found)[::500]
    assert kstest(found, lambda y: np.interp(y, grid, [law.cdf(v) for v in grid])).pvalue > SURE


def test_the_seed_decides_and_blocks_do_not_repeat():
    size = 2 * BLOCK + 100
    one, same = (np.asarray(dpest.sample(noisy, 0.0, size, seed=7)) for _ in range(2))
    other = np.asarray(dpest.sample(noisy, 0.0, size, seed=8))
    assert np.array_equal(one, same)
    assert len(np.unique(np.concatenate([one, other]))) == 2 * size


def test_samples_are_a_sequence_of_outcomes():
    found = dpest.sample(threshold_list, X, 50)
    assert len(found) == 50
    assert found[0] == next(iter(found))
    assert list(found[10:20]) == list(found)[10:20]
    assert sum(found.counts().values()) == 50
    assert np.asarray(found).shape == (50, 3)
    assert repr(found) == f"<50 samples of {len(found.forms)} forms>"
    mixed = np.asarray(dpest.sample(integer_noise, X, 20), dtype=object)
    assert mixed.shape == (20,)


def test_memory_does_not_grow_with_what_a_run_draws():
    """A million runs of 22 draws would be 176 MB of noise."""
    entry = next(e for e in ENTRIES if e.name == "svt34_parallel")
    program = dpest.trace(entry.function, dpest.reals(6), **entry.params)
    compiled = Sampler(program).at(np.ones(6))
    tracemalloc.start()
    compiled.draw(np.random.default_rng(0), 300_000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 40e6


@pytest.mark.parametrize("size", [0, -1, 2.5, True])
def test_a_size_that_makes_no_sense_is_named(size):
    with pytest.raises(ValueError, match=f"size={size}: give a whole number"):
        dpest.sample(noisy, 0.0, size)


def test_what_cannot_be_traced_is_refused():
    with pytest.raises(ValueError, match="rounding"):
        dpest.sample(lambda x, rng: round(x + rng.laplace()), 0.0, 10)
