"""Sphinx: Markdown through MyST, no theme to install, every warning an error (see the Makefile)."""

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

html_theme = "alabaster"
html_theme_options = {
    "description": "Evaluate focused retrieval: elements, passages, chunks.",
    "fixed_sidebar": True,
    "page_width": "1080px",
}
html_sidebars = {"**": ["about.html", "searchfield.html", "navigation.html", "relations.html"]}
