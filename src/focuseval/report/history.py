"""Scores over time: a folder of ``focuseval score --format json`` files as a table, and as a page with its graphs.

Files are put in order by what their names say: a date or time at the beginning or anywhere in the name
(``2026-03-01``, ``20260301T1200``), else a running number (``0007-4f2a9c1.json``), else the name itself, numbers in it
compared as numbers. Put the date or the number of the commit into the name and the order is right.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from focuseval.data.tables import ABSENT, Table, numbers, words
from focuseval.errors import FormatError, MeasureError
from focuseval.evaluation.score_file import Basis, finite, read_score_file
from focuseval.inference.sentences import change, changed_basis
from focuseval.report.charts.chart import MOST_LINES, Chart, axis, hover, lines_and_points, number, wide
from focuseval.report.page import chart_data, render_page

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_DATE = re.compile(r"(\d{4})-?([01]\d)-?([0-3]\d)(?:[T_ -]?([0-2]\d)[:-]?([0-5]\d)(?:[:-]?([0-5]\d))?)?")
MOST_GRAPHS = 12
MOST_NAMES = 40
"""Files whose names fit below a graph."""
_REMEDY = "put files there that 'focuseval score … --format json -o FILE' wrote"


@dataclass(frozen=True)
class Point:
    """One run's mean under one measure, in one file."""

    file: str
    run: str
    measure: str
    mean: float | None


@dataclass(frozen=True)
class History:
    """Every point, files in order."""

    files: tuple[str, ...]
    points: tuple[Point, ...]
    changes: tuple[tuple[str, tuple[str, ...]], ...]
    """Files whose gold, documents or policies differ from those before, each with what changed."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences on these files."""
        return tuple(changed_basis(file, parts) for file, parts in self.changes)

    @property
    def measures(self) -> tuple[str, ...]:
        """The measures, in order of appearance."""
        return tuple(dict.fromkeys(point.measure for point in self.points))

    @property
    def runs(self) -> tuple[str, ...]:
        """The runs, in order of appearance."""
        return tuple(dict.fromkeys(point.run for point in self.points))

    def only(self, measures: Sequence[str]) -> History:
        """Return the history of some measures, of all where none is named; an unknown one is refused."""
        unknown = [name for name in measures if name not in self.measures]
        if unknown:
            raise MeasureError(f"{unknown[0]} is in none of the score files; there are {', '.join(self.measures)}")
        kept = tuple(point for point in self.points if not measures or point.measure in measures)
        return replace(self, points=kept)

    def to_json(self) -> dict[str, Any]:
        """Return the history as plain values."""
        return {"files": list(self.files), "points": [vars(p) for p in self.points], "changes": list(self.notes)}


def read_history(folder: str | Path) -> History:
    """Read every JSON file of scores in a folder."""
    place = Path(folder)
    if not place.is_dir():
        raise FormatError("expected a folder of score files, found none", at=str(folder), remedy=_REMEDY)
    paths = sorted((p for p in place.iterdir() if p.suffix == ".json" and p.is_file()), key=lambda p: order_key(p.stem))
    if not paths:
        raise FormatError("expected score files (*.json), found none", at=str(folder), remedy=_REMEDY)
    points: list[Point] = []
    bases = []
    for path in paths:
        document = read_score_file(path, _REMEDY)
        if not all(isinstance(run.get("measures"), dict) for run in document["runs"]):
            raise FormatError("expected scores with their runs, found something else", at=str(path), remedy=_REMEDY)
        names = ("gold_sha256", "docs_sha256", "signature")
        bases.append(Basis(*(str(document.get(name, "")) for name in names)))
        for run in document["runs"]:
            for measure, mean in run["measures"].items():  # None where no topic has a value
                value = None if mean is None else finite(mean, str(measure), path, _REMEDY)
                points.append(Point(path.stem, str(run.get("run", "")), str(measure), value))
    changes = []
    for (before, after), path in zip(pairwise(bases), paths[1:], strict=True):
        parts = dict.fromkeys(what.split(" ")[0] for what, *_ in before.differences(after))
        if parts:  # a step there is no drift
            changes.append((path.stem, tuple(parts)))
    return History(tuple(path.stem for path in paths), tuple(points), tuple(changes))


