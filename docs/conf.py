"""Sphinx: Markdown through MyST, formulas as MathML, notebooks executed, every warning an error (see the Makefile).

After the pages are written, the site also gets the reports of the demo (``samples/``), every page as Markdown, and
``llms.txt``, which lists them for programs that read.
"""

import re
import shutil
import tempfile
from pathlib import Path
from typing import Any, Never

from docutils import nodes
from latex2mathml.converter import convert

from focuseval import __version__
from focuseval.example.demo import run_demo

project = "focuseval"
author = "the focuseval contributors"
copyright = "the focuseval contributors, Apache-2.0"
version = release = __version__

extensions = ["myst_nb", "sphinx_copybutton", "sphinx_design"]
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "attrs_inline"]
myst_heading_anchors = 4
source_suffix = {".md": "myst-nb", ".ipynb": "myst-nb"}
exclude_patterns = ["_build"]
suppress_warnings = ["mystnb.unknown_mime_type"]
nb_execution_mode = "force"  # what a notebook shows is what this version prints
nb_execution_in_temp = True
nb_execution_raise_on_error = True
nb_execution_timeout = 120
nitpicky = True
nitpick_ignore_regex = [("py:.*", ".*")]  # types of other packages, and those that no user meets, have no page here
python_maximum_signature_line_length = 88  # longer ones have a line for each parameter
add_function_parentheses = False

html_theme = "furo"
html_title = f"focuseval {version}"
html_static_path = ["_static"]
html_css_files = ["doors.css"]
html_search_scorer = str(Path(__file__).parent / "_static" / "scorer.js")
html_copy_source = False
html_math_renderer = "mathml"
html_theme_options = {"source_repository": "", "navigation_with_keys": True}
copybutton_prompt_text = r"\$ |>>> |\.\.\. "
copybutton_prompt_is_regexp = True
copybutton_line_continuation_character = "\\"

SECTIONS = ("", "howto", "coming-from", "notebooks", "reference", "explanation", "decisions")
"""Folders of pages, in the order of ``llms.txt``."""
SUMMARY = "Evaluates search that returns parts of documents: chunks, passages, XML elements."


def inline(writer: Any, node: nodes.Node) -> Never:
    """Write a formula in a line."""
    writer.body.append(convert(node.astext()))
    raise nodes.SkipNode


def display(writer: Any, node: nodes.Node) -> Never:
    """Write a formula on a line of its own."""
    writer.body.append(f'<div class="math">{convert(node.astext(), display="block")}</div>')
    raise nodes.SkipNode


def add_samples(app: Any, error: Exception | None) -> None:
    """Put the demo's reports, the Markdown of every page, and a list of them beside the HTML."""
    if error or app.builder.name != "html":
        return
    target = Path(app.outdir)
    (target / "samples").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        run_demo(Path(folder), lambda _: None)
        for name in ("report.html", "inex.html"):
            shutil.copyfile(Path(folder) / name, target / "samples" / name)
    lines = [f"# focuseval {version}\n", f"> {SUMMARY}\n"]
    for section in SECTIONS:
        lines.append(f"## {section or 'begin'}\n")
        for page in sorted((Path(app.srcdir) / section).glob("*.md")):
            text = page.read_text(encoding="utf-8")
            if included := re.match(r"```\{include\} (\S+)", text):  # the page is another file of the repository
                text = (page.parent / included[1]).read_text(encoding="utf-8")
            copy = target / page.relative_to(app.srcdir)
            copy.write_text(text, encoding="utf-8")
            title = re.search(r"^# (.+)$", text, re.MULTILINE)
            lines.append(f"- [{title.group(1) if title else page.stem}]({copy.relative_to(target).as_posix()})")
        lines.append("")
    (target / "llms.txt").write_text("\n".join(lines), encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    """Let browsers draw formulas: readable offline, in print and by a screen reader, without a script."""
    app.add_html_math_renderer("mathml", (inline, None), (display, None))
    app.connect("build-finished", add_samples)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
