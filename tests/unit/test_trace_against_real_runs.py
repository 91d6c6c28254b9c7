"""Every traced operation gives what the same code gives on a real Generator."""

from __future__ import annotations

import functools
import itertools
import math
from dataclasses import dataclass

import numpy as np
import pytest

import dpest
from dpest.trace.refusals import Refusal

N = 3


def noisy(x, rng):
    return x + rng.laplace(scale=2.0, size=len(x))


ARRAYS = {
    "affine": lambda v: 2 * v - 1,
    "reflected": lambda v: 3 - v,
    "quotient": lambda v: v / 4,
    "negative": lambda v: -v,
    "positive": lambda v: +v,
    "abs": lambda v: abs(v),
    "np.abs": lambda v: np.abs(v),
    "np.add": lambda v: np.add(v, 1.5),
    "np.subtract": lambda v: np.subtract(1, v),
    "np.multiply": lambda v: np.multiply(v, [1, 2, 3]),
    "np.divide": lambda v: np.divide(v, 2),
    "np.negative": lambda v: np.negative(v),
    "np.maximum": lambda v: np.maximum(v, 0.5),
    "np.minimum": lambda v: np.minimum(v, [0, 1, 2]),
    "clip method": lambda v: v.clip(-1, 1),
    "np.clip": lambda v: np.clip(v, 0, None),
    "np.clip keywords": lambda v: np.clip(v, a_min=-1, a_max=2),
    "np.cumsum": lambda v: np.cumsum(v),
    "cumsum method": lambda v: v.cumsum(),
    "np.sort": lambda v: np.sort(v),
    "sorted": lambda v: sorted(v),
    "sorted reverse": lambda v: sorted(v, reverse=True),
    "np.argsort": lambda v: np.argsort(v),
    "argsort method": lambda v: v.argsort(),
    "argsort of the negative": lambda v: np.argsort(-v)[:2],
    "sort slice": lambda v: np.sort(v)[::-1][:2],
    "np.concatenate": lambda v: np.concatenate([v, v[:1], [1.0]]),
    "np.stack": lambda v: np.stack([v, 2 * v]),
    "np.vstack": lambda v: np.vstack([v, 2 * v]),
    "np.hstack": lambda v: np.hstack([v, 2 * v]),
    "np.column_stack": lambda v: np.column_stack([v, 2 * v]),
    "np.append": lambda v: np.append(v, 4.0),
    "np.diff": lambda v: np.diff(v),
    "np.flip": lambda v: np.flip(v),
    "np.roll": lambda v: np.roll(v, 1),
    "np.tile": lambda v: np.tile(v, 2),
    "np.repeat": lambda v: np.repeat(v, 2),
    "np.delete": lambda v: np.delete(v, 1),
    "reshape": lambda v: v.reshape(3, 1),
    "reshape then flatten": lambda v: v.reshape(1, 3).T.flatten(),
    "np.where": lambda v: np.where(v > 0, v, 0),
    "np.where constants": lambda v: np.where(v > 0, 1, -1),
    "np.where of where": lambda v: np.where(v > 1, 2, np.where(v > 0, 1, 0)),
    "np.sign": lambda v: np.sign(v),
    "greater": lambda v: v > 0.5,
    "less equal": lambda v: v <= v[0] + 1,
    "equal": lambda v: v == 0.0,
    "not": lambda v: ~(v > 0),
    "and": lambda v: (v > 0) & (v < 1),
    "or": lambda v: (v > 1) | (v < 0),
    "xor": lambda v: (v > 1) ^ (v < 2),
    "np.logical_and": lambda v: np.logical_and(v > 0, v < 2),
    "np.logical_or": lambda v: np.logical_or(v > 2, v < 0),
    "np.logical_not": lambda v: np.logical_not(v > 0),
    "bool arithmetic": lambda v: (v > 0) * 2 - 1,
    "astype int": lambda v: (v > 0).astype(int),
    "astype float": lambda v: (v > 0).astype(float),
    "fancy index": lambda v: v[[2, 0]],
    "plain mask": lambda v: v[np.array([True, False, True])],
    "negative index": lambda v: v[-1],
    "slice": lambda v: v[1:],
    "ellipsis": lambda v: v[...],
    "new axis": lambda v: v[:, None],
    "copy": lambda v: v.copy(),
    "np.copy": lambda v: np.copy(v),
    "np.array of a list": lambda v: np.array([v[0], v[1] + 1]),
    "np.asarray": lambda v: np.asarray(v),
    "tolist": lambda v: v.tolist(),
    "comprehension": lambda v: [2 * item for item in v],
    "enumerate": lambda v: [k * item for k, item in enumerate(v)],
    "zip": lambda v: [a - b for a, b in itertools.pairwise(v)],
    "map": lambda v: list(map(float, v)),
    "np.zeros_like": lambda v: np.zeros_like(v) + v,
    "np.full_like": lambda v: np.full_like(v, 2.0) + v,
    "matrix product": lambda v: np.array([[1, 0, 2], [0, 1, 1]]) @ v,
    "np.dot": lambda v: np.dot(np.eye(3), v),
    "np.outer product by broadcasting": lambda v: v[:, None] * np.array([1, 2]),
    "power": lambda v: (v > 0) ** 2,
}

