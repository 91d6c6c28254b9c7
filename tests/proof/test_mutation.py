"""Tampered certificates are rejected.

A change that leaves the fingerprints as they are is always rejected. Where the fingerprints are
computed again, a certificate may only pass if it still proves what it now says: an oracle that
shares nothing with the checker runs the changed program at random inputs and noise, applies the
listed shifts, and looks at paths, outputs and prices.
"""

import copy
import itertools
import json
import math
import random
from fractions import Fraction

import pytest

from dpest.check import check
from dpest.verify.model import digest

NAMES = [
    "laplace", "laplace in a box", "laplace, far pair", "histogram", "argmax",
    "exponential argmax", "max", "svt 1",
    "svt 3", "numerical svt", "clipped sum", "gap", "running sums", "one bit", "bits",
    "histogram under l2", "svt 6", "subsampled", "a branch on the input",
    "sum and difference under linf", "sum in a box, far", "clipped sum, any pair",
    "clipped sum, far under l1", "clipped sum, far pair", "median", "median under l1",
    "difference of two ranks", "sorted gap", "tested before release",
    "a branch on a clip, any pair", "full order", "count above", "count above, integers",
    "count above, pair", "counted in a loop", "counts until many", "kept above",
    "a coin with a bias that the input decides",
    "sampled number", "sampled real numbers", "sampled or a default", "sampled threshold",
    "sampled after a clip in a box", "drawn without replacement",
]  # fmt: skip
ROUNDS = 40


def places(data, path=()):
    """The way to every value inside plain data."""
    yield path
    if isinstance(data, dict):
        for key in data:
            yield from places(data[key], (*path, key))
    elif isinstance(data, list):
        for key in range(len(data)):
            yield from places(data[key], (*path, key))


def at(data, path):
    for key in path:
        data = data[key]
    return data


