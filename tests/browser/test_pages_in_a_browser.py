"""Every page, at the width of a desk and of a telephone, light and dark."""

import json

import pytest

import dpest

pytestmark = pytest.mark.browser

SEVERAL = ("index", "svt1", "svt3", "svt5", "one_time_rappor", "odd_tilted", "odd_words",
           "odd_sampled", "decoding")  # fmt: skip
VIEWS = [(1280, "light"), (1280, "dark"), (375, "light"), (375, "dark")]
PICTURES = """() => [...document.querySelectorAll("svg")].map((svg) => {
  const shown = svg.checkVisibility() && svg.closest("details:not([open])") === null;
  const box = svg.getBoundingClientRect();
  const marks = svg.querySelectorAll("path, rect, circle, text").length;
  return {shown, width: box.width, height: box.height, marks,
          broken: /NaN|undefined|Infinity|\\binf\\b|\\bnan\\b/.test(svg.innerHTML)};
})"""
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
CUT_OFF = """() => [...document.querySelectorAll("main :is(p, dd, li, th, h1, h2)")]
  .filter((e) => e.checkVisibility() && !e.closest(".scroll, pre, .hidden, svg"))
  .filter((e) => e.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
  .map((e) => e.textContent.slice(0, 60))"""


OPEN_DETAILS = "() => document.querySelectorAll('details').forEach((d) => { d.open = true; })"
BACKGROUND = "(e) => getComputedStyle(e).backgroundColor"


@pytest.mark.parametrize(("width", "scheme"), VIEWS)
def test_pages_are_drawn_without_complaints(opened, pages, width, scheme):
    one = opened(width, scheme)
    for address in pages:
        one.page.goto(address)
        for picture in one.page.evaluate(PICTURES):
            assert not picture["broken"], address
            assert picture["marks"], address
            if picture["shown"]:
                assert min(picture["width"], picture["height"]) > 1, (address, picture)
        assert one.page.evaluate(OVERFLOW) <= 0, address
        assert one.page.evaluate(CUT_OFF) == [], address
    assert one.complaints == []
    assert all(url.startswith(("file:", "data:")) for url in one.requests)


def test_the_schemes_differ(opened, pages):
    paper = "getComputedStyle(document.body).backgroundColor"
    colours = []
    for scheme in ("light", "dark"):
        one = opened(scheme=scheme)
        one.page.goto(pages[0])
        colours.append(one.page.evaluate(paper))
    assert colours[0] != colours[1]


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (375, "dark")])
def test_axe_finds_nothing_serious(opened, axe, folder, width, scheme):
    one = opened(width, scheme)
    found = []
    for name in SEVERAL:
        address = (folder / f"{name}.html").as_uri()
        one.page.goto(address)
        one.page.evaluate(OPEN_DETAILS)
        one.page.evaluate(axe)
        result = one.page.evaluate("axe.run()")
        assert result["passes"], "axe ran"
        found += [
            (address, violation["id"], violation["nodes"][0]["html"])
            for violation in result["violations"]
            if violation["impact"] in ("serious", "critical")
        ]
    assert found == []


def test_axe_finds_what_is_wrong(opened, axe):
    """The check can fail: a picture without words is a serious violation."""
    one = opened()
    one.page.set_content("<main><img src='data:,'><button></button></main>")
    one.page.evaluate(axe)
    result = one.page.evaluate("axe.run()")
    assert {"serious", "critical"} & {violation["impact"] for violation in result["violations"]}


def test_print_shows_everything_on_paper(opened, folder):
    one = opened(width=700)
    one.page.goto((folder / "svt1.html").as_uri())
    one.page.emulate_media(media="print")
    assert one.page.evaluate(OVERFLOW) <= 0
    assert not one.page.locator(".contents").is_visible()
    assert one.page.locator("#witness").is_visible()


def test_a_line_of_the_proof_leads_to_the_source(opened, folder):
    one = opened()
    one.page.goto((folder / "svt1.html").as_uri())
    one.page.get_by_role("link", name="line 22").click()
    assert one.page.url.endswith("#L22")
    assert "rng.laplace" in one.page.locator(":target").text_content()
    colours = [one.page.locator(line).evaluate(BACKGROUND) for line in (":target", "#L15")]
    assert colours[0] != colours[1]


@pytest.mark.parametrize("name", ["svt1", "odd_without_claim"])
def test_the_certificate_is_there_and_right(opened, folder, name, tmp_path):
    one = opened()
    one.page.goto((folder / f"{name}.html").as_uri())
    link = one.page.get_by_role("link", name="Download the certificate")
    if link.get_attribute("href").startswith("data:"):
        with one.page.expect_download() as download:
            link.click()
        content = json.loads(download.value.path().read_text(encoding="utf-8"))
    else:
        content = json.loads((folder / link.get_attribute("href")).read_text())
    assert dpest.check(content).ok


def test_contents_lead_to_every_section(opened, folder):
    one = opened()
    one.page.goto((folder / "svt3.html").as_uri())
    for link in one.page.locator(".contents a").all():
        target = link.get_attribute("href")
        assert one.page.locator(f"section{target}").count() == 1
    one.page.get_by_role("link", name="← All mechanisms").click()
    assert one.page.url.endswith("index.html")


def test_nothing_in_a_report_is_run_as_markup(opened, folder):
    one = opened()
    one.page.goto((folder / "odd_tilted.html").as_uri())
    assert one.page.locator("main img, main script, main b").count() == 0
    one.page.goto((folder / "decoding.html").as_uri())
    assert one.page.locator("main b").count() == 0
    assert one.page.get_by_text("<b>string & 0</b>").first.is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_notebook_shows_a_report_and_keeps_its_own_styles(opened, folder, scheme):
    """The piece sits in a page with a look of its own, which stays as it was."""
    import odd_reports

    piece = odd_reports.without_claim()._repr_html_()
    ink, paper = ("#111", "#fff") if scheme == "light" else ("#eee", "#111")
    one = opened(900, scheme)
    own = f"<style>body {{ color: {ink}; background: {paper} }}</style><dl><dt id='own'>x</dt></dl>"
    look = "JSON.stringify({...getComputedStyle(document.querySelector('#own'))})"
    one.page.set_content(own)
    alone = one.page.evaluate(look)
    one.page.set_content(f"{own}{piece}")
    assert one.page.evaluate(look) == alone
    box = one.page.locator(".dpest-report svg").bounding_box()
    assert min(box["width"], box["height"]) > 20
    assert one.page.evaluate(OVERFLOW) <= 0
    assert one.complaints == []
