"""What the pages take from the code: every module with what its docstring says."""

import ast
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

SOURCE = Path(__file__).parents[1] / "src" / "dpest"


def sentence(module: Path) -> str:
    """The first sentence of a module's docstring, on one line."""
    text = ast.get_docstring(ast.parse(module.read_text(encoding="utf-8"))) or ""
    return " ".join(text.split("\n\n")[0].split())


class Modules(SphinxDirective):
    """Every module below a folder of the package, with its sentence."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        modules = sorted((SOURCE / self.arguments[0]).rglob("*.py"))
        return [nodes.bullet_list("", *(_item(m) for m in modules if m.name != "__init__.py"))]


def _item(module: Path) -> nodes.list_item:
    name = nodes.literal("", str(module.relative_to(SOURCE)))
    return nodes.list_item("", nodes.paragraph("", "", name, nodes.Text(f": {sentence(module)}")))


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.add_directive("modules", Modules)
    return {"parallel_read_safe": True}
