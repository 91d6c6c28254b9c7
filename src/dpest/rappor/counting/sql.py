"""The same counting as one SQL statement, for those whose reports live in a database."""

from __future__ import annotations

from dpest.rappor.params import Params


def counting_sql(params: Params, table: str) -> str:
    """One plain SQL statement that counts a table of reports with columns cohort, bits0, bits1...

    `table` is what stands after FROM: `reports`, or `read_parquet('reports/*.parquet')` in DuckDB.
    It needs nothing beyond standard SQL and `&`; `Counts.from_rows` reads its result. What is not a
    report (a cohort that does not exist, a value that is missing, a bit beyond k) is left out.
    """
    sums = (
        f"SUM(CASE WHEN {_bit_is_set(bit)} THEN 1 ELSE 0 END) AS bit{bit}"
        for bit in range(params.k)
    )
    columns = ",\n  ".join(["cohort", "COUNT(*) AS n", *sums])
    return (
        f"SELECT {columns}\nFROM {table}\nWHERE {_is_report(params)}\n"
        "GROUP BY cohort\nORDER BY cohort"
    )


def _is_report(params: Params) -> str:
    last, used = divmod(params.k - 1, 64)
    conditions = [f"cohort BETWEEN 0 AND {params.m - 1}"]
    conditions += [f"bits{word} IS NOT NULL" for word in range(last)]
    beyond = -1 << used + 1
    conditions.append(f"(bits{last} & {beyond}) = 0" if used < 63 else f"bits{last} IS NOT NULL")
    return "\n  AND ".join(conditions)


def _bit_is_set(bit: int) -> str:
    column, place = f"bits{bit // 64}", bit % 64
    if place < 63:
        return f"({column} & {1 << place}) <> 0"
    return f"{column} < 0 OR {column} > {(1 << 63) - 1}"
