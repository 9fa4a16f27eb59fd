"""A report as tables: Markdown, LaTeX (booktabs) and CSV, one after the other."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from focuseval.compare.grid import Grid
from focuseval.report.page import measures_grid

if TYPE_CHECKING:
    from collections.abc import Iterator

    from focuseval.report.charts.chart import Chart
    from focuseval.report.report import Report

LAYOUTS = ("html", "json", "markdown", "latex", "csv")


def render(report: Report, layout: str) -> str:
    """Return the report in one of the `LAYOUTS`."""
    if layout == "html":
        from focuseval.report.page import render_html  # noqa: PLC0415  only pages need templates

        return render_html(report)
    if layout == "json":
        return json.dumps(report.to_json(), ensure_ascii=False, indent=1) + "\n"
    comment = {"latex": "% ", "csv": "# ", "markdown": "`"}[layout]
    last = f"{comment}{report.about.signature}{'`' if layout == 'markdown' else ''}\n"
    tables = (means_by_line(report), *list(grids(report))[1:]) if layout == "csv" else grids(report)
    return "\n".join(grid.render(layout) for grid in tables) + "\n" + last


def grids(report: Report) -> Iterator[Grid]:
    """Yield everything that is a table, the answer first."""
    said = report.first.verdict
    means = measures_grid(report.first.runs)
    remarks = (said.headline, said.reason, *report.remarks)
    yield Grid("Means with 95 % intervals", means.head, means.body, remarks)
    yield counts_grid(report)
    yield topics_grid(report)
    for chart in report.charts:
        if chart.section in {"agreement", "curves"}:
            yield from chart_grids(chart)
    yield from report.grids


def means_by_line(report: Report) -> Grid:
    """Return a line per run and measure with numbers in columns of their own, for programs that read CSV."""
    body = tuple(
        (
            line.run,
            mean.measure,
            *("" if v is None else repr(v) for v in (mean.mean, mean.low, mean.high)),
            str(mean.topics),
        )
        for line in report.first.runs
        for mean in line.means
    )
    said = report.first.verdict
    notes = (said.headline, said.reason, *report.remarks)
    return Grid("Means with 95 % intervals", ("run", "measure", "mean", "low", "high", "topics"), body, notes)


def counts_grid(report: Report) -> Grid:
    """Return how many topics and results stand behind every mean."""
    lines = report.first.runs
    names = (
        "run",
        "topics",
        "missing",
        "excluded",
        "unjudged",
        *(("against",) if any(n.against for n in lines) else ()),
    )
    return Grid("Counts", names, tuple(tuple(str(getattr(line, name)) for name in names) for line in lines))


def topics_grid(report: Report) -> Grid:
    """Return every topic with what A and B score."""
    first = report.first
    head = ("topic", first.a) if first.b is None else ("topic", f"A {first.a}", f"B {first.b}", "A − B")
    body = tuple(
        (row.topic, f"{row.a:.4f}", f"{row.b or 0:.4f}", f"{row.difference:+.4f}")[: len(head)]
        for row in first.per_topic
    )
    return Grid(f"Topics under {first.measure}", head, body)


def chart_grids(chart: Chart) -> Iterator[Grid]:
    """Yield the rows of a graph as tables, as the page shows them behind it."""
    by = chart.columns.index(chart.by) if chart.by else None
    names = [""] if by is None else list(dict.fromkeys(row[by] for row in chart.rows))
    for name in names:
        rows = [row for row in chart.rows if by is None or row[by] == name]
        title = f"{chart.title}: {name}" if name else chart.title
        yield (
            _pivoted(chart, title, rows) if chart.pivot else Grid(title, chart.columns, _cells(rows), (chart.caption,))
        )


def _pivoted(chart: Chart, title: str, rows: list[tuple[object, ...]]) -> Grid:
    down, across, value = (chart.columns.index(name) for name in chart.pivot or ())
    names = list(dict.fromkeys(row[across] for row in rows))
    lines: dict[object, dict[object, object]] = {}
    for row in rows:
        lines.setdefault(row[down], {})[row[across]] = row[value]
    keys = list(lines)
    if all(isinstance(key, int | float) for key in keys):
        keys.sort(key=float)  # type: ignore[arg-type]  # all are numbers
    body = _cells([(key, *(lines[key].get(name) for name in names)) for key in keys])
    return Grid(title, (chart.head or chart.columns[down], *map(str, names)), body, (chart.caption,))


def _cells(rows: list[tuple[object, ...]]) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(_cell(value) for value in row) for row in rows)


def _cell(value: object) -> str:
    if value is None:
        return "–"
    return f"{value:.4f}" if isinstance(value, float) and not value.is_integer() else str(value)
