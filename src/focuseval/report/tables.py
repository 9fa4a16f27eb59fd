"""A report as tables: Markdown, LaTeX (booktabs) and CSV, one after the other."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from focuseval.data.tables import Column, Table, numbers, words
from focuseval.data.tables import render as render_tables
from focuseval.evaluation.counts import PRINTED
from focuseval.report.page import measures_table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from focuseval.data.tables import Row, Value
    from focuseval.report.charts.chart import Chart
    from focuseval.report.report import Report


def render(report: Report, layout: str) -> str:
    """Return the report as a page (html), as JSON, or as tables in another layout."""
    if layout == "html":
        from focuseval.report.page import render_html  # noqa: PLC0415  only pages need templates

        return render_html(report)
    if layout == "json":
        return json.dumps(report.to_json(), ensure_ascii=False, indent=1) + "\n"
    return render_tables(tables(report, layout), layout, signature=report.about.signature)


def tables(report: Report, layout: str) -> Iterator[Table]:
    """Yield everything that is a table, the answer first; programs that read CSV get numbers alone in their cells."""
    said = report.first.verdict
    means = means_by_line(report) if layout == "csv" else measures_table(report.first.runs)
    yield replace(
        means,
        title="Means with 95 % intervals",
        notes=tuple(filter(None, (said.headline, said.reason, said.caveat, *report.remarks))),
    )
    yield counts_table(report)
    yield topics_table(report)
    for chart in report.charts:
        if chart.section in {"agreement", "curves"}:
            yield from chart_tables(chart)
    yield from report.grids


def means_by_line(report: Report) -> Table:
    """Return a line per run and measure with numbers in columns of their own."""
    rows = tuple(
        (line.run, mean.measure, mean.mean, mean.low, mean.high, mean.topics)
        for line in report.first.runs
        for mean in line.means
    )
    return Table("", (*words("run", "measure"), *numbers("mean", "low", "high", "topics")), rows)


def counts_table(report: Report) -> Table:
    """Return how many topics and results stand behind every mean."""
    lines = report.first.runs
    against = ("against",) if any(line.against for line in lines) else ()
    rows: tuple[tuple[Value, ...], ...] = tuple(
        (line.run, *line.counts.printed().values(), *(line.against for _ in against)) for line in lines
    )
    return Table("Counts", (*words("run"), *numbers(*PRINTED), *words(*against)), rows)


def topics_table(report: Report) -> Table:
    """Return every topic with what A and B score."""
    first = report.first
    named = (first.a,) if first.b is None else (f"A {first.a}", f"B {first.b}")
    columns = (*words("topic"), *numbers(*named), *numbers("A − B", form="+.4f"))[: 2 * len(named)]
    rows = tuple((row.topic, row.a, row.b or 0.0, row.difference)[: len(columns)] for row in first.per_topic)
    return Table(f"Topics under {first.measure}", columns, rows)


def chart_tables(chart: Chart) -> Iterator[Table]:
    """Yield the rows of a graph as tables, as the page shows them behind it."""
    by = chart.columns.index(chart.by) if chart.by else None
    names = [""] if by is None else list(dict.fromkeys(row[by] for row in chart.rows))
    for name in names:
        rows = [row for row in chart.rows if by is None or row[by] == name]
        title = f"{chart.title}: {name}" if name else chart.title
        headings, body = _pivoted(chart, rows) if chart.pivot else (chart.columns, rows)
        yield Table(title, _columns(headings, body), tuple(body), (chart.caption,))


def _pivoted(chart: Chart, rows: list[Row]) -> tuple[tuple[str, ...], list[Row]]:
    """Return a row for every value of one column, a column for every value of another."""
    down, across, value = (chart.columns.index(name) for name in chart.pivot or ())
    names = list(dict.fromkeys(row[across] for row in rows))
    lines: dict[Value, dict[Value, Value]] = {}
    for row in rows:
        lines.setdefault(row[down], {})[row[across]] = row[value]
    keys = list(lines)
    if all(isinstance(key, int | float) for key in keys):
        keys.sort(key=float)  # type: ignore[arg-type]  # all are numbers
    headings = (chart.head or chart.columns[down], *map(str, names))
    return headings, [(key, *(lines[key].get(name) for name in names)) for key in keys]


def _columns(headings: tuple[str, ...], rows: list[Row]) -> tuple[Column, ...]:
    """Return columns of words where any value is a word, else of numbers."""
    kinds = [any(isinstance(value, str) for value in column) for column in zip(*rows, strict=True)]
    return tuple(Column(heading, words=kind) for heading, kind in zip(headings, kinds, strict=True))
