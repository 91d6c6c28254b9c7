"""What is typed on the command line, as the objects that the library takes."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from dpest import claims
from dpest import inputs as domains
from dpest import neighbors as relations
from dpest.claims import Claim
from dpest.inputs import Inputs, OneOf
from dpest.neighbors import AnyPair, Neighbors, Pairs

_INPUTS = "reals:N, reals:N:LOW:HIGH, integers:N:LOW:HIGH or one_of:A,B,..."
_CLAIMS = "a number, approx:EPS:DELTA, zcdp:RHO or renyi:ALPHA:EPS"
_NEIGHBORS = "l1:R, linf:R, l2:R, any_pair or pairs:[[X, Y], ...]"


def inputs_of(text: str) -> Inputs:
    """`reals:10`, `reals:5:-1:1`, `integers:1:0:5` or `one_of:red,green`."""
    kind, _, rest = text.partition(":")
    if kind == "one_of":
        return domains.one_of(*map(literal, rest.split(",")))
    parts = rest.split(":")
    if kind == "reals" and len(parts) in (1, 3):
        return domains.reals(_whole(parts[0], text), *(_number(v, text) for v in parts[1:]))
    if kind == "integers" and len(parts) == 3:
        n, low, high = (_whole(v, text) for v in parts)
        return domains.integers(n, low, high)
    raise ValueError(f"--inputs must be {_INPUTS}, got {text!r}")


def neighbors_of(text: str, inputs: Inputs) -> Neighbors:
    """`l1:1`, `linf:1`, `l2:1`, `any_pair` or `pairs:` with a list in JSON."""
    kind, _, rest = text.partition(":")
    norms: dict[str, Callable[..., Neighbors]] = {
        "l1": relations.l1, "linf": relations.linf, "l2": relations.l2,
    }  # fmt: skip
    if kind in norms:
        return norms[kind](_number(rest, text)) if rest else norms[kind]()
    if text == "any_pair":
        return relations.any_pair()
    if kind == "pairs":
        return relations.pairs(_pairs(rest, inputs))
    raise ValueError(f"--neighbors must be {_NEIGHBORS}, got {text!r}")


def claim_of(text: str) -> Claim:
    """`0.1`, `approx:1:1e-5`, `zcdp:0.5` or `renyi:2:1`; inf claims nothing."""
    kind, *rest = text.split(":")
    kinds: dict[str, tuple[int, Callable[..., Claim]]] = {
        "approx": (2, claims.approx), "zcdp": (1, claims.zcdp), "renyi": (2, claims.renyi),
    }  # fmt: skip
    if kind in kinds and len(rest) == kinds[kind][0]:
        return kinds[kind][1](*(_number(part, text) for part in rest))
    return claims.pure(_number(text, text, f"--claim must be {_CLAIMS}, got"))


def params_of(assignments: Sequence[str]) -> dict[str, Any]:
    """`eps=0.1` for every --param."""
    params = {}
    for text in assignments:
        name, equals, value = text.partition("=")
        if not equals or not name.isidentifier():
            raise ValueError(f"--param must be NAME=VALUE, got {text!r}")
        params[name] = literal(value)
    return params


def literal(text: str) -> Any:
    """A number, list, true, false or null as in JSON; anything else is a string."""
    for read in (json.loads, float):
        try:
            return read(text)
        except ValueError:
            continue
    return text


# -- the other way: what to type ---------------------------------------------------------------


def typed_inputs(inputs: Inputs) -> str:
    """What `inputs_of` reads as this domain."""
    if isinstance(inputs, OneOf):
        return "one_of:" + ",".join(map(_typed, inputs.options))
    kind = "integers" if inputs.integral else "reals"
    low, high = inputs.bounds()
    bounds = f":{low!r}:{high!r}" if math.isfinite(high - low) else ""
    return f"{kind}:{inputs.size}{bounds}"


def typed_neighbors(neighbors: Neighbors) -> str:
    """What `neighbors_of` reads as this relation."""
    if isinstance(neighbors, Pairs):
        return "pairs:" + json.dumps(list(neighbors.listed), default=_plain)
    if isinstance(neighbors, AnyPair):
        return "any_pair"
    return f"{neighbors.kind}:{neighbors.radius:g}"


def typed_params(params: Mapping[str, Any]) -> list[str]:
    """What `params_of` reads as these parameters."""
    return [f"{name}={_typed(value)}" for name, value in params.items()]


def _typed(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=_plain)


def _plain(value: Any) -> Any:
    """A number or array of numpy as JSON knows it."""
    return value.tolist() if hasattr(value, "tolist") else repr(value)


def _pairs(text: str, inputs: Inputs) -> list[Any]:
    """A list of pairs; a single pair may stand for itself."""
    try:
        listed = json.loads(text)
    except ValueError as error:
        raise ValueError(f"--neighbors pairs: needs JSON such as [[1, 2]], got {text!r}") from error
    if not isinstance(listed, list):
        raise ValueError(f"--neighbors pairs: needs a list, got {text!r}")
    depth_of_one_pair = 1 if inputs.size == 1 else 2
    return [listed] if _depth(listed) == depth_of_one_pair else listed


def _depth(value: Any) -> int:
    if not isinstance(value, list):
        return 0
    return 1 + max(map(_depth, value), default=0)


def _number(text: str, whole_text: str, problem: str = "not a number") -> float:
    try:
        return float(text)
    except ValueError:
        place = f" in {whole_text!r}" if whole_text != text else ""
        raise ValueError(f"{problem}: {text!r}{place}") from None


def _whole(text: str, whole_text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"not a whole number: {text!r} in {whole_text!r}") from None
