"""check(certificate) -> Checked: is the proof right?

Everything is derived again from the certificate alone, in exact rational arithmetic (logarithms
and square roots are compared through rigorous enclosures). No engine, solver or tracer is used.
What a certificate cannot show is that its program is the mechanism: that its paths are disjoint
and cover everything, and that its draws are independent. `program_digest` names the program.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpest.evidence import Certificate
from dpest.verify.content import derive, open_content
from dpest.verify.price import Malformed, Price
from dpest.verify.shift import Wrong


@dataclass(frozen=True)
class Checked:
    """The outcome: `ok`, the proved upper bound, and the reasons where it is not right."""

    ok: bool
    upper: float
    price: Price | None
    reasons: tuple[str, ...]
    sentences: tuple[str, ...]

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        if self.ok:
            return "\n".join(["The proof is right.", *self.sentences])
        return "\n".join(["The proof is wrong.", *self.reasons])


def check(proof: Certificate | Mapping[str, Any] | str | os.PathLike[str]) -> Checked:
    """Check a certificate, its JSON data, or a file that holds it."""
    try:
        content, stated = _content(proof)
        price = _checked(content, stated)
    except (Malformed, Wrong, ArithmeticError, RecursionError) as reason:
        return Checked(False, math.inf, None, (str(reason),), ())
    return Checked(True, price.above(), price, (), tuple(content["sentences"]))


def _content(proof: Any) -> tuple[Any, float | None]:
    if isinstance(proof, Certificate):
        return _plain(proof.content), proof.upper
    if isinstance(proof, Mapping):
        return _plain(proof), None
    if not isinstance(proof, (str, os.PathLike)):
        raise TypeError(
            f"check needs a certificate, its data or a file name, got {type(proof).__name__}"
        )
    path = Path(proof)
    try:
        return json.loads(path.read_text("utf-8")), None
    except OSError:
        raise ValueError(f"the proof file {str(path)!r} cannot be read") from None
    except ValueError:
        raise ValueError(f"the proof file {str(path)!r} is not JSON") from None


def _plain(data: Any) -> Any:
    """The data as JSON would give it back."""
    try:
        return json.loads(json.dumps(dict(data)))
    except (TypeError, ValueError):
        raise Malformed("the certificate is not plain JSON data") from None


def _checked(content: Any, stated: float | None) -> Price:
    upper = open_content(content)
    derived, sentences = derive(content)
    if derived != upper:
        raise Wrong(f"what is listed proves {derived}, not {upper}")
    if stated is not None and stated != derived.above():
        raise Wrong(f"the certificate states {stated!r}, but proves {derived}")
    if content["sentences"] != sentences:
        raise Wrong("the sentences do not say what the certificate does")
    return derived
