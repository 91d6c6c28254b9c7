"""A file of true values, and the fleet of clients that reports them."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from dpest.rappor.candidates import Candidates
from dpest.rappor.client.bits import SecureWords
from dpest.rappor.client.fleet import filters, instantaneous_many, permanent_many, pick
from dpest.rappor.client.kinds import unhashed
from dpest.rappor.client.permanent import derived_cohort
from dpest.rappor.errors import RapporError
from dpest.rappor.params import Params
from dpest.rappor.reports import Reports
from dpest.rappor.wire.files import wrong_cohort

LARGEST_BATCH = 1 << 16
_WITH_COHORT, _WITHOUT = ["client", "cohort", "value"], ["client", "value"]
_SECRET_BYTES = 48


@dataclass(frozen=True)
class ValueBatch:
    """Some rows of a file of values; without cohorts, clients draw theirs from their secret."""

    clients: list[str]
    cohorts: list[int] | None
    values: list[str]


def value_batches(lines: TextIO, name: str, size: int = LARGEST_BATCH) -> Iterator[ValueBatch]:
    """The rows of a CSV with columns client,cohort,value or client,value; a bad row is refused."""
    reader = csv.reader(lines)
    header = next(reader, None)
    if header not in (_WITH_COHORT, _WITHOUT):
        found = ",".join(header or [])[:80]
        raise RapporError(f"{name} must start with client,cohort,value or client,value: {found!r}")
    try:
        filled = _rows(reader, len(header), name)
        while rows := list(islice(filled, size)):
            yield _batch(rows, f"{name}, near line {reader.line_num}")
    except csv.Error as error:
        raise RapporError(f"{name}, line {reader.line_num}: {error}") from None


def _rows(reader: Any, width: int, name: str) -> Iterator[list[str]]:
    for row in reader:
        if len(row) == width:
            yield row
        elif row:
            found = f"{len(row)} fields where {width} were expected"
            raise RapporError(f"{name}, line {reader.line_num}: {found}")


def _batch(rows: list[list[str]], where: str) -> ValueBatch:
    columns = list(map(list, zip(*rows, strict=True)))
    if len(columns) == len(_WITHOUT):
        return ValueBatch(columns[0], None, columns[1])
    try:
        return ValueBatch(columns[0], list(map(int, columns[1])), columns[2])
    except ValueError as error:
        raise RapporError(f"{where}: a cohort is not a number: {error}") from None


class Fleet:
    """Clients whose secrets come from their names, so their permanent responses never change.

    google/rappor's simulators use the name itself as the secret, and so do its schemes here. The
    others mix in the contents of `secret_file`, without which anyone can undo the permanent noise.
    `kind` is one of `options.KINDS`: what is not a string is written as text and never hashed.
    """

    def __init__(
        self,
        params: Params,
        scheme: str = "dpest",
        salt: str = "",
        metric: str = "",
        secret_file: str | None = None,
        map_file: str | None = None,
        kind: str = "strings",
    ) -> None:
        if map_file is not None and kind != "strings":
            raise RapporError(f"a map has the bits of strings, not of {kind}; drop --map or --kind")
        self._kind = kind
        self._params, self._scheme, self._salt, self._metric = params, scheme, salt, metric
        self._key = _key(secret_file, scheme)
        self._candidates = None if map_file is None else Candidates.read(map_file, params)
        self._words = SecureWords()
        if self._candidates is not None:
            self._table = self._candidates.packed_filters(params)
            self._numbers = {name: i for i, name in enumerate(self._candidates.strings)}

    def report(self, batch: ValueBatch) -> Reports:
        """One report per row."""
        params, scheme = self._params, self._scheme
        secrets = [self._secret(client) for client in batch.clients]
        cohorts = batch.cohorts
        if cohorts is None:
            cohorts = [derived_cohort(secret, params.m, params.k, scheme) for secret in secrets]
        self._check_cohorts(batch.clients, cohorts)
        blooms = self._filters(batch.values, np.array(cohorts, dtype=np.int64))
        fixed = permanent_many(blooms, secrets, params, scheme, metric=self._metric)
        return instantaneous_many(fixed, params.effective(scheme), self._words)

    def _check_cohorts(self, clients: list[str], cohorts: list[int]) -> None:
        if min(cohorts) < 0 or max(cohorts) >= self._params.m:
            pairs = zip(clients, cohorts, strict=True)
            client, cohort = next(x for x in pairs if not 0 <= x[1] < self._params.m)
            raise RapporError(f"client {client!r}: {wrong_cohort(cohort, self._params)}")

    def _filters(self, values: list[str], cohorts: np.ndarray) -> Reports:
        if self._kind != "strings":
            return unhashed(self._kind, values, cohorts, self._params)
        if self._candidates is None:
            return filters(values, cohorts, self._params, self._scheme, salt=self._salt)
        unknown = next((value for value in values if value not in self._numbers), None)
        if unknown is not None:
            raise RapporError(f"value {unknown!r} is not in the map; add it or drop --map")
        numbers = np.array([self._numbers[value] for value in values], dtype=np.int64)
        return pick(self._table, numbers, cohorts, self._params)

    def _secret(self, client: str) -> bytes:
        name = client.encode("utf-8", "surrogatepass")
        if self._scheme.startswith("google") and self._scheme != "google-java":
            return name
        return blake2b(name, key=self._key, digest_size=_SECRET_BYTES).digest()


def _key(secret_file: str | None, scheme: str) -> bytes:
    if secret_file is None:
        return b""
    if scheme in ("google-python", "google-cpp"):
        raise RapporError(f"scheme={scheme!r} uses client names as secrets; drop --secret-file")
    return blake2b(Path(secret_file).read_bytes()).digest()
