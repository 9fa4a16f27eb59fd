"""axe-core on a page: what breaks WCAG 2.2 AA or common practice.

The script comes from the package ``axe-core-python`` (group ``test``) or from the file that FOCUSEVAL_AXE names.
"""

import os
from importlib.util import find_spec
from pathlib import Path

import pytest

TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]

_RUN = """
  window.axeFound = null;
  axe.run({ runOnly: { type: 'tag', values: arguments[0] }, resultTypes: ['violations'] }).then((result) => {
    const told = (one) => [one.id, ...one.nodes.slice(0, 3).map((node) => node.html)];
    window.axeFound = { violations: result.violations.map(told) };
  });
"""


def script() -> str:
    """Return axe-core's source, or skip the test where it is not installed."""
    if named := os.environ.get("FOCUSEVAL_AXE"):
        return Path(named).read_text(encoding="utf-8")
    found = find_spec("axe_core_python")
    if found is None or found.origin is None:
        pytest.skip("no axe-core: pip install axe-core-python, or FOCUSEVAL_AXE=axe.min.js")
    return (Path(found.origin).parent / "axe.min.js").read_text(encoding="utf-8")


def violations(browser) -> list[list[str]]:
    """Return the rules that the open page breaks, each with its first elements."""
    browser.run(script())
    browser.run(_RUN, TAGS)
    return browser.wait("return window.axeFound", seconds=60)["violations"]
