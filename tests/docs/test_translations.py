"""The README says the same in every language: code, headings, tables, links.

`python tests/docs/test_translations.py` copies the English code blocks into the translations.
"""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ENGLISH = ROOT / "README.md"
TRANSLATIONS = [ROOT / "README.ja.md", ROOT / "README.zh.md"]
FENCED = re.compile(r"^```\w*\n.*?^```\n", re.M | re.S)


def prose(page):
    return FENCED.sub("", page.read_text())


def headings(page):
    return re.findall(r"^#+ ", prose(page), re.M)


def inline_code(page):
    return sorted(re.findall(r"`[^`\n]+`", prose(page)))


def cells(page):
    """How many cells every row of every table has."""
    return [line.count("|") for line in prose(page).splitlines() if line.startswith("|")]


def paragraphs(page):
    return len(re.split(r"\n{2,}", prose(page).strip()))


def links(page):
    """Where a page links to, the READMEs in other languages apart."""
    targets = re.findall(r"\]\(([^)]+)\)", prose(page))
    return sorted(target for target in targets if not target.startswith("README"))


@pytest.mark.parametrize("page", TRANSLATIONS, ids=lambda page: page.name)
def test_the_code_is_the_same(page):
    same = FENCED.findall(ENGLISH.read_text())
    assert FENCED.findall(page.read_text()) == same, f"run `python {Path(__file__).name}`"


@pytest.mark.parametrize("aspect", [headings, inline_code, cells, paragraphs, links])
@pytest.mark.parametrize("page", TRANSLATIONS, ids=lambda page: page.name)
def test_the_page_has_the_same_parts(page, aspect):
    assert aspect(page) == aspect(ENGLISH)


@pytest.mark.parametrize("page", [ENGLISH, *TRANSLATIONS], ids=lambda page: page.name)
def test_every_language_leads_to_the_others(page):
    others = {p.name for p in [ENGLISH, *TRANSLATIONS]} - {page.name}
    assert others <= set(re.findall(r"\]\((README[^)]*)\)", page.read_text()))


if __name__ == "__main__":
    blocks = FENCED.findall(ENGLISH.read_text())
    for each in TRANSLATIONS:
        english = iter(blocks)
        each.write_text(FENCED.sub(lambda _, supply=english: next(supply), each.read_text()))
