"""The parts of a page: a heading, an address, and what is said under it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dpest.report.html.markup import Content, Markup, element, join


@dataclass(frozen=True)
class Section:
    """A part of a page that the list of contents leads to."""

    name: str
    title: str
    content: Markup

    def drawn(self) -> Markup:
        heading = element("h2", self.title, id=f"{self.name}-title")
        return element(
            "section", heading, self.content, id=self.name, aria_labelledby=f"{self.name}-title"
        )

    @property
    def link(self) -> Markup:
        return element("a", self.title, href=f"#{self.name}")


def section(name: str, title: str, *content: Content) -> Section:
    """A section of these pieces."""
    return Section(name, title, join(*content))


def contents(sections: Sequence[Section]) -> Markup:
    """The list of contents."""
    items = [element("li", one.link) for one in sections]
    return element("nav", element("ul", items), class_="contents", aria_label="On this page")


def table(
    caption: str, header: Sequence[Content], rows: Sequence[Sequence[Content]],
    numbers: Sequence[int] = (), class_: str | None = None,
) -> Markup:  # fmt: skip
    """A plain table; the first column names the row, the columns in `numbers` hold numbers.

    The roles are written out, as style sheets may lay rows out in other ways.
    """

    def cells(row: Sequence[Content]) -> list[Markup]:
        return [
            element("th" if k == 0 else "td", cell, scope="row" if k == 0 else None,
                    role="rowheader" if k == 0 else "cell",
                    class_="number" if k in numbers else None)
            for k, cell in enumerate(row)
        ]  # fmt: skip

    heads = [
        element("th", name, scope="col", role="columnheader",
                class_="number" if k in numbers else None)
        for k, name in enumerate(header)
    ]  # fmt: skip
    drawn = element(
        "table",
        element("caption", caption),
        element("thead", element("tr", heads, role="row"), role="rowgroup"),
        element("tbody", [element("tr", cells(row), role="row") for row in rows], role="rowgroup"),
        class_=class_, role="table",
    )  # fmt: skip
    return scrolling(drawn, caption)


def scrolling(content: Content, name: str) -> Markup:
    """Something wide that scrolls by itself, so that the page does not."""
    return element("div", content, class_="scroll", tabindex="0", role="region", aria_label=name)


def code(text: str, name: str) -> Markup:
    """Lines to be read or copied."""
    return element("pre", element("code", text), tabindex="0", role="region", aria_label=name)
