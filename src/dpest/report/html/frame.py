"""What every page has around its content: style, script, a skip link, a way back."""

from __future__ import annotations

from functools import cache
from importlib import resources

import dpest
from dpest.report.html.markup import Content, Markup, element, join


def document(title: str, *content: Content, home: str | None = None) -> str:
    """A whole page; `home` is the address of the index, where there is one."""
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", title),
        element("link", rel="icon", href="data:,"),
        element("style", Markup(asset("style.css"))),
    )
    body = element(
        "body",
        element("a", "Skip to the content", class_="skip", href="#content"),
        _way_back(home) if home else None,
        element("main", *content, id="content", tabindex="-1"),
        element("footer", f"Written by dpest {dpest.__version__}."),
        element("script", Markup(asset("script.js"))),
    )
    return f"<!doctype html>\n{element('html', join(head, body), lang='en')}\n"


def _way_back(home: str) -> Markup:
    return element("nav", element("a", "← All mechanisms", href=home), class_="masthead",
                   aria_label="Site")  # fmt: skip


@cache
def asset(name: str) -> str:
    """A file of this folder."""
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")
