"""Rigorous enclosures of the probability of an event.

The same terms as in floating point, evaluated in balls: closed forms directly, a single axis by
rigorous integration, split at every point where some formula changes. Tails are cut where the
axis' own law leaves next to nothing, and that remainder is added to the ball.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from flint import acb, arb, fmpq

from dpest.engines.exact.density import ComponentLaw
from dpest.engines.exact.events import Event, Part
from dpest.engines.exact.factors import break_lines
from dpest.engines.exact.loss import ExactLaw
from dpest.engines.exact.plan import Axis, Density, Factor, Mass, Step
from dpest.noise import Exponential, Laplace
from dpest.numbers import balls
from dpest.numbers.balls import NoEnclosure
from dpest.numbers.rational import ONE, exact, to_float
from dpest.program import Linear

HALF = fmpq(1, 2)
_BITS = (96, 192, 448)
_MAX_TERMS = 4_000


@dataclass(frozen=True)
class Enclosure:
    """A ball that contains a probability."""

    ball: arb

    @property
    def middle(self) -> float:
        """The nearest double; zero also where the probability is below the smallest double."""
        return float(self.ball.mid())

    @property
    def lower(self) -> arb:
        return self.ball.lower()

    @property
    def upper(self) -> arb:
        return self.ball.upper()

    def __str__(self) -> str:
        return self.ball.str(18)


def certified_log_ratio(p: Enclosure, q: Enclosure) -> float:
    """A lower bound of log(P/Q), rounded down; infinite where Q is exactly zero."""
    if not p.lower > 0:
        return -math.inf
    if q.ball.is_zero():
        return math.inf
    with balls.precision(_BITS[0]):
        bound = (p.lower / q.upper).log().lower()
        return math.nextafter(float(bound), -math.inf) if bound != 0 else 0.0


def enclosure(event: Event, law: ExactLaw, x: object) -> Enclosure:
    """The probability of the event at an input, as tight as some precision makes it."""
    for bits in _BITS:
        with balls.precision(bits):
            total = arb(1)
            for part in event.parts:
                total *= _part_ball(part, law, x)
            if total.is_zero() or (total > 0 and total.rel_accuracy_bits() > 40):
                break
    return Enclosure(total)


def _part_ball(part: Part, law: ExactLaw, x: object) -> arb:
    found = part.law(law, x)
    log_size = found.log_probability.get(part.point, -math.inf)
    total = arb(0)
    for (axes, factors), (count, scale) in _distinct_terms(found, part.point).items():
        total += _term_ball(axes, factors, log_size) * count * scale
    return total


Form = tuple[tuple[Axis, ...], frozenset[tuple[Factor, int]]]


def _distinct_terms(law: ComponentLaw, point: tuple[object, ...]) -> dict[Form, tuple[int, fmpq]]:
    """The possible terms of a point outcome; equal ones are counted."""
    terms: dict[Form, tuple[int, fmpq]] = {}
    for axes, factors, scale in law.terms_at(point):
        form = (axes, frozenset(Counter(factors).items()))
        count, _ = terms.get(form, (0, ONE))
        terms[form] = (count + 1, scale)
    if len(terms) > _MAX_TERMS:
        raise NoEnclosure(f"an event of {len(terms)} cases is not certified")
    return terms


def _term_ball(
    axes: tuple[Axis, ...], factors: frozenset[tuple[Factor, int]], log_size: float
) -> arb:
    if not axes:
        return _product(factors, {}, {}).real
    if len(axes) > 1:
        raise NoEnclosure("an event that needs nested integrals is not certified")
    (axis,) = axes
    if axis.lattice:
        return _lattice_sum(axis, factors)
    return _axis_integral(axis, factors, log_size)


def _product(
    factors: frozenset[tuple[Factor, int]], values: dict[Axis, acb], at: dict[Axis, fmpq]
) -> acb:
    """The product; pure exponentials are multiplied exactly, by adding their exponents."""
    result, scale, exponent = acb(1), ONE, Linear()
    for factor, count in factors:
        pure = _pure_exponential(factor, at)
        if pure is None:
            result *= _factor(factor, values, at) ** count
        else:
            scale *= pure[0] ** count
            exponent = exponent + pure[1].scaled(fmpq(count))
    return result * scale * _ball(exponent, values).exp()


def _pure_exponential(factor: Factor, at: dict[Axis, fmpq]) -> tuple[fmpq, Linear] | None:
    """(scale, exponent) where the factor is scale * exp(exponent) around this place."""
    if isinstance(factor, Step) or not isinstance(factor.law, (Laplace, Exponential)):
        return None
    rate = 1 / factor.law.scale
    two_sided = isinstance(factor.law, Laplace)
    if isinstance(factor, Density):
        place = _exactly(factor.point, at)
        if place < 0 and not two_sided:
            return None
        scale = rate / 2 if two_sided else rate
        return scale, factor.point.scaled(-rate if place >= 0 else rate)
    lower, upper = _tightest_end(factor.lower, at, max), _tightest_end(factor.upper, at, min)
    half = HALF if two_sided else ONE
    if upper is None and lower is not None and _exactly(lower, at) >= 0:
        return half, lower.scaled(-rate)
    if two_sided and lower is None and upper is not None and _exactly(upper, at) <= 0:
        return half, upper.scaled(rate)
    return None


def _tightest_end(
    lines: frozenset[Linear], at: dict[Axis, fmpq], pick: Callable[..., Linear | None]
) -> Linear | None:
    return pick(lines, key=lambda line: _exactly(line, at), default=None)


def _factor(factor: Factor, values: dict[Axis, acb], at: dict[Axis, fmpq]) -> acb:
    if isinstance(factor, Step):
        gap = _exactly(factor.gap, at)
        return acb(1 if gap > 0 or (gap == 0 and not factor.strict) else 0)
    if isinstance(factor, Density):
        place = _exactly(factor.point, at)
        if factor.law.lattice:
            return balls.lattice_mass(factor.law, place, place)
        return balls.density(factor.law, _ball(factor.point, values), place)
    if factor.law.lattice:
        return balls.lattice_mass(factor.law, *_whole_ends(factor, at))
    ends = [
        None if line is None else (_ball(line, values), _exactly(line, at))
        for line in (
            _tightest_end(factor.lower, at, max), _tightest_end(factor.upper, at, min)
        )
    ]  # fmt: skip
    return balls.mass(factor.law, ends[0], ends[1])


def _whole_ends(factor: Mass, at: dict[Axis, fmpq]) -> tuple[fmpq | None, fmpq | None]:
    """The integer bounds, rounded inward."""
    low = max((fmpq(_exactly(line, at).ceil()) for line in factor.lower), default=None)
    high = min((fmpq(_exactly(line, at).floor()) for line in factor.upper), default=None)
    return low, high


def _exactly(line: Linear, at: dict[Axis, fmpq]) -> fmpq:
    total = line.const
    for variable, coefficient in line.terms.items():
        total += coefficient * at[variable]  # type: ignore[index]
    return total


def _ball(line: Linear, values: dict[Axis, acb]) -> acb:
    total = acb(line.const)
    for variable, coefficient in line.terms.items():
        total += coefficient * values[variable]  # type: ignore[index]
    return total


# -- one axis ---------------------------------------------------------------------------------


def _axis_integral(
    axis: Axis, factors: frozenset[tuple[Factor, int]], log_size: float
) -> arb:
    plain = [factor for factor, _ in factors]
    own = _own_density(axis, plain)
    edges = _edges(axis, plain)
    reach = _reach(axis, own, log_size)
    edges = [edges[0] - reach, *edges, edges[-1] + reach]
    middles = [(a + b) / 2 for a, b in pairwise(edges)]
    alive = [not any(_is_zero(factor, {axis: at}) for factor in plain) for at in middles]
    size = _size(axis, factors, edges, middles)
    total = arb(0)
    for low, high, at, live in zip(edges, edges[1:], middles, alive, strict=False):
        if live:
            total += _stretch(axis, factors, low, high, at, size)
    for end, beyond, live in ((edges[0], -1, alive[0]), (edges[-1], 1, alive[-1])):
        if live:
            total += _cut_off(axis, own, end, beyond)
    return total


def _stretch(
    axis: Axis, factors: frozenset[tuple[Factor, int]], low: fmpq, high: fmpq, at: fmpq, size: arb
) -> arb:
    def integrand(point: acb, _: bool) -> acb:
        return _product(factors, {axis: point}, {axis: at})

    return balls.integral(integrand, low, high, size)


def _is_zero(factor: Factor, at: dict[Axis, fmpq]) -> bool:
    """Whether the factor vanishes on the whole stretch that `at` lies in."""
    if isinstance(factor, Step):
        return _exactly(factor.gap, at) < 0
    first, last = factor.law.support
    if isinstance(factor, Density):
        place = _exactly(factor.point, at)
        return (first is not None and place < first) or (last is not None and place > last)
    low = max((_exactly(line, at) for line in factor.lower), default=first)
    high = min((_exactly(line, at) for line in factor.upper), default=last)
    low = first if low is None or (first is not None and first > low) else low
    high = last if high is None or (last is not None and last < high) else high
    return low is not None and high is not None and low >= high and not factor.law.lattice


def _own_density(axis: Axis, factors: Sequence[Factor]) -> Density:
    for factor in factors:
        if isinstance(factor, Density) and axis in factor.point.terms:
            return factor
    raise NoEnclosure("an integral without a density on its axis")


def _edges(axis: Axis, factors: Sequence[Factor]) -> list[fmpq]:
    """Where some formula changes, and half the support's ends."""
    lines = [line for factor in factors for line in break_lines(factor)]
    found = {line.solved_for(axis).const for line in lines if axis in line.terms}
    return sorted(found)


