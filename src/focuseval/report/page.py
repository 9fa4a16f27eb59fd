"""A report as one HTML file that needs nothing else, as tables, as JSON, and as graphs: same input, same bytes."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np

from focuseval.collection.rendering import STATIC
from focuseval.data.tables import ABSENT, Column, Row, Table, Value, html, latex, numbers, visible, words
from focuseval.data.tables import render as render_tables
from focuseval.errors import MissingDataError
from focuseval.evaluation.counts import PRINTED
from focuseval.inference.sentences import signed
from focuseval.report.build import Report
from focuseval.report.charts.chart import WIDTHS, Chart
from focuseval.report.first_screen import RunLine
from focuseval.report.texts import as_json, packed

HERE = Path(__file__).parent
STYLES = ("base.css", "rendering.css", "charts.css", "choose.css", "heat.css", "lists.css", "print.css")
VENDOR = ("vendor/vega.min.js", "vendor/vega-lite.min.js")
SCRIPTS = (
    "dom.js", "state.js", "scores.js", "sortable.js", "headline.js", "topics.js", "followed.js", "charts.js",
    "spans.js", "nest.js", "textview.js", "pages.js", "minimap.js", "results.js", "heat.js", "lists.js",
    "walk.js", "main.js",
)  # fmt: skip
"""Plain scripts in the order in which they need each other."""

LISTS = ("topics", "documents", "depth", "highlighted", "served", "paths", "totals", "budgets")
"""What the scripts need of the lists."""
MOST_ROWS = 12
MOST_MEASURES = 5  # measures beside the verdict, the first and the one that decides; all of them stand further down
SIGNS = {"better": "▲", "worse": "▼", "cannot tell": "?", "alone": "●", "advice": "→"}
WORDS = {"better": "Better", "worse": "Worse", "cannot tell": "Cannot tell", "alone": "One run", "advice": "Advice"}

GRAPHS = (
    ("curves", "Curves and cost",
     "What is behind a measure’s single number, as the mean over topics, and what it costs."),
    ("agreement", "Significance and agreement",
     "Which runs a measure tells apart, and whether measures rank runs alike."),
    ("fidelity", "Fidelity", "Whether measures order simulated runs, whose order is known, as they should."),
)  # fmt: skip
"""Sections of graphs: id, heading, and what they show."""

BROWSERS = ("chromium", "google-chrome", "chromium-browser", "chrome", "microsoft-edge")
REMEDY = "install vl-convert-python ('pip install focuseval[figures]') or Chromium ('apt-get install chromium')"

_FIGURES = """<!doctype html><meta charset="utf-8"><body><script type="application/json" id="specs">{specs}</script>
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


def render(report: Report, layout: str, *, wide: bool = False) -> str:
    """Return the report as a page (html), as JSON, or as tables in another layout.

    In LaTeX that is one table which fits a page, with the signature below it; all of them if `wide`.
    """
    if layout == "html":
        return render_html(report)
    if layout == "json":
        return json.dumps(report.to_json(), ensure_ascii=False, indent=1) + "\n"
    if layout == "latex" and not wide:
        return latex(paper_table(report), footnote=report.about.signature)
    return render_tables(tables(report, layout), layout, signature=report.about.signature)


def paper_table(report: Report) -> Table:
    """Return the measure that decides, with intervals and ranks, and a few others: the best bold, groups by letters."""
    lines, first = report.first.runs, report.choices["decides"]
    others = [number for number in range(len(report.about.measures)) if number != first][: MOST_MEASURES - 1]
    names = [report.about.measures[number][0] for number in (first, *others)]
    ranked = any(line.means[first].rank for line in lines)
    rows = []
    for line in lines:
        mean = line.means[first]
        shown = f"[{mean.low:.3f}, {mean.high:.3f}]" if mean.mean is not None and mean.topics > 1 else None
        rank = (mean.rank,) if ranked else ()
        rows.append((line.run, mean.mean, shown, *rank, *(line.means[number].mean for number in others)))
    columns = (*words("run"), Column(names[0], best=True), *numbers("95 % interval"), *words(*["rank"] * ranked))
    verdict = report.first.verdict
    notes = tuple(filter(None, (verdict.headline, verdict.reason, verdict.caveat, *report.remarks)))
    best = tuple(Column(name, best=True) for name in names[1:])
    return Table("Means with 95 % intervals", (*columns, *best), tuple(rows), notes)


