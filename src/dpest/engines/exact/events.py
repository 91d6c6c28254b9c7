"""Events of positive probability around the worst outcome, and their probabilities.

The loss of a pair is a supremum over outcomes; a witness needs an event that can happen. For a
point outcome that is the outcome itself. Around a released continuous number it is a half line or
an interval, chosen so that little of the loss is given away.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from flint import fmpq

from dpest.engines.exact.components import Case, Component, Group
from dpest.engines.exact.density import OBSERVED, ComponentLaw, Plan, Table
from dpest.engines.exact.extreme import Extreme, Slab
from dpest.engines.exact.loss import DirectedLoss, ExactLaw, restore
from dpest.engines.exact.refusal import OutOfReach
from dpest.engines.exact.slabs import candidate_slabs, wider
from dpest.engines.exact.wording import Blank, name_of, slab_tests, slab_text, structure_tests
from dpest.numbers.rational import ONE, exact, to_float
from dpest.numbers.ties import clearly_above
from dpest.program import Condition, Input, Linear, Noise
from dpest.program.linear import Variable
from dpest.program.remaining import keeps_noise

_GIVEN_AWAY = 2e-7
"""The relative part of the loss that an event may lose against the supremum."""


@dataclass(frozen=True)
class Part:
    """The event within one component: a form of outcome, cut down to some slabs."""

    component: Component
    key: tuple[Any, ...]
    slabs: tuple[Slab, ...]
    without: tuple[tuple[int, fmpq], ...] = ()
    """Values of released integers that are left out."""

    @cached_property
    def restricted(self) -> Component:
        """The component with the slabs as conditions and the released numbers integrated out."""
        fixed = [k for k, part in enumerate(self.key) if not isinstance(part, tuple)]
        cases = []
        for case in self._cases(fixed):
            extra = [c for slab in self.slabs for c in _conditions(slab, case.leaves)]
            extra += [c for k in fixed for c in _equal(case.leaves[k], self.key[k])]
            kept = tuple(Linear(exact(self.key[k])) for k in fixed)
            if all(fits(leaf, part) for leaf, part in zip(case.leaves, self.key, strict=True)):
                whole = Case((*case.conditions, *extra), kept, case.variants)
                cases += self._cut(whole, case.leaves)
        return Component(tuple(cases), tuple(self.component.positions[k] for k in fixed))

    def _cut(self, whole: Case, leaves: Sequence[Linear]) -> list[Case]:
        """The case below and above every value that is left out."""
        found = [whole]
        for place, value in self.without:
            leaf, at = leaves[place], Linear(value)
            sides = (Condition(leaf, at, True), Condition(at, leaf, True))
            found = [
                replace(case, conditions=(*case.conditions, side))
                for case in found
                for side in sides
            ]
        return found

    def _cases(self, fixed: Sequence[int]) -> Sequence[Case]:
        """The cases; unexpanded where every released number is one whatever the cell."""
        for case in self.component.unexpanded:
            released = [leaf for k, leaf in enumerate(case.leaves) if k not in fixed]
            if not all(map(_is_released, released)) or not all(
                case.leaves[k].is_constant for k in fixed
            ):
                return self.component.cases
        return self.component.unexpanded

    @cached_property
    def plan(self) -> Plan:
        return Plan([self.restricted])

    def law(self, law: ExactLaw, x: Any) -> ComponentLaw:
        return Table(self.plan, law.program.at(x)).law(self.restricted)

    @property
    def placed_slabs(self) -> Iterator[Slab]:
        """The slabs over positions in the whole output."""
        for slab in self.slabs:
            terms = tuple((self.component.positions[k], c) for k, c in slab.coefficients)
            yield replace(slab, coefficients=terms)

    @property
    def point(self) -> tuple[Any, ...]:
        """The outcome of the restricted component that is the event."""
        return tuple(part for part in self.key if not isinstance(part, tuple))

    def log_probability(self, law: ExactLaw, x: Any) -> float:
        return self.law(law, x).log_probability.get(self.point, -math.inf)


@dataclass(frozen=True)
class Event:
    """A set of outputs: one part per component of a group."""

    group: Group
    parts: tuple[Part, ...]
    alone: bool = True
    """Whether all outputs have the form of this group."""
    excluded: tuple[tuple[int, float], ...] = ()
    """Places of released numbers with single values that are outcomes of their own."""

    def log_probability(self, law: ExactLaw, x: Any) -> float:
        """Log of the probability of the event at an input."""
        return math.fsum(part.log_probability(law, x) for part in self.parts)

    def describe(self) -> str:
        """The event in words."""
        numbers: dict[int, Any] = {}
        for part in self.parts:
            for place, value in zip(part.component.positions, part.key, strict=True):
                numbers[place] = Blank(place) if isinstance(value, tuple) else float(value)
        if len(numbers) == 1:
            numbers = {k: Blank("") if isinstance(v, Blank) else v for k, v in numbers.items()}
        slabs = [slab for part in self.parts for slab in part.placed_slabs]
        blanks = [v for v in numbers.values() if isinstance(v, Blank)]
        plain = self.alone and not _mixed(self.group)
        if blanks and len(blanks) == len(numbers) and plain:
            subject = self._bounds(slabs, numbers)
            return f"the output has {subject}" if subject else "any output"
        shown = restore(self.group, [numbers[k] for k in range(len(self.group.kinds))])
        text = f"the output is {shown!r}"
        bounds = self._bounds(slabs, numbers)
        return f"{text} with {bounds}" if bounds else text

    def _bounds(self, slabs: Sequence[Slab], numbers: dict[int, Any]) -> str:
        texts = [slab_text(slab, len(numbers)) for slab in slabs]
        texts += [f"{name_of(k, len(numbers))} != {value:.10g}" for k, value in self.excluded]
        return " and ".join(texts)

    def python(self) -> str:
        """The event as a Python expression in `output` (arrays as lists)."""
        fixed = {
            place: value
            for part in self.parts
            for place, value in zip(part.component.positions, part.key, strict=True)
            if not isinstance(value, tuple)
        }
        paths: list[str] = []
        tests = list(structure_tests(self.group.skeleton, "output", paths, self.alone))
        tests += [f"{paths[k]} == {float(value)!r}" for k, value in sorted(fixed.items())]
        for part in self.parts:
            tests += [test for slab in part.placed_slabs for test in slab_tests(slab, paths)]
        tests += [f"{paths[k]} != {value!r}" for k, value in self.excluded]
        return " and ".join(tests) or "True"


def _mixed(group: Group) -> bool:
    return isinstance(group.skeleton, tuple) and "value" in repr(group.skeleton)


def fits(leaf: Linear, part: Any) -> bool:
    """Whether the case can have the outcome: a released number, or this constant."""
    if isinstance(part, tuple):
        return not leaf.is_constant
    if leaf.is_constant:
        return bool(leaf.const == exact(part))
    return all(isinstance(v, Input) or _is_whole(v) for v in leaf.terms)


def _is_whole(variable: Variable) -> bool:
    return isinstance(variable, Noise) and variable.law.lattice


def _equal(leaf: Linear, value: Any) -> tuple[Condition, ...]:
    """Integer noise may hit a value that other cases return as a constant."""
    if leaf.is_constant:
        return ()
    there = Linear(exact(value))
    return Condition(leaf, there), Condition(there, leaf)


def _is_released(leaf: Linear) -> bool:
    """Whether the leaf is a noisy number in every cell of its pieces."""
    return keeps_noise(leaf, lambda noise: True)


def _conditions(slab: Slab, leaves: Sequence[Linear]) -> Iterator[Condition]:
    total = Linear()
    for place, coefficient in slab.coefficients:
        total = total + leaves[place].scaled(coefficient)
    if slab.low > -math.inf:
        yield Condition(total, Linear(exact(slab.low)))
    if slab.high < math.inf:
        yield Condition(Linear(exact(slab.high)), total)


def event_of(
    law: ExactLaw, loss: DirectedLoss, x: Any, x_prime: Any, enough: float = 10.0
) -> Event:
    """An event whose log ratio is the loss, or close to it; `enough` where that is unbounded."""
    if loss.group is None:
        raise OutOfReach("the inputs are so far apart that every probability is lost in rounding")
    atoms = _atoms(law, loss.group, (x, x_prime))
    parts = tuple(
        _best_part(law, component, extreme, x, x_prime, enough, atoms)
        for component, extreme in zip(loss.group.components, loss.extremes, strict=True)
    )
    return event_from(law, loss.group, parts, (x, x_prime))


def forms_of(law: ExactLaw, loss: DirectedLoss, inputs: Sequence[Any]) -> tuple[Part, ...]:
    """The form of the worst outcome, whatever it releases."""
    if loss.group is None:
        return ()
    atoms = _atoms(law, loss.group, inputs)
    return tuple(
        Part(component, extreme.key, (), _on_lattice(extreme, component, atoms))
        for component, extreme in zip(loss.group.components, loss.extremes, strict=True)
    )


def event_from(
    law: ExactLaw, group: Group, parts: tuple[Part, ...], inputs: Sequence[Any]
) -> Event:
    """The event that all of these parts of an outcome occur."""
    forms = {group.skeleton for group in law.groups}
    excluded = tuple(_single_values(parts, _atoms(law, group, inputs)))
    return Event(group, parts, len(forms) == 1, excluded)


Atoms = dict[int, set[fmpq]]
"""By their place in the output, the single values that are outcomes of their own."""


def _atoms(law: ExactLaw, group: Group, inputs: Sequence[Any]) -> Atoms:
    """Every constant that some case returns in the place of a number."""
    atoms: Atoms = {}
    for other in law.groups if group.kinds else ():
        for component in other.components if other.skeleton == group.skeleton else ():
            for found in (law.at(x).component(component) for x in inputs):
                for key in (*found.own_points, *found.cells):
                    for place, part in zip(component.positions, key, strict=True):
                        if not isinstance(part, tuple):
                            atoms.setdefault(place, set()).add(exact(part))
    return atoms


def _single_values(parts: Sequence[Part], atoms: Atoms) -> Iterator[tuple[int, float]]:
    """Values inside the event at which a released number has an atom: other outcomes than these."""
    for part in parts:
        slabs = list(part.placed_slabs)
        for place, form in zip(part.component.positions, part.key, strict=True):
            if isinstance(form, tuple) and form[0] == OBSERVED:
                for value in map(to_float, sorted(atoms.get(place, ()))):
                    if all(_may_hold(slab, place, value) for slab in slabs):
                        yield place, value


def _on_lattice(extreme: Extreme, component: Component, atoms: Atoms) -> tuple[Any, ...]:
    """The atoms that released integers hit too."""
    return tuple(
        (k, value)
        for k, (place, form) in enumerate(zip(component.positions, extreme.key, strict=True))
        if isinstance(form, tuple) and len(form) == 3
        for value in sorted(atoms.get(place, ()))
        if ((value - form[2]) / form[1]).q == 1
    )


def _may_hold(slab: Slab, place: int, value: float) -> bool:
    """Whether the slab says nothing against the value."""
    if [k for k, _ in slab.coefficients] != [place]:
        return True
    return slab.low <= value * to_float(slab.coefficients[0][1]) <= slab.high


def _best_part(
    law: ExactLaw, component: Component, extreme: Extreme, x: Any, x_prime: Any, enough: float,
    atoms: Atoms,
) -> Part:  # fmt: skip
    slabs = (*extreme.slabs, *_ties(extreme))
    part = Part(component, extreme.key, slabs, _on_lattice(extreme, component, atoms))
    if not extreme.y or (part.slabs and extreme.status != "unbounded"):
        return part
    goal = enough if extreme.status == "unbounded" else extreme.loss
    if math.isfinite(goal):
        goal -= _GIVEN_AWAY * abs(goal)
    best, best_loss = part, -math.inf
    for slabs in candidate_slabs(extreme):
        candidate = replace(part, slabs=slabs)
        found = _loss(law, candidate, x, x_prime)
        if clearly_above(found, best_loss):
            best, best_loss = candidate, found
        if best_loss >= goal:
            break
    if extreme.cone and extreme.status != "unbounded":
        return _widened(law, extreme, best, min(goal, best_loss), (x, x_prime))
    return best


def _loss(law: ExactLaw, part: Part, x: Any, x_prime: Any) -> float:
    log_p, log_q = (part.log_probability(law, v) for v in (x, x_prime))
    return log_p - log_q if log_p > -math.inf else -math.inf


def _widened(
    law: ExactLaw, extreme: Extreme, part: Part, goal: float, pair: tuple[Any, Any]
) -> Part:
    """The event with as few and as wide slabs as reach the goal."""
    for k in reversed(range(len(part.slabs))):
        for slabs in wider(extreme, part.slabs, k):
            candidate = replace(part, slabs=slabs)
            if _loss(law, candidate, *pair) >= goal:
                part = candidate
                break
    return part


def _ties(extreme: Extreme) -> Iterator[Slab]:
    """What one released number says about others, where the other law says another thing."""
    for k, part in enumerate(extreme.key if extreme.status == "impossible" else ()):
        if isinstance(part, tuple) and part[0] == "tie":
            line = part[1]
            others = tuple((v.place, -c) for v, c in line.terms.items())
            middle, reach = to_float(line.const), 1e-9 * max(1.0, abs(to_float(line.const)))
            yield Slab(((k, ONE), *others), middle - reach, middle + reach)
