"""Text from and to files by name or the standard streams; a file appears when it is complete."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from dpest.rappor.errors import RapporError


@contextmanager
def reading(name: str) -> Iterator[TextIO]:
    """Text from a file, or from standard input for `-`."""
    if name == "-":
        yield sys.stdin
        return
    with open(name, newline="", encoding="utf-8-sig") as lines:
        yield lines


@contextmanager
def writing(name: str | None) -> Iterator[TextIO]:
    """Text to a file that appears when it is complete, or to standard output."""
    if name is None:
        yield sys.stdout
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
