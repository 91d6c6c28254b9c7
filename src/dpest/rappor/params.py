"""The parameters that a client and the server that decodes its reports must share."""

from __future__ import annotations

import csv
import io
import json
import math
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from dpest.rappor.errors import RapporError

_CSV_HEADER = ["k", "h", "m", "p", "q", "f"]
_LONGEST_FILTER = 1 << 20


@dataclass(frozen=True)
class Params:
    """One RAPPOR deployment.

    `k` bits per report, `h` hash functions, `m` cohorts; `f` is the probability that the permanent
    response forgets a bit, `p` and `q` are the probabilities that the instantaneous response
    reports 1 for a permanent 0 and a permanent 1.

    The variants are special values: with `p=0, q=1` there is no instantaneous response (one-time),
    with `f=0` there is no permanent one, and with one hash and one cohort a value is a bit of its
    own (basic).
    """

    k: int
    h: int
    m: int
    f: float
    p: float
    q: float

    def __post_init__(self) -> None:
        for name in ("k", "h", "m"):
            object.__setattr__(self, name, _positive_integer(name, getattr(self, name)))
        for name in ("f", "p", "q"):
            object.__setattr__(self, name, _probability(name, getattr(self, name)))
        if self.k > _LONGEST_FILTER:
            raise RapporError(f"k={self.k} bits is too wide; use at most {_LONGEST_FILTER}")
        if self.h > self.k:
            raise RapporError(f"h={self.h} hashes do not fit k={self.k} bits; use h <= k")
        if self.f == 1:
            raise RapporError("f=1 forgets every value, so reports say nothing; use f < 1")
        if self.p == self.q:
            raise RapporError(f"p={self.p} equals q, so reports say nothing; use q > p")

    @classmethod
    def one_time(cls, k: int, h: int, m: int, f: float) -> Params:
        """The permanent response alone: each value is reported once, never again."""
        return cls(k, h, m, f, 0.0, 1.0)

    @classmethod
    def basic(cls, k: int, f: float, p: float, q: float) -> Params:
        """One bit per value of a known set: no hashing, no cohorts."""
        return cls(k, 1, 1, f, p, q)

    @classmethod
    def basic_one_time(cls, k: int, p: float, q: float) -> Params:
        """One bit per value of a known set and a single round of noise."""
        return cls(k, 1, 1, 0.0, p, q)

    @property
    def is_one_time(self) -> bool:
        """True if a report carries a single round of noise."""
        return self.f == 0 or (self.p == 0 and self.q == 1)

    @property
    def is_basic(self) -> bool:
        """True if there is one hash and one cohort, so that a value may be a bit of its own."""
        return self.h == 1 and self.m == 1

    @property
    def p_star(self) -> float:
        """The probability that a bit outside the Bloom filter is reported as 1."""
        return self.p * (1 - self.f / 2) + self.q * self.f / 2

    @property
    def q_star(self) -> float:
        """The probability that a bit of the Bloom filter is reported as 1."""
        return self.q * (1 - self.f / 2) + self.p * self.f / 2

    @property
    def eps_1(self) -> float:
        """The privacy loss of a single report, in the worst pair of values."""
        return self.epsilon_after(1)

    @property
    def eps_infinity(self) -> float:
        """The privacy loss of all the reports ever made of one value, in the worst pair."""
        return 2 * self.h * _log_ratio(1 - self.f / 2, self.f / 2)

    def epsilon_after(self, reports: int) -> float:
        """The privacy loss of this many reports of one value, in the worst pair of values."""
        rounds = _positive_integer("reports", reports)
        ones = self._set_loss(rounds * abs(_log_ratio(self.q, self.p)))
        return self.h * (ones + self._set_loss(rounds * abs(_log_ratio(1 - self.p, 1 - self.q))))

    def detection_limit(self, reports: int, alpha: float = 0.05) -> float:
        """The share of clients that one bit tells from nobody, in a one-sided test at `alpha`.

        It is google/rappor's figure for choosing parameters: collisions, other strings and the
        number of candidates are left out, so what a decoder finds is larger (`advise` counts them).
        """
        from statistics import NormalDist

        if not 0 < alpha < 1:
            raise RapporError(f"alpha={alpha} must lie strictly between 0 and 1")
        noise = self.p_star * (1 - self.p_star) / _positive_integer("reports", reports)
        return NormalDist().inv_cdf(1 - alpha) * math.sqrt(noise) / abs(self.q_star - self.p_star)

    def _set_loss(self, instantaneous: float) -> float:
        """What is left of a bit's loss in the instantaneous responses after the permanent one."""
        keep, lose = _log(1 - self.f / 2), _log(self.f / 2)
        return _log_add(keep, lose - instantaneous) - _log_add(lose, keep - instantaneous)

    def effective(self, scheme: str = "dpest") -> Params:
        """The probabilities that a client of this hash scheme really uses; decode with these.

        google/rappor's clients round f to 128ths (Python up, C++ down, Java to the nearest) and
        its C++ client rounds p and q down to 256ths.
        """
        if scheme == "google-python":
            return replace(self, f=math.ceil(Fraction(self.f) * 128) / 128)
        if scheme == "google-cpp":
            p, q = math.floor(self.p * 256) / 256, math.floor(self.q * 256) / 256
            return replace(self, f=math.floor(self.f * 128) / 128, p=p, q=q)
        if scheme == "google-java":
            return replace(self, f=math.floor(self.f * 128 + 0.5) / 128)
        return self

    def to_json(self) -> str:
        """The six parameters as a JSON object."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Params:
        """Read what `to_json` wrote; unknown or missing names are refused."""
        try:
            fields = json.loads(text)
        except json.JSONDecodeError as error:
            raise RapporError(f"the parameters are not JSON: {error}") from None
        names = sorted(fields) if isinstance(fields, dict) else None
        if names != sorted(_CSV_HEADER):
            raise RapporError(f"the parameters must be k, h, m, f, p, q by name, not {names}")
        return cls(**fields)

    def to_csv(self) -> str:
        """The two lines of google/rappor's params.csv."""
        row = [self.k, self.h, self.m, *map(repr, (self.p, self.q, self.f))]
        return f"{','.join(_CSV_HEADER)}\n{','.join(map(str, row))}\n"

    @classmethod
    def from_csv(cls, text: str) -> Params:
        """Read google/rappor's params.csv: its header and exactly one row."""
        rows = [row for row in csv.reader(io.StringIO(text)) if row]
        if not rows or rows[0] != _CSV_HEADER:
            found = ",".join(rows[0]) if rows else "nothing"
            raise RapporError(f"params.csv must start with {','.join(_CSV_HEADER)}, not {found}")
        if len(rows) != 2 or len(rows[1]) != len(_CSV_HEADER):
            raise RapporError(f"params.csv must hold one row of six numbers, found {rows[1:]}")
        return cls(**{name: _number(name, field) for name, field in zip(*rows, strict=True)})

    @classmethod
    def read(cls, path: str | Path) -> Params:
        """Read a file written by `write`: JSON if it starts with a brace, params.csv otherwise."""
        try:
            text = Path(path).read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise RapporError(f"cannot read the parameters in {path}: {error}") from None
        return cls.from_json(text) if text.lstrip().startswith("{") else cls.from_csv(text)

    def write(self, path: str | Path) -> None:
        """Write JSON to a name that ends in .json, params.csv to any other."""
        text = self.to_json() + "\n" if str(path).endswith(".json") else self.to_csv()
        Path(path).write_text(text, encoding="utf-8")


def _positive_integer(name: str, value: Any) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__") or int(value) < 1:
        raise RapporError(f"{name}={value!r} must be a whole number, 1 or more")
    return int(value)


def _probability(name: str, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if isinstance(value, str | bytes) or not 0 <= number <= 1:
        raise RapporError(f"{name}={value!r} must be a probability between 0 and 1")
    return number


def _number(name: str, field: str) -> Any:
    try:
        return int(field) if name in ("k", "h", "m") else float(field)
    except ValueError:
        raise RapporError(f"params.csv has {name}={field!r}, which is not a number") from None


def _log(x: float) -> float:
    return math.log(x) if x > 0 else -math.inf


def _log_ratio(a: float, b: float) -> float:
    return _log(a) - _log(b) if a != b else 0.0


def _log_add(a: float, b: float) -> float:
    high, low = max(a, b), min(a, b)
    return high if high == -math.inf else high + math.log1p(math.exp(low - high))