SCALARS = {
    "sum method": lambda v: v.sum(),
    "np.sum": lambda v: np.sum(v),
    "builtin sum": lambda v: sum(v),
    "builtin sum of truths": lambda v: sum(v > 0),
    "builtin max": lambda v: max(v),
    "builtin max of two": lambda v: max(v[0], v[1]),
    "builtin max with a constant": lambda v: max(v[0], 0),
    "builtin min": lambda v: min(v),
    "builtin min of a list": lambda v: min([v[0], v[1], 1.0]),
    "np.max": lambda v: np.max(v),
    "max method": lambda v: v.max(),
    "np.min": lambda v: np.min(v),
    "np.argmax": lambda v: np.argmax(v),
    "argmax method": lambda v: v.argmax(),
    "np.argmin": lambda v: np.argmin(v),
    "int of argmax": lambda v: int(np.argmax(v)),
    "np.mean": lambda v: np.mean(v),
    "mean method": lambda v: v.mean(),
    "np.median": lambda v: np.median(v),
    "np.average": lambda v: np.average(v),
    "np.any": lambda v: np.any(v > 0),
    "np.all": lambda v: np.all(v > 0),
    "any method": lambda v: (v > 2).any(),
    "builtin any": lambda v: any(v > 1),
    "builtin all": lambda v: all(item > 0 for item in v),
    "np.count_nonzero": lambda v: np.count_nonzero(v > 0),
    "sum of truths": lambda v: np.sum(v > 0),
    "mean of truths": lambda v: np.mean(v > 0),
    "bool": lambda v: bool(v[0] > 0),
    "float": lambda v: float(v[0]),
    "float of a truth": lambda v: float(v[0] > 0),
    "int of a truth": lambda v: int(v[0] > 0),
    "abs of one": lambda v: abs(v[1]),
    "entry at a traced index": lambda v: v[np.argmax(v)],
    "constant list at a traced index": lambda v: np.array([5, 6, 7])[np.argmax(v)],
    "other entry at a traced index": lambda v: (v + 1)[np.argmin(v)],
    "list at a traced index": lambda v: ["a", "b", "c"][np.argmax(v)],
    "chained comparison": lambda v: 0 < v[0] < 1,
    "conditional expression": lambda v: 1 if v[0] > v[1] else 2,
    "not": lambda v: not (v[0] > 0),
    "and": lambda v: v[0] > 0 and v[1] > 0,
    "or": lambda v: v[0] > 0 or v[1] > 0,
    "a truth times noise": lambda v: (v[0] > 0) * v[1],
    "two truths multiplied": lambda v: (v[0] > 0) * (v[1] > 0),
    "division by two values": lambda v: v[0] / np.where(v[1] > 0, 2, 4),
    "np.dot of vectors": lambda v: np.dot(v, [1, 2, 3]),
    "np.diff of sorted": lambda v: np.diff(np.sort(v))[1],
    "length": lambda v: len(v) + v.size + v.shape[0],
    "max minus min": lambda v: v.max() - v.min(),
    "item": lambda v: v[:1].item(),
    "range over": lambda v: sum(v[k] for k in range(len(v))),
    "max axis": lambda v: np.stack([v, -v]).max(axis=0).sum(),
    "sum axis": lambda v: np.stack([v, 2 * v]).sum(axis=1)[1],
    "str of a branch": lambda v: "yes" if v[0] > 0 else "no",
}


