"""axe-core on a page: what breaks WCAG 2.2 AA or common practice.

The script comes from the file that FOCUSEVAL_AXE names, from the package ``axe-playwright-python`` (group
``accessibility``: newer, with the rules of WCAG 2.2) or from ``axe-core-python`` (group ``test``).
"""

import os
from importlib.util import find_spec
from pathlib import Path

import pytest

PACKAGES = ("axe_playwright_python", "axe_core_python")
COLOURS = ("color-contrast", "link-in-text-block")
"""The rules about colours: all that can be broken in the dark by a page that breaks none in the light."""
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]

_RUN = """
  window.axeFound = null;
  axe.run({ ...arguments[0], resultTypes: ['violations'] }).then((result) => {
    const told = (one) => [one.id, ...one.nodes.slice(0, 3).map((node) => node.html)];
    window.axeFound = { violations: result.violations.map(told) };
  });
"""


def source() -> str | None:
    """Return axe-core's source, the newest that is installed."""
    if named := os.environ.get("FOCUSEVAL_AXE"):
        return Path(named).read_text(encoding="utf-8")
    found = next(filter(None, map(find_spec, PACKAGES)), None)
    if found is None or found.origin is None:
        return None
    return (Path(found.origin).parent / "axe.min.js").read_text(encoding="utf-8")


def script() -> str:
    """Return axe-core's source, or skip the test where it is not installed."""
    return source() or pytest.skip("no axe-core: pip install axe-core-python, or FOCUSEVAL_AXE=axe.min.js")


def violations(browser, rules: tuple[str, ...] = (), *, colours: bool = True) -> list[list[str]]:
    """Return the rules that the open page breaks, all or of those named, each with its first elements.

    The rules about colours take most of the time; without them a page is looked at again in another size.
    """
    if not browser.run("return Boolean(window.axe)"):
        browser.run(script())
    asked = {"type": "rule", "values": rules} if rules else {"type": "tag", "values": TAGS}
    left_out = {} if colours else {rule: {"enabled": False} for rule in COLOURS}
    browser.run(_RUN, {"runOnly": asked, "rules": left_out})
    return browser.wait("return window.axeFound", seconds=60)["violations"]