def changed(value, rng):
    """Another value of the same kind."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return rng.choice([value + 1, value - 1, 0 if value else 2])
    if isinstance(value, str):
        try:
            number = Fraction(value)
        except ValueError:
            return value + rng.choice(["x", "·", "1"])
        options = [-number, number * 2, number / 2, number + 1, number - 1, number * 101 / 100]
        return str(rng.choice([o for o in options if o != number]))
    if value is None:
        return "0"
    if isinstance(value, list) and value:
        value = copy.copy(value)
        if rng.random() < 0.5:
            del value[rng.randrange(len(value))]
        else:
            value.append(rng.choice(value))
        return value
    if isinstance(value, dict) and value:
        value = dict(value)
        del value[rng.choice(sorted(value))]
        return value
    return "1"


def mutated(content, rng, sections):
    """A copy with one change somewhere in one of the sections."""
    result = copy.deepcopy(content)
    section = rng.choice(sections)
    path = (section, *rng.choice(list(places(result[section]))))
    parent = at(result, path[:-1])
    before = json.dumps(parent[path[-1]])
    parent[path[-1]] = changed(parent[path[-1]], rng)
    return result if json.dumps(parent[path[-1]]) != before else mutated(content, rng, sections)


def resealed(content):
    content["program_digest"] = digest(content["program"])
    content["digest"] = digest({k: v for k, v in content.items() if k != "digest"})
    return content


ALL = ["format", "argument", "program", "neighbors", "alignment", "coverage", "upper",
       "sentences", "program_digest", "digest"]  # fmt: skip
CORE = ["program", "neighbors", "alignment", "coverage", "upper"]


@pytest.mark.parametrize("name", NAMES)
def test_any_change_is_rejected(name, proof_of):
    content = proof_of(name).certificate.content
    assert check(content).ok
    rng = random.Random(name)
    for _ in range(ROUNDS):
        assert not check(mutated(content, rng, ALL)).ok


@pytest.mark.parametrize("name", NAMES)
def test_a_change_with_new_fingerprints_passes_only_if_it_is_right(name, proof_of):
    content = proof_of(name).certificate.content
    rng = random.Random(name)
    for _ in range(ROUNDS):
        change = resealed(mutated(content, rng, CORE))
        checked = check(change)
        if checked.ok:
            ORACLES[change["argument"]](change, rng)


@pytest.mark.parametrize("name", NAMES)
def test_a_lower_total_is_rejected(name, proof_of):
    content = copy.deepcopy(dict(proof_of(name).certificate.content))
    upper = content["upper"]
    if content["argument"] in ("mixture", "subsampling"):
        upper["ln"][0][0] = str(Fraction(upper["ln"][0][0]) * Fraction(999, 1000))
    elif upper["ln"]:
        upper["ln"][0][1] = str(Fraction(upper["ln"][0][1]) * Fraction(999, 1000))
    else:
        upper["rational"] = str(Fraction(upper["rational"]) * Fraction(999, 1000))
    assert not check(resealed(content)).ok


@pytest.mark.parametrize("name", ["argmax", "svt 1", "svt 3", "svt 6", "numerical svt"])
def test_a_missing_path_is_noticed(name, proof_of):
    content = dict(proof_of(name).certificate.content)
    assert content["coverage"] == "decision tree"
    for k in range(min(5, len(content["program"]["paths"]))):
        change = copy.deepcopy(content)
        del change["program"]["paths"][k]
        assert not check(resealed(change)).ok


def test_a_program_that_is_not_the_fingerprinted_one(proof_of):
    content = copy.deepcopy(dict(proof_of("laplace").certificate.content))
    content["program"]["noise"][0]["scale"] = "20"
    assert "fingerprint" in check(content).reasons[0]


@pytest.mark.parametrize("junk", [{}, {"format": "dpest proof 1"}, {"a": [1, {"b": None}]}])
def test_junk_is_rejected(junk):
    assert not check(junk).ok


class Oracle:
    """Runs the program of a certificate at exact random points."""

    def __init__(self, content, rng):
        self.program, self.neighbors = content["program"], content["neighbors"]
        self.alignment, self.rng = content["alignment"], rng
        self.tree = content["coverage"] == "decision tree"
        upper = content["upper"]
        self.dearest = 0.0
        self.upper = float(Fraction(upper["rational"]))
        self.upper += sum(float(Fraction(c)) * math.log(Fraction(q)) for q, c in upper["ln"])
        self.upper += sum(float(Fraction(c)) * math.sqrt(Fraction(q)) for q, c in upper["sqrt"])
        self.size = self.program["inputs"]["size"]

    def line(self, k, x, noise):
        line = self.program["lines"][k]
        total = Fraction(line["const"])
        total += sum(Fraction(c) * x[int(i)] for i, c in line.get("x", {}).items())
        total += sum(Fraction(c) * noise[int(j)] for j, c in line.get("noise", {}).items())
        return total + sum(
            Fraction(c) * self.extreme(int(z), x, noise)
            for z, c in line.get("extremes", {}).items()
        )

    def extreme(self, z, x, noise):
        extreme = self.program["extremes"][z]
        if "by" in extreme:
            picked = sum(x[i] > 0 for i in extreme["by"]) % len(extreme["of"])
            return self.line(extreme["of"][picked], x, noise)
        return sorted(self.line(k, x, noise) for k in extreme["of"])[extreme["rank"]]

    def holds(self, part, x, noise):
        for left, right, strict in part["when"]:
            gap = self.line(left, x, noise) - self.line(right, x, noise)
            if gap < 0 or (strict and gap == 0):
                return False
        for winner, group in part["beats"]:
            best = self.line(winner, x, noise)
            lines = self.program["groups"][group]
            if any(self.line(k, x, noise) > best for k in lines if k != winner):
                return False
        return True

    def draw(self, law, spread):
        value = Fraction(self.rng.randint(-60, 60), 8) * spread
        if law["law"] in ("exponential",):
            return abs(value)
        if law["law"] == "uniform":
            return Fraction(law["scale"]) * self.rng.randint(0, 97) / 97
        return value

    def differences(self):
        if self.neighbors["kind"] == "pairs":
            for x, y in self.neighbors["listed"]:
                for a, b in ((x, y), (y, x)):
                    yield [Fraction(q) - Fraction(p) for p, q in zip(a, b, strict=True)]
            return
        inputs = self.program["inputs"]
        bounded = inputs["low"] is not None and inputs["high"] is not None
        width = Fraction(inputs["high"]) - Fraction(inputs["low"]) if bounded else math.inf
        radius = min(Fraction(self.neighbors.get("radius", 10**9)), width)
        if self.neighbors["kind"] in ("linf", "any"):
            for _ in range(6):
                yield [radius * self.rng.choice([-1, 1, 1, Fraction(1, 3)])
                       for _ in range(self.size)]  # fmt: skip
        elif self.neighbors["kind"] == "l1":
            for i in range(self.size):
                for sign in (-1, 1):
                    yield [radius * sign * (k == i) for k in range(self.size)]
        else:
            for signs in itertools.product((-1, 1), repeat=self.size):
                share = Fraction(math.floor(10**6 / math.sqrt(self.size)), 10**6)
                yield [radius * s * share for s in signs]

    def shifts(self, p, number, d):
        """The listed shifts of a part for one difference."""
        listed = self.alignment["shifts"][p]
        if self.alignment["kind"] == "rule":
            return listed, Fraction(1)
        if self.alignment["kind"] == "pairs":
            return listed[number], Fraction(1)
        if self.alignment["kind"] == "corners":
            return self.mixture(p, d), Fraction(1)
        (i,) = [k for k, value in enumerate(d) if value]
        for step, up, data in listed:
            if (step, up) == (i, d[i] > 0):
                return data, abs(d[i])
        return {}, Fraction(1)

    def mixture(self, p, d):
        """The shifts of the corners of the part's inputs, weighted such that d is their mean."""
        lines = [self.program["lines"][k] for k in range(len(self.program["lines"]))]
        part = self.program["parts"][p]
        used = {k for left, right, _ in part["when"] for k in (left, right)}
        used |= {k for _, k in part["out"]}
        used |= {k for _, group in part["beats"] for k in self.program["groups"][group]}
        inputs = sorted({int(i) for k in used for i in lines[k].get("x", {})})
        radius = Fraction(self.neighbors["radius"])
        total = {}
        for signs, changes in self.alignment["shifts"][p].items():
            weight = Fraction(1)
            for i, sign in zip(inputs, signs, strict=True):
                weight *= (1 + d[i] / radius * (1 if sign == "+" else -1)) / 2
            for j, form in changes.items():
                total[j] = total.get(j, 0) + weight * Fraction(form["const"])
        return {j: {"const": str(value)} for j, value in total.items()}

    def run(self):
        for _ in range(12):
            spread = self.rng.choice([1, 5])
            x = [Fraction(self.rng.randint(-12, 12), 4) for _ in range(self.size)]
            noise = [self.draw(law, spread) for law in self.program["noise"]]
            parts = [self.holds(part, x, noise) for part in self.program["parts"]]
            taken = [p for p in self.program["paths"] if all(parts[k] for k in p["parts"])]
            if self.tree:
                assert len(taken) >= 1
            for path in taken:
                for number, d in enumerate(self.differences()):
                    self.step(path, number, x, d, noise)

    def step(self, path, number, x, d, noise):
        new_x = [a + b for a, b in zip(x, d, strict=True)]
        new = list(noise)
        entries = []
        for p in path["parts"]:
            listed, scale = self.shifts(p, number, d)
            entries += [(int(j), form, scale) for j, form in listed.items()]
        for j, form, scale in entries:
            new[j] += scale * Fraction(form["const"])
            new[j] += sum(Fraction(c) * d[int(i)] for i, c in form.get("d", {}).items())
        first = list(new)
        for j, form, _ in entries:
            for z, c in form.get("extremes", {}).items():
                move = self.extreme(int(z), new_x, first) - self.extreme(int(z), x, noise)
                new[j] += Fraction(c) * move
        price = 0.0
        for law, before, after in zip(self.program["noise"], noise, new, strict=True):
            if before == after:
                continue
            assert law["law"] in ("laplace", "exponential", "gumbel", "logistic")
            if law["law"] in ("exponential", "gumbel"):
                assert after >= before
            price += abs(float(after - before)) / float(Fraction(law["scale"]))
        self.dearest = max(self.dearest, price)
        assert price <= self.upper * (1 + 1e-12) + 1e-12
        for p in path["parts"]:
            part = self.program["parts"][p]
            assert self.holds(part, new_x, new)
            for _, k in part["out"]:
                assert self.line(k, x, noise) == self.line(k, new_x, new)


