"""Small charts as SVG: scales with round ticks, and the marks that a report needs.

Colours and fonts are the page's: every mark has a class, and the style sheet says the rest. A chart
is drawn for a column of a telephone and may be enlarged.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dpest.report.html.markup import Content, Markup, element

Points = Iterable[tuple[float, float]]
WIDTH, HEIGHT = 400.0, 230.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 52.0, 14.0, 26.0, 40.0
_TICK = 4.0
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class Axis:
    """From numbers to places: `low` is at `start`, `high` at `end`, evenly or by their logs."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False
    whole: bool = False

    def __call__(self, value: float) -> float:
        low, high, at = (math.log(v) if self.log else v for v in (self.low, self.high, value))
        share = (at - low) / (high - low) if high > low else 0.5
        return self.start + (self.end - self.start) * share

    def inside(self, value: float) -> bool:
        """Whether the number lies on the axis."""
        return self.low <= value <= self.high

    def ticks(self) -> list[float]:
        """Round numbers along the axis."""
        if self.log:
            return _powers(self.low, self.high)
        return _rounds(self.low, self.high, 1.0 if self.whole else 0.0)


def _rounds(low: float, high: float, least: float, most: int = 5) -> list[float]:
    """Multiples of a round step, which is not below `least`."""
    if not high > low:
        return [low]
    rough = max((high - low) / most, least)
    size = 10.0 ** math.floor(math.log10(rough))
    steps = (1, 2, 5, 10) if least else (1, 2, 2.5, 5, 10)
    step = next(size * m for m in steps if size * m >= rough * (1 - 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [float(f"{k * step:.12g}") for k in range(first, last + 1)]


def _powers(low: float, high: float, most: int = 6) -> list[float]:
    first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
    step = max(1, math.ceil((last - first) / most))
    return [float(f"1e{k}") for k in range(first, last + 1, step)]


def place(value: float) -> str:
    """A coordinate, to a hundredth of a pixel."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def tick(value: float) -> str:
    """A number as an axis shows it."""
    if value != 0 and not 1e-3 <= abs(value) < 1e5:
        mantissa, exponent = f"{value:.3e}".split("e")
        mantissa = f"{float(mantissa):g}"
        power = f"10{str(int(exponent)).translate(_RAISED)}"
        return power if mantissa == "1" else f"{mantissa}·{power}".replace("-", "−")
    return f"{value:g}".replace("-", "−")


def shape(tag: str, class_: str, *content: Content, **attributes: float | str | None) -> Markup:
    """An SVG element; numbers are places."""
    written = {
        key: place(value) if isinstance(value, (int, float)) else value
        for key, value in attributes.items()
    }
    return element(tag, *content, class_=class_, **written)


def path(points: Points) -> str:
    """The line through the points."""
    return "M" + " L".join(f"{place(x)} {place(y)}" for x, y in points)


def svg(
    width: float, height: float, label: str, *content: Content, class_: str = "chart"
) -> Markup:
    """A picture with its text alternative."""
    return element(
        "svg", *content, xmlns="http://www.w3.org/2000/svg", class_=class_,
        viewBox=f"0 0 {place(width)} {place(height)}", width=place(width), height=place(height),
        role="img", aria_label=label,
    )  # fmt: skip


class Chart:
    """Two axes and the marks between them."""

    def __init__(
        self, x: tuple[float, float], y: tuple[float, float], x_name: str, y_name: str,
        log_y: bool = False, height: float = HEIGHT, whole_x: bool = False,
    ) -> None:  # fmt: skip
        self.height = height
        self.x = Axis(*x, _LEFT, WIDTH - _RIGHT, whole=whole_x)
        self.y = Axis(*y, height - _BOTTOM, _TOP, log_y)
        self._marks: list[Content] = [*self._grid(), *self._names(x_name, y_name)]

    def _grid(self) -> list[Markup]:
        bottom = self.height - _BOTTOM
        parts = [shape("path", "axis", d=f"M{place(_LEFT)} {place(bottom)} H{place(self.x.end)}")]
        for value in self.x.ticks():
            at = self.x(value)
            parts += [
                shape("path", "axis", d=f"M{place(at)} {place(bottom)} v{place(_TICK)}"),
                shape("text", "tick", tick(value), x=at, y=bottom + 17, text_anchor="middle"),
            ]
        for value in self.y.ticks():
            at = self.y(value)
            parts += [
                shape("path", "grid", d=f"M{place(_LEFT)} {place(at)} H{place(self.x.end)}"),
                shape("text", "tick", tick(value), x=_LEFT - 7, y=at + 4, text_anchor="end"),
            ]
        return parts

    def _names(self, x_name: str, y_name: str) -> list[Markup]:
        return [
            shape("text", "name", x_name, x=self.x.end, y=self.height - 5, text_anchor="end"),
            shape("text", "name", y_name, x=4.0, y=13.0),
        ]

    def line(self, points: Points, class_: str) -> None:
        """A line through points inside the axes."""
        placed = [(self.x(x), self.y(y)) for x, y in points]
        if len(placed) > 1:
            self._marks.append(shape("path", f"line {class_}", d=path(placed)))

    def band(self, low: Sequence[tuple[float, float]], high: Sequence[tuple[float, float]]) -> None:
        """The area between two lines."""
        placed = [(self.x(x), self.y(y)) for x, y in [*low, *high[::-1]]]
        self._marks.append(shape("path", "band", d=path(placed) + "Z"))

    def dot(self, x: float, y: float, class_: str, said: str = "") -> None:
        """A point, with what to say of it where one points at it."""
        hint = element("title", said) if said else None
        self._marks.append(
            shape("circle", f"dot {class_}", hint, cx=self.x(x), cy=self.y(y), r=4.0)
        )

    def upright(self, x: float, class_: str, words: str = "") -> None:
        """A line from bottom to top."""
        at = self.x(x)
        self._marks.append(
            shape("path", f"rule {class_}", d=f"M{place(at)} {place(self.y.start)} V{place(_TOP)}")
        )
        if words:
            near_end = at > (self.x.start + self.x.end) / 2
            self._marks.append(shape(
                "text", "note", words, x=at - 5 if near_end else at + 5, y=_TOP + 10,
                text_anchor="end" if near_end else "start",
            ))  # fmt: skip

    def level(self, y: float, class_: str) -> None:
        """A line from left to right."""
        at = place(self.y(y))
        self._marks.append(
            shape("path", f"rule {class_}", d=f"M{place(_LEFT)} {at} H{place(self.x.end)}")
        )

    def drawn(self, label: str) -> Markup:
        """The picture; `label` is what it shows, for those who do not see it."""
        return svg(WIDTH, self.height, label, self._marks)


def figure(picture: Content, caption: Content) -> Markup:
    """A picture and the sentence under it."""
    return element("figure", picture, element("figcaption", caption))


def key(*entries: tuple[str, str]) -> Markup:
    """What the marks mean: pairs of a class and words."""
    items = [
        element("li", element("span", class_=f"swatch {class_}", aria_hidden="true"), words)
        for class_, words in entries
    ]
    return element("ul", items, class_="key")
