"""A snippet that shows a witness by simulation, without dpest."""

from __future__ import annotations

import ast
import inspect
import math
import re
import textwrap
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from dpest.evidence import Witness

_MOST_RUNS = 2_000_000
"""A loop in Python does so many within a minute, as a rule."""
_HITS = 1_000
"""Enough hits for a frequency that is good to a few per cent."""
_FEWEST_HITS = 50
"""Fewer are not shown at all."""

_HEAD = """\
from __future__ import annotations

import math

import numpy as np
"""
_TAIL = """\


rng = np.random.default_rng(0)
x = {x}
x_prime = {x_prime}


def plain(output):
    if isinstance(output, (list, tuple)):
        return [plain(item) for item in output]
    return output.tolist() if isinstance(output, (np.ndarray, np.generic)) else output


def happens(output):
    # {event}
    output = plain(output)
    try:
        return {test}
    except (IndexError, KeyError, TypeError):  # an output of another form
        return False


runs = {runs:_}
p = sum(happens({call}(x, rng{params})) for _ in range(runs)) / runs
p_prime = sum(happens({call}(x_prime, rng{params})) for _ in range(runs)) / runs
print("P =", p, "expected {p:.6g}")
print("P' =", p_prime, "expected {p_prime:.6g}")
print("ln(P/P') =", math.log(p / p_prime) if p and p_prime else "{unseen}")
"""
_EXCESS = """\
print("{told}; here", {excess})
"""
_TOO_RARE = """\


# The event has probability {p:.3g} under x and {p_prime:.3g} under x': too rare to be simulated.
# {event}
rng = np.random.default_rng(0)
print({call}({x}, rng{params}))
print({call}({x_prime}, rng{params}))
"""


def snippet(mechanism: Callable[..., Any], params: Mapping[str, Any], witness: Witness) -> str:
    """Code that runs the mechanism on both inputs and counts the event."""
    name, source = _definition(mechanism)
    runs = _runs_needed(witness)
    template = _TAIL if runs is not None and witness.test else _TOO_RARE
    if template is _TAIL and witness.excess:
        template += _EXCESS
    head = re.sub(r"\n{4,}", "\n\n\n", _HEAD + source)
    return head + template.format(
        x=_array(witness.x), x_prime=_array(witness.x_prime), event=witness.event,
        test=witness.test, runs=runs or 0, call=name, p=witness.p, p_prime=witness.p_prime,
        told=witness.shows, excess=witness.excess,
        unseen="unknown: seen too rarely" if witness.p_prime else "infinite: never seen under x'",
        params="".join(f", {key}={value!r}" for key, value in params.items()),
    )  # fmt: skip


def _definition(mechanism: Callable[..., Any]) -> tuple[str, str]:
    """The name of the function, and its source with what it needs from its module."""
    name = getattr(mechanism, "__name__", "")
    if not inspect.isfunction(mechanism) or name == "<lambda>":
        raise ValueError("only a function with a name (def f(x, rng)) has a snippet")
    needed: dict[str, str] = {}
    try:
        _collect(mechanism, needed)
    except OSError:
        raise ValueError(f"the source of {name} is not at hand, so it has no snippet") from None
    lines = [text for text in needed.values() if f"{text}\n" not in _HEAD]
    imports = [text for text in lines if text.startswith(("import", "from"))]
    others = [text for text in lines if not text.startswith(("import", "from"))]
    return name, "\n".join([*imports, "", *others])


def _collect(function: Any, needed: dict[str, str]) -> None:
    """The source of a function, after the imports, constants and functions it uses."""
    names = sorted({*_names(function.__code__)} & {*function.__globals__})
    for name in (n for n in names if n not in needed):
        value = function.__globals__[name]
        if inspect.ismodule(value):
            needed[name] = f"import {value.__name__} as {name}"
        elif inspect.isfunction(value) and value.__module__ == function.__module__:
            needed[name] = ""
            _collect(value, needed)
        elif inspect.isfunction(value) or inspect.isclass(value):
            needed[name] = f"from {value.__module__} import {value.__name__} as {name}"
        elif isinstance(value, (int, float, str, tuple, list, dict)):
            needed[name] = f"{name} = {value!r}"
    needed.pop(function.__name__, None)
    needed[function.__name__] = f"\n\n{_source(function)}\n"


def _source(function: Any) -> str:
    """The definition without the marks of a test runner, which mean nothing elsewhere."""
    source = textwrap.dedent(inspect.getsource(function)).rstrip()
    definition = ast.parse(source).body[0]
    lines = source.splitlines()
    for decorator in reversed(getattr(definition, "decorator_list", ())):
        if _is_mark(decorator, function.__globals__):
            del lines[decorator.lineno - 1 : decorator.end_lineno]
    return "\n".join(lines)


def _is_mark(decorator: Any, names: Mapping[str, Any]) -> bool:
    """Whether it comes from pytest, under whatever name."""
    root = next(node for node in ast.walk(decorator) if isinstance(node, ast.Name))
    value = names.get(root.id)
    home = value.__name__ if inspect.ismodule(value) else type(value).__module__
    return home.partition(".")[0] in ("pytest", "_pytest")


def _names(code: Any) -> Iterator[str]:
    """Every name that the code and the functions inside it use."""
    yield from code.co_names
    for constant in code.co_consts:
        if inspect.iscode(constant):
            yield from _names(constant)


def _runs_needed(witness: Witness) -> int | None:
    """A round number of runs in which the event is seen often enough; None where it is too rare."""
    rarer = min(p for p in (witness.p, witness.p_prime) if p > 0) if witness.p > 0 else 0.0
    if rarer * _MOST_RUNS < _FEWEST_HITS:
        return None
    wanted = max(_HITS / rarer, 10_000.0)
    decade = 10 ** math.floor(math.log10(wanted))
    runs = next(step * decade for step in (1, 2, 5, 10) if step * decade >= wanted * (1 - 1e-9))
    return min(runs, _MOST_RUNS)


def _array(x: Any) -> str:
    return f"np.array({x!r})" if isinstance(x, list) else repr(x)
