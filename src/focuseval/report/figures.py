"""Graphs as SVG files: drawn by vl-convert where it is installed, else by a Chromium that is found on the machine."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tempfile
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING

from focuseval.errors import MissingDataError
from focuseval.report.page import VENDOR, static
from focuseval.report.texts import as_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from focuseval.report.charts.chart import Chart

BROWSERS = ("chromium", "google-chrome", "chromium-browser", "chrome", "microsoft-edge")
REMEDY = "install vl-convert-python ('pip install focuseval[figures]') or Chromium ('apt-get install chromium')"

_PAGE = """<!doctype html><meta charset="utf-8"><body><script type="application/json" id="specs">{specs}</script>
{scripts}<script>
Promise.all(JSON.parse(document.getElementById("specs").textContent).map((spec) =>
  new vega.View(vega.parse(vegaLite.compile(spec).spec)).toSVG()
)).then((drawn) => {{
  document.body.textContent = "";
  const written = document.createElement("pre");
  written.textContent = JSON.stringify(drawn);
  document.body.append(written);
}});
</script></body>
"""


def draw_all(charts: Sequence[Chart]) -> dict[str, str]:
    """Return file name → SVG for every graph."""
    specs = [chart.complete() for chart in charts]
    try:
        import vl_convert  # noqa: PLC0415  an optional package
    except ImportError:
        drawn = by_browser(specs) if specs else []
    else:
        drawn = [vl_convert.vegalite_to_svg(spec) for spec in specs]
    return {f"{chart.id}.svg": svg for chart, svg in zip(charts, drawn, strict=True)}


def by_browser(specs: Sequence[dict[str, object]]) -> list[str]:
    """Draw specifications in a headless browser: a page writes its graphs into itself, and its text is read."""
    browser = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if browser is None:
        raise MissingDataError(f"figures need a program that draws them; {REMEDY}")
    scripts = "".join(f"<script>{static(name)}</script>" for name in VENDOR)
    with tempfile.TemporaryDirectory(prefix="focuseval-figures-") as folder:
        page = Path(folder) / "figures.html"
        page.write_text(_PAGE.format(specs=as_json(specs), scripts=scripts), encoding="utf-8")
        flags = ("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", f"--user-data-dir={folder}/profile")
        command = [browser, *flags, "--virtual-time-budget=20000", "--dump-dom", page.as_uri()]
        try:
            done = subprocess.run(command, capture_output=True, check=True, timeout=120)  # noqa: S603  found on the path
        except (OSError, subprocess.SubprocessError) as error:
            raise MissingDataError(
                f"{browser} could not draw the figures ({error.__class__.__name__}); {REMEDY}"
            ) from None
    written = re.search(r"<pre>(.*)</pre>", done.stdout.decode(), re.DOTALL)
    if written is None:
        raise MissingDataError(f"{browser} drew no figures; {REMEDY}")
    drawn: list[str] = json.loads(unescape(written[1]))
    return drawn
