"""The arguments that say which mechanism is meant, on which inputs, with which parameters."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpest.inputs import Inputs
    from dpest.neighbors import Neighbors
    from dpest.target import Target


def add_mechanism(parser: argparse.ArgumentParser, optional: bool = False) -> None:
    """MECHANISM --inputs --param."""
    parser.add_argument("mechanism", nargs="?" if optional else None,
                        help="a name from `dpest list`, or path/file.py::function")  # fmt: skip
    add_domain(parser)


def add_domain(parser: argparse.ArgumentParser) -> None:
    """--inputs --param."""
    parser.add_argument("--inputs", metavar="DOMAIN", help="reals:10, reals:5:-1:1, "
                        "integers:1:0:5 or one_of:a,b")  # fmt: skip
    parser.add_argument("--param", action="append", default=[], metavar="NAME=VALUE",
                        help="a parameter of the mechanism; may be repeated")  # fmt: skip


def add_neighbors(parser: argparse.ArgumentParser) -> None:
    """--neighbors."""
    parser.add_argument("--neighbors", metavar="RELATION",
                        help="l1:1, linf:1, l2:1, any_pair or pairs:[[[1,1],[2,1]]]")  # fmt: skip


def params_of(arguments: argparse.Namespace, target: Target) -> dict[str, Any]:
    """The registered parameters, overridden by those typed."""
    from dpest import spec

    return dict(target.params) | spec.params_of(arguments.param)


def inputs_of(arguments: argparse.Namespace, target: Target) -> Inputs:
    """The domain typed, or the registered one."""
    from dpest import spec

    inputs = spec.inputs_of(arguments.inputs) if arguments.inputs else target.inputs
    if inputs is None:
        raise ValueError(f"say what {target.title} is given, e.g. --inputs reals:10")
    return inputs


def neighbors_of(arguments: argparse.Namespace, target: Target, inputs: Inputs) -> Neighbors:
    """The relation typed, or the registered one."""
    from dpest import spec

    neighbors = target.neighbors
    if arguments.neighbors:
        neighbors = spec.neighbors_of(arguments.neighbors, inputs)
    if neighbors is None:
        raise ValueError("say which inputs must look alike, e.g. --neighbors linf:1")
    return neighbors


@contextmanager
def users_errors(
    target: Target, params: Mapping[str, Any], together: bool = False
) -> Iterator[None]:
    """What goes wrong in the user's own code is bad input, not a failure of this program.

    `together` is for commands that can run functions which make many runs at once.
    """
    from dpest.target import blame, check_call
    from dpest.trace import Refusal

    check_call(target, params, together)
    try:
        yield
    except Refusal:
        raise
    except Exception as error:
        blamed = blame(error, target.file)
        if blamed is error:
            raise
        raise blamed from error
