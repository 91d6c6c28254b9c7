"""Chromium of the system, driven by playwright, and the pages that it opens.

Where either is missing the tests are skipped; with DPEST_BROWSER=required that is a failure.
DPEST_AXE is the path of axe.min.js (from the npm package axe-core).
"""

import os
import shutil
from pathlib import Path

import numpy as np
import odd_reports
import pytest

from dpest.rappor import Candidates, Params, decode
from dpest.rappor.simulate import population, simulate_counts
from dpest.report.html.rappor import Collection
from dpest.report.html.rappor import page as rappor_page
from dpest.report.html.site import build
from dpest.zoo import find

SITE = ("laplace_mechanism", "report_noisy_max1", "report_noisy_max3", "svt1", "svt3", "svt5",
        "numerical_svt", "one_time_rappor", "truncated_geometric")  # fmt: skip
ARGUMENTS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip


def missing(what):
    """Skip, or fail where a browser is required."""
    if os.environ.get("DPEST_BROWSER") == "required":
        pytest.fail(f"{what}, and DPEST_BROWSER=required")
    pytest.skip(what)


@pytest.fixture(scope="session")
def chromium():
    """A running browser."""
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        missing("no Chromium on the path: apt-get install chromium")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        missing("no playwright: pip install 'dpest-privacy[browser]'")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(ARGUMENTS))
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def axe():
    """The source of axe-core."""
    path = os.environ.get("DPEST_AXE", "")
    if not Path(path).is_file():
        missing("no axe-core: npm install axe-core and set DPEST_AXE to its axe.min.js")
    return Path(path).read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """A site, a page for every odd report, and a decoding."""
    folder = tmp_path_factory.mktemp("site")
    build(folder, [find(name) for name in SITE])
    for make in odd_reports.MAKERS:
        make().save(folder / f"odd_{make.__name__}.html")
    (folder / "decoding.html").write_text(rappor_page(decoding()), encoding="utf-8")
    return folder


def decoding():
    """A simulated collection with strings that HTML would take for markup."""
    params, rng = Params(k=64, h=2, m=8, f=0.25, p=0.35, q=0.65), np.random.default_rng(7)
    names = [f"<b>string & {number}</b>" for number in range(60)]
    candidates = Candidates.hashed(names, params)
    shares = population("zipf", 60, active=40)
    counts, holders = simulate_counts(params, candidates, shares, 200_000, rng)
    truth = dict(zip(names, (holders / holders.sum()).tolist(), strict=True))
    return Collection(params, candidates, counts, decode(params, candidates, counts), truth)


@pytest.fixture(scope="session")
def pages(folder):
    """The address of every page."""
    return [path.as_uri() for path in sorted(folder.glob("*.html"))]


class Opened:
    """A page and what it complained about."""

    def __init__(self, browser, width, scheme):
        self.page = browser.new_page(
            viewport={"width": width, "height": 900}, color_scheme=scheme, accept_downloads=True
        )
        self.complaints = []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("requestfailed", lambda request: self.complaints.append(request.url))
        self.requests = []
        self.page.on("request", lambda request: self.requests.append(request.url))


@pytest.fixture
def opened(chromium):
    """open(width, scheme) -> Opened; closed at the end."""
    found = []

    def open_(width=1280, scheme="light"):
        found.append(Opened(chromium, width, scheme))
        return found[-1]

    yield open_
    for one in found:
        one.page.close()
