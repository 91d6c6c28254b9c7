"""How an audit samples: how much, how sure, and where."""

from __future__ import annotations

import numbers
from dataclasses import dataclass

SAMPLES = 100_000
SAMPLES_LEAST = 100
CONFIDENCE = 0.95
TIME_LIMIT = 600.0
BACKENDS = (None, "loky", "dask")


@dataclass(frozen=True)
class Sampling:
    """Settings of an audit by samples; none of them changes what a bound means but `confidence`.

    `samples` is the most runs on either input, learning included. The result depends on `seed`,
    not on `jobs` or `backend`. `time_limit` (seconds) is kept by running the mechanism in worker
    processes; None runs it in this one.
    """

    samples: int = SAMPLES
    confidence: float = CONFIDENCE
    seed: int = 0
    jobs: int = 1
    time_limit: float | None = TIME_LIMIT
    backend: str | None = None
    scheduler: str | None = None

    def __post_init__(self) -> None:
        if not _is_whole(self.samples) or self.samples < SAMPLES_LEAST:
            raise ValueError(
                f"samples={self.samples!r}: give a whole number of at least {SAMPLES_LEAST}"
            )
        if not _is_number(self.confidence) or not 0.0 < self.confidence < 1.0:
            raise ValueError(
                f"confidence={self.confidence!r}: give a number between 0 and 1, such as 0.95"
            )
        if not _is_whole(self.seed) or self.seed < 0:
            raise ValueError(f"seed={self.seed!r}: give a whole number of 0 or more")
        if not _is_whole(self.jobs) or (self.jobs < 1 and self.jobs != -1):
            raise ValueError(f"jobs={self.jobs!r}: give 1 or more processes, or -1 for all cores")
        if self.backend not in BACKENDS:
            raise ValueError(f'backend={self.backend!r}: give "loky", "dask" or None')
        if (self.backend == "dask") != (self.scheduler is not None):
            raise ValueError(
                f"backend={self.backend!r} with scheduler={self.scheduler!r}: a Dask cluster needs "
                'both, as in backend="dask", scheduler="tcp://host:8786"'
            )
        limit = self.time_limit
        if limit is not None and not (_is_number(limit) and limit > 0):
            raise ValueError(f"time_limit={limit!r}: give seconds above 0, or None")

    @property
    def is_local(self) -> bool:
        """Whether everything runs in this process."""
        return self.backend is None and self.jobs == 1 and self.time_limit is None


def _is_whole(value: object) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def _is_number(value: object) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)
