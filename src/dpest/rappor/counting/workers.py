"""Worker processes that end with the process they work for, even if that is killed.

Nothing tells joblib's workers that the run they belong to was killed. They would wait for ever,
and so would whoever reads the output that they have inherited.
"""

from __future__ import annotations

import os
import threading
import time

_SECONDS_BETWEEN_LOOKS = 0.25


def end_with(owner: int) -> None:
    """If this is a child of the owner, end it soon after the owner: what a worker does first."""
    if os.getpid() != owner:
        threading.Thread(target=_end_when_gone, args=(owner,), daemon=True).start()


def _end_when_gone(owner: int) -> None:
    while os.getppid() == owner:
        time.sleep(_SECONDS_BETWEEN_LOOKS)
    os._exit(1)
