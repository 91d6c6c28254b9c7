"""reports.csv packed by gzip: read from start to end, for no part of it can be read on its own."""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterator
from typing import BinaryIO, cast

from dpest.rappor.errors import RapporError
from dpest.rappor.params import Params
from dpest.rappor.wire import google_csv
from dpest.rappor.wire.files import Chunk, Piece
from dpest.rappor.wire.streams import unpacking


def chunks(path: str) -> list[Chunk]:
    """The whole file is one chunk."""
    if not path.endswith(".csv.gz"):
        raise RapporError(f"{path} has no known format; only .csv files may be packed as .csv.gz")
    return [Chunk(path, 0, os.path.getsize(path))]


def pieces(chunk: Chunk, params: Params) -> Iterator[Piece]:
    """The reports of the file, some megabytes at a time."""
    with unpacking(chunk.path), gzip.open(chunk.path) as file:
        yield from google_csv.stream(cast(BinaryIO, file), chunk.path, params)
