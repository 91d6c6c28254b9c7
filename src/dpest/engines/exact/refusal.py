"""What the exact engine says when a structure is out of its reach."""

from __future__ import annotations


class OutOfReach(ValueError):
    """The program is traced, but its law cannot be computed to full accuracy."""
