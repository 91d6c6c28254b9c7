"""Draw a population and what its clients report.

dpest rappor simulate --params params.csv --reports 100000 --truth truth.csv > values.csv
dpest rappor simulate --params params.csv --reports 1000000 --write counts > counts.csv
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dpest.rappor.commands.arguments import add_file, add_output, add_params, add_scheme
from dpest.rappor.commands.progress import Progress
from dpest.rappor.errors import RapporError
from dpest.rappor.params import Params

if TYPE_CHECKING:
    import numpy as np

    from dpest.rappor.candidates import Candidates
    from dpest.rappor.reports import Reports

_BATCH = 1 << 17


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The population and what is to be written of it."""
    add_params(parser)
    add_scheme(parser)
    parser.add_argument(
        "--population", default="zipf", help="zipf, normal, exponential or uniform (zipf)"
    )
    parser.add_argument("--shape", type=float, help="exponent, standard deviation or mean of it")
    parser.add_argument("--unique", type=int, default=100, metavar="M", help="values (100)")
    parser.add_argument("--active", type=int, metavar="A", help="values that do occur (all)")
    parser.add_argument("--reports", type=int, required=True, metavar="N", help="clients")
    parser.add_argument("--seed", type=int, help="make the run repeatable")
    parser.add_argument(
        "--write",
        choices=tuple(_WRITERS),
        default="values",
        help="true values to encode, reports of fresh clients, or the counts of such reports",
    )
    add_file(parser, "--truth", "write how many clients had each value")
    add_output(parser, "where to write (values and counts: standard output)")


def run(args: argparse.Namespace) -> None:
    """Draw, write, and say how many clients had each value."""
    import numpy as np

    from dpest.rappor.simulate import population, value_names
    from dpest.rappor.wire.streams import writing

    params = Params.read(args.params)
    if args.reports < 1:
        raise RapporError(f"--reports {args.reports} must be 1 or more")
    shares = population(args.population, args.unique, shape=args.shape, active=args.active)
    drawing = _Drawing(
        args, params, value_names(args.unique), shares, np.random.default_rng(args.seed)
    )
    holders = _WRITERS[args.write](drawing)
    if args.truth:
        with writing(args.truth) as out:
            rows = zip(drawing.names, holders.tolist(), strict=True)
            csv.writer(out, lineterminator="\n").writerows([("string", "count"), *rows])


@dataclass(frozen=True)
class _Drawing:
    args: argparse.Namespace
    params: Params
    names: list[str]
    shares: np.ndarray
    rng: np.random.Generator

    @property
    def effective(self) -> Params:
        return self.params.effective(self.args.scheme)

    def candidates(self) -> Candidates:
        from dpest.rappor.candidates import Candidates

        return Candidates.hashed(self.names, self.params, self.args.scheme, salt=self.args.salt)

    def batches(self) -> Iterator[int]:
        """The sizes of the batches, with progress."""
        from dpest.rappor.reports import batch_size

        progress = Progress("drawn", "clients")
        step, number = batch_size(self.params.k, _BATCH), self.args.reports
        for start in range(0, number, step):
            yield min(step, number - start)
            progress.show(min(start + step, number), number)
        progress.end()


def _write_values(drawing: _Drawing) -> np.ndarray:
    import numpy as np

    from dpest.rappor.wire.streams import writing

    names, rng = drawing.names, drawing.rng
    holders, first = np.zeros(len(names), dtype=np.int64), 1
    with writing(drawing.args.output) as out:
        out.write("client,cohort,value\n")
        for size in drawing.batches():
            values = rng.choice(len(names), size, p=drawing.shares).tolist()
            cohorts = rng.integers(0, drawing.params.m, size).tolist()
            rows = zip(range(first, first + size), cohorts, values, strict=True)
            out.write("".join([f"{client},{j},{names[i]}\n" for client, j, i in rows]))
            holders += np.bincount(values, minlength=len(names))
            first += size
    return holders


def _write_reports(drawing: _Drawing) -> np.ndarray:
    import numpy as np

    from dpest.rappor.simulate import simulate_reports
    from dpest.rappor.wire import write_reports

    if not drawing.args.output:
        raise RapporError("reports need a file; give --output with .csv, .parquet or .bin")
    candidates, shares = drawing.candidates(), drawing.shares
    holders = np.zeros(len(candidates), dtype=np.int64)

    def parts() -> Iterator[Reports]:
        for size in drawing.batches():
            drawn = simulate_reports(drawing.effective, candidates, shares, size, drawing.rng)
            reports, values = drawn
            holders[:] += np.bincount(values, minlength=len(candidates))
            yield reports

    write_reports(drawing.args.output, parts(), drawing.params)
    return holders


def _write_counts(drawing: _Drawing) -> np.ndarray:
    from dpest.rappor.simulate import simulate_counts
    from dpest.rappor.wire.streams import writing

    counts, holders = simulate_counts(
        drawing.effective, drawing.candidates(), drawing.shares, drawing.args.reports, drawing.rng
    )
    with writing(drawing.args.output) as out:
        counts.write(out)
    return holders


_WRITERS = {"values": _write_values, "reports": _write_reports, "counts": _write_counts}
