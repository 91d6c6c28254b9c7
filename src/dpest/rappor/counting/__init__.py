"""From reports to counts per cohort and bit, which add up over files, processes and machines."""

from dpest.rappor.counting.counts import Counts, count
from dpest.rappor.counting.files import Tally, count_files, count_stream, good_reports
from dpest.rappor.counting.sql import counting_sql

__all__ = [
    "Counts",
    "Tally",
    "count",
    "count_files",
    "count_stream",
    "counting_sql",
    "good_reports",
]
