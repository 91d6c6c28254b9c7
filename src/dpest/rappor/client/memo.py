"""A durable memory of permanent responses, for clients that prefer to store them."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

from dpest.rappor.errors import RapporError


class Memo:
    """Permanent responses in an SQLite file, drawn once and kept; processes may share the file.

    What is stored can be read by whoever reads the file: the filters of the values that a client
    reported and the answers to them. A client with a secret needs no such file.
    """

    def __init__(self, path: str | Path) -> None:
        try:
            self._connection = sqlite3.connect(path, timeout=60, isolation_level=None)
            self._connection.execute(
                "CREATE TABLE IF NOT EXISTS permanent (filter BLOB PRIMARY KEY, answer BLOB)"
            )
        except sqlite3.Error as error:
            raise RapporError(f"cannot use {path} as a memo: {error}") from None

    def recall(self, key: bytes, draw: Callable[[], bytes]) -> bytes:
        """The answer kept for this key; the first time, it is drawn."""
        answer = self._find(key)
        if answer is None:
            insert = "INSERT OR IGNORE INTO permanent VALUES (?, ?)"
            self._connection.execute(insert, (key, draw()))
            answer = self._find(key)
        assert answer is not None
        return answer

    def _find(self, key: bytes) -> bytes | None:
        query = "SELECT answer FROM permanent WHERE filter = ?"
        row = self._connection.execute(query, (key,)).fetchone()
        return None if row is None else bytes(row[0])

    def close(self) -> None:
        """Close the file."""
        self._connection.close()
