"""Reports between client and server: google/rappor's CSV, Parquet and packed bytes."""

from dpest.rappor.wire.files import iterate_reports, open_writer, read_reports, write_reports

__all__ = ["iterate_reports", "open_writer", "read_reports", "write_reports"]
