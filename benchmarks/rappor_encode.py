"""How fast clients are encoded and reports are counted, on one core.

    OMP_NUM_THREADS=1 python benchmarks/rappor_encode.py

Every line compares this package with the obvious numpy program for the same task, in the same run,
and with pure-LDP where that is installed (`pip install dpest-privacy[peers]`). Speeds are millions
of reports per second with k=128 bits over 64 cohorts, the best of three.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from hashlib import blake2b
from typing import Any

import numpy as np

from dpest.rappor import Candidates, Params, Reports, count
from dpest.rappor.client.bits import SecureWords
from dpest.rappor.client.fleet import permanent_many, pick, report_once

try:
    from pure_ldp.frequency_oracles.rappor.rappor_client import RAPPORClient
    from pure_ldp.frequency_oracles.rappor.rappor_server import RAPPORServer
except ImportError:
    RAPPORServer = None

K, H, M, VALUES = 128, 2, 64, 1000


def main() -> int:
    """Measure everything; the exit code says whether all targets are met."""
    population = Population(1 << 20)
    print(f"{'':36}{'M/s':>8}{'target':>8}{'numpy':>8}{'ratio':>8}{'pure-LDP':>10}{'ratio':>8}")
    met = [
        _one_time(population, 0.5, 0.75, target=20),
        _one_time(population, 0.3, 0.8, target=3),
        _keyed(population, 0.5, target=1),
        _keyed(population, 0.3),
        _counting(population, target=25),
    ]
    return 0 if all(met) else 1


class Population:
    """Clients with a value, a cohort and a secret each."""

    def __init__(self, size: int) -> None:
        rng = np.random.default_rng(1)
        self.params = Params(K, H, M, 0.5, 0.25, 0.75)
        words = Candidates.hashed([f"v{i}" for i in range(VALUES)], self.params)
        self.table = words.packed_filters(self.params)
        self.values = rng.integers(0, VALUES, size)
        self.cohorts = rng.integers(0, M, size).astype(np.int32)
        self.secrets = rng.integers(0, 256, (size, 32), dtype=np.uint8)
        self.filters = pick(self.table, self.values, self.cohorts, self.params)


def _one_time(population: Population, p: float, q: float, target: float) -> bool:
    size = len(population.values)
    return _line(
        f"one-time encoding, p={p}, q={q}",
        _speed(lambda: _encode(population, p, q), size),
        target,
        _speed(lambda: _naive_encode(population, p, q), 1 << 16),
        _pure_ldp_client(),
    )


def _encode(population: Population, p: float, q: float) -> Reports:
    """Value numbers to reports, by way of filters and a cryptographic generator."""
    params = Params(K, H, M, 0.0, p, q)
    chosen = pick(population.table, population.values, population.cohorts, params)
    return report_once(chosen, params, _WORDS)


def _naive_encode(population: Population, p: float, q: float) -> np.ndarray:
    """A uniform float per bit."""
    bits = population.filters[: 1 << 16].bits
    return np.random.default_rng(2).random(bits.shape) < np.where(bits, q, p)


def _keyed(population: Population, f: float, target: float = 0) -> bool:
    size, params = 1 << 17, Params(K, H, M, f, 0.25, 0.75)
    some, secrets = population.filters[:size], population.secrets[:size]
    return _line(
        f"keyed permanent response, f={f}",
        _speed(lambda: permanent_many(some, secrets, params), size),
        target,
        _speed(lambda: _naive_permanent(some[:2000], secrets[:2000], f), 2000),
    )


def _naive_permanent(filters: Reports, secrets: np.ndarray, f: float) -> list[np.ndarray]:
    """A generator per client, seeded by a digest of its secret and filter."""
    answers = []
    for secret, bloom, bits in zip(secrets, filters.packed, filters.bits, strict=True):
        seed = int.from_bytes(blake2b(bloom.tobytes(), key=secret.tobytes()).digest(), "little")
        answers.append(bits ^ (np.random.default_rng(seed).random(K) < f / 2))
    return answers


def _counting(population: Population, target: float) -> bool:
    reports, size = population.filters, 1 << 16
    return _line(
        "counting packed reports",
        _speed(lambda: count(reports, population.params), len(reports)),
        target,
        _speed(lambda: _naive_count(reports[:size]), size),
        _pure_ldp_server(),
    )


def _naive_count(reports: Reports) -> list[np.ndarray]:
    """Unpack the bits and add them up, cohort by cohort."""
    bits = reports.bits
    return [bits[reports.cohorts == cohort].sum(axis=0) for cohort in range(M)]


def _pure_ldp_client() -> float | None:
    """The client of pure-LDP, which has the permanent response alone; None if it does not run."""
    if RAPPORServer is None:
        return None
    client = _pure_ldp(RAPPORServer)[1]
    return _speed(lambda: [client.privatise(value % VALUES) for value in range(5000)], 5000)


def _pure_ldp_server() -> float | None:
    """How fast pure-LDP adds up such reports; None if it does not run."""
    if RAPPORServer is None:
        return None
    server, client = _pure_ldp(RAPPORServer)
    reports = [client.privatise(value % VALUES) for value in range(5000)]
    return _speed(lambda: [server.aggregate(report) for report in reports], 5000)


def _pure_ldp(server_type: Any) -> tuple[Any, Any]:
    server = server_type(0.5, K, H, VALUES, num_of_cohorts=M, index_mapper=lambda value: value)
    hashes = server.get_hash_funcs()
    return server, RAPPORClient(0.5, K, hashes, M, index_mapper=lambda value: value)


def _speed(task: Callable[[], object], reports: int) -> float:
    """Millions of reports per second, the best of three runs after a first one."""
    task()
    seconds = []
    for _ in range(3):
        start = time.process_time()
        task()
        seconds.append(time.process_time() - start)
    return reports / min(seconds) / 1e6


def _line(name: str, ours: float, target: float, naive: float, other: float | None = None) -> bool:
    beside = f"{'-':>10}" if other is None else f"{other:10.3f}{ours / other:7.0f}x"
    print(f"{name:36}{ours:8.2f}{target:8}{naive:8.2f}{ours / naive:7.1f}x{beside}")
    return ours >= target


_WORDS = SecureWords()

if __name__ == "__main__":
    sys.exit(main())
