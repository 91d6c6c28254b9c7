"""A stand-in for `numpy.random.Generator` whose draws are symbols.

It is a `Generator` for `isinstance`, and it answers every drawing method: with a symbol where the
law is known, with a refusal that names the method where it is not.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from flint import fmpq

from dpest import noise as laws
from dpest.numbers.rational import exact, to_float
from dpest.program import Condition, Linear, Noise
from dpest.trace.array import SymbolArray, has_symbols, objects, pick_entry, vector, wrap
from dpest.trace.fork import active
from dpest.trace.order import arg_extreme
from dpest.trace.pieces import MAX_CELLS, cases
from dpest.trace.refusals import NonAffine, TooManyPaths, Unsupported, user_source
from dpest.trace.symbol import Symbol, is_number, linear_of, pick
from dpest.trace.weights import Weight, scores, settled

Draws = list[list[tuple[Noise, Linear]]]
"""For every place in the order of drawing, the draws that some path made there."""


class SymbolicGenerator(np.random.Generator):
    """Hands out symbols; the same draw on the same path is the same `Noise` object."""

    def __init__(self, known: Draws) -> None:
        super().__init__(np.random.PCG64(0))
        self._known = known

    def laplace(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        return self._shifted(laws.Laplace, loc, scale, size)

    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        return self._shifted(laws.Normal, loc, scale, size)

    def gumbel(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        return self._shifted(laws.Gumbel, loc, scale, size)

    def logistic(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        return self._shifted(laws.Logistic, loc, scale, size)

    def exponential(self, scale: Any = 1.0, size: Any = None) -> Any:
        return self._shifted(laws.Exponential, 0, scale, size)

    def standard_normal(self, size: Any = None, dtype: Any = None, out: Any = None) -> Any:
        return self._shifted(laws.Normal, 0, 1, size)

    def standard_exponential(  # type: ignore[override]
        self, size: Any = None, dtype: Any = None, **_: Any
    ) -> Any:
        return self._shifted(laws.Exponential, 0, 1, size)

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
        width = objects(high) - objects(low)
        return self._shifted(laws.Uniform, low, wrap(width), size)

    def random(self, size: Any = None, dtype: Any = None, out: Any = None) -> Any:
        return self._shifted(laws.Uniform, 0, 1, size)

    def geometric(self, p: Any, size: Any = None) -> Any:
        return self._each(lambda q: self.draw(laws.Geometric(exact(q)), "int"), size, p)

    def binomial(self, n: Any, p: Any, size: Any = None) -> Any:
        return self._each(
            lambda count, q: self.draw(laws.binomial_law(int(count), exact(q)), "int"), size, n, p
        )

    def integers(
        self, low: Any, high: Any = None, size: Any = None, dtype: Any = None,
        endpoint: bool = False,
    ) -> Any:  # fmt: skip
        if high is None:
            low, high = 0, low
        extra = 1 if endpoint else 0

        def one(first: Any, last: Any) -> Any:
            law = laws.Integers(exact(int(last)) - exact(int(first)) + extra)
            return self.draw(law, "int") + first

        return self._each(one, size, low, high)

    def choice(
        self, a: Any, size: Any = None, replace: bool = True, p: Any = None, axis: int = 0,
        shuffle: bool = True,
    ) -> Any:  # fmt: skip
        values = _listed(a)
        if not values:
            raise ValueError("choice needs at least one value, got an empty list")
        count = int(np.prod(1 if size is None else size))
        if not replace and count > 1:
            if p is not None or count > len(values):
                raise Unsupported("choice with p and without replacement is not traced")
            return _shaped(self._arranged(values, count), size)
        weights = [1 / exact(len(values))] * len(values) if p is None else list(p)
        if len(weights) != len(values):
            raise ValueError(f"choice got {len(values)} values but {len(weights)} probabilities")
        weights = settled(weights)
        if any(isinstance(weight, Weight) for weight in weights):
            return self._each(lambda: self._softmax(scores(weights), values), size)
        if has_symbols(weights):
            raise NonAffine("a probability that depends on the input or on noise is not affine")
        law = laws.choice_law(weights)
        return self._each(lambda: self._chosen(law, values), size)

    def permutation(self, x: Any, axis: int = 0) -> Any:
        values = _listed(x)
        return _shaped(self._arranged(values, len(values)), len(values))

    def permuted(self, x: Any, *, axis: int | None = None, out: Any = None) -> Any:
        if np.ndim(x) != 1 or out is not None:
            raise Unsupported("rng.permuted of a matrix is not traced")
        return self.permutation(x)

    def shuffle(self, x: Any, axis: int = 0) -> None:
        values = _listed(x)
        if isinstance(x, np.ndarray):
            raise Unsupported("a plain array cannot be shuffled", "use x = rng.permutation(x)")
        x[:] = self._arranged(values, len(values))

    def _arranged(self, values: list[Any], count: int) -> list[Any]:
        """So many of the values in random order: one draw picks the arrangement."""
        if math.perm(len(values), count) > MAX_CELLS:
            raise TooManyPaths(
                f"{count} of {len(values)} values have more than {MAX_CELLS} arrangements",
                "use fewer values, or audit it as a black box: dpest.blackbox(f)",
            )
        arrangements = list(itertools.permutations(range(len(values)), count))
        line = self.draw(laws.Integers(fmpq(len(arrangements))), "int").value
        numbers = [Linear(fmpq(k)) for k in range(len(arrangements))]
        partition = cases([(Condition(line, k), Condition(k, line)) for k in numbers])
        places = [pick(partition, [a[k] for a in arrangements], "int") for k in range(count)]
        return [_entry(values, place) for place in places]

    def draws(self, law: laws.Law, size: Any = None) -> Any:
        """One draw of an integer law, or an array of them."""
        return self._each(lambda: self.draw(law, "int"), size)

    def draw(self, law: laws.Law, kind: str = "float") -> Symbol:
        """A new draw of the law."""
        replay = active()
        noise, line = self._known_draw(len(replay.noises), law)
        replay.noises.append(noise)
        node = replay.graph.draw(noise) if replay.graph is not None else None
        return Symbol(line, kind, node)

    def _known_draw(self, index: int, law: laws.Law) -> tuple[Noise, Linear]:
        if index == len(self._known):
            self._known.append([])
        for noise, line in self._known[index]:
            if noise.law is law or noise.law == law:
                return noise, line
        noise = Noise(index, law, user_source())
        self._known[index].append((noise, Linear.of(noise)))
        return self._known[index][-1]

    def _chosen(self, law: laws.Table, values: list[Any]) -> Any:
        line = self.draw(law, "int").value
        places = [Linear(fmpq(k)) for k in range(len(values))]
        cells = [(Condition(line, k), Condition(k, line)) for k in places]
        return _entry(values, pick(cases(cells), range(len(values)), "int"))

    def _softmax(self, logits: Sequence[Symbol], values: list[Any]) -> Any:
        """A value with probability in proportion to exp(score): the Gumbel-max trick."""
        law = _law(laws.Gumbel, 1.0)
        winner = arg_extreme([logit + self.draw(law) for logit in logits], largest=True)
        return _entry(values, winner)

    def _shifted(self, family: type[Any], loc: Any, scale: Any, size: Any) -> Any:
        def one(centre: Any, width: Any) -> Any:
            if isinstance(width, Symbol):
                width = _constant(family.name, width)
            _check_scale(family.name, width)
            return self._one(family, centre, width)

        return self._each(one, size, loc, scale)

    def _one(self, family: Any, centre: Any, width: Any) -> Any:
        drawn = self.draw(_law(family, float(width)))
        if not isinstance(centre, Symbol) and centre == 0:
            return drawn
        return drawn + centre

    def _each(self, function: Callable[..., Any], size: Any, *parameters: Any) -> Any:
        if size is None and all(isinstance(v, (int, float, Symbol)) for v in parameters):
            return function(*parameters)
        arrays = np.broadcast_arrays(*map(objects, parameters), subok=False) if parameters else []
        if size is None:
            shape = arrays[0].shape if arrays else ()
        else:
            shape = (int(size),) if np.ndim(size) == 0 else tuple(map(int, size))
        arrays = [np.broadcast_to(array, shape) for array in arrays]
        if not shape:
            return function(*(array[()] for array in arrays))
        items = np.empty(shape, dtype=object)
        for place in np.ndindex(shape):
            items[place] = function(*(array[place] for array in arrays))
        return SymbolArray(items)


def _listed(values: Any) -> list[Any]:
    """The values to choose from: those of a list, or 0, 1, ... below a number."""
    return list(range(int(values))) if np.ndim(values) == 0 else list(map(wrap, objects(values)))


def _shaped(values: list[Any], size: Any) -> Any:
    """Values as an array; strings and the like stay a plain one."""
    if not all(map(is_number, values)):
        return np.array(values)
    return SymbolArray(vector(values).reshape(size))


def _entry(values: list[Any], place: Any) -> Any:
    """The value at a drawn place; a fork where the values are not numbers."""
    if isinstance(place, Symbol) and all(map(is_number, values)):
        return pick_entry(vector(values), place)
    return values[place]


def _constant(name: str, width: Symbol) -> float:
    line = linear_of(width)
    if not line.is_constant:
        raise NonAffine(f"{name} noise whose scale is not a constant")
    return to_float(line.const)


@functools.cache
def _law(family: Any, width: float) -> laws.Law:
    return family(exact(width))


def _check_scale(name: str, width: Any) -> None:
    if not math.isfinite(width) or width <= 0:
        raise ValueError(f"{name} noise needs a finite positive scale, got scale={width!r}")


def _refuse(name: str) -> Callable[..., Any]:
    def method(self: SymbolicGenerator, *_: Any, **__: Any) -> Any:
        raise Unsupported(f"rng.{name} is not traced")

    return method


for _name in dir(np.random.Generator):
    _own = _name.startswith("_") or _name in SymbolicGenerator.__dict__
    if not _own and _name != "bit_generator":
        setattr(SymbolicGenerator, _name, _refuse(_name))
