"""A program as the plain data of a certificate."""

from __future__ import annotations

from typing import Any

from dpest.engines.proof.extremes import extreme_of
from dpest.engines.proof.split import Fragment, Route
from dpest.inputs import Inputs, OneOf
from dpest.neighbors import AnyPair, Neighbors, Norm
from dpest.noise import Law, Table
from dpest.numbers.rational import exact
from dpest.program import Input, Linear, Noise, Piece
from dpest.program.program import SLOT
from dpest.verify.model import LAWS


class Encoder:
    """Numbers the draws, lines, extremes, groups and parts of a program as they are met."""

    def __init__(self) -> None:
        self.noise: dict[Noise, int] = {}
        self.lines: dict[Linear, int] = {}
        self.extremes: dict[Piece, int] = {}
        self.groups: dict[tuple[int, ...], int] = {}
        self.parts: dict[int, int] = {}
        self._fragments: list[Fragment] = []
        self._by_content: dict[str, int] = {}
        self.data: dict[str, list[Any]] = {
            "noise": [], "lines": [], "extremes": [], "groups": [], "parts": [], "paths": [],
        }  # fmt: skip

    def program(self, inputs: dict[str, Any], found: list[Route]) -> dict[str, Any]:
        """The program section of a certificate."""
        for route in found:
            parts = [self.part(fragment) for fragment in route.fragments]
            returns = skeleton_text(route.path.output.skeleton)
            self.data["paths"].append({"parts": parts, "returns": returns})
        return {"inputs": inputs, **self.data}

    def part(self, fragment: Fragment) -> int:
        if id(fragment) not in self.parts:
            self._fragments.append(fragment)
            self.parts[id(fragment)] = self._enter("parts", self._part_data(fragment))
        return self.parts[id(fragment)]

    def _enter(self, section: str, data: Any) -> int:
        key = f"{section}{data}"
        if key not in self._by_content:
            self._by_content[key] = len(self.data[section])
            self.data[section].append(data)
        return self._by_content[key]

    def _part_data(self, fragment: Fragment) -> dict[str, Any]:
        return {
            "when": [[self.line(c.left), self.line(c.right), c.strict] for c in fragment.when],
            "beats": [[self.line(w.line), self.group(w.group)] for w in fragment.beats],
            "out": [[k, self.line(line)] for k, line in fragment.out],
        }

    def group(self, lines: tuple[Linear, ...]) -> int:
        key = tuple(self.line(line) for line in lines)
        if key not in self.groups:
            self.groups[key] = len(self.data["groups"])
            self.data["groups"].append(list(key))
        return self.groups[key]

    def line(self, line: Linear) -> int:
        known = self.lines.get(line)
        if known is None:
            data = self._line_data(line)
            known = self.lines[line] = len(self.data["lines"])
            self.data["lines"].append(data)
        return known

    def _line_data(self, line: Linear) -> dict[str, Any]:
        data: dict[str, Any] = {"const": str(line.const)}
        for variable, coefficient in line.terms.items():
            if isinstance(variable, Input):
                section, index = "x", variable.index
            elif isinstance(variable, Noise):
                section, index = "noise", self.draw(variable)
            else:
                assert isinstance(variable, Piece)
                section, index = "extremes", self.extreme(variable)
            data.setdefault(section, {})[str(index)] = str(coefficient)
        return data

    def draw(self, noise: Noise) -> int:
        if noise not in self.noise:
            self.noise[noise] = len(self.noise)
            line = noise.source.line if noise.source is not None else None
            self.data["noise"].append({**law_data(noise.law), "line": line})
        return self.noise[noise]

    def extreme(self, piece: Piece) -> int:
        if piece not in self.extremes:
            found = extreme_of(piece)
            assert found is not None
            data: dict[str, Any] = {"of": [self.line(line) for line in found.lines]}
            if found.rank is None:
                data["by"] = sorted(v.index for v in piece.roots if isinstance(v, Input))
            else:
                data["rank"] = found.rank
            self.extremes[piece] = len(self.data["extremes"])
            self.data["extremes"].append(data)
        return self.extremes[piece]


def law_data(law: Law) -> dict[str, Any]:
    if isinstance(law, Table):
        return {"law": "choice", "weights": [str(w) for w in law.weights]}
    return {"law": law.name, LAWS[law.name]: str(getattr(law, LAWS[law.name]))}


def domain_data(inputs: Inputs) -> dict[str, Any]:
    assert not isinstance(inputs, OneOf)
    low, high = inputs.bounds()
    finite = [None if abs(b) == float("inf") else str(exact(b)) for b in (low, high)]
    kind = "integers" if inputs.integral else "reals"
    return {"kind": kind, "size": inputs.size, "low": finite[0], "high": finite[1]}


def neighbors_data(neighbors: Neighbors) -> dict[str, Any]:
    if isinstance(neighbors, Norm):
        return {"kind": neighbors.kind, "radius": str(exact(neighbors.radius))}
    if isinstance(neighbors, AnyPair):
        return {"kind": "any"}
    return {"kind": "pairs", "listed": [[_numbers(x), _numbers(y)] for x, y in neighbors.listed]}


def _numbers(x: Any) -> list[str]:
    import numpy as np

    return [str(exact(v)) for v in np.ravel(np.asarray(x, dtype=object))]


def skeleton_text(skeleton: Any) -> str:
    """The returned value with a dot for every number that the path computes."""
    if skeleton == SLOT:
        return SLOT
    kind, content = skeleton
    if kind == "value":
        return _plain_text(content)
    if kind == "dict":
        inside = ", ".join(f"{key!a}: {skeleton_text(value)}" for key, value in content)
        return "{" + inside + "}"
    if isinstance(kind, type):
        inside = ", ".join(f"{name}={skeleton_text(value)}" for name, value in content)
        return f"{kind.__name__}({inside})"
    inside = ", ".join(map(skeleton_text, content))
    if kind == "tuple":
        return f"({inside},)" if len(content) == 1 else f"({inside})"
    return f"[{inside}]"


def _plain_text(value: Any) -> str:
    """A constant; the members of a set are sorted, so that the text is always the same."""
    if isinstance(value, frozenset) and value:
        return "{" + ", ".join(sorted(map(ascii, value))) + "}"
    return ascii(value)
