"""Reports as Parquet through DuckDB: a cohort and the bits in columns of 64."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np

from dpest.rappor.errors import RapporError
from dpest.rappor.params import Params
from dpest.rappor.reports import Reports, batch_size
from dpest.rappor.wire.files import Chunk, Piece, foreign, sift
from dpest.rappor.wire.streams import Replacing

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_CHUNK_ROWS = 1 << 18
_FEWEST_ROWS = 1 << 11
_KEY = "dpest_params"
_INTEGERS = {s + t for s in ("", "U") for t in ("TINYINT", "SMALLINT", "INTEGER", "BIGINT")}


def columns(k: int) -> list[str]:
    """The names of the columns that hold the bits."""
    return [f"bits{word}" for word in range(-(-k // 64))]


def chunks(path: str) -> list[Chunk]:
    """Ranges of rows."""
    rows_in, words_in = (
        "SELECT sum(num_rows) FROM parquet_file_metadata(?)",
        "SELECT count(*) FROM parquet_schema(?) WHERE name LIKE 'bits%'",
    )
    with _connect() as connection, _told(f"cannot read {path}"):
        (rows,) = connection.execute(rows_in, [path]).fetchall()[0]
        (words,) = connection.execute(words_in, [path]).fetchall()[0]
    step = batch_size(64 * max(words, 1), _CHUNK_ROWS)
    return [Chunk(path, at, min(at + step, int(rows))) for at in range(0, int(rows), step)]


def load(chunk: Chunk, params: Params) -> Piece:
    """The reports of a range of rows."""
    with _connect() as connection, _told(f"cannot read {chunk.path}"):
        found = _written_params(connection, chunk.path)
        if found is not None and found != params:
            return foreign(chunk, params, found)
        _check_columns(connection, chunk.path, params)
        query = (
            f"SELECT cohort, {', '.join(columns(params.k))} FROM "
            "read_parquet(?, file_row_number=true) "
            "WHERE file_row_number >= ? AND file_row_number < ?"
        )
        table = connection.execute(query, [chunk.path, chunk.start, chunk.stop]).fetchnumpy()
    missing = np.logical_or.reduce([np.ma.getmaskarray(column) for column in table.values()])
    words = np.column_stack([np.ma.getdata(table[name]) for name in columns(params.k)])
    packed = words.astype("<i8", copy=False).view(np.uint8)
    return sift(np.ma.getdata(table["cohort"]), packed, params, missing)


def _written_params(connection: DuckDBPyConnection, path: str) -> Params | None:
    """The parameters that this package left in the file, if it wrote it."""
    query = "SELECT key, value FROM parquet_kv_metadata(?)"
    pairs = connection.execute(query, [path]).fetchall()
    texts = [bytes(value).decode() for key, value in pairs if bytes(key) == _KEY.encode()]
    return Params.from_json(texts[0]) if texts else None


def _check_columns(connection: DuckDBPyConnection, path: str, params: Params) -> None:
    described = connection.execute("DESCRIBE SELECT * FROM read_parquet(?)", [path]).fetchall()
    types = {name: kind for name, kind, *_ in described}
    wanted = ["cohort", *columns(params.k)]
    missing = [name for name in wanted if types.get(name) not in _INTEGERS]
    if missing:
        raise RapporError(f"{path} has no integer column {missing[0]}; k={params.k} needs {wanted}")


@contextmanager
def _told(trouble: str) -> Iterator[None]:
    """Put what DuckDB complains about into one sentence."""
    import duckdb

    try:
        yield
    except duckdb.Error as error:
        raise RapporError(f"{trouble}: {str(error).splitlines()[0]}") from None


def _connect(database: str = ":memory:") -> DuckDBPyConnection:
    import duckdb

    return duckdb.connect(database, config={"threads": 1, "memory_limit": "256MB"})


class Writer:
    """Writes Parquet; the reports wait in a DuckDB file beside it, so memory stays small."""

    def __init__(self, path: Path, params: Params) -> None:
        self._target, self._params = Replacing(path), params
        self._waiting = TemporaryDirectory(prefix=f".{path.name}.", dir=path.parent)
        self._connection = _connect(os.path.join(self._waiting.name, "reports.duckdb"))
        bits = ", ".join(f"{name} BIGINT" for name in columns(params.k))
        self._execute(f"CREATE TABLE reports (cohort INTEGER, {bits})")

    def write(self, reports: Reports, clients: Sequence[str] | None = None) -> None:
        """Append reports; this format does not name clients."""
        names = columns(reports.k)
        words = np.zeros((len(reports), len(names) * 8), dtype=np.uint8)
        words[:, : reports.packed.shape[1]] = reports.packed
        columns_of_bits = np.ascontiguousarray(words.view("<i8").T)
        batch = dict(zip(names, columns_of_bits, strict=True))
        self._connection.register("batch", {"cohort": reports.cohorts.astype(np.int32), **batch})
        self._execute("INSERT INTO reports SELECT * FROM batch")

    def close(self) -> None:
        """Finish the file."""
        rows = max(batch_size(self._params.k, _CHUNK_ROWS) // 2, _FEWEST_ROWS)
        group = f"ROW_GROUP_SIZE {rows}"
        metadata = f"{group}, KV_METADATA {{{_KEY}: '{self._params.to_json()}'}}"
        target = str(self._target.partial).replace("'", "''")
        self._execute(f"COPY reports TO '{target}' (FORMAT parquet, {metadata})")
        self._target.commit()

    def discard(self) -> None:
        """Leave no file."""
        self._connection.close()
        self._target.discard()
        self._waiting.cleanup()

    def _execute(self, statement: str) -> None:
        with _told(f"cannot write {self._target.path}"):
            self._connection.execute(statement)
