"""The results of studies as files."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from typing import Any

import numpy as np


def as_csv(rows: list[dict[str, Any]]) -> str:
    """Rows of equal keys as CSV."""
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def as_json(results: Sequence[Any]) -> str:
    """The results as JSON."""
    rows = [
        {k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in vars(x).items()}
        for x in results
    ]
    return json.dumps(rows, indent=2)
