"""Sphinx: Markdown through MyST, formulas as MathML, every warning an error (see the Makefile)."""

from typing import Any, Never

from docutils import nodes
from latex2mathml.converter import convert

from focuseval import __version__

project = "focuseval"
author = "the focuseval contributors"
copyright = "the focuseval contributors, Apache-2.0"
version = release = __version__

extensions = ["myst_parser"]
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "attrs_inline"]
myst_heading_anchors = 4
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build"]
nitpicky = True
nitpick_ignore_regex = [("py:.*", ".*")]  # types of other packages, and those that no user meets, have no page here
python_maximum_signature_line_length = 88  # longer ones have a line for each parameter
add_function_parentheses = False

html_theme = "furo"
html_title = "focuseval"
html_copy_source = False
html_math_renderer = "mathml"
html_theme_options = {"source_repository": "", "navigation_with_keys": True}


def inline(writer: Any, node: nodes.Node) -> Never:
    """Write a formula in a line."""
    writer.body.append(convert(node.astext()))
    raise nodes.SkipNode


def display(writer: Any, node: nodes.Node) -> Never:
    """Write a formula on a line of its own."""
    writer.body.append(f'<div class="math">{convert(node.astext(), display="block")}</div>')
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, bool]:
    """Let browsers draw formulas: readable offline, in print and by a screen reader, without a script."""
    app.add_html_math_renderer("mathml", (inline, None), (display, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
