"""The same counting as one SQL statement, for those whose reports live in a database."""

from __future__ import annotations

from dpest.rappor.params import Params


def counting_sql(params: Params, table: str) -> str:
    """One plain SQL statement that counts a table of reports with columns cohort, bits0, bits1...

    `table` is what stands after FROM: `reports`, or `read_parquet('reports/*.parquet')` in DuckDB.
    It needs nothing beyond standard SQL and `&`; `Counts.from_rows` reads its result. Records of
    cohorts that do not exist are left out, and bits beyond k are not looked at.
    """
    sums = (
        f"SUM(CASE WHEN {_bit_is_set(bit)} THEN 1 ELSE 0 END) AS bit{bit}"
        for bit in range(params.k)
    )
    columns = ",\n  ".join(["cohort", "COUNT(*) AS n", *sums])
    return (
        f"SELECT {columns}\nFROM {table}\nWHERE cohort BETWEEN 0 AND {params.m - 1}\n"
        "GROUP BY cohort\nORDER BY cohort"
    )


def _bit_is_set(bit: int) -> str:
    column, place = f"bits{bit // 64}", bit % 64
    return f"{column} < 0" if place == 63 else f"({column} & {1 << place}) <> 0"