@pytest.mark.parametrize("name", ARRAYS)
def test_array_operation(name, agrees):
    operation = ARRAYS[name]

    def mechanism(x, rng):
        return operation(noisy(x, rng))

    agrees(mechanism, N, runs=8)


@pytest.mark.parametrize("name", SCALARS)
def test_scalar_operation(name, agrees):
    operation = SCALARS[name]

    def mechanism(x, rng):
        return operation(noisy(x, rng))

    agrees(mechanism, N, runs=8)


DRAWS = {
    "laplace": lambda rng: rng.laplace(),
    "laplace with a location": lambda rng: rng.laplace(3, 2),
    "laplace keywords": lambda rng: rng.laplace(loc=1.0, scale=0.5),
    "laplace array of scales": lambda rng: rng.laplace(scale=[1.0, 2.0]),
    "laplace matrix": lambda rng: rng.laplace(scale=2.0, size=(2, 2)),
    "normal": lambda rng: rng.normal(1, 2),
    "normal array": lambda rng: rng.normal(size=3),
    "standard_normal": lambda rng: rng.standard_normal(2),
    "exponential": lambda rng: rng.exponential(2.0),
    "standard_exponential": lambda rng: rng.standard_exponential(),
    "uniform": lambda rng: rng.uniform(-1, 2),
    "uniform array": lambda rng: rng.uniform(size=2),
    "random": lambda rng: rng.random(),
    "random array": lambda rng: rng.random((2, 1)),
    "gumbel": lambda rng: rng.gumbel(0.5, 2.0, size=2),
    "logistic": lambda rng: rng.logistic(scale=3.0),
    "geometric": lambda rng: rng.geometric(0.25),
    "two geometrics": lambda rng: rng.geometric(0.5) - rng.geometric(0.5),
    "binomial": lambda rng: rng.binomial(5, 0.25),
    "integers": lambda rng: rng.integers(6),
    "integers range": lambda rng: rng.integers(2, 5, size=2),
    "integers endpoint": lambda rng: rng.integers(1, 6, endpoint=True),
    "choice of a number": lambda rng: rng.choice(4),
    "choice of values": lambda rng: rng.choice([1.5, 2.5, 9.0]),
    "choice with p": lambda rng: rng.choice([0, 1], p=[0.25, 0.75]),
    "choice array": lambda rng: rng.choice([1, 2], size=3, p=[0.5, 0.5]),
    "coin": lambda rng: bool(rng.random() < 0.25),
    "coin of an integer": lambda rng: rng.integers(0, 2) == 1,
    "a bit flipped": lambda rng: 1 ^ rng.binomial(1, 0.25),
    "bits flipped": lambda rng: np.array([0, 1, 1]) ^ rng.binomial(1, 0.25, size=3),
    "the lowest bit": lambda rng: rng.integers(0, 8) & 1,
    "bits of integers": lambda rng: [rng.integers(0, 8) | 2, 5 ^ rng.integers(0, 8)],
    "a truth and an integer": lambda rng: (rng.random() < 0.5) & rng.integers(0, 4),
    "bits and truths": lambda rng: [rng.integers(0, 2) | 1, (rng.random() < 0.5) | True],
    "bits moved": lambda rng: [1 << rng.integers(0, 4), rng.integers(0, 8) >> 1],
    "bits of an array moved": lambda rng: rng.integers(0, 4, size=2) << 1,
    "all bits turned": lambda rng: [~rng.integers(0, 8), ~rng.integers(0, 8, size=2)],
    "truths turned": lambda rng: ~(rng.random(size=2) < 0.5),
}


