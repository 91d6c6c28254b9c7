"""Reports as HTML: a page for one report, a site for all mechanisms, a piece for notebooks."""

from dpest.report.html.mechanism import fragment, page
from dpest.report.html.site import build

__all__ = ["build", "fragment", "page"]
