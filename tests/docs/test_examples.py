"""Every example of the README and the docs runs, and prints what the page says.

A Python block that ends in `# raises Name` must raise that exception; one that begins with
`# name.py` is saved under that name first. A text block right after it is what it prints. In a
console block the lines after `$` are run, and the others are what they print.
`python tests/docs/test_examples.py [PAGE ...]` writes what is printed now into the pages.
"""

import contextlib
import functools
import io
import linecache
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from dpest.trace import refusals

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
TRANSLATIONS = sorted(ROOT.glob("README.*.md"))
"""Their code is that of the README; see test_translations.py."""
EXAMPLE = re.compile(
    r"^```python\n(?P<code>.*?)^```\n(?:\n```text\n(?P<output>.*?)^```\n)?"
    r"|^```console\n(?P<typed>.*?)^```\n",
    re.M | re.S,
)

CONTENTS = re.compile(r"^```\{toctree\}\n((?:.*\n)*?)```$", re.M)


def execute(code, name, namespace):
    """Run the code as a file of that name, so that error messages can quote it."""
    linecache.cache[name] = (len(code), None, code.splitlines(keepends=True), name)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, name, "exec"), namespace)
    return printed.getvalue()


def replayed(page, namespace, example):
    """The example with what it prints now."""
    if example["typed"]:
        return f"```console\n{at_the_console(example['typed'])}```\n"
    code, output = example["code"], example["output"]
    name = f"<{page.name}, line {example.string[: example.start()].count(chr(10)) + 1}>"
    if saved := re.match(r"# (\w+\.py)\n", code):
        Path(saved[1]).write_text(code.split("\n", 1)[1])
    if expected := re.search(r"# raises (\w+)\s*$", code):
        with pytest.raises(getattr(refusals, expected[1])):
            execute(code, name, namespace)
        return example[0]
    printed = execute(code, name, namespace)
    if output is None:
        return example[0]
    return example[0].replace(f"```text\n{output}```", f"```text\n{printed}```")


def at_the_console(typed):
    """The commands with what they print now; a time is written as 0.10s."""
    commands = re.findall(r"^\$ (.+)$", typed, re.M)
    step = "{}\nstatus=$?; printf '\\0'; (exit $status)"
    ran = subprocess.run(
        ["bash", "-c", "\n".join(map(step.format, commands))],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True,
        env=a_readers_environment(),
    )  # fmt: skip
    outputs = re.sub(r"\b\d+\.\d\ds( \([\d:]+\))?", "0.10s", ran.stdout).split("\0")
    return "".join(f"$ {c}\n{o}" for c, o in zip(commands, outputs[:-1], strict=True))


def a_readers_environment():
    """Ours, without what changes how pytest prints: in a CI job it cuts no line short."""
    others = {"CI", "BUILD_NUMBER", "FORCE_COLOR", "PY_COLORS", "PYTEST_ADDOPTS"}
    kept = {name: value for name, value in os.environ.items() if name not in others}
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return {**kept, "PATH": programs, "COLUMNS": "80"}


@contextlib.contextmanager
def importing_from_here():
    """Modules that a page has saved can be imported by it, and by no other page."""
    sys.path.insert(0, os.getcwd())
    try:
        yield
    finally:
        sys.path.pop(0)
        for saved in Path().glob("*.py"):
            sys.modules.pop(saved.stem, None)


def rewritten(page):
    """The page with what its examples print now."""
    with importing_from_here():
        replay = functools.partial(replayed, page, {"__name__": page.stem})
        return EXAMPLE.sub(replay, page.read_text())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_examples_run_and_print_what_the_page_says(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert rewritten(page) == page.read_text()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_example_hides_from_the_test_by_its_indentation(page):
    assert not re.search(r"^ +```(python|console)", page.read_text(), re.M)


@pytest.mark.parametrize("refusal", refusals.Refusal.__subclasses__(), ids=lambda r: r.__name__)
def test_every_refusal_names_its_page(refusal):
    raised = refusal("of a reason")
    assert str(raised).endswith(f" See {raised.more}.")
    text = (ROOT / raised.more).read_text()
    for part in ("**What.**", "**Why.**", f"# raises {refusal.__name__}\n", "**Rewrite.**",
                 "**Which engine still can.**"):  # fmt: skip
        assert part in text, part
    assert f"](refusals/{refusal.page}.md)" in (ROOT / "docs" / "refusals.md").read_text()


def test_every_page_of_a_refusal_belongs_to_one():
    pages = {path.stem for path in (ROOT / "docs" / "refusals").glob("*.md")}
    assert pages == {refusal.page for refusal in refusals.Refusal.__subclasses__()}


def test_links_lead_somewhere():
    for page in PAGES + TRANSLATIONS:
        for target in re.findall(r"\]\(([^)#:]+)[^):]*\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_every_page_is_in_a_table_of_contents():
    text = "".join(page.read_text() for page in PAGES)
    listed = set(re.findall(r"^(?:.+ <)?([\w/-]+)>?$", "".join(CONTENTS.findall(text)), re.M))
    folders = {page.parent for page in PAGES if page.parent != ROOT / "docs"}
    pages = {page.stem for page in PAGES if page.parent not in folders} - {"index"}
    assert pages == {entry for entry in listed if not entry.startswith("examples/")}


if __name__ == "__main__":
    for each in [Path(name).resolve() for name in sys.argv[1:]] or PAGES:
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            each.write_text(rewritten(each))
