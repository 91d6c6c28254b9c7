"""The arrows between folders go one way; see the design."""

import ast
from pathlib import Path

import pytest

import dpest

ROOT = Path(dpest.__file__).parent
ALLOWED = {
    "numbers": {"noise"},
    "noise": {"numbers"},
    "program": {"numbers", "noise"},
    "evidence": set(),
    "inputs": set(),
    "neighbors": {"inputs"},
    "claims": {"evidence"},
    "samplers": {"noise", "numbers", "trace"},
    "trace": {"program", "numbers", "noise", "inputs"},
    "engines": {
        "program", "numbers", "noise", "evidence", "claims", "inputs", "neighbors", "trace",
        "verify",
    },
    "check": {"evidence", "verify"},
    "verify": {"numbers"},
    "zoo": {"inputs", "neighbors"},
    "audit": {"engines", "claims", "evidence", "inputs", "neighbors", "report"},
    "curves": {
        "engines", "program", "numbers", "noise", "evidence", "inputs", "neighbors", "claims",
    },
    "spec": {"inputs", "neighbors", "claims"},
    "target": {"inputs", "neighbors", "zoo"},
    "progress": set(),
}  # fmt: skip
"""What each part of the package may import; a part that is not listed may import anything."""


def modules():
    for path in sorted(ROOT.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        if parts[0] in ALLOWED:
            yield pytest.param(path, parts[0], id="/".join(parts))


def imported(path):
    """The parts of dpest that the module imports, outside `if TYPE_CHECKING`."""
    tree = ast.parse(path.read_text())
    hidden = {
        child
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING"
        for child in ast.walk(node)
    }
    for node in ast.walk(tree):
        if node in hidden:
            continue
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module] if node.module != "dpest" else [
                f"dpest.{alias.name}" for alias in node.names
            ]  # fmt: skip
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        yield from (name.split(".")[1] for name in names if name.startswith("dpest."))


@pytest.mark.parametrize(("path", "part"), list(modules()))
def test_imports_follow_the_arrows(path, part):
    assert set(imported(path)) - {part} <= ALLOWED[part]


def test_no_module_is_too_long():
    lengths = {p.relative_to(ROOT): len(p.read_text().splitlines()) for p in ROOT.rglob("*.py")}
    assert max(lengths.values()) < 420, max(lengths, key=lengths.__getitem__)


def test_no_machine_in_the_sources():
    repository = Path(__file__).parents[2]
    for folder in (ROOT, repository / "docs", repository / "tests"):
        for path in folder.rglob("*"):
            if path.suffix in {".py", ".md"} and path != Path(__file__):
                text = path.read_text()
                assert "/work/" not in text, path
                assert "/tmp/" not in text, path
