"""Text from and to files by name or the standard streams; a file appears when it is complete.

Text is UTF-8 whatever the locale, with or without a byte order mark, and is unpacked if the name
ends in .gz.
"""

from __future__ import annotations

import gzip
import os
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path
from typing import TextIO, cast

from dpest.rappor.errors import RapporError


@contextmanager
def reading(name: str) -> Iterator[TextIO]:
    """Text from a file, or from standard input for `-`."""
    if name == "-":
        yield _standard(sys.stdin, "utf-8-sig")
        return
    opened = gzip.open if name.endswith(".gz") else open
    with unpacking(name), opened(name, "rt", newline="", encoding="utf-8-sig") as lines:
        yield cast(TextIO, lines)


@contextmanager
def unpacking(name: str) -> Iterator[None]:
    """Tell of a compressed file that is cut short or damaged."""
    try:
        yield
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise RapporError(f"cannot unpack {name}: {error}") from None


def standard_output() -> TextIO:
    """Standard output for UTF-8 with bare line feeds."""
    return _standard(sys.stdout, "utf-8")


def _standard(stream: TextIO, encoding: str) -> TextIO:
    if isinstance(stream, TextIOWrapper):
        stream.reconfigure(encoding=encoding, errors="strict", newline="")
    return stream


@contextmanager
def writing(name: str | None) -> Iterator[TextIO]:
    """Text to a file that appears when it is complete, or to standard output."""
    if name is None:
        yield standard_output()
        sys.stdout.flush()
        return
    target = Replacing(Path(name))
    try:
        with open(target.partial, "w", newline="", encoding="utf-8") as out:
            yield out
        target.commit()
    finally:
        target.discard()


def check_folder(path: Path) -> None:
    """Refuse a file in a folder that does not exist, before any work is done for it."""
    if not path.parent.is_dir():
        raise RapporError(f"cannot write {path}: there is no folder {path.parent}")


class Replacing:
    """A file that takes its name when it is complete, so that no reader sees half of it."""

    def __init__(self, path: Path) -> None:
        check_folder(path)
        self.path, self.partial = path, path.with_name(f".{path.name}.{os.getpid()}.partial")

    def commit(self) -> None:
        """Give the file its name."""
        os.replace(self.partial, self.path)

    def discard(self) -> None:
        """Remove what was not committed."""
        self.partial.unlink(missing_ok=True)
