"""The program inside a certificate: noise, lines, parts and paths, read strictly from JSON.

A line is an affine expression over the input x, the noise and the extremes (the k-th smallest of
some other lines, or the one that the input picks). A part is a set of conditions and outputs; a
path is a set of parts that share no noise, and it is taken exactly when all conditions of its
parts hold.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from flint import fmpq

from dpest.verify.price import ONE, ZERO, Malformed, rational
from dpest.verify.ranges import Range, ranges_of

Terms = dict[int, fmpq]


@dataclass(frozen=True)
class Domain:
    """What the inputs may be: reals or integers in a box."""

    size: int
    low: fmpq | None
    high: fmpq | None
    integral: bool

    @property
    def width(self) -> fmpq | None:
        return None if self.low is None or self.high is None else self.high - self.low


@dataclass(frozen=True)
class Draw:
    """The law of one noise draw, and the line of code that draws it."""

    law: str
    parameter: fmpq
    weights: tuple[fmpq, ...] = ()
    line: int | None = None

    @property
    def lattice(self) -> bool:
        return self.law in LATTICE


LAWS = {
    "laplace": "scale", "exponential": "scale", "normal": "scale", "uniform": "scale",
    "gumbel": "scale", "logistic": "scale", "geometric": "p", "discrete_laplace": "scale",
    "discrete_gaussian": "sigma", "integers": "count", "choice": "weights",
}  # fmt: skip
"""The laws, and the name of the one parameter of each."""
LATTICE = frozenset({"geometric", "discrete_laplace", "discrete_gaussian", "integers", "choice"})


@dataclass(frozen=True)
class Line:
    """`const + inputs . x + noise . eta + extremes . z`."""

    const: fmpq
    inputs: Terms
    noise: Terms
    extremes: Terms


@dataclass(frozen=True)
class Extreme:
    """The largest, the smallest or another order statistic of some lines, or one that x picks."""

    of: tuple[int, ...]
    rank: int | None
    """How many of them stand below it when they are sorted; None where inputs pick one."""
    by: tuple[int, ...] = ()
    """The inputs that pick it."""


@dataclass(frozen=True)
class Part:
    """Conditions `left >= right`, winners of groups, and outputs by place."""

    when: tuple[tuple[int, int, bool], ...]
    beats: tuple[tuple[int, int], ...]
    out: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Path:
    parts: tuple[int, ...]
    returns: str


@dataclass(frozen=True)
class Model:
    """A mechanism as a certificate describes it."""

    domain: Domain
    noise: tuple[Draw, ...]
    lines: tuple[Line, ...]
    extremes: tuple[Extreme, ...]
    groups: tuple[tuple[int, ...], ...]
    parts: tuple[Part, ...]
    paths: tuple[Path, ...]

    def pairs(self, part: Part) -> list[tuple[int, int]]:
        """Every condition of the part as (left, right)."""
        result = [(left, right) for left, right, _ in part.when]
        for winner, group in part.beats:
            result += [(winner, rival) for rival in self.groups[group] if rival != winner]
        return result

    def line_ids(self, part: Part) -> list[int]:
        """The lines that the part mentions, without those inside extremes."""
        found = [k for left, right, _ in part.when for k in (left, right)]
        for winner, group in part.beats:
            found += [winner, *self.groups[group]]
        return list(dict.fromkeys(found + [line for _, line in part.out]))

    @cached_property
    def ranges(self) -> tuple[Range, ...]:
        """Between which constants each extreme stays."""
        return ranges_of(self)

    def width(self, z: int) -> fmpq | None:
        """How far the extreme can move at most, whatever happens."""
        low, high = self.ranges[z]
        return None if low is None or high is None else high - low

    def can_jump(self, z: int, direction: Mapping[int, fmpq] | None) -> bool:
        """Whether a move of the inputs (None: any) may pick another line."""
        by = self.extremes[z].by
        return bool(by) and (direction is None or any(direction.get(i, ZERO) != 0 for i in by))

    @cached_property
    def roots(self) -> tuple[frozenset[int], ...]:
        """The noise that decides each extreme."""
        found: list[frozenset[int]] = []
        for extreme in self.extremes:
            inside: set[int] = set()
            for k in extreme.of:
                inside.update(self.lines[k].noise)
                for z in self.lines[k].extremes:
                    inside |= found[z]
            found.append(frozenset(inside))
        return tuple(found)

    def noise_of(self, part: Part) -> set[int]:
        """The draws that decide the part."""
        found: set[int] = set()
        for k in self.line_ids(part):
            found.update(self.lines[k].noise)
            for z in self.lines[k].extremes:
                found |= self.roots[z]
        return found

    @cached_property
    def integral_lines(self) -> tuple[bool, ...]:
        """The lines that take whole values only."""
        done: dict[int, bool] = {}

        def whole(k: int) -> bool:
            if k not in done:
                line = self.lines[k]
                numbers = [line.const, *line.inputs.values(), *line.noise.values(),
                           *line.extremes.values()]  # fmt: skip
                done[k] = (
                    all(number.q == 1 for number in numbers)
                    and (self.domain.integral or not line.inputs)
                    and all(self.noise[j].lattice for j in line.noise)
                    and all(whole(m) for z in line.extremes for m in self.extremes[z].of)
                )
            return done[k]

        return tuple(whole(k) for k in range(len(self.lines)))


# -- reading ----------------------------------------------------------------------------------


def fields(data: Any, *names: str, optional: tuple[str, ...] = ()) -> list[Any]:
    """The values of a mapping that has exactly these keys (missing optional ones are None)."""
    if not isinstance(data, Mapping):
        raise Malformed(f"expected an object with {', '.join(names)}, got {data!r:.60}")
    missing = [name for name in names if name not in data]
    strange = [name for name in data if name not in names and name not in optional]
    if missing or strange:
        raise Malformed(f"missing {missing}, not expected {strange}")
    return [data.get(name) for name in (*names, *optional)]


def items(data: Any) -> list[Any]:
    if not isinstance(data, list):
        raise Malformed(f"expected a list, got {data!r:.60}")
    return data


def two(data: Any) -> list[Any]:
    """A list of two."""
    if len(items(data)) != 2:
        raise Malformed(f"{data!r:.60} is not a pair")
    return list(data)


def place(value: Any, count: int) -> int:
    """An index below count."""
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < count:
        raise Malformed(f"{value!r} is not an index below {count}")
    return value


def flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise Malformed(f"{value!r} is neither true nor false")
    return value


def terms(data: Any, count: int) -> Terms:
    """Coefficients by index; zeros may not be written down."""
    if not isinstance(data, Mapping):
        raise Malformed(f"expected coefficients, got {data!r:.60}")
    result: Terms = {}
    for key, value in data.items():
        if not isinstance(key, str) or not key.isdecimal() or str(int(key)) != key:
            raise Malformed(f"{key!r} is not an index")
        result[place(int(key), count)] = rational(value)
    if ZERO in result.values():
        raise Malformed("a coefficient is zero")
    return result


def read_domain(data: Any) -> Domain:
    kind, size, low, high = fields(data, "kind", "size", "low", "high")
    if kind not in ("reals", "integers") or place(size, 1 << 30) < 1:
        raise Malformed(f"{data!r} is not a domain")
    bounds = [None if b is None else rational(b) for b in (low, high)]
    if bounds[0] is not None and bounds[1] is not None and bounds[0] > bounds[1]:
        raise Malformed("a domain with low > high")
    return Domain(size, bounds[0], bounds[1], kind == "integers")


def read_draw(data: Any) -> Draw:
    law = data.get("law") if isinstance(data, Mapping) else None
    if not isinstance(law, str) or law not in LAWS:
        raise Malformed(f"{law!r} is not a known law")
    _, value, line = fields(data, "law", LAWS[law], "line")
    if line is not None and (not isinstance(line, int) or isinstance(line, bool) or line < 1):
        raise Malformed(f"{line!r} is not a line number")
    if law == "choice":
        weights = tuple(map(rational, items(value)))
        if any(w < 0 for w in weights) or sum(weights, ZERO) != 1:
            raise Malformed("weights that are not probabilities")
        return Draw(law, fmpq(len(weights)), weights, line)
    number = rational(value)
    if number <= 0 or (law == "geometric" and number > 1) or (law == "integers" and number.q != 1):
        raise Malformed(f"{law} noise with {LAWS[law]} {number}")
    return Draw(law, number, (), line)


def read_model(data: Any) -> Model:
    """The program of a certificate; raises `Malformed`."""
    inputs, noise, lines, extremes, groups, parts, paths = fields(
        data, "inputs", "noise", "lines", "extremes", "groups", "parts", "paths"
    )
    domain = read_domain(inputs)
    draws = tuple(map(read_draw, items(noise)))
    counts = (domain.size, len(draws), len(items(extremes)))
    read_lines = tuple(_read_line(line, counts) for line in items(lines))
    total = len(read_lines)
    model = Model(
        domain, draws, read_lines,
        tuple(_read_extreme(e, total, domain.size) for e in extremes),
        tuple(_indices(group, total) for group in items(groups)),
        tuple(_read_part(p, total, len(groups)) for p in items(parts)),
        tuple(_read_path(p, len(items(parts))) for p in items(paths)),
    )  # fmt: skip
    _check_order(model)
    _check_paths(model)
    return model


def _read_line(data: Any, counts: tuple[int, int, int]) -> Line:
    const, x, noise, extremes = fields(data, "const", optional=("x", "noise", "extremes"))
    return Line(
        rational(const), terms(x or {}, counts[0]), terms(noise or {}, counts[1]),
        terms(extremes or {}, counts[2]),
    )  # fmt: skip


def _indices(data: Any, count: int) -> tuple[int, ...]:
    return tuple(place(k, count) for k in items(data))


def _read_extreme(data: Any, lines: int, inputs: int) -> Extreme:
    of, rank, by = fields(data, "of", optional=("rank", "by"))
    if (rank is None) == (by is None) or not items(of):
        raise Malformed("an extreme has either a rank or inputs that pick it")
    if by is None:
        return Extreme(_indices(of, lines), place(rank, len(of)))
    picked = Extreme(_indices(of, lines), None, _indices(by, inputs))
    if not picked.by:
        raise Malformed("a line that no input picks")
    return picked


def _triple(data: Any, lines: int) -> tuple[int, int, bool]:
    if len(items(data)) != 3:
        raise Malformed(f"{data!r} is not a condition")
    return place(data[0], lines), place(data[1], lines), flag(data[2])


def _places(data: Any, first: int, second: int) -> tuple[int, int]:
    one, other = two(data)
    return place(one, first), place(other, second)


def _read_part(data: Any, lines: int, groups: int) -> Part:
    when, beats, out = fields(data, "when", "beats", "out")
    return Part(
        tuple(_triple(c, lines) for c in items(when)),
        tuple(_places(b, lines, groups) for b in items(beats)),
        tuple(_places(o, 1 << 30, lines) for o in items(out)),
    )


def _read_path(data: Any, parts: int) -> Path:
    used, returns = fields(data, "parts", "returns")
    if not isinstance(returns, str):
        raise Malformed(f"{returns!r} is not a text")
    return Path(_indices(used, parts), returns)


def _check_order(model: Model) -> None:
    """An extreme may only use extremes that stand before it."""
    for number, extreme in enumerate(model.extremes):
        for k in extreme.of:
            if any(z >= number for z in model.lines[k].extremes):
                raise Malformed("an extreme is defined by itself or by a later one")
    for extreme, noise in zip(model.extremes, model.roots, strict=True):
        if extreme.by and noise:
            raise Malformed("inputs pick one of several noisy lines")


def _check_paths(model: Model) -> None:
    """The parts of a path share no noise, and its outputs fill the places 0, 1, 2, ..."""
    noise = [model.noise_of(part) for part in model.parts]
    for part in model.parts:
        if any(winner not in model.groups[group] for winner, group in part.beats):
            raise Malformed("a winner that is not in its group")
    for path in model.paths:
        count = sum(len(noise[p]) for p in path.parts)
        if len(set().union(*(noise[p] for p in path.parts))) != count:
            raise Malformed("two parts of a path share noise")
        places = sorted(position for p in path.parts for position, _ in model.parts[p].out)
        if places != list(range(path.returns.count("·"))):
            raise Malformed("the outputs of a path do not fill its places")
    if not model.paths:
        raise Malformed("a program without a path")


def digest(data: Any) -> str:
    """A fingerprint of plain JSON data that does not depend on the order of keys."""
    text = json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


__all__ = ["ONE", "ZERO", "Domain", "Draw", "Extreme", "Line", "Model", "Part", "Path", "Terms"]
