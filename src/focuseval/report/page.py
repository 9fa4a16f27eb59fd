"""A report as one HTML file that needs nothing else: same input, same bytes."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from focuseval.data.tables import ABSENT, Table, html, numbers, visible, words
from focuseval.evaluation.counts import headings
from focuseval.report.first_screen import MOST_MEASURES
from focuseval.report.texts import as_json, packed
from focuseval.report.verdict import signed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from focuseval.report.charts.chart import Chart
    from focuseval.report.first_screen import Mean, RunLine
    from focuseval.report.report import Report

HERE = Path(__file__).parent
STYLES = ("base.css", "charts.css", "choose.css", "heat.css", "lists.css", "print.css")
VENDOR = ("vendor/vega.min.js", "vendor/vega-lite.min.js")
SCRIPTS = (
    "dom.js",
    "state.js",
    "scores.js",
    "sortable.js",
    "headline.js",
    "topics.js",
    "followed.js",
    "charts.js",
    "spans.js",
    "textview.js",
    "minimap.js",
    "results.js",
    "heat.js",
    "lists.js",
    "walk.js",
    "main.js",
)
"""Plain scripts in the order in which they need each other."""

LISTS = ("topics", "documents", "depth", "highlighted", "served", "paths", "totals", "budgets")
"""What the scripts need of the lists."""
MOST_ROWS = 12
SIGNS = {"better": "▲", "worse": "▼", "cannot tell": "?", "alone": "●"}
WORDS = {"better": "Better", "worse": "Worse", "cannot tell": "Cannot tell", "alone": "One run"}

GRAPHS = (
    (
        "curves",
        "Curves and cost",
        "What is behind a measure’s single number, as the mean over topics, and what it costs.",
    ),
    (
        "agreement",
        "Significance and agreement",
        "Which runs a measure tells apart, and whether measures rank runs alike.",
    ),
    ("fidelity", "Fidelity", "Whether measures order simulated runs, whose order is known, as they should."),
)


def render_html(report: Report) -> str:
    """Return the page of a report."""
    texts, places = packed(report.texts)
    scripts = [static(name) for name in (*VENDOR, *SCRIPTS)]
    page: str = environment().get_template("report.html").render(
        report=report,
        title=report.title,
        style="\n".join(static(name) for name in STYLES),
        scripts=scripts,
        policy=policy(scripts),
        sections=_sections(report),
        graph_sections=[graph for graph in GRAPHS if any(c.section == graph[0] for c in report.charts)],
        has_heat=bool(report.heat.topics),
        against=any(line.against for line in report.first.runs),
        columns=shown_measures(report),
        more_measures=len(report.about.measures) > 1,
        has_tags=any(report.choices.tags),
        most_rows=MOST_ROWS,
        data=as_json(page_data(report) | {"texts": places}),
        texts=texts,
        summaries=summaries(report),
    )  # fmt: skip
    return page


def page_data(report: Report) -> dict[str, Any]:
    """Return what the scripts need: graphs, choices and lists; texts are apart, opened when they are asked for."""
    choices = [field.name for field in fields(report.choices)]  # `asdict` would copy every number
    return {
        "charts": [chart_data(chart) for chart in report.charts],
        "choices": {name: getattr(report.choices, name) for name in choices},
        "lists": {name: getattr(report.heat, name) for name in LISTS},
    }


def chart_data(chart: Chart) -> dict[str, Any]:
    """Return what the scripts need of a graph; one that follows the reader's choice gets its rows in the page."""
    told = {
        name: getattr(chart, name) for name in ("id", "title", "columns", "rows", "spec", "pivot", "head", "by", "form")
    }
    return told | {"rows": [], "spec": {}} if chart.form else told


def policy(scripts: Sequence[str]) -> str:
    """Return a policy under which only our own scripts run and nothing is asked of a network.

    Vega compiles its expressions, hence ``unsafe-eval``; a served report asks its own server for articles.
    """
    hashes = " ".join(f"'sha256-{base64.b64encode(hashlib.sha256(s.encode()).digest()).decode()}'" for s in scripts)
    return (
        f"default-src 'none'; script-src {hashes} 'unsafe-eval'; style-src 'unsafe-inline'; img-src data: blob:; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'"
    )


def _sections(report: Report) -> list[tuple[str, str]]:
    drawn = {chart.section for chart in report.charts}
    graphs = [(id_, name) for id_, name, _ in GRAPHS if id_ in drawn]
    return [("answer", "Answer"), ("topics", "Topics"), ("heat", "Lists and text"), *graphs, ("about", "How")]


def shown_measures(report: Report) -> list[int]:
    """Return the columns of the table of runs: the first measures and the one that decides, in their order."""
    first = [number for number in range(len(report.about.measures)) if number != report.choices.decides]
    return sorted([*first[: MOST_MEASURES - 1], report.choices.decides])


def summaries(report: Report) -> list[tuple[str, str]]:
    """Return what the measures are, those that say the same in one line."""
    found: dict[str, list[str]] = {}
    for name, summary in report.about.measures:
        found.setdefault(summary, []).append(name)
    return [(", ".join(names), summary) for summary, names in found.items()]


def span_of(runs: Sequence[RunLine], count: str) -> str:
    """Return a count of all runs: one number, or from the least to the most."""
    values = [getattr(line.counts, count) for line in runs]
    low, high = min(values), max(values)
    return f"{low:,}" if low == high else f"{low:,} – {high:,}"


def measures_table(runs: Sequence[RunLine]) -> Table:
    """Return every measure's mean and interval of every run."""
    columns = (*words("run"), *numbers(*(mean.measure for mean in runs[0].means)))
    return Table("All measures", columns, tuple((line.run, *map(_interval, line.means)) for line in runs))


def _interval(mean: Mean) -> str:
    if mean.mean is None:
        return ABSENT
    return f"{mean.mean:.4f} [{mean.low:.3f}, {mean.high:.3f}]" if mean.topics > 1 else f"{mean.mean:.4f}"


def templates(folder: Path) -> Any:
    """Return the templates in a folder and the page that they extend; what comes from a file is escaped."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # noqa: PLC0415  only pages need it

    made = Environment(
        loader=FileSystemLoader([folder, HERE / "templates"]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"visible": visible, "signed": signed, "html": html}
    return made


@cache
def environment() -> Any:
    """Return the templates of the report."""
    environment = templates(HERE / "templates")
    parts: Any = environment.get_template("parts.html").module
    environment.globals |= {"signs": SIGNS, "words": WORDS, "span_of": span_of, "headings": headings()}
    environment.globals["figure"] = parts.figure
    environment.globals["table_of"] = parts.table_of
    environment.globals["table_of_measures"] = lambda runs: parts.plain_table(measures_table(runs))
    return environment


@cache
def static(name: str) -> str:
    """Return a static file; a comment that points at a source map is not for a page without a network."""
    text = (HERE / "static" / name).read_text(encoding="utf-8")
    return re.sub(r"\n//# sourceMappingURL=\S+\s*$", "\n", text)
