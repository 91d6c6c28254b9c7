"""The tables of docs/architecture.md name every folder and file at the top, and nothing else."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "dpest"
PAGE = (ROOT / "docs" / "architecture.md").read_text()


def named(heading):
    """The names in the first column of the table under this heading."""
    table = re.search(rf"^\| {re.escape(heading)} \|.*?\n\n", PAGE, re.M | re.S)[0]
    rows = [line.split("|")[1] for line in table.strip().splitlines()[2:]]
    return [name for row in rows for name in re.findall(r"`([^`]+)`", row)]


def packages(folder):
    """Folders below that hold code."""
    return {f"{path.parent.relative_to(folder)}/" for path in folder.rglob("*.py")} - {"./"}


def test_every_part_of_the_package_has_one_row():
    files = {path.name for path in PACKAGE.iterdir() if path.is_file()}
    names = named("in `src/dpest/`")
    assert len(names) == len(set(names))
    assert set(names) == files | packages(PACKAGE)


def test_every_folder_of_tests_is_named():
    folders = {f"{path.name}/" for path in (ROOT / "tests").iterdir() if path.is_dir()}
    assert set(named("in `tests/`")) == folders - {"__pycache__/", ".pytest_cache/"}


def test_every_folder_lists_its_modules():
    listed = re.findall(r"^```\{modules\} (.+)$", PAGE, re.M)
    assert {f"{name}/" for name in listed} == {p for p in packages(PACKAGE) if p.count("/") == 1}


@pytest.mark.parametrize(
    "module", sorted(PACKAGE.rglob("*.py")), ids=lambda path: str(path.relative_to(PACKAGE))
)
def test_every_module_says_in_a_sentence_what_it_is(module):
    assert ast.get_docstring(ast.parse(module.read_text())), module