@pytest.mark.parametrize("name", DRAWS)
def test_draw(name, agrees):
    draw = DRAWS[name]
    agrees(lambda x, rng: [x[0] + 0.0, draw(rng)], 2)


def test_noise_around_the_input(agrees):
    agrees(lambda x, rng: rng.laplace(x, 2.0), 3)
    agrees(lambda x, rng: rng.normal(loc=x[0]), 2)
    agrees(lambda x, rng: rng.uniform(x[0], x[0] + 2), 2)


def test_one_number_is_a_scalar_and_still_indexable(agrees):
    agrees(lambda x, rng: x + rng.laplace(), 1)
    agrees(lambda x, rng: [x[0] + rng.laplace(), len(x)], 1)
    agrees(lambda x, rng: max(x, 0.0) + rng.laplace(), 1)


def test_item_assignment_into_made_arrays(agrees):
    def filled(x, rng):
        out = np.zeros(len(x))
        rest = np.empty(2)
        for k, value in enumerate(x):
            out[k] = value + rng.laplace()
        rest[:] = out[:2]
        rest[0] += 1
        return np.concatenate([out, rest])

    def masked(x, rng):
        noisy_ = x + rng.laplace(size=len(x))
        noisy_[noisy_ < 0] = 0
        return noisy_

    def matrix(x, rng):
        table = np.ones((2, 2))
        table[0, 1] = x[0] + rng.normal()
        return table

    for mechanism in (filled, masked, matrix):
        agrees(mechanism, 3)


def test_in_place_operators(agrees):
    def mechanism(x, rng):
        total = 0.0
        v = x + rng.laplace(size=len(x))
        v += 1
        v *= 2
        for item in v:
            total += item
            total -= 0.5
        return [total, v[0]]

    agrees(mechanism, 3)


def test_containers_of_every_kind(agrees):
    def mechanism(x, rng):
        above = x[0] + rng.laplace() > 0
        score = x[1] + rng.laplace()
        return {
            "above": bool(above), "score": score, "label": "high" if above else None,
            "pair": (1, score), "list": [score, [True]],
        }  # fmt: skip

    agrees(mechanism, 2)


@dataclass(frozen=True)
class Answer:
    number: float
    name: str = "total"


@dataclass(slots=True)
class Release:
    answers: list
    best: Answer | None


def test_dataclasses_and_sets(agrees):
    def mechanism(x, rng):
        noisy = x + rng.laplace(size=2)
        best = Answer(noisy[0]) if noisy[0] > 0 else None
        return Release([noisy[1], 1], best)

    program = agrees(mechanism, 2)
    assert len(program.paths) == 2
    names = dpest.trace(lambda x, rng: {"ab"[i] for i in (0, 1) if x[i] > rng.laplace()}, 2)
    outputs = [path.output.restore([]) for path in names.paths]
    assert sorted(map(sorted, outputs)) == [[], ["a"], ["a", "b"], ["b"]]


def test_dataclasses_are_told_apart_by_their_type():
    @dataclass
    class Other:
        number: float
        name: str = "total"

    def mechanism(x, rng):
        kind = Answer if x > 0 else Other
        return kind(rng.laplace())

    report = dpest.audit(mechanism, dpest.reals(1), dpest.pairs([(-1.0, 1.0)]))
    assert report.lower == math.inf
    assert "type(output).__name__" in report.repro()


def test_forks_loops_and_early_returns(agrees):
    def mechanism(x, rng):
        answers = []
        threshold = rng.laplace(scale=2)
        for query in x:
            if query + rng.laplace(scale=4) >= threshold:
                answers.append(True)
                if len(answers) > 1:
                    break
            elif query + rng.laplace() < -1:
                continue
            else:
                answers.append(False)
        else:
            answers.append(None)
        return answers

    agrees(mechanism, 3, runs=40)