def render_html(report: Report) -> str:
    """Return the page of a report."""
    texts, places = packed(report.texts)
    drawn = {chart.section for chart in report.charts}
    graphs = [graph for graph in GRAPHS if graph[0] in drawn]
    links = [graph[:2] for graph in graphs]
    others = [number for number in range(len(report.about.measures)) if number != report.choices["decides"]]
    # values in base64, eight bytes each: exact, and smaller than as digits
    exact = [base64.b64encode(np.array(values, "<f8").tobytes()).decode() for values in report.choices["values"]]
    summaries: dict[str, list[str]] = {}
    for name, summary in report.about.measures:
        summaries.setdefault(summary, []).append(name)
    return render_page(
        "report.html",
        SCRIPTS,
        {
            "charts": [chart_data(chart) for chart in report.charts],
            "choices": report.choices | {"values": exact},
            "words": {word: (SIGNS[word], shown) for word, shown in WORDS.items()},
            "lists": {name: report.heat[name] for name in LISTS},
            "texts": places,
        },
        report=report,
        title=report.title,
        sections=[("answer", "Answer"), ("topics", "Topics"), ("heat", "Lists and text"), *links, ("about", "How")],
        graph_sections=graphs,
        has_heat=bool(report.heat["topics"]),
        against=any(line.against for line in report.first.runs),
        columns=[report.choices["decides"], *others[: MOST_MEASURES - 1]],
        more_measures=len(report.about.measures) > 1,
        has_tags=any(report.choices["tags"]),
        most_rows=MOST_ROWS,
        texts=texts,
        summaries=[(", ".join(names), summary) for summary, names in summaries.items()],
    )


def render_page(template: str, names: Sequence[str], data: dict[str, Any], **values: Any) -> str:
    """Return a page that needs nothing else: styles, scripts by their names, and data are inside."""
    scripts = [static(name) for name in (*VENDOR, *names)]
    style = "\n".join(static(name) for name in STYLES)
    # only our own scripts run; Vega compiles its expressions; a served report asks its own server for articles
    hashes = " ".join(f"'sha256-{base64.b64encode(hashlib.sha256(s.encode()).digest()).decode()}'" for s in scripts)
    policy = (
        f"default-src 'none'; script-src {hashes} 'unsafe-eval'; style-src 'unsafe-inline'; img-src data: blob:; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'"
    )
    page: str = environment().get_template(template).render(
        style=style, scripts=scripts, policy=policy, data=as_json(data), **values
    )  # fmt: skip
    return page


def chart_data(chart: Chart) -> dict[str, Any]:
    """Return what the scripts need of a graph; one that follows the reader's choice gets its rows in the page."""
    names = ("id", "title", "columns", "rows", "spec", "pivot", "head", "by", "form")
    data = {name: getattr(chart, name) for name in names}
    return data | {"rows": [], "spec": {}} if chart.form else data


def span_of(runs: Sequence[RunLine], count: str) -> str:
    """Return a count of all runs: one number, or from the least to the most."""
    values = [getattr(line.counts, count) for line in runs]
    low, high = min(values), max(values)
    return f"{low:,}" if low == high else f"{low:,} – {high:,}"


