"""Hash candidate strings into a map.csv.

dpest rappor candidates --params params.csv words.txt > map.csv
dpest rappor candidates --params params.csv --scheme google-python words.txt > map.csv
dpest rappor candidates --params params.csv --fixed colours.txt > map.csv
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator

from dpest.rappor.commands.arguments import add_output, add_params, add_scheme
from dpest.rappor.params import Params


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The strings and how they are hashed."""
    parser.add_argument(
        "strings", help="a file with a string per line, or -; blank and repeated lines are skipped"
    )
    add_params(parser)
    add_scheme(parser)
    parser.add_argument("--fixed", action="store_true", help="string i is bit i, nothing is hashed")
    add_output(parser, "map.csv (standard output)")


def run(args: argparse.Namespace) -> None:
    """Write the map."""
    from dpest.rappor.candidates import Candidates, write_map
    from dpest.rappor.wire.streams import reading, writing

    params = Params.read(args.params)
    with reading(args.strings) as lines, writing(args.output) as out:
        strings = _distinct(line.rstrip("\r\n") for line in lines if line.strip())
        if args.fixed:
            Candidates.fixed(strings, params).write(out)
        else:
            write_map(strings, params, out, args.scheme, salt=args.salt)


def _distinct(strings: Iterable[str]) -> Iterator[str]:
    """Each string once; says on standard error how many came again."""
    seen: set[str] = set()
    repeated = 0
    for string in strings:
        if string in seen:
            repeated += 1
            continue
        seen.add(string)
        yield string
    if repeated:
        print(f"skipped {repeated} repeated string" + "s" * (repeated != 1), file=sys.stderr)
