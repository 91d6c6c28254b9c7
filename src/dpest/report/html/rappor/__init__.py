"""What a RAPPOR decoder found, as a page with the look of the other reports."""

from dpest.report.html.rappor.page import Collection, page

__all__ = ["Collection", "page"]
