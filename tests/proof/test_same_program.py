"""The program in a certificate is the traced one: at random points both return the same.

The checker verifies a certificate against the program in it, and cannot see whether that is the
program that was traced. So what is rewritten on the way there (pieces that stay whole, paths that
only inputs choose between, cases that are opened) is run here, in fractions, beside the original.
"""

import random

import numpy as np
import pytest
from flint import fmpq

import dpest
from dpest.engines.proof.clips import clipped
from dpest.engines.proof.closing import closed
from dpest.engines.proof.encode import Encoder, domain_data, skeleton_text
from dpest.engines.proof.picks import picked
from dpest.engines.proof.refusal import NoProof
from dpest.engines.proof.split import routes
from dpest.program import Input, Piece
from dpest.trace import trace

POINTS = 12


class Point:
    """Numbers for the inputs and draws, and what a traced program makes of them."""

    def __init__(self, x, rng):
        self.x, self.rng, self.draws = x, rng, {}

    def line(self, line):
        return line.const + sum((c * self.value(v) for v, c in line.terms.items()), fmpq(0))

    def value(self, variable):
        if isinstance(variable, Input):
            return self.x[variable.index]
        if isinstance(variable, Piece):
            (cell,) = [k for k, cell in enumerate(variable.partition.cells) if self.all_hold(cell)]
            return self.line(variable.values[cell])
        if variable not in self.draws:
            self.draws[variable] = self.draw(variable.law)
        return self.draws[variable]

    def draw(self, law):
        low, high = law.support
        low = fmpq(-4) if low is None else low
        high = low + 8 if high is None else high
        if law.lattice:
            return fmpq(self.rng.randint(int(low.p), int(min(high, low + 6).p)))
        return low + (high - low) * fmpq(self.rng.randint(1, 10**6), 10**6 + 1)

    def all_hold(self, conditions):
        gaps = [(self.line(c.gap), c.strict) for c in conditions]
        return all(gap > 0 or (gap == 0 and not strict) for gap, strict in gaps)

    def output(self, program):
        (path,) = [path for path in program.paths if self.all_hold(path.conditions)]
        return path.output

    def run(self, program):
        output = self.output(program).folded
        return skeleton_text(output.skeleton), [self.line(leaf.value) for leaf in output.leaves]


class Written:
    """The program of a certificate at a point."""

    def __init__(self, encoder, data, point):
        self.data, self.point = data, point
        self.noise = {place: noise for noise, place in encoder.noise.items()}
        self.pieces = {place: piece for piece, place in encoder.extremes.items()}

    def line(self, k):
        line = self.data["lines"][k]
        total = number(line["const"])
        for i, c in line.get("x", {}).items():
            total += number(c) * self.point.x[int(i)]
        for j, c in line.get("noise", {}).items():
            total += number(c) * self.point.value(self.noise[int(j)])
        for z, c in line.get("extremes", {}).items():
            total += number(c) * self.extreme(int(z))
        return total

    def extreme(self, z):
        extreme = self.data["extremes"][z]
        values = [self.line(k) for k in extreme["of"]]
        if "rank" in extreme:
            return sorted(values)[extreme["rank"]]
        piece = self.pieces[z]
        assert {v.index for v in piece.roots} <= set(extreme["by"])
        picked_value = self.point.value(piece)
        assert picked_value in values
        return picked_value

    def holds(self, part):
        for left, right, strict in part["when"]:
            gap = self.line(left) - self.line(right)
            if gap < 0 or (gap == 0 and strict):
                return False
        return all(self.wins(winner, self.data["groups"][group]) for winner, group in part["beats"])

    def wins(self, winner, group):
        """The first of ties."""
        values = [self.line(k) for k in group]
        return group[values.index(max(values))] == winner

    def run(self):
        taken = [
            path
            for path in self.data["paths"]
            if all(self.holds(self.data["parts"][p]) for p in path["parts"])
        ]
        (path,) = taken
        out = {k: line for p in path["parts"] for k, line in self.data["parts"][p]["out"]}
        return path["returns"], [self.line(out[k]) for k in range(len(out))]


def number(text):
    return fmpq(*map(int, text.split("/")))


def points(inputs, rng):
    low, high = (max(-8, inputs.bounds()[0]), min(12, inputs.bounds()[1]))
    steps = 1 if inputs.integral else 4
    for _ in range(POINTS):
        yield [fmpq(rng.randint(int(low * steps), int(high * steps)), steps)
               for _ in range(inputs.size)]  # fmt: skip


@pytest.mark.parametrize("keep", [True, False])
def test_the_program_that_is_proved_is_the_program_that_was_traced(case, keep):
    program, rng = trace(case.function, case.inputs, **case.params), random.Random(7)
    encoder = Encoder()
    try:
        data = encoder.program(domain_data(case.inputs), routes(picked(program), keep))
    except NoProof:
        pytest.skip("too many cases")
    for x in points(case.inputs, rng):
        point = Point(x, rng)
        returned = point.run(program)
        assert Written(encoder, data, point).run() == returned


def sampled_clips(x, rng):
    kept = np.clip(x, -1, 2) * (rng.random(2) < 0.25)
    return int(np.argmax(kept + rng.laplace(size=2))), np.sum(kept) + rng.laplace()


def test_a_program_of_clipped_numbers_is_that_program():
    inputs, rng = dpest.reals(2), random.Random(8)
    program = trace(sampled_clips, inputs)
    inner, (low, high) = clipped(program)
    for x in points(inputs, rng):
        point = Point(x, rng)
        returned = point.run(program)
        point.x = [max(low, min(high, number)) for number in x]
        assert point.run(inner) == returned


LIKE_CLIPS = [
    lambda x, rng: np.sum(np.maximum(x, -1) * (x > 0.5) * (rng.random(2) < 0.2)) + rng.laplace(),
    lambda x, rng: np.maximum(np.where(x[1] > 0.5, x[0], 0), -1) + rng.laplace(),
    lambda x, rng: np.where(x[1] > 0.5, np.maximum(x[0], -1), 0) + rng.laplace(),
    lambda x, rng: np.clip(x, 0, 1).sum() + x[0] + rng.laplace(),
    lambda x, rng: np.clip(x[0], 0, 1) + np.clip(x[1], 0, 2) + rng.laplace(),
]


@pytest.mark.parametrize("function", LIKE_CLIPS)
def test_what_is_like_a_clip_is_none(function):
    assert clipped(trace(function, dpest.reals(2))) is None


def test_a_program_at_an_input_is_that_program(case):
    program, rng = trace(case.function, case.inputs, **case.params), random.Random(9)
    for x in points(case.inputs, rng):
        point = Point(x, rng)
        there, here = point.output(program), point.output(closed(program, x))
        assert here.skeleton == there.skeleton
        values = [[point.line(leaf.value) for leaf in output.leaves] for output in (there, here)]
        assert values[0] == values[1]
