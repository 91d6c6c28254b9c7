"""The source of a mechanism with the numbers of its lines, which a proof refers to."""

from __future__ import annotations

import dis
import inspect
import io
import keyword
import re
import tokenize
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from dpest.report.html.markup import Content, Markup, element, join
from dpest.trace.graph import Graph

_CLASSES = {tokenize.COMMENT: "c", tokenize.STRING: "s", tokenize.NUMBER: "n"}
_LINE = re.compile(r"\bline (\d+)\b")


@dataclass(frozen=True)
class Block:
    """Consecutive lines of a file."""

    first: int
    lines: tuple[str, ...]

    @property
    def numbers(self) -> range:
        return range(self.first, self.first + len(self.lines))


def blocks(function: Callable[..., Any] | None) -> list[Block]:
    """The function and those of its file that it calls, in the file's order.

    Nothing where the source is not at hand: functions made by exec, built-in ones, objects.
    """
    found: dict[Any, Block] = {}
    if function is not None:
        _collect(inspect.unwrap(function), found)
    return sorted(found.values(), key=lambda block: block.first)


def _collect(function: Any, found: dict[Any, Block]) -> None:
    if not inspect.isfunction(function) or function in found:
        return
    try:
        lines, first = inspect.getsourcelines(function)
    except (OSError, TypeError, IndentationError, tokenize.TokenError):
        return
    found[function] = Block(max(first, 1), tuple(line.rstrip("\n") for line in lines))
    for name in _globals(function.__code__):
        used = function.__globals__.get(name)
        if inspect.isfunction(used) and used.__code__.co_filename == function.__code__.co_filename:
            _collect(used, found)


def _globals(code: Any) -> Iterator[str]:
    """The global names that the code and the functions inside it read."""
    yield from (i.argval for i in dis.get_instructions(code) if i.opname == "LOAD_GLOBAL")
    for constant in code.co_consts:
        if inspect.iscode(constant):
            yield from _globals(constant)


def listing(found: list[Block], graph: Graph | None) -> Markup:
    """The lines with numbers; those that draw noise and those that compute with it are marked."""
    kinds = _kinds(graph)
    items = [_block(block, kinds) for block in found]
    return element("pre", element("code", join(*items)), class_="source", tabindex="0",
                   role="region", aria_label="Source code")  # fmt: skip


def _kinds(graph: Graph | None) -> Mapping[int, str]:
    """Which lines hold random variables, which only operations."""
    nodes = sorted(graph.counts, key=lambda node: node.kind == "noise") if graph else []
    return {node.line: node.kind for node in nodes if node.kind in ("noise", "operation")}


def _block(block: Block, kinds: Mapping[int, str]) -> Markup:
    lines = zip(block.numbers, _coloured(block), strict=True)
    return element("span", [
        element("span",
                element("a", str(number), class_="number", href=f"#L{number}", aria_hidden="true",
                        tabindex="-1"),
                element("span", line, class_="text"), "\n",
                id=f"L{number}", class_=f"line {kinds.get(number, '')}".rstrip())
        for number, line in lines
    ], class_="block")  # fmt: skip


def _coloured(block: Block) -> list[Content]:
    """The lines with comments, strings, numbers and keywords marked."""
    marks: dict[int, list[tuple[int, int, str]]] = {}
    for token in _tokens("\n".join(block.lines) + "\n"):
        class_ = _class(token)
        (row, start), (last_row, end) = token.start, token.end
        for k in range(row, last_row + 1 if class_ else row):
            line = block.lines[k - 1]
            left, right = (start if k == row else 0), (end if k == last_row else len(line))
            marks.setdefault(k, []).append((left, right, class_))
    return [_marked(line, marks.get(k, [])) for k, line in enumerate(block.lines, start=1)]


def _class(token: tokenize.TokenInfo) -> str:
    if token.type == tokenize.NAME and keyword.iskeyword(token.string):
        return "k"
    return _CLASSES.get(token.type, "")


def _tokens(text: str) -> list[tokenize.TokenInfo]:
    """The tokens; none where the lines are not a program by themselves."""
    try:
        return list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, SyntaxError):
        return []


def _marked(line: str, marks: list[tuple[int, int, str]]) -> Content:
    parts: list[Content] = []
    place = 0
    for start, end, class_ in marks:
        parts += [line[place:start], element("span", line[start:end], class_=class_)]
        place = end
    return [*parts, line[place:]]


def linked(sentence: str, found: list[Block]) -> Markup:
    """The sentence with its line numbers as links to the lines shown."""
    shown = {number for block in found for number in block.numbers}
    parts: list[Content] = []
    place = 0
    for match in _LINE.finditer(sentence):
        if int(match[1]) in shown:
            parts += [sentence[place : match.start()],
                      element("a", match[0], href=f"#L{match[1]}")]  # fmt: skip
            place = match.end()
    return join(*parts, sentence[place:])
