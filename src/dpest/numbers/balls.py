"""Rigorous enclosures (Arb balls) of densities, interval masses and integrals.

Which formula holds is decided by exact rationals: `at` arguments are real points on the same side
of every kink as the whole stretch that is being integrated, so each formula is one analytic
expression.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from flint import acb, arb, ctx, fmpq

from dpest import noise as laws

Bound = tuple[acb, fmpq] | None
"""An end of an interval: its ball, and the real point that decides the formula; None: infinite."""


class NoEnclosure(ValueError):
    """No rigorous formula is at hand for this law or structure."""


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Work with this many bits."""
    before = ctx.prec
    ctx.prec = bits
    try:
        yield
    finally:
        ctx.prec = before


def density(law: laws.Law, point: acb, at: fmpq) -> acb:
    """The density of a continuous law."""
    if isinstance(law, laws.Uniform):
        return acb(1) / law.scale if 0 <= at <= law.scale else acb(0)
    if isinstance(law, laws.Exponential):
        return (-point / law.scale).exp() / law.scale if at >= 0 else acb(0)
    if isinstance(law, laws.Laplace):
        return (-(point if at > 0 else -point) / law.scale).exp() / (2 * law.scale)
    if isinstance(law, laws.Normal):
        z = point / law.scale
        return (-z * z / 2).exp() / (acb.pi() * 2).sqrt() / law.scale
    if isinstance(law, laws.Gumbel):
        z = point / law.scale
        return (-z - (-z).exp()).exp() / law.scale
    if isinstance(law, laws.Logistic):
        z = point / law.scale / 2
        return 1 / (z.exp() + (-z).exp()) ** 2 / law.scale
    raise NoEnclosure(f"no rigorous enclosure of the density of {law!r}")


def mass(law: laws.Law, low: Bound, high: Bound) -> acb:
    """P(low < Z <= high) of a continuous law."""
    if low is not None and high is not None and low[1] >= high[1]:
        return acb(0)
    if isinstance(law, laws.Uniform):
        return _uniform_mass(law, low, high)
    if isinstance(law, laws.Exponential):
        return _exponential_mass(law, low, high)
    if isinstance(law, laws.Laplace):
        return _laplace_mass(law, low, high)
    if low is not None and low[1] >= 0:
        return _tail(law, low[0], True) - (_tail(law, high[0], True) if high else 0)
    return (_tail(law, high[0], False) if high else acb(1)) - (
        _tail(law, low[0], False) if low else 0
    )


def _uniform_mass(law: laws.Uniform, low: Bound, high: Bound) -> acb:
    first = low[0] if low is not None and low[1] > 0 else acb(0)
    last = high[0] if high is not None and high[1] < law.scale else acb(law.scale)
    empty = (low is not None and low[1] >= law.scale) or (high is not None and high[1] <= 0)
    return acb(0) if empty else (last - first) / law.scale


def _exponential_mass(law: laws.Exponential, low: Bound, high: Bound) -> acb:
    if high is not None and high[1] <= 0:
        return acb(0)
    first = (-low[0] / law.scale).exp() if low is not None and low[1] > 0 else acb(1)
    return first - ((-high[0] / law.scale).exp() if high is not None else 0)


def _laplace_mass(law: laws.Laplace, low: Bound, high: Bound) -> acb:
    if low is not None and low[1] >= 0:
        rest = (-high[0] / law.scale).exp() if high is not None else acb(0)
        return ((-low[0] / law.scale).exp() - rest) / 2
    if high is not None and high[1] <= 0:
        rest = (low[0] / law.scale).exp() if low is not None else acb(0)
        return ((high[0] / law.scale).exp() - rest) / 2
    below = (low[0] / law.scale).exp() / 2 if low is not None else acb(0)
    above = (-high[0] / law.scale).exp() / 2 if high is not None else acb(0)
    return 1 - below - above


def _tail(law: laws.Law, end: acb, upper: bool) -> acb:
    """P(Z > end) if upper, else P(Z <= end), of a smooth law."""
    if isinstance(law, laws.Normal):
        z = end / law.scale / acb(2).sqrt()
        return (z if upper else -z).erfc() / 2
    if isinstance(law, laws.Gumbel):
        below = -(-end / law.scale).exp()
        return -below.expm1() if upper else below.exp()
    if isinstance(law, laws.Logistic):
        z = end / law.scale
        return 1 / (1 + (z if upper else -z).exp())
    raise NoEnclosure(f"no rigorous enclosure of the tail of {law!r}")


def lattice_mass(law: laws.Law, low: fmpq | None, high: fmpq | None) -> acb:
    """P(low <= K <= high) of a law on the integers, for integer ends."""
    first, last = law.support
    low = first if low is None or (first is not None and low < first) else low
    high = last if high is None or (last is not None and high > last) else high
    if low is not None and high is not None and low > high:
        return acb(0)
    if isinstance(law, laws.Table):
        assert low is not None
        assert high is not None
        return acb(law.mass(float(int(low.p)), float(int(high.p))))
    if isinstance(law, laws.Integers):
        assert low is not None
        assert high is not None
        return acb((high - low + 1) / law.count)
    if isinstance(law, laws.Geometric):
        assert low is not None
        miss = 1 - law.p
        return acb(miss ** int((low - 1).p)) - (acb(miss ** int(high.p)) if high is not None else 0)
    if isinstance(law, laws.DiscreteLaplace):
        return _discrete_laplace_mass(law, low, high)
    raise NoEnclosure(f"no rigorous enclosure of {law!r}")


def _discrete_laplace_mass(law: laws.DiscreteLaplace, low: fmpq | None, high: fmpq | None) -> acb:
    ratio = (acb(-1) / law.scale).exp()

    def beyond(k: fmpq) -> acb:
        """P(K >= k) for k >= 1."""
        return ratio ** int(k.p) / (1 + ratio)

    if low is not None and low >= 1:
        return beyond(low) - (beyond(high + 1) if high is not None else 0)
    if high is not None and high <= -1:
        return beyond(-high) - (beyond(1 - low) if low is not None else 0)
    rest = acb(0)
    rest += beyond(high + 1) if high is not None else 0
    rest += beyond(1 - low) if low is not None else 0
    return 1 - rest


def integral(function: Callable[[acb, bool], acb], low: fmpq, high: fmpq, size: arb) -> arb:
    """Enclosure of the real integral; `size` is the scale to which it has to be accurate."""
    tolerance = size * arb(2) ** (-ctx.prec // 2)
    value = acb.integral(
        function, acb(low), acb(high), rel_tol=arb(2) ** (-ctx.prec // 2), abs_tol=tolerance
    )
    if not value.is_finite():
        raise NoEnclosure("an integral has no finite enclosure")
    return value.real
