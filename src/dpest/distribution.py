"""The exact law of a mechanism's output for one input."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any

import numpy as np
from flint import fmpq

from dpest.engines.exact import ExactLaw, OutOfReach
from dpest.engines.exact.components import Component, Group
from dpest.engines.exact.density import OBSERVED, Cell, ComponentLaw, Key
from dpest.engines.exact.events import Part
from dpest.engines.exact.loss import Slab, restore
from dpest.engines.exact.released import observed_kinks, observed_widths
from dpest.inputs import OneFloat, OneInt
from dpest.numbers.rational import exact, to_float, to_fraction
from dpest.program.program import SLOT
from dpest.trace.tracer import skeleton_of, trace_values

Point = tuple[Any, float]
_SMALLEST = 1e-15


def distribution(
    mechanism: Callable[..., Any], x: Any, *, params: Mapping[str, Any] | None = None
) -> Distribution:
    """The exact law of `mechanism(x, rng, **params)`."""
    return Distribution(mechanism, x, dict(params or {}))


class Distribution:
    """Atoms and densities of an output, exact to about 1e-12 relative."""

    def __init__(self, mechanism: Callable[..., Any], x: Any, params: dict[str, Any]) -> None:
        self._mechanism, self._x, self._params = mechanism, given(x), params
        program = trace_values(mechanism, [self._x], **params)
        self.name = program.name
        self._law = ExactLaw(program)
        self._at = self._law.at(self._x)
        self._totals: dict[int, float] = {}

    # -- probabilities ------------------------------------------------------------------------

    def atoms(self, most: int = 1_000_000) -> list[Point]:
        """Point outcomes with their probability, likeliest first.

        Of infinitely many integers those with a probability below 1e-15 are left out.
        """
        found = [point for group in self._law.groups for point in self._group_atoms(group, most)]
        return sorted(found, key=lambda point: -point[1])

    def _group_atoms(self, group: Group, most: int) -> Iterator[Point]:
        tables = [self._points(self._at.component(c)) for c in group.components]
        if math.prod(map(len, tables)) > most:
            raise OutOfReach(f"{self.name} has more than {most} outcomes; ask for one: density(y)")
        for keys in itertools.product(*tables):
            log_p = math.fsum(table[key] for table, key in zip(tables, keys, strict=True))
            if log_p > -math.inf:
                yield _outcome(group, keys), math.exp(log_p)

    def _points(self, law: ComponentLaw) -> dict[Key, float]:
        """Point outcomes, those of integer noise included down to the smallest shown."""
        points = dict(law.log_probability)
        for cell in law.cells.values():
            if len(cell.observed) != 1 or cell.lattice(0) is None:
                raise OutOfReach(f"{self.name} has outcomes that are not points")
            for y, log_p in _lattice_points(cell):
                key = tuple(y if isinstance(part, tuple) else part for part in cell.key)
                points.setdefault(key, log_p)
        return points

    def log_density(self, outcome: Any) -> float:
        """Log probability of a point outcome, or log density where numbers are continuous."""
        skeleton, numbers = skeleton_of(outcome)
        logs = [
            self._group_log_density(group, numbers)
            for group in self._law.groups
            if group.skeleton == skeleton
        ]
        return float(np.logaddexp.reduce(logs)) if logs else -math.inf

    def density(self, outcome: Any) -> float:
        """Probability of a point outcome, or density where numbers are continuous."""
        return math.exp(self.log_density(outcome))

    def _group_log_density(self, group: Group, numbers: list[fmpq]) -> float:
        total = 0.0
        for component in group.components:
            wanted = [numbers[place] for place in component.positions]
            total += self._component_log_density(component, wanted)
        return total

    def _component_log_density(self, component: Component, wanted: list[fmpq]) -> float:
        law = self._at.component(component)
        for key, log_p in law.log_probability.items():
            if [exact(part) for part in key] == wanted:
                return log_p
        logs = [_cell_log_density(cell, wanted) for cell in law.cells.values()]
        return float(np.logaddexp.reduce(logs)) if logs else -math.inf

    def total(self) -> float:
        """The probability of all outcomes together; one, but for rounding."""
        return math.fsum(
            math.exp(math.fsum(map(self._log_total, group.components)))
            for group in self._law.groups
        )

    def _log_total(self, component: Component) -> float:
        if id(component) not in self._totals:
            self._totals[id(component)] = self._summed(component)
        return self._totals[id(component)]

    def _summed(self, component: Component) -> float:
        law = self._at.component(component)
        shown = [self._log_slab(component, key, ()) for key in _shown(law)]
        logs = [*law.own_points.values(), *shown]
        return float(np.logaddexp.reduce(logs)) if logs else -math.inf

    def _log_slab(self, component: Component, key: Key, slabs: tuple[Slab, ...]) -> float:
        return Part(component, key, slabs).log_probability(self._law, self._x)

    # -- a single number ----------------------------------------------------------------------

    def cdf(self, y: float) -> float:
        """P(output <= y) of a mechanism that returns one number."""
        total = 0.0
        for group in self._law.groups:
            if group.skeleton != SLOT:
                raise OutOfReach(f"{self.name} does not return one number, so it has no cdf")
            (place,) = (c for c in group.components if c.positions)
            rest = [self._log_total(c) for c in group.components if not c.positions]
            total += math.exp(math.fsum(rest)) * self._component_cdf(place, y)
        return min(total, 1.0)

    def _component_cdf(self, component: Component, y: float) -> float:
        law = self._at.component(component)
        below = [log_p for (value,), log_p in law.own_points.items() if value <= y]  # type: ignore[operator]
        slab = Slab(((0, fmpq(1)),), -math.inf, y)
        below += [self._log_slab(component, key, (slab,)) for key in _shown(law)]
        return math.fsum(map(math.exp, below))

    def quantile(self, share: float) -> float:
        """The smallest number with P(output <= number) >= share."""
        if not 0 < share < 1:
            raise ValueError(f"a quantile needs a share between 0 and 1, got {share!r}")
        low, high = -1.0, 1.0
        while self.cdf(low) >= share:
            low *= 2
        while self.cdf(high) < share:
            high *= 2
        while high - low > 1e-13 * max(1.0, abs(low), abs(high)):
            middle = (low + high) / 2
            low, high = (low, middle) if self.cdf(middle) >= share else (middle, high)
        return high

    # -- samples, text, plot ------------------------------------------------------------------

    def sample(self, count: int, seed: int | None = None) -> list[Any]:
        """Outputs of the mechanism itself on a numpy Generator."""
        rng = np.random.default_rng(seed)
        return [self._mechanism(self._x, rng, **self._params) for _ in range(count)]

    @property
    def is_discrete(self) -> bool:
        """Whether all outcomes are points."""
        laws = [self._at.component(c) for g in self._law.groups for c in g.components]
        return all(
            len(cell.observed) == 1 and cell.lattice(0) is not None
            for law in laws
            for cell in law.cells.values()
        )

    def __str__(self) -> str:
        head = f"{self.name} at {self._x!r}"
        if self.is_discrete:
            atoms = self.atoms()
            lines = [f"  {p:.6g}  {outcome!r}" for outcome, p in atoms[:12]]
            more = [f"  ... {len(atoms) - 12} more"] if len(atoms) > 12 else []
            return "\n".join([f"{head}: {len(atoms)} outcomes", *lines, *more])
        if all(group.skeleton == SLOT for group in self._law.groups):
            shares = (0.01, 0.25, 0.5, 0.75, 0.99)
            found = ", ".join(f"{s:.0%} {self.quantile(s):.6g}" for s in shares)
            return f"{head}: quantiles {found}"
        return f"{head}: {len(self._law.groups)} forms of output with continuous numbers"

    __repr__ = __str__

    def plot(self, axes: Any = None) -> Any:
        """Bars of the likeliest outcomes, or the density of one number; returns the axes."""
        import matplotlib.pyplot as plt

        axes = axes or plt.subplots(figsize=(7, 4))[1]
        if self.is_discrete:
            atoms = self.atoms()[:20]
            axes.barh([repr(outcome) for outcome, _ in atoms][::-1], [p for _, p in atoms][::-1])
            axes.set_xlabel("probability")
        else:
            y = np.linspace(self.quantile(0.001), self.quantile(0.999), 401)
            axes.plot(y, [self.density(float(v)) for v in y])
            axes.set_xlabel("output")
            axes.set_ylabel("density")
        axes.set_title(self.name)
        return axes


def given(x: Any) -> Any:
    """The input as `audit` would hand it to the mechanism."""
    if isinstance(x, (list, tuple)) and x and all(isinstance(v, (int, float)) for v in x):
        return np.asarray(x, dtype=float)
    if isinstance(x, bool) or not isinstance(x, (int, float)):
        return x
    return OneInt(x) if isinstance(x, int) else OneFloat(x)


def _outcome(group: Group, keys: tuple[Key, ...]) -> Any:
    numbers: dict[int, float] = {}
    for component, key in zip(group.components, keys, strict=True):
        numbers.update(zip(component.positions, map(float, key), strict=True))  # type: ignore[arg-type]
    return restore(group, [numbers[k] for k in range(len(group.kinds))])


def _shown(law: ComponentLaw) -> Iterable[Key]:
    """Which numbers are noisy: an event asks no more, on whatever lattice or tie they are."""
    return dict.fromkeys(
        tuple((OBSERVED,) if isinstance(part, tuple) else part for part in key) for key in law.cells
    )


def _lattice_points(cell: Cell) -> Iterator[tuple[int | Fraction, float]]:
    """The values of one integer draw and their log probability, where they are not tiny."""
    part = cell.key[cell.observed[0].place]
    assert isinstance(part, tuple)
    _, step, offset = part
    spacing, start = to_float(step), to_float(offset)
    kinks, reach = observed_kinks(cell), 64 * max(observed_widths(cell))
    low, high = (kinks.min() - reach - start) / spacing, (kinks.max() + reach - start) / spacing
    k = np.arange(math.floor(low), math.ceil(high) + 1)
    logs = cell.log_density((start + spacing * k)[:, None])
    for index in np.flatnonzero(logs >= math.log(_SMALLEST)).tolist():
        value = offset + step * int(k[index])
        yield (int(value.p) if value.q == 1 else to_fraction(value)), float(logs[index])


def _cell_log_density(cell: Cell, wanted: list[fmpq]) -> float:
    """Log density of a cell at given numbers; -inf where they are not of its form."""
    for part, value in zip(cell.key, wanted, strict=True):
        if not isinstance(part, tuple) and exact(part) != value:
            return -math.inf
        if isinstance(part, tuple) and part[0] == "tie":
            raise OutOfReach("numbers that determine each other have no joint density")
        if isinstance(part, tuple) and len(part) == 3 and ((value - part[2]) / part[1]).q != 1:
            return -math.inf
    y = [float(int(wanted[s.place].p) / int(wanted[s.place].q)) for s in cell.observed]
    return float(cell.log_density(np.array([y]))[0])