def measures_table(runs: Sequence[RunLine]) -> Table:
    """Return every measure's mean and interval of every run."""
    rows = [
        (
            line.run,
            *(
                ABSENT if m.mean is None
                else f"{m.mean:.4f} [{m.low:.3f}, {m.high:.3f}]" if m.topics > 1
                else f"{m.mean:.4f}"
                for m in line.means
            ),
        )
        for line in runs
    ]  # fmt: skip
    return Table("All measures", (*words("run"), *numbers(*(m.measure for m in runs[0].means))), tuple(rows))


def templates(folder: Path) -> Any:
    """Return the templates in a folder and the page that they extend; what comes from a file is escaped."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # noqa: PLC0415  only pages need it

    environment = Environment(
        loader=FileSystemLoader([folder, HERE / "templates"]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"visible": visible, "signed": signed, "html": html}
    return environment


@cache
def environment() -> Any:
    """Return the templates of the report."""
    environment = templates(HERE / "templates")
    parts: Any = environment.get_template("parts.html").module
    environment.globals |= {"signs": SIGNS, "words": WORDS, "span_of": span_of, "headings": PRINTED}
    environment.globals["figure"] = parts.figure
    environment.globals["table_of"] = parts.table_of
    environment.globals["table_of_measures"] = lambda runs: parts.plain_table(measures_table(runs))
    return environment


@cache
def static(name: str) -> str:
    """Return a static file, also the renderer's; what points at a source map is for no page without a network."""
    own = HERE / "static" / name
    text = (own if own.exists() else STATIC / name).read_text(encoding="utf-8")
    return re.sub(r"\n//# sourceMappingURL=\S+\s*$", "\n", text)


def tables(report: Report, layout: str) -> Iterator[Table]:
    """Yield everything that is a table, the answer first; programs that read CSV get numbers alone in their cells."""
    verdict, lines = report.first.verdict, report.first.runs
    means = measures_table(lines)
    if layout == "csv":
        cells = tuple(
            (line.run, m.measure, m.mean, m.low, m.high, m.rank, m.topics) for line in lines for m in line.means
        )
        means = Table("", (*words("run", "measure"), *numbers("mean", "low", "high", "rank", "topics")), cells)
    notes = tuple(filter(None, (verdict.headline, verdict.reason, verdict.caveat, *report.remarks)))
    yield from report.beside
    yield replace(means, title="Means with 95 % intervals", notes=notes)
    against = ("against",) if any(line.against for line in lines) else ()
    rows: tuple[Row, ...] = tuple(
        (line.run, *line.counts.printed().values(), *(line.against for _ in against)) for line in lines
    )
    yield Table("Counts", (*words("run"), *numbers(*PRINTED), *words(*against)), rows)
    first = report.first
    named = (first.a,) if first.b is None else (f"A {first.a}", f"B {first.b}")
    columns = (*words("topic"), *numbers(*named), *numbers("A − B", form="+.4f"))[: 2 * len(named)]
    rows = tuple((row.topic, row.a, row.b or 0.0, row.difference)[: len(columns)] for row in first.per_topic)
    yield Table(f"Topics under {first.measure}", columns, rows)
    for chart in report.charts:
        if chart.section in {"agreement", "curves"}:
            yield from chart_tables(chart)
    yield from report.grids


def chart_tables(chart: Chart) -> Iterator[Table]:
    """Yield the rows of a graph as tables, as the page shows them behind it: columns of numbers, or of words."""
    by = chart.columns.index(chart.by) if chart.by else None
    names = [""] if by is None else list(dict.fromkeys(row[by] for row in chart.rows))
    for name in names:
        rows = [row for row in chart.rows if by is None or row[by] == name]
        title = f"{chart.title}: {name}" if name else chart.title
        headings, body = chart.columns, rows
        if chart.pivot:  # a row for every value of one column, a column for every value of another
            down, across, value = (chart.columns.index(column) for column in chart.pivot)
            lines: dict[Value, dict[Value, Value]] = {}
            for row in rows:
                lines.setdefault(row[down], {})[row[across]] = row[value]
            others = list(dict.fromkeys(row[across] for row in rows))
            keys = list(lines)
            if all(isinstance(key, int | float) for key in keys):
                keys.sort(key=float)  # type: ignore[arg-type]  # all are numbers
            headings = (chart.head or chart.columns[down], *map(str, others))
            body = [(key, *(lines[key].get(other) for other in others)) for key in keys]
        kinds = [any(isinstance(value, str) for value in column) for column in zip(*body, strict=True)]
        columns = tuple(Column(heading, words=kind) for heading, kind in zip(headings, kinds, strict=True))
        yield Table(title, columns, tuple(body), (chart.caption,))


