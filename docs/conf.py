"""The documentation as a site: `sphinx-build -W --keep-going -n docs build/site`."""

import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import dpest

HERE = Path(__file__).parent
shutil.rmtree(HERE / "examples", ignore_errors=True)
shutil.copytree(HERE.parent / "examples", HERE / "examples", dirs_exist_ok=True)

project = "dpest"
copyright = "the dpest authors"
release = dpest.__version__
html_title = f"dpest {release}"

extensions = ["myst_nb", "sphinx.ext.autodoc", "dpest_pages"]
exclude_patterns = ["*.py"]
default_role = "code"
smartquotes = False
html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False

myst_heading_anchors = 3
nb_custom_formats = {".py": ["jupytext.reads", {"fmt": "py:percent"}]}
nb_execution_mode = "force"
nb_execution_in_temp = True
nb_execution_raise_on_error = True
nb_execution_timeout = 300

autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
nitpick_ignore_regex = [
    ("py:.*", r"(?!dpest\b).*"),
    ("py:.*", r"dpest\.(verify|program|engines|curves|claims\.Measured|rappor\.\w+\.)\b.*"),
]
"""What is not linked: names of Python and numpy, for the build needs no network, and types that
only appear in signatures."""
suppress_warnings = ["ref.python"]
"""Two classes are called Report; an annotation that is only read by type checkers does not say
which of them it means."""