def test_while_loop_over_a_counter(agrees):
    def mechanism(x, rng):
        k = 0
        while k < len(x) and x[k] + rng.laplace() < 1:
            k += 1
        return k

    agrees(mechanism, 3, runs=30)


def _scaled(value, rng, scale):
    return value + rng.laplace(scale=scale)


class Mechanism:
    """A mechanism with state of its own."""

    def __init__(self, scale):
        self.scale = scale

    def __call__(self, x, rng):
        return self.release(x, rng)

    def release(self, x, rng):
        return [_scaled(value, rng, self.scale) for value in x]


def test_every_kind_of_callable(agrees):
    def with_keywords(x, rng, *, scale=1.0, shift=0.0):
        return _scaled(x[0], rng, scale) + shift

    agrees(with_keywords, 2, scale=3.0)
    agrees(functools.partial(with_keywords, shift=2.0), 2)
    agrees(Mechanism(2.0), 2)
    agrees(Mechanism(2.0).release, 2)
    agrees(lambda x, rng: max(_scaled(v, rng, 1.0) for v in x), 3)


def test_integer_inputs(agrees):
    domain = dpest.integers(3, -2, 2)
    agrees(lambda x, rng: x + rng.geometric(0.5, size=3), inputs=domain)
    agrees(lambda x, rng: (x == 1).sum() + rng.geometric(0.5), inputs=domain)
    agrees(lambda x, rng: np.maximum(x, 0).sum() + rng.integers(3), inputs=domain)


def test_impossible_paths_are_pruned(agrees):
    def mechanism(x, rng):
        u = rng.random()
        if u < 0.2:
            return "low"
        if u < 0.1:
            return "never"
        if u > 1:
            return "never either"
        return "high"

    assert len(agrees(mechanism, 1).paths) == 2


def test_paths_that_contradict_each_other_over_several_draws_are_pruned():
    def mechanism(x, rng):
        a, b = rng.laplace(), rng.laplace()
        if a + b > 1 and a - b > 1 and a < 0.5:
            return "never"
        return "else"

    program = dpest.trace(mechanism, 1)
    assert {path.output.restore(()) for path in program.paths} == {"else"}


def test_comparisons_nobody_branches_on_make_one_path(agrees):
    assert len(agrees(lambda x, rng: x + rng.laplace(size=3) > 0, 3).paths) == 1


def test_a_condition_asked_twice_forks_once(agrees):
    def mechanism(x, rng):
        above = x[0] + rng.laplace() > 0
        return [1 if above else 0, 2 if above else 1, not above]

    assert len(agrees(mechanism, 1).paths) == 2


def test_the_graph_is_kept():
    program = dpest.trace(lambda x, rng: np.argmax(x + rng.laplace(size=3)), 3)
    assert program.graph is not None
    kinds = str(vars(program.graph))
    assert "Argmax" in kinds


def test_zoo_mechanisms_agree_with_real_runs(agrees):
    for entry in dpest.zoo.ENTRIES:
        if entry.name in ("one_time_rappor", "rappor", "truncated_geometric"):
            continue
        agrees(entry.function, entry.inputs.size, runs=5, **entry.params)


def test_truth_values_in_boolean_algebra_stay_truth_values(agrees):
    def mechanism(x, rng):
        v = x + rng.laplace(size=len(x))
        above, below = v > 0, v < 1
        return [above[0] & below[0], above[1] | below[1], ~(above[2] & below[2]), above & below]

    agrees(mechanism, 3)


def test_the_sum_of_two_truth_values_is_refused_because_numpy_and_python_differ():
    def mechanism(x, rng):
        v = x + rng.laplace(size=2)
        return (v[0] > 0) + (v[1] > 0)

    with pytest.raises(Refusal, match="int"):
        dpest.trace(mechanism, 2)


def test_the_sum_of_truths_as_integers(agrees):
    agrees(lambda x, rng: int(x[0] + rng.laplace() > 0) + int(x[1] + rng.laplace() > 0), 2)
