"""Whose code raised an error: the lines of a traceback that are the user's own."""

from __future__ import annotations

import traceback
from pathlib import Path
from types import TracebackType

import numpy as np

_OWN = str(Path(__file__).resolve().parents[1])
_ZOO = str(Path(_OWN) / "zoo")
_NUMPY = str(Path(np.__file__).parent)


class RaisedElsewhere(Exception):
    """An error that was raised in another process; its notes tell where."""

    def __init__(self, error: Exception) -> None:
        self.error = error


def own_traceback(error: BaseException) -> TracebackType | None:
    """The traceback without the steps between the test and the mechanism."""
    steps = []
    step = error.__traceback__
    while step is not None:
        if _is_users(step.tb_frame.f_code.co_filename):
            steps.append(step)
        step = step.tb_next
    own: TracebackType | None = None
    for step in reversed(steps):
        own = TracebackType(own, step.tb_frame, step.tb_lasti, step.tb_lineno)
    return own


def raised_in(error: BaseException) -> str:
    """The user's own lines as a traceback shows them; all lines where none is his."""
    return "".join(traceback.format_tb(own_traceback(error) or error.__traceback__)).rstrip()


def _is_users(file: str) -> bool:
    return not file.startswith((_OWN, _NUMPY, "<frozen")) or file.startswith(_ZOO)
