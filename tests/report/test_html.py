"""Pages as text: escaped, self-contained, complete; how they look is tested in a browser."""

import json

import pytest
from page_reader import Reader

import dpest
from dpest.report.html.markup import Markup, element, join


def counts(x, rng, eps=0.1):
    """Counts with <b>noise</b> & more."""
    return x + rng.laplace(scale=1 / eps, size=len(x))


@pytest.fixture(scope="module")
def report():
    return dpest.audit(counts, dpest.reals(2), dpest.l1(1), claim=0.05, params={"eps": 0.1})


def test_text_is_escaped_and_markup_is_not():
    assert element("p", "a < b & c") == "<p>a &lt; b &amp; c</p>"
    assert element("p", element("b", "x")) == "<p><b>x</b></p>"
    assert element("a", title='say "<x>"') == '<a title="say &quot;&lt;x&gt;&quot;"></a>'
    assert join("<", None, [Markup("<br>"), ">"]) == "&lt;<br>&gt;"


def test_attributes():
    assert element("input", name="n", required=True, hidden=False, class_="c") == (
        '<input name="n" required class="c">'
    )
    assert element("td", data_sort=1.5, aria_label=None) == '<td data-sort="1.5"></td>'


def test_every_form_says_the_same(report):
    page = Reader(report._repr_html_()).text
    for line in (report.headline, str(report.bound), "not covered"):
        assert line in str(report)
        assert line in page
        assert line.replace("[", r"\[") in report.to_markdown().replace("\\-", "-")


def test_the_first_line_is_the_verdict(report):
    first = "The claim of 0.05-DP is refuted: the privacy loss is 0.1."
    assert str(report).splitlines()[0] == first
    assert report.to_markdown().splitlines()[0] == f"**{first}**"
    assert repr(report) == f"<Report on counts: {first}>"


def test_saves_by_suffix(report, tmp_path):
    for ending in ("html", "md", "json", "txt"):
        assert report.save(tmp_path / f"r.{ending}") == tmp_path / f"r.{ending}"
    assert json.loads((tmp_path / "r.json").read_text()) == report.to_json()
    assert (tmp_path / "r.txt").read_text() == f"{report}\n"
    assert (tmp_path / "r.md").read_text() == report.to_markdown()
    assert (tmp_path / "r.html").read_text().startswith("<!doctype html>")


def test_saving_elsewhere_says_what_is_possible(report, tmp_path):
    with pytest.raises(ValueError, match=r"saved as \.html, \.md.*'r\.docx'"):
        report.save("r.docx")
    with pytest.raises(FileNotFoundError, match="no such directory"):
        report.save(tmp_path / "nowhere" / "r.md")


def test_a_page_is_well_formed_and_needs_no_network(report, tmp_path):
    page = Reader(report.save(tmp_path / "r.html").read_text())
    for tag, attributes in page.tags:
        for name in ("src", "href", "action"):
            address = attributes.get(name) or ""
            assert not address.startswith(("http:", "https:", "//")), (tag, attributes)