def order_key(name: str) -> tuple[Any, ...]:
    """Return what a file's name sorts by: its date, else its numbers and words.

    >>> sorted(["run-10", "run-9", "2026-01-02-b", "20251231-a"], key=order_key)
    ['20251231-a', '2026-01-02-b', 'run-9', 'run-10']
    """
    date = _DATE.search(name)
    if date:
        return (0, tuple(int(part or 0) for part in date.groups()), name)
    parts = tuple((int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", name) if part)
    return (1, parts, name)


def history_table(history: History) -> Table:
    """Return a row per file and run, a column per measure, with the change since the run's last value."""
    last: dict[tuple[str, str], float] = {}
    rows = []
    for name in history.files:
        own = [point for point in history.points if point.file == name]
        for run in dict.fromkeys(point.run for point in own):
            values = {point.measure: point.mean for point in own if point.run == run}
            cells = []
            for measure in history.measures:
                value = values.get(measure)
                if value is None:
                    cells.append(ABSENT)
                    continue
                since = change(last.get((run, measure)), value)
                cells.append(f"{value:.4f} ({since})" if since else f"{value:.4f}")
                last[run, measure] = value
            rows.append((name, run, *cells))
    columns = (*words("file", "run"), *numbers(*history.measures))
    return Table("Means over time", columns, tuple(rows), history.notes)


def history_charts(history: History) -> Iterator[Chart]:
    """Draw a line for each of the latest runs under each of the first measures; the table has all measures.

    A dashed rule stands wherever values are not comparable.
    """
    files, named = list(history.files), len(history.files) <= MOST_NAMES
    for place, measure in enumerate(history.measures[:MOST_GRAPHS]):
        own = [p for p in history.points if p.measure == measure and p.mean is not None]
        rows = tuple((p.file, p.run, number(p.mean)) for p in own)
        front = list(dict.fromkeys(p.run for p in reversed(own)))[:MOST_LINES]
        runs = len({p.run for p in own})
        caption = f"Mean {measure} of every run, file by file."
        if runs > len(front):
            caption += f" The {len(front)} latest of {runs} runs are drawn."
        if history.changes:
            caption += " Dashed: gold, documents or policies changed, so the two sides are not comparable."
        labels = {"labels": named, "ticks": named, "labelAngle": -40, "labelLimit": 110}
        x = {"field": "file", "type": "ordinal", "sort": None, "scale": {"domain": files}, "axis": labels}
        x["title"] = "file" if named else f"{len(files)} files, in order"
        y = axis("mean", measure, scale={"zero": False})
        lines, points = lines_and_points(front)
        among = [{"filter": {"field": "run", "oneOf": front}}]
        point = {"mark": {"type": "point", "filled": True, "size": 60, "opacity": 1}, "transform": among}
        rule = {"type": "rule", "strokeDash": [4, 4], "color": "#888888"}
        layer: list[dict[str, Any]] = [
            {"mark": {"type": "line", "strokeWidth": 2}, "transform": among, "encoding": {"y": y, **lines}},
            {**point, "encoding": {"y": y, **points, "tooltip": hover(file="", run="", mean=".4f")}},
            *({"mark": rule, "encoding": {"x": {"datum": file}}} for file, _ in history.changes),
        ]
        columns, spec = ("file", "run", "mean"), wide(260, encoding={"x": x}, layer=layer)
        yield Chart(f"history-{place}", measure, caption, "history", columns, rows, spec, columns)


def render_history(history: History, title: str = "Scores over time") -> str:
    """Return the page: a graph per measure, a line per run, and the table behind them."""
    charts = tuple(history_charts(history))
    return render_page(
        "history.html",
        ("dom.js", "charts.js", "main.js"),
        {"charts": [chart_data(chart) for chart in charts]},
        title=title,
        history=history,
        charts=charts,
        grid=history_table(history),
        more=len(history.measures) - len(charts),
    )