def single_oracle(content, rng):
    """The alignments between programs at single inputs, each by itself."""
    for member, alignment in zip(content["program"]["members"], content["alignment"], strict=True):
        dearest_step(member["program"], alignment, content, rng)


def mixture_oracle(content, rng):
    """The plans, with what the alignments are seen to cost."""
    program, alignment = content["program"], content["alignment"]
    none = {"rational": "1000", "ln": [], "sqrt": []}
    cost = {}
    for entry, shifts in zip(program["joined"], alignment["shifts"], strict=True):
        u, v = entry["ends"]
        found = dearest_step(entry["program"], shifts, content | {"upper": none}, rng)
        cost[u, v] = cost[v, u] = found
    bound = math.exp(sum(math.log(Fraction(q)) for q, _ in content["upper"]["ln"]))
    mixes = [{u: Fraction(w) for u, w in mix} for mix in program["mixtures"]]
    for plan in alignment["plans"]:
        one, other = (mixes[k] for k in plan["pair"])
        for shares, p, q in ((plan["forward"], one, other), (plan["backward"], other, one)):
            for u, weight in p.items():
                assert sum(Fraction(share) for w, _, share in shares if w == u) == weight
            for v, weight in q.items():
                got = sum(
                    float(Fraction(share)) * math.exp(cost.get((u, v), 0.0 if u == v else math.inf))
                    for u, w, share in shares
                    if w == v
                )
                assert got <= bound * float(weight) * (1 + 1e-12)


