"""Regions of positive probability around the place of the largest loss, the most readable first."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from dpest.engines.exact.extreme import Extreme, Slab
from dpest.numbers.rational import ONE


def candidate_slabs(extreme: Extreme) -> Iterator[tuple[Slab, ...]]:
    """Half lines first (they read best), then ever smaller boxes."""
    places = [k for k, part in enumerate(extreme.key)
              if isinstance(part, tuple) and part[0] == "observed"]  # fmt: skip
    if extreme.edge is not None:
        yield from _towards(places[0], extreme.edge, extreme.y[0])
        return
    if extreme.status == "unbounded":
        yield from _outward(places, extreme)
        return
    if extreme.cone:
        yield from ((slab,) for slab in extreme.cone)
        yield extreme.cone
        for radius in (8.0, 1.0, 0.1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7):
            yield tuple(_cut_off(slab, radius) for slab in extreme.cone)
        return
    plain = tuple(round(y, 6) + 0.0 for y in extreme.y)
    for ends in dict.fromkeys((plain, extreme.y)):
        yield from _slabs_around(places, ends, extreme.status)


def _slabs_around(
    places: Sequence[int], ends: tuple[float, ...], status: str
) -> Iterator[tuple[Slab, ...]]:
    points = list(zip(places, ends, strict=True))
    size = max(1.0, *(abs(y) for y in ends))
    if status == "approached":
        for factor in (1.0, 40.0, 1600.0):
            yield tuple(_beyond(p, _round(y * factor)) for p, y in points)
    yield ()
    yield tuple(Slab(((p, ONE),), -math.inf, _round(y)) for p, y in points)
    yield tuple(Slab(((p, ONE),), _round(y), math.inf) for p, y in points)
    for radius in (1.0, 0.1, 1e-2, 1e-3, 1e-5, 1e-7):
        for below, above in ((radius, 0.0), (0.0, radius), (radius, radius)):
            yield tuple(
                Slab(((p, ONE),), _round(y - below * size, 10), _round(y + above * size, 10))
                for p, y in points
            )


def _outward(places: Sequence[int], extreme: Extreme) -> Iterator[tuple[Slab, ...]]:
    """Half lines ever further out, where the loss grows without bound."""
    for k in range(16):
        factor = 2.0**k / 64
        if extreme.slabs:
            yield tuple(_moved(slab, factor) for slab in extreme.slabs)
        else:
            ends = [_round(y * factor) for y in extreme.y]
            pairs = list(zip(places, ends, strict=True))
            yield tuple(Slab(((p, ONE),), -math.inf, end) for p, end in pairs)
            yield tuple(Slab(((p, ONE),), end, math.inf) for p, end in pairs)


def _towards(place: int, edge: float, y: float) -> Iterator[tuple[Slab, ...]]:
    """Ever shorter intervals next to an edge."""
    for k in range(48):
        end = edge + (y - edge) * 2.0**-k
        yield (Slab(((place, ONE),), min(edge, end), max(edge, end)),)


def _cut_off(slab: Slab, radius: float) -> Slab:
    """The part of a half space within some distance of its edge."""
    if slab.high == math.inf:
        return replace(slab, high=_round(slab.low + radius, 10))
    return replace(slab, low=_round(slab.high - radius, 10))


def wider(extreme: Extreme, slabs: tuple[Slab, ...], k: int) -> Iterator[tuple[Slab, ...]]:
    """The region with one of its slabs left out, or not cut off."""
    for fewer in ((), extreme.cone[k : k + 1]):
        if slabs[k : k + 1] != fewer:
            yield (*slabs[:k], *fewer, *slabs[k + 1 :])


def _beyond(place: int, y: float) -> Slab:
    """The half line away from zero."""
    low, high = (-math.inf, y) if y < 0 else (y, math.inf)
    return Slab(((place, ONE),), low, high)


def _moved(slab: Slab, factor: float) -> Slab:
    """The half line with its end at some multiple of the distance it has from zero."""
    return replace(slab, low=_round(slab.low * factor), high=_round(slab.high * factor))


def _round(y: float, digits: int = 3) -> float:
    """The number with few digits: where exactly an event ends matters little."""
    if not math.isfinite(y):
        return y
    return float(f"{y:.{digits}g}")
