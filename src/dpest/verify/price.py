"""Exact prices: a rational plus rational multiples of logarithms and square roots of rationals."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from flint import arb, ctx, fmpq, fmpz

ZERO = fmpq(0)
ONE = fmpq(1)
_RATIONAL = re.compile(r"-?(0|[1-9]\d*)(/[1-9]\d*)?")
_MAX_BITS = 1 << 15
_MAX_DIGITS = 4_000


class Malformed(ValueError):
    """The certificate is not of the form that it should have."""


def rational(text: Any) -> fmpq:
    """The rational that a text stands for; only the shortest way to write it is accepted."""
    if not isinstance(text, str):
        raise Malformed(f"{text!r:.60} is not a rational number")
    return _read(text)


@lru_cache(maxsize=65_536)
def _read(text: str) -> fmpq:
    if len(text) > _MAX_DIGITS:
        raise Malformed(f"a number of {len(text)} digits")
    if not _RATIONAL.fullmatch(text):
        raise Malformed(f"{text!r} is not a rational number")
    top, _, bottom = text.partition("/")
    value = fmpq(int(top), int(bottom or 1))
    if str(value) != text:
        raise Malformed(f"{text!r} is not in lowest terms")
    return value


def _square_free(number: fmpq) -> tuple[fmpq, fmpq]:
    """(outside, inside) with sqrt(number) = outside * sqrt(inside), inside square-free."""
    outside, inside = fmpz(1), fmpz(1)
    for prime, power in (number.p * number.q).factor():
        outside *= prime ** (power // 2)
        inside *= prime ** (power % 2)
    return fmpq(outside, number.q), fmpq(inside)


class Price:
    """An immutable exact number `rational + sum(c * ln(q)) + sum(c * sqrt(q))`."""

    __slots__ = ("logs", "rational", "roots")

    def __init__(
        self, value: fmpq = ZERO, logs: Mapping[fmpq, fmpq] | None = None,
        roots: Mapping[fmpq, fmpq] | None = None,
    ) -> None:  # fmt: skip
        self.rational = value
        self.logs = {q: c for q, c in (logs or {}).items() if c != 0 and q != 1}
        self.roots = {q: c for q, c in (roots or {}).items() if c != 0}

    @classmethod
    def ln(cls, argument: fmpq, times: fmpq = ONE) -> Price:
        return cls(ZERO, {argument: times})

    @classmethod
    def sqrt(cls, argument: fmpq, times: fmpq = ONE) -> Price:
        if argument == 0:
            return cls()
        outside, inside = _square_free(argument)
        if inside == 1:
            return cls(outside * times)
        return cls(ZERO, None, {inside: outside * times})

    def __add__(self, other: Price) -> Price:
        if not (self.logs or self.roots or other.logs or other.roots):
            return Price(self.rational + other.rational)
        return Price(
            self.rational + other.rational,
            _merged(self.logs, other.logs),
            _merged(self.roots, other.roots),
        )

    def scaled(self, factor: fmpq) -> Price:
        return Price(
            self.rational * factor,
            {q: c * factor for q, c in self.logs.items()},
            {q: c * factor for q, c in self.roots.items()},
        )

    def __sub__(self, other: Price) -> Price:
        return self + other.scaled(fmpq(-1))

    @property
    def is_rational(self) -> bool:
        return not self.logs and not self.roots

    def ball(self) -> arb:
        """A rigorous enclosure at the working precision."""
        total = arb(self.rational)
        for q, c in self.logs.items():
            total += arb(c) * arb(q).log()
        for q, c in self.roots.items():
            total += arb(c) * arb(q).sqrt()
        return total

    def sign(self) -> int:
        """Exactly -1, 0 or 1."""
        if self.is_rational:
            return (self.rational > 0) - (self.rational < 0)
        if self._logs_cancel():
            return Price(self.rational).sign()
        before = ctx.prec
        try:
            while ctx.prec <= _MAX_BITS:
                ball = self.ball()
                if ball > 0 or ball < 0:
                    return 1 if ball > 0 else -1
                ctx.prec *= 2
        finally:
            ctx.prec = before
        raise ArithmeticError(f"the sign of {self} cannot be decided")

    def _logs_cancel(self) -> bool:
        """Whether only logarithms are left besides a rational, and they sum to zero."""
        if self.roots:
            return False
        common = fmpz(1)
        for c in self.logs.values():
            common = common * c.q // common.gcd(c.q)
        powers = [(q, int((c * fmpq(common)).p)) for q, c in self.logs.items()]
        if sum(abs(n) * (q.p.bit_length() + q.q.bit_length()) for q, n in powers) > 10**7:
            return False
        product = ONE
        for q, n in powers:
            product *= q**n
        return bool(product == 1)

    def __lt__(self, other: Price) -> bool:
        return (self - other).sign() < 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Price) and (self - other).sign() == 0

    __hash__ = None  # type: ignore[assignment]

    def __float__(self) -> float:
        return float(self.ball())

    def above(self) -> float:
        """A double that is not below the price, and as a rule the next one above or itself."""
        import math

        value = float(self)
        while (Price(fmpq(*value.as_integer_ratio())) - self).sign() < 0:
            value = math.nextafter(value, math.inf)
        return value

    def to_json(self) -> dict[str, Any]:
        return {
            "rational": str(self.rational),
            "ln": [[str(q), str(c)] for q, c in sorted(self.logs.items())],
            "sqrt": [[str(q), str(c)] for q, c in sorted(self.roots.items())],
        }

    @classmethod
    def from_json(cls, data: Any) -> Price:
        if not isinstance(data, Mapping) or set(data) != {"rational", "ln", "sqrt"}:
            raise Malformed(f"{data!r} is not a price")
        logs = {rational(q): rational(c) for q, c in _pairs(data["ln"])}
        roots = {rational(q): rational(c) for q, c in _pairs(data["sqrt"])}
        if any(q <= 0 for q in (*logs, *roots)):
            raise Malformed("a logarithm or a square root of a number that is not positive")
        price = cls(rational(data["rational"]), logs, roots)
        if price.to_json() != dict(data):
            raise Malformed(f"{data!r} is not the normal form of a price")
        return price

    def __str__(self) -> str:
        parts = [_times(c, f"ln({q})") for q, c in self.logs.items()]
        parts += [_times(c, f"sqrt({q})") for q, c in self.roots.items()]
        if self.rational != 0 or not parts:
            parts.insert(0, shown(self.rational))
        return " + ".join(parts)

    def __repr__(self) -> str:
        return f"Price({self})"


def _merged(one: Mapping[fmpq, fmpq], other: Mapping[fmpq, fmpq]) -> dict[fmpq, fmpq]:
    total = dict(one)
    for key, value in other.items():
        total[key] = total.get(key, ZERO) + value
    return total


def _pairs(data: Any) -> Iterable[tuple[Any, Any]]:
    if not isinstance(data, list) or any(not isinstance(p, list) or len(p) != 2 for p in data):
        raise Malformed(f"{data!r} is not a list of pairs")
    return [(a, b) for a, b in data]


def _times(factor: fmpq, text: str) -> str:
    return text if factor == 1 else f"{shown(factor)}*{text}"


def shown(value: fmpq) -> str:
    """The rational itself where it is short, else the nearest decimal with a sign for that."""
    text = str(value)
    return text if len(text) <= 12 else f"~{float(arb(value)):.9g}"


def largest(prices: Iterable[Price]) -> Price:
    """The largest of some prices that are not negative; zero of none."""
    best = Price()
    for price in prices:
        if best < price:
            best = price
    return best
