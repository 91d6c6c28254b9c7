"""HTML from Python calls; whatever is not markup already is escaped."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Any

_VOID = frozenset({"meta", "link", "input", "br", "hr", "img", "col"})


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


Content = str | Iterable["Content"] | None


def join(*content: Content) -> Markup:
    """The pieces one after another: markup as it is, other text escaped, None left out."""
    return Markup("".join(_pieces(content)))


def element(tag: str, /, *content: Content, **attributes: Any) -> Markup:
    """An element: `element("a", "text", href="x.html", class_="quiet")`.

    Attributes that are None or False are left out, those that are True have no value; an
    underscore at the end is dropped and others become hyphens.
    """
    written = "".join(_attribute(key, value) for key, value in attributes.items())
    if tag in _VOID:
        return Markup(f"<{tag}{written}>")
    return Markup(f"<{tag}{written}>{join(*content)}</{tag}>")


def _pieces(content: Iterable[Content]) -> Iterable[str]:
    for piece in content:
        if isinstance(piece, Markup):
            yield piece
        elif isinstance(piece, str):
            yield escape(piece, quote=False)
        elif piece is not None:
            yield from _pieces(piece)


def _attribute(key: str, value: Any) -> str:
    if value is None or value is False:
        return ""
    name = key.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{escape(str(value))}"'
