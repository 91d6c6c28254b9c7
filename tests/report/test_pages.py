"""Pages of odd reports, and what a page says, as text; how they look is tested in a browser."""

import base64
import json
import re

import odd_reports as odd
import pytest
from page_reader import Reader

import dpest
from dpest.report.html import fragment, page
from dpest.report.html.source import blocks, linked, listing
from dpest.report.html.witness import shortened
from dpest.report.table import audited
from dpest.zoo import find


@pytest.fixture(scope="module", params=odd.MAKERS, ids=lambda make: make.__name__)
def report(request):
    return request.param()


def test_pages_of_odd_reports_are_whole(report):
    text = page(report)
    read = Reader(text)
    assert report.headline in read.text
    ids = [attributes["id"] for _, attributes in read.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    for tag, attributes in read.tags:
        assert not re.search(r"\bnan\b|inf", f"{attributes.get('d', '')}{attributes.get('x', '')}")
        if tag == "svg":
            assert attributes.get("aria-hidden") or attributes.get("aria-label")
        if tag == "a" and attributes.get("href", "").startswith("#"):
            assert attributes["href"][1:] in ids
        assert not attributes.get("href", "").startswith(("http", "//"))
    assert "onerror" not in str([attributes.keys() for _, attributes in read.tags])
    assert [tag for tag, _ in read.tags].count("script") == 1


def test_fragments_of_odd_reports_keep_their_styles_to_themselves(report):
    read = Reader(fragment(report))
    assert report.headline in read.text
    (style,) = re.findall(r"<style>(.*?)</style>", fragment(report), re.S)
    for selectors in re.findall(r"([^{}]+)\{[^{}]*\}", style):
        assert all(part.strip().startswith(".dpest-report") for part in selectors.split(","))


def test_the_page_of_a_registered_mechanism_has_every_section():
    text = page(audited(find("svt1")), home="index.html")
    names = re.findall(r'<section id="(\w+)"', text)
    assert names == ["verdict", "source", "graph", "proof", "witness", "loss", "delta", "growth",
                     "relations", "costs", "peers", "repro"]  # fmt: skip
    assert 'href="svt1.proof.json"' in text
    assert "dpest check svt1.proof.json" in text
    assert '<a href="#L22">line 22</a>' in text
    assert '<span id="L22" class="line noise">' in text


def test_the_certificate_inside_a_page_is_right():
    text = page(odd.without_claim())
    (packed,) = re.findall(r"data:application/json;base64,([^\"]+)", text)
    checked = dpest.check(json.loads(base64.b64decode(packed)))
    assert checked.ok
    assert checked.upper == pytest.approx(0.6)


def test_no_certificate_no_link():
    assert "data:application/json" not in page(odd.infinite())


def test_functions_that_are_called_are_shown_too():
    entry = find("rappor")
    shown = blocks(entry.function)
    assert len(shown) == 4
    assert sorted(b.first for b in shown) == [b.first for b in shown]
    text = Reader(listing(shown, None)).text
    assert "def bloom_bits" in text
    assert "def rappor" in text


def test_methods_of_the_generator_are_not_taken_for_functions():
    """`rng.normal` names no global, although the module has a function of that name."""
    assert [b.lines[0] for b in blocks(odd.gaussian)] == ["def gaussian(x, rng):"]


def test_only_lines_that_are_shown_are_linked():
    shown = blocks(odd.gaussian)
    first = shown[0].first
    said = linked(f"the noise of line {first}, not that of line 9999 <", shown)
    assert f'<a href="#L{first}">line {first}</a>' in said
    assert "line 9999 &lt;" in said
    assert said.count("<a ") == 1


def test_source_is_escaped_and_coloured():
    text = listing(blocks(odd.tilted_sum), None)
    assert "<script>" not in text
    assert "&lt;!-- not a comment of HTML --&gt;" in text
    assert '<span class="k">return</span>' in text
    assert "日本語" in text


def test_long_texts_are_cut_in_the_middle():
    assert shortened("a" * 500, 10) == "aaaaa … aaaaa"
    assert shortened("short") == "short"


def test_probabilities_too_small_for_a_double_are_those_of_the_ball():
    from dpest.evidence import Witness
    from dpest.report.html.witness import _probability

    ball = "[2.27684650981446290e-57326869 +/- 2.67e-57326887]"
    assert _probability(0.0, ball) == "2.2768465e-57326869"
    assert _probability(0.0, "0") == "0"
    assert Witness([0], [1], "e", 0.0, 0.0, 1.0).balls is None


def test_the_site_is_an_index_a_page_and_a_certificate_each(tmp_path):
    from dpest.report.html.site import build

    build(tmp_path / "new" / "site", [find("laplace_mechanism"), find("svt5")])
    names = sorted(path.name for path in (tmp_path / "new" / "site").iterdir())
    assert names == ["index.html", "laplace_mechanism.html", "laplace_mechanism.proof.json",
                     "svt5.html"]  # fmt: skip
    proof = tmp_path / "new" / "site" / "laplace_mechanism.proof.json"
    assert dpest.check(str(proof)).ok
    index = Reader((tmp_path / "new" / "site" / "index.html").read_text())
    assert {a["href"] for tag, a in index.tags if tag == "a"} == {
        "#content", "laplace_mechanism.html", "svt5.html"
    }  # fmt: skip
    assert "misses ∞" in index.text