def _reach(axis: Axis, own: Density, log_size: float) -> fmpq:
    """How far beyond the outermost edge the integral is carried, so that little is cut off."""
    width = own.law.width / abs(to_float(own.point.terms[axis]))
    depth = 80 - log_size if math.isfinite(log_size) else 1000
    return exact(float(round(depth * width + 1)))


def _size(
    axis: Axis, factors: frozenset[tuple[Factor, int]], edges: list[fmpq], middles: list[fmpq]
) -> arb:
    """A rough size of the integral: where the integrand is sampled, times the stretch."""
    best = arb(0)
    for low, high, middle in zip(edges, edges[1:], middles, strict=False):
        for point in (low + (high - low) / 64, middle, high - (high - low) / 64):
            value = _product(factors, {axis: acb(point)}, {axis: middle}).real
            guess = value * (high - low) / 64
            best = guess if guess > best else best
    return best


def _cut_off(axis: Axis, own: Density, end: fmpq, beyond: int) -> arb:
    """[0, mass of the axis' law beyond the end]: every other factor is at most one."""
    slope = own.point.terms[axis]
    place = _exactly(own.point, {axis: end})
    edge = (acb(place), place)
    outside = balls.mass(own.law, edge, None) if slope * beyond > 0 else (
        balls.mass(own.law, None, edge)
    )  # fmt: skip
    half = (outside / abs(slope)).real.upper() / 2
    return arb(half, half)


def _lattice_sum(axis: Axis, factors: frozenset[tuple[Factor, int]]) -> arb:
    own = _own_density(axis, [factor for factor, _ in factors])
    low, high = own.law.support
    if low is None or high is None or own.point != Linear.of(axis):
        raise NoEnclosure(f"a sum over {own.law!r} is not certified")
    total = arb(0)
    for k in range(int(low.p), int(high.p) + 1):
        total += _product(factors, {axis: acb(k)}, {axis: fmpq(k)}).real
    return total


__all__ = ["Enclosure", "NoEnclosure", "certified_log_ratio", "enclosure"]
