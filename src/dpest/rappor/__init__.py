"""RAPPOR: from a value on a device to a frequency with an error bar.

    value → bloom → permanent → instantaneous → report → counts → decode → frequencies

Names load when they are first used, so that importing this package costs nothing.
"""

from importlib import import_module
from typing import Any

_HOMES = {
    "RapporError": "errors",
    "Params": "params",
    "SCHEMES": "hashing",
    "positions": "hashing",
    "positions_many": "hashing",
    "positions_table": "hashing",
    "Candidates": "candidates",
    "Reports": "reports",
    "Encoder": "client",
    "Report": "client",
    "Memo": "client.memo",
    "encode": "client.fleet",
    "read_reports": "wire",
    "write_reports": "wire",
    "Counts": "counting",
    "count": "counting",
    "Tally": "counting",
    "count_files": "counting",
    "counting_sql": "counting",
    "population": "simulate",
    "simulate_counts": "simulate",
    "simulate_reports": "simulate",
    "decode": "decoding",
    "Decoding": "decoding",
    "BitFit": "decoding",
    "Comparison": "decoding",
    "compare": "decoding",
    "associate": "decoding",
    "Association": "decoding",
    "Variable": "decoding",
    "unknown": "decoding",
    "Unknown": "decoding",
    "NgramReports": "decoding",
    "advise": "advice",
}
__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
