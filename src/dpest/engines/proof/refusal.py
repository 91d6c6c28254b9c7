"""Why there is no proof."""

from __future__ import annotations


class NoProof(Exception):
    """No finite bound could be proved; the message is one clause for people."""