def dearest_step(program, alignment, content, rng):
    ends = {"kind": "pairs", "listed": [[["0"], ["1"]]]}
    oracle = Oracle(content | {"program": program, "alignment": alignment, "neighbors": ends}, rng)
    oracle.run()
    return oracle.dearest


def finite_oracle(content, rng):
    """The loss by counting points of a fine grid, for programs with at most two draws a block."""
    program = content["program"]
    laws = []
    for member in program["members"]:
        blocks = []
        for block in member:
            draws = sorted({int(j) for case in block["cases"] for c in case["when"]
                            for j in c["noise"]})  # fmt: skip
            grids = [grid(program["noise"][j]) for j in draws]
            law = {}
            for point in itertools.product(*grids):
                value = dict(zip(draws, point, strict=True))
                hits = [
                    case for case in block["cases"] if all(meets(c, value) for c in case["when"])
                ]
                assert len(hits) == 1
                key = tuple(v["const"] for v in hits[0]["values"])
                law[key] = law.get(key, 0) + 1 / math.prod(map(len, grids))
            blocks.append(law)
        laws.append(blocks)
    upper = sum(float(Fraction(c)) * math.log(Fraction(q)) for q, c in content["upper"]["ln"])
    for a, b in pairs(content, len(laws)):
        loss = sum(
            max(math.log(p / q[key]) if key in q else math.inf for key, p in law.items())
            for law, q in zip(laws[a], laws[b], strict=True)
        )
        assert loss <= upper + 0.05


