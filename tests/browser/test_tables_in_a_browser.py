"""Sorting and filtering, by mouse and by keyboard."""

import pytest

pytestmark = pytest.mark.browser


@pytest.fixture(params=[1280, 375])
def index(opened, folder, request):
    """The index, on a desk and on a telephone."""
    page = opened(request.param).page
    page.goto((folder / "index.html").as_uri())
    return page


def names(page):
    """The mechanisms that are shown, from top to bottom."""
    return page.locator("#mechanisms tbody tr:visible th a").all_text_contents()


def keys(page, name):
    """What a column sorts by."""
    place = page.locator("#mechanisms thead th").all_text_contents().index(name)
    cells = page.locator(f"#mechanisms tbody tr:visible > :nth-child({place + 1})")
    return [cell.get_attribute("data-sort") for cell in cells.all()]


def header(page, name):
    return page.locator("#mechanisms thead th").filter(
        has=page.get_by_role("button", name=name, exact=True)
    )


def numbers(found):
    return [float(text) for text in found if text != ""]


def test_headers_sort_by_mouse(index):
    button = index.get_by_role("button", name="ε", exact=True)
    button.click()
    assert header(index, "ε").get_attribute("aria-sort") == "ascending"
    rising = numbers(keys(index, "ε"))
    assert rising == sorted(rising)
    assert rising[-1] == float("inf")
    button.click()
    assert header(index, "ε").get_attribute("aria-sort") == "descending"
    assert numbers(keys(index, "ε")) == rising[::-1]
    index.get_by_role("button", name="mechanism").click()
    assert header(index, "ε").get_attribute("aria-sort") is None
    assert names(index) == sorted(names(index), key=str.lower)


def test_headers_sort_by_keyboard(index):
    button = index.get_by_role("button", name="time", exact=True)
    button.focus()
    index.keyboard.press("Enter")
    rising = numbers(keys(index, "time"))
    assert rising == sorted(rising)
    index.keyboard.press("Space")
    assert numbers(keys(index, "time")) == rising[::-1]


def test_what_nobody_measured_stays_last(index):
    for _ in range(2):
        index.get_by_role("button", name="Sniper", exact=True).click()
        found = keys(index, "Sniper")
        known = [text for text in found if text]
        assert found[: len(known)] == known
        assert set(found[len(known) :]) == {""}


def test_typing_filters(index):
    everything = names(index)
    index.get_by_label("Find").fill("svt")
    assert names(index) == [name for name in everything if "SVT" in name]
    assert index.get_by_role("status").text_content() == f"4 of {len(everything)} shown"
    index.get_by_label("Find").fill("svt LYU")
    assert names(index) == ["SVT1", "SVT3", "SVT5"]
    index.get_by_label("Find").fill("")
    assert names(index) == everything


def test_the_verdict_filters_by_keyboard(index):
    index.get_by_label("Find").focus()
    index.keyboard.press("Tab")
    index.keyboard.type("refuted")
    assert index.get_by_label("Verdict").input_value() == "refuted"
    assert names(index) == ["OneTimeRAPPOR"]
    index.get_by_label("Find").fill("nothing like that")
    assert names(index) == []
    index.keyboard.press("Enter")
    assert index.url.endswith("index.html"), "the form goes nowhere"


def test_filtered_rows_can_be_sorted(index):
    index.get_by_label("Find").fill("svt")
    index.get_by_role("button", name="mechanism").click()
    index.get_by_role("button", name="mechanism").click()
    assert names(index) == ["SVT5", "SVT3", "SVT1", "NumericalSVT"]


def test_the_keyboard_reaches_everything_and_shows_where_it_is(index):
    index.keyboard.press("Tab")
    focused = "document.activeElement"
    assert index.evaluate(f"{focused}.textContent") == "Skip to the content"
    assert index.locator(".skip").bounding_box()["x"] >= 0
    reached = set()
    for _ in range(60):
        index.keyboard.press("Tab")
        reached.add(index.evaluate(f"{focused}.textContent || {focused}.name"))
        style = index.evaluate(f"getComputedStyle({focused}).outlineStyle")
        if index.evaluate(f"{focused} !== document.body"):
            assert style != "none"
    assert {"ε", "time", "SVT1", "OneTimeRAPPOR"} <= reached


def test_the_table_keeps_its_meaning_as_cards(index):
    """The roles hold, however the rows are laid out."""
    table = index.get_by_role("table", name="Every mechanism")
    assert table.get_by_role("row").count() == 1 + len(names(index))
    assert table.get_by_role("columnheader").count() > 8
    assert table.get_by_role("rowheader", name="SVT1").count() == 1


def test_strings_of_a_decoding_sort_and_filter(opened, folder):
    page = opened().page
    page.goto((folder / "decoding.html").as_uri())
    rows = page.locator("#strings-table tbody tr:visible")
    count = rows.count()
    assert count > 5
    page.get_by_role("button", name="string").click()
    listed = page.locator("#strings-table tbody th").all_text_contents()
    assert listed == sorted(listed, key=lambda text: int("".join(filter(str.isdigit, text))))
    page.get_by_label("Find").fill(listed[-1])
    assert rows.count() == 1
    assert page.get_by_role("status").text_content() == f"1 of {count} shown"