def draw_all(charts: Sequence[Chart], width: int = WIDTHS["page"], *, serif: bool = False) -> dict[str, bytes]:
    """Return file name → SVG and PDF of every graph, drawn by vl-convert where it is installed, else by a browser."""
    specs = [chart.complete(width, serif=serif) for chart in charts]
    try:
        import vl_convert  # noqa: PLC0415  an optional package
    except ImportError:
        drawn, printed = by_browser(specs) if specs else ([], [])
    else:
        drawn = [vl_convert.vegalite_to_svg(spec) for spec in specs]
        printed = [vl_convert.svg_to_pdf(svg) for svg in drawn]
    found = {f"{chart.id}.svg": svg.encode() for chart, svg in zip(charts, drawn, strict=True)}
    return found | {f"{chart.id}.pdf": pdf for chart, pdf in zip(charts, printed, strict=True)}


def by_browser(specs: Sequence[dict[str, object]]) -> tuple[list[str], list[bytes]]:
    """Draw specifications in a headless browser, as SVG and as PDFs of one page each, as large as the graph.

    A page writes its graphs into itself, and its text is read.
    """
    scripts, printed = "".join(f"<script>{static(name)}</script>" for name in VENDOR), list[bytes]()
    with tempfile.TemporaryDirectory(prefix="focuseval-figures-") as folder:
        page, out = Path(folder) / "figures.html", Path(folder) / "figure.pdf"
        page.write_text(_FIGURES.format(specs=as_json(specs), scripts=scripts), encoding="utf-8")
        shown = browse(folder, "--virtual-time-budget=20000", "--dump-dom", page.as_uri())
        written = re.search(r"<pre>(.*)</pre>", shown.decode(), re.DOTALL)
        if written is None:
            raise MissingDataError(f"the browser drew no figures; {REMEDY}")
        drawn: list[str] = json.loads(unescape(written[1]))
        for svg in drawn:
            wide, high = map(float, re.findall(r'(?:width|height)="([\d.]+)"', svg[: svg.index(">")])[:2])
            style = f"@page {{ size: {wide}px {high + 1}px; margin: 0 }} body {{ margin: 0 }} svg {{ display: block }}"
            page.write_text(f"<!doctype html><meta charset=utf-8><style>{style}</style>{svg}", encoding="utf-8")
            browse(folder, "--no-pdf-header-footer", f"--print-to-pdf={out}", page.as_uri())
            if not out.exists():
                raise MissingDataError(f"the browser printed no figure; {REMEDY}")
            printed.append(out.read_bytes())
            out.unlink()  # else the next figure could be this one
    return drawn, printed


def browse(folder: str, *arguments: str) -> bytes:
    """Run a headless browser, and return what it prints."""
    browser = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if browser is None:
        raise MissingDataError(f"figures need a program that draws them; {REMEDY}")
    flags = ("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", f"--user-data-dir={folder}/profile")
    try:
        done = subprocess.run([browser, *flags, *arguments], capture_output=True, check=True, timeout=120)  # noqa: S603  found on the path
    except (OSError, subprocess.SubprocessError) as error:
        raise MissingDataError(f"{browser} could not draw the figures ({error.__class__.__name__}); {REMEDY}") from None
    return done.stdout