def pairs(content, count):
    inputs, relation = content["program"]["inputs"], content["neighbors"]
    low, high = int(inputs["low"]), int(inputs["high"])
    points = list(itertools.product(range(low, high + 1), repeat=inputs["size"]))
    assert len(points) == count
    for a, b in itertools.permutations(range(count), 2):
        distance = sum(abs(p - q) for p, q in zip(points[a], points[b], strict=True))
        if relation["kind"] == "any" or distance <= Fraction(relation["radius"]):
            yield a, b


def grid(law):
    if law["law"] == "uniform":
        return [float(Fraction(law["scale"])) * (k + 0.5) / 400 for k in range(400)]
    assert law["law"] == "integers"
    return list(range(int(law["count"])))


def meets(condition, value):
    total = float(Fraction(condition["const"]))
    total += sum(float(Fraction(c)) * value[int(j)] for j, c in condition["noise"].items())
    return total > 0 if condition["strict"] else total >= 0


class Sampled:
    """The probability of an event for a program of coins and one Laplace draw a path.

    Choices are made and paths are taken by counting all faces of all coins. An event is a path
    that returns no number, or the numbers around a point that a path returns.
    """

    def __init__(self, program):
        self.program = program
        self.size = program["inputs"]["size"]
        coins = [j for j, law in enumerate(program["noise"]) if law["law"] != "laplace"]
        grids = [[(j, *face) for face in self.faces(j)] for j in coins]
        self.throws = [
            ({j: value for j, value, _ in picked}, float(math.prod(w for _, _, w in picked)))
            for picked in itertools.product(*grids)
        ]

    def faces(self, j):
        law = self.program["noise"][j]
        if law["law"] == "choice":
            return [(Fraction(k), Fraction(w)) for k, w in enumerate(law["weights"])]
        if law["law"] == "integers":
            return [(Fraction(k), 1 / Fraction(law["count"])) for k in range(int(law["count"]))]
        cuts = {Fraction(line["const"]) for line in self.program["lines"]}
        cuts |= {cut / Fraction(line["noise"][str(j)]) * sign for cut in cuts
                 for line in self.program["lines"] if str(j) in line.get("noise", {})
                 for sign in (1, -1)}  # fmt: skip
        top = Fraction(law["scale"])
        ends = [0, *sorted(cut for cut in cuts if 0 < cut < top), top]
        return [((a + b) / 2, (b - a) / top) for a, b in itertools.pairwise(ends)]

    def line(self, k, x, coins):
        """(number, coefficients of the Laplace draws)."""
        line, left = self.program["lines"][k], {}
        total = Fraction(line["const"])
        for i, c in line.get("x", {}).items():
            value, noise = Fraction(0), {}
            if int(i) < self.size:
                value = x[int(i)]
            else:
                value, noise = self.choice(int(i) - self.size, x, coins)
            total += Fraction(c) * value
            for j, e in noise.items():
                left[j] = left.get(j, 0) + Fraction(c) * e
        for j, c in line.get("noise", {}).items():
            if int(j) in coins:
                total += Fraction(c) * coins[int(j)]
            else:
                left[int(j)] = left.get(int(j), 0) + Fraction(c)
        return total, {j: c for j, c in left.items() if c}

    def choice(self, number, x, coins):
        choice = self.program["choices"][number]
        for cell, value in zip(choice["cells"], choice["values"], strict=True):
            if all(self.interval(c, x, coins)[1] for c in cell):
                return self.line(value, x, coins)
        raise AssertionError("no cell of a choice holds")

    def interval(self, condition, x, coins):
        """The numbers of one Laplace draw that meet the condition: (draw, (low, high)) or truth."""
        left, right, strict = condition
        (a, p), (b, q) = self.line(left, x, coins), self.line(right, x, coins)
        gap, noise = a - b, {j: p.get(j, 0) - q.get(j, 0) for j in {*p, *q}}
        noise = {j: c for j, c in noise.items() if c}
        if not noise:
            return None, gap > 0 or (gap == 0 and not strict)
        ((j, c),) = noise.items()
        edge = float(-gap / c)
        return j, (edge, math.inf) if c > 0 else (-math.inf, edge)

    def events(self, x):
        """Points where the density is to be compared, or None for paths without numbers."""
        for path in self.program["paths"]:
            places = [out for p in path["parts"] for out in self.program["parts"][p]["out"]]
            for coins, _ in self.throws if places else ():
                value, noise = self.line(places[0][1], x, coins)
                reach = [float(value) + step for step in (-30, -1, 0, 1e-9, 1, 30)]
                yield from ((path["returns"], y) for y in reach if noise)
            if not places:
                yield path["returns"], None

    def probability(self, event, x):
        total = 0.0
        for coins, weight in self.throws:
            for path in self.program["paths"]:
                if path["returns"] == event[0]:
                    total += weight * self.on(path, event[1], x, coins)
        return total

    def on(self, path, y, x, coins):
        parts = [self.program["parts"][p] for p in path["parts"]]
        low, high, draw = -math.inf, math.inf, None
        for condition in (c for part in parts for c in part["when"]):
            j, found = self.interval(condition, x, coins)
            if j is None and not found:
                return 0.0
            if j is not None:
                assert draw in (None, j)
                draw, low, high = j, max(low, found[0]), min(high, found[1])
        if y is None:
            return laplace_mass(self.scale(draw), low, high)
        ((_, k),) = [out for part in parts for out in part["out"]]
        value, noise = self.line(k, x, coins)
        ((j, c),) = noise.items()
        assert draw is None
        scale = self.scale(j)
        return math.exp(-abs((y - float(value)) / float(c)) / scale) / scale / abs(float(c))

    def scale(self, j):
        return 1.0 if j is None else float(Fraction(self.program["noise"][j]["scale"]))


