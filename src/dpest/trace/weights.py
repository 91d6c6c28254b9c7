"""Exponential weights: `np.exp` of a traced number, as the exponential mechanism uses it.

Nothing affine comes out of an exponential. A choice with probabilities proportional to
`exp(score)`, however, has the law of `argmax(score + Gumbel noise)`, which is affine: so weights
are kept as formal sums of exponentials until `rng.choice` takes them.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

from flint import fmpq

from dpest.numbers.rational import ONE, ZERO, exact, to_float
from dpest.program import Linear, Source
from dpest.trace.pieces import is_discrete
from dpest.trace.refusals import NonAffine, user_source
from dpest.trace.symbol import Symbol, linear_of

Terms = Mapping[Linear, fmpq]
"""The sum of `coefficient * exp(exponent)`."""


def _refuse(source: Source | None = None) -> NoReturn:
    raise NonAffine(
        "np.exp of the input or of noise is not affine",
        "hand weights in proportion to np.exp(score) to rng.choice(p=w / w.sum()), compare the "
        "exponents instead of the exponentials, or return the value before this step (a step "
        "that only transforms released values cannot add privacy loss)",
        source,
    )


def _with_plain_numbers(operation: Callable[[Weight, Any], Weight]) -> Callable[..., Any]:
    """The operation; of a plain number and an exponential of a constant in plain numbers."""

    def operate(self: Weight, other: Any) -> Any:
        if self.is_constant and isinstance(other, numbers.Real):
            return getattr(self.number, operation.__name__)(float(other))
        return operation(self, other)

    return operate


@dataclass(frozen=True, eq=False)
class Weight:
    """A quotient of two sums of exponentials; `source` is the line that took the exponential."""

    above: Terms
    below: Terms = field(default_factory=lambda: {Linear(): ONE})
    source: Source | None = field(default_factory=user_source)

    def refuse(self, *_: Any) -> NoReturn:
        _refuse(self.source)

    @_with_plain_numbers
    def __add__(self, other: Any) -> Weight:
        right = _weight(other)
        if self.below == right.below:
            return self._over(_sum(self.above, right.above), self.below)
        above = _sum(_product(self.above, right.below), _product(self.below, right.above))
        return self._over(above, _product(self.below, right.below))

    @_with_plain_numbers
    def __sub__(self, other: Any) -> Weight:
        right = _weight(other)
        rest = _sum(_product(self.above, right.below), _product(self.below, right.above), -ONE)
        if any(factor < 0 for factor in rest.values()):
            self.refuse()
        return self._over(rest, _product(self.below, right.below))

    @_with_plain_numbers
    def __rsub__(self, other: Any) -> Weight:
        return _weight(other) - self

    @_with_plain_numbers
    def __mul__(self, other: Any) -> Weight:
        right = _weight(other)
        return self._over(_product(self.above, right.above), _product(self.below, right.below))

    @_with_plain_numbers
    def __truediv__(self, other: Any) -> Weight:
        right = _weight(other)
        return self * right._over(right.below, right.above)

    @_with_plain_numbers
    def __rtruediv__(self, other: Any) -> Weight:
        return _weight(other) / self

    __radd__, __rmul__ = __add__, __mul__
    __pow__ = __neg__ = __abs__ = refuse
    __lt__ = __le__ = __gt__ = __ge__ = __eq__ = __ne__ = refuse  # type: ignore[assignment]
    __bool__ = __float__ = __int__ = __index__ = refuse
    __hash__ = None  # type: ignore[assignment]

    @property
    def is_constant(self) -> bool:
        return all(exponent.is_constant for exponent in (*self.above, *self.below))

    @property
    def number(self) -> float:
        """The value of a constant."""
        above, below = (
            sum(to_float(factor) * math.exp(to_float(exponent.const)) for exponent, factor in side)
            for side in (self.above.items(), self.below.items())
        )
        return above / below

    def _over(self, above: Terms, below: Terms) -> Weight:
        return Weight(above, below, self.source)

    @property
    def exponent(self) -> tuple[Linear, fmpq]:
        """The exponent and the factor of a numerator that is a single exponential."""
        if len(self.above) != 1:
            self.refuse()
        return next(iter(self.above.items()))


def exponential(value: Any) -> Any:
    """exp(value): a plain number where the value takes finitely many, a formal weight else."""
    line = linear_of(value)
    if line.terms and is_discrete(line):
        return math.exp(value)
    return Weight({line: ONE})


def settled(weights: Sequence[Any]) -> list[Any]:
    """The weights as plain numbers where they are constants, or exponentials of constants."""
    if all(isinstance(weight, Weight) and weight.is_constant for weight in weights):
        return [weight.number for weight in weights]
    if any(isinstance(weight, Weight) for weight in weights):
        return list(weights)
    return [_plain(weight) for weight in weights]


def _plain(weight: Any) -> Any:
    """The number behind a symbol that is one, as in an array that was filled while tracing."""
    if isinstance(weight, Symbol) and weight.value.is_constant:
        return weight.value.const
    return weight


def scores(weights: Sequence[Any]) -> list[Symbol]:
    """The scores of which these probabilities are the softmax."""
    found = [_weight(w) for w in weights]
    if any(w.below != found[0].below for w in found):
        found[0].refuse()
    parts = [w.exponent for w in found]
    if len({factor for _, factor in parts}) > 1:
        raise NonAffine(
            "weights in proportion to np.exp(score) with unequal factors have no exact scores",
            "move the factors into the scores: np.exp(score + bonus)",
        )
    whole: Terms = {}
    for weight in found:
        whole = _sum(whole, weight.above)
    if whole != found[0].below:
        raise ValueError("the probabilities of choice do not sum to 1: divide them by their sum")
    return [Symbol(exponent) for exponent, _ in parts]


def _weight(value: Any) -> Weight:
    if isinstance(value, Weight):
        return value
    if not isinstance(value, numbers.Real) or not 0 <= float(value) < math.inf:
        _refuse()
    factor = exact(value)
    return Weight({Linear(): factor} if factor else {})


def _sum(left: Terms, right: Terms, sign: fmpq = ONE) -> Terms:
    total = dict(left)
    for exponent, factor in right.items():
        total[exponent] = total.get(exponent, ZERO) + sign * factor
    return {exponent: factor for exponent, factor in total.items() if factor != 0}


def _product(left: Terms, right: Terms) -> Terms:
    total: Terms = {}
    for a, x in left.items():
        total = _sum(total, {a + b: x * y for b, y in right.items()})
    return total
