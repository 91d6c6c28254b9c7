"""What the program's exit code says, and how it words an error."""

from __future__ import annotations

HOLDS, REFUTED, BAD_INPUT, UNDECIDED = 0, 1, 2, 3
INTERRUPTED = 130
EPILOG = "Exit codes: 0 holds or no claim, 1 refuted, 2 bad input, 3 undecided."


def one_line(error: Exception) -> str:
    """The error as the one sentence that the user reads."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}: {error.filename}"
    return " ".join(str(error).split())