def laplace_mass(scale, low, high):
    def below(y):
        return 0.5 * math.exp(y / scale) if y < 0 else 1 - 0.5 * math.exp(-y / scale)

    return max(0.0, below(high) - below(low)) if low < high else 0.0


def box(inputs, clip):
    """Between which numbers the clipped inputs are."""
    ends = [inputs["low"], inputs["high"]]
    if clip is None:
        return tuple(map(Fraction, ends))
    low, high = map(Fraction, clip)
    given = zip(ends, (low, high), strict=True)
    return tuple(own if end is None else max(low, min(high, Fraction(end))) for end, own in given)


def subsampling_oracle(content, rng):
    """No pair of inputs at the corners of the box, or inside, loses more than the bound."""
    sampled = Sampled(content["program"])
    inputs, relation = content["program"]["inputs"], content["neighbors"]
    low, high = box(inputs, content["program"]["clip"])
    radius = Fraction(relation.get("radius", 10**9))
    upper = math.prod(float(Fraction(q)) for q, _ in content["upper"]["ln"])
    for _ in range(3):
        x = [rng.choice([low, high]) for _ in range(sampled.size)]
        left, other = radius, []
        for value in x:
            step = min(left, high - low)
            if inputs["kind"] == "reals" and relation["kind"] == "l1":
                step = min(step, radius / sampled.size) if rng.random() < 0.5 else step
            step = Fraction(math.floor(step)) if inputs["kind"] == "integers" else step
            other.append(value + step if value == low else value - step)
            left -= step if relation["kind"] == "l1" else 0
        events = list(dict.fromkeys([*sampled.events(x), *sampled.events(other)]))
        for event in rng.sample(events, min(12, len(events))):
            p, q = sampled.probability(event, x), sampled.probability(event, other)
            assert p <= q * upper * (1 + 1e-9)
            assert q <= p * upper * (1 + 1e-9)


ORACLES = {
    "subsampling": subsampling_oracle,
    "alignment": lambda content, rng: Oracle(content, rng).run(),
    "couplings": single_oracle,
    "mixture": mixture_oracle,
    "finite": finite_oracle,
}
