"""Scores over time: a folder of ``focuseval score --format json`` files as a table, and as a page with its graphs.

Files are put in order by what their names say: a date or time at the beginning or anywhere in the name
(``2026-03-01``, ``20260301T1200``), else a running number (``0007-4f2a9c1.json``), else the name itself, numbers in it
compared as numbers. Put the date or the number of the commit into the name and the order is right.

Files with values per topic have intervals: of the change since the anchor, else since the first value of the line.
"""

from __future__ import annotations

import math
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from focuseval.data.tables import ABSENT, Table, numbers, words
from focuseval.errors import FormatError, MeasureError, counted
from focuseval.evaluation.score_file import Basis, finite, read_score_file, topic_values
from focuseval.inference.paired import judge_pairs
from focuseval.inference.paired_tests import paired_differences
from focuseval.inference.sentences import change, changed_basis, signed
from focuseval.inference.settings import Settings
from focuseval.report.charts.chart import MOST_LINES, Chart, axis, hover, lines_and_points, number, wide
from focuseval.report.page import chart_data, render_page

_DATE = re.compile(r"(\d{4})-?([01]\d)-?([0-3]\d)(?:[T_ -]?([0-2]\d)[:-]?([0-5]\d)(?:[:-]?([0-5]\d))?)?")
_HASH = re.compile(r"(?<![0-9a-f])(?=[0-9]*[a-f])[0-9a-f]{7,40}(?![0-9a-f])")
FIRST = "its line's first value"
MOST_GRAPHS = 12
MOST_NAMES = 40  # files whose names fit below a graph
_REMEDY = "put files there that 'focuseval score … --format json -o FILE' wrote"


@dataclass(frozen=True)
class Point:
    """One run's mean under one measure, in one file."""

    file: str
    run: str
    measure: str
    mean: float | None
    date: str | None
    basis: Basis
    values: dict[str, float]
    """Topic → value; empty where the file has means alone."""
    line: str = ""  # the run, by its latest name where every file holds one run
    since: tuple[float, float, float] | None = None
    """The change since the anchor, or since the first value of the line, and its 95 % interval."""

    @property
    def bar(self) -> tuple[float | None, ...]:
        """The ends of the interval, beside the mean."""
        difference, *ends = self.since or (math.nan,) * 3
        return tuple(number((self.mean or 0.0) - difference + end) for end in ends)

    def to_json(self) -> dict[str, Any]:
        """Return what is printed."""
        return {name: value for name, value in vars(self).items() if name not in {"basis", "values"}}


@dataclass(frozen=True)
class History:
    """Every point, files in order."""

    files: tuple[str, ...]
    points: tuple[Point, ...]
    changes: tuple[tuple[str, tuple[str, ...]], ...]
    """Files whose gold, documents or policies differ from those before, each with what changed."""
    references: tuple[Point, ...] = ()  # of the anchor and the baseline
    said: tuple[str, ...] = ()  # sentences on names that changed, and on what is not held against the anchor
    since: str = FIRST  # what changes are held against
    subjects: dict[str, str] = field(default_factory=dict)
    """File → the subject of the commit that its name names, where the folder is in its repository."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences on these files."""
        return (*(changed_basis(file, parts) for file, parts in self.changes), *self.said)

    @property
    def measures(self) -> tuple[str, ...]:
        """The measures, in order of appearance."""
        return tuple(dict.fromkeys(point.measure for point in self.points))

    @property
    def runs(self) -> tuple[str, ...]:
        """The runs by their latest names, in order of appearance."""
        return tuple(dict.fromkeys(point.line for point in self.points))

    def only(self, measures: Sequence[str]) -> History:
        """Return the history of some measures, of all where none is named; an unknown one is refused."""
        unknown = [name for name in measures if name not in self.measures]
        if unknown:
            raise MeasureError(f"{unknown[0]} is in none of the score files; there are {', '.join(self.measures)}")
        kept = tuple(point for point in self.points if not measures or point.measure in measures)
        return replace(self, points=kept)

    def to_json(self) -> dict[str, Any]:
        """Return the history as plain values."""
        points, references = ([point.to_json() for point in some] for some in (self.points, self.references))
        about = {"files": list(self.files), "changes": list(self.notes), "since": self.since, "commits": self.subjects}
        return about | {"points": points, "references": references}


def read_history(folder: str | Path, anchor: str | None = None, baseline: str | None = None) -> History:
    """Read every JSON file of scores in a folder, and what they are held against."""
    place = Path(folder)
    if not place.is_dir():
        raise FormatError("expected a folder of score files, found none", at=str(folder), remedy=_REMEDY)
    paths = sorted((p for p in place.iterdir() if p.suffix == ".json" and p.is_file()), key=lambda p: order_key(p.stem))
    if not paths:
        raise FormatError("expected score files (*.json), found none", at=str(folder), remedy=_REMEDY)
    given = {what: file for what, file in (("anchor", anchor), ("baseline", baseline)) if file}
    held = {what: _read(file, f"{what} {file}", one=True) for what, file in given.items()}
    pinned, files = (
        {p.measure: p for p in held["anchor"][2]} if anchor else {},
        [_read(path, path.stem) for path in paths],
    )
    alone = all(len(names) == 1 for _, names, _ in files)
    points, changes, said, first = list[Any](), list[tuple[str, tuple[str, ...]]](), list[str](), dict[Any, Point]()
    for path, (was, before, _), (basis, names, own) in zip(paths, [files[0], *files], files, strict=False):
        if parts := dict.fromkeys(what.split(" ")[0] for what, *_ in was.differences(basis)):
            changes.append((path.stem, tuple(parts)))  # a step there is no drift
            first.clear()
        gone, new = (", ".join(sorted({*one} - {*other})) for one, other in ((before, names), (names, before)))
        if gone and new:
            what = f"{gone} is called {new} from here on; its line goes on"
            if not alone:
                what = f"{gone} ends before it and {new} begins; no line goes on where a file holds several runs"
            said.append(f"{path.stem}: {what}.")
        for point in own:
            one = replace(point, line=files[-1][1][0] if alone else point.run)
            points.append((one, pinned.get(one.measure) if anchor else first.setdefault((one.line, one.measure), one)))
    drawn = _with_changes(points)
    if anchor and (apart := sum(point.since is None for point in drawn)):
        why = "other gold, documents, policies or topics, or means alone"
        said.append(f"{anchor}: {apart} of {len(drawn)} means are not held against the anchor ({why}).")
    references, stems = tuple(p for *_, own in held.values() for p in own), tuple(path.stem for path in paths)
    since = "the anchor" if anchor else FIRST
    return History(stems, tuple(drawn), tuple(changes), references, tuple(said), since, subjects_of(place, stems))


def subjects_of(folder: Path, names: Sequence[str]) -> dict[str, str]:
    """Return name → the subject of the commit whose hash it holds; nothing where git or the commit is missing."""
    hashes = {name: found[0] for name in names if (found := _HASH.search(name))}
    git = shutil.which("git")
    if git is None or not hashes:
        return {}
    told = ("log", "--ignore-missing", "--no-walk=unsorted", "--no-show-signature", "--format=%H %s")
    command = [git, "-C", str(folder), "-c", "core.fsmonitor=false", *told, *hashes.values(), "--"]
    try:
        done = subprocess.run(command, capture_output=True, check=True, timeout=30, text=True, errors="replace")  # noqa: S603  found on the path
    except (OSError, subprocess.SubprocessError):
        return {}
    lines = [line.partition(" ") for line in done.stdout.splitlines()]
    return {name: said for name, short in hashes.items() for whole, _, said in lines if whole.startswith(short)}


def _with_changes(points: list[tuple[Point, Point | None]]) -> list[Point]:
    """Return points with the change since others, where they are of the same topics, gold, documents and policies."""
    found, pairs = [now for now, _ in points], dict[int, list[tuple[int, list[list[float]]]]]()
    for place, (now, then) in enumerate(points):
        same = then is not None and then is not now and then.values.keys() == now.values.keys()
        if then is not None and same and now.values and not any(then.basis.differences(now.basis)):
            both = [[side.values[topic] for topic in now.values] for side in (now, then)]
            pairs.setdefault(len(now.values), []).append((place, both))
    for own in pairs.values():  # of as many topics: judged together
        after, before = np.array([both for _, both in own]).transpose(1, 0, 2)
        judged = judge_pairs(paired_differences(after, before), Settings("t", resamples=1000))
        changes = zip(judged.difference.tolist(), judged.low.tolist(), judged.high.tolist(), strict=True)
        for (place, _), since in zip(own, changes, strict=True):
            found[place] = replace(found[place], since=since)
    return found


def _read(path: str | Path, name: str, *, one: bool = False) -> tuple[Basis, list[str], list[Point]]:
    """Return what a file of scores was made from, its runs, and their means with the values of topics."""
    document = read_score_file(path, _REMEDY)
    if not all(isinstance(run.get("measures"), dict) for run in document["runs"]):
        raise FormatError("expected scores with their runs, found something else", at=str(path), remedy=_REMEDY)
    names = [str(run.get("run", "")) for run in document["runs"]]
    if one and len(names) > 1:
        remedy = "write it with 'focuseval gate --update'"
        raise FormatError(f"expected one run, found {', '.join(names)}", at=str(path), remedy=remedy)
    basis, points = Basis(*(str(document.get(name, "")) for name in ("gold_sha256", "docs_sha256", "signature"))), []
    for run_id, run in zip(names, document["runs"], strict=True):
        topics = topic_values(run["per_topic"], path, _REMEDY) if isinstance(run.get("per_topic"), dict) else {}
        for measure, mean in run["measures"].items():  # None where no topic has a value
            value = None if mean is None else finite(mean, str(measure), path, _REMEDY)
            values = {topic: own[measure] for topic, own in topics.items() if measure in own}
            points.append(Point(name, run_id, str(measure), value, date_of(name), basis, values))
    return basis, names, points


def date_of(name: str) -> str | None:
    """Return the date and time in a file's name as ISO 8601 writes it; None where there is none.

    >>> date_of("20260301T1215-f00"), date_of("2026-19-31"), date_of("commit-9")
    ('2026-03-01T12:15:00', None, None)
    """
    parts = [int(part or 0) for part in found.groups()] if (found := _DATE.search(name)) else [0, 0, 0]
    with suppress(ValueError):
        return datetime(*parts).isoformat()  # type: ignore[arg-type]  # noqa: DTZ001  the name has no zone
    return None


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
    """Return a row per file and run, a column per measure, with the change since the line's last value.

    With an anchor, the change since that stands behind it, with its interval.
    """
    last: dict[tuple[str, str], float] = {}
    rows = []
    every = (*history.references, *history.points)
    for name in dict.fromkeys(point.file for point in every):
        own = [point for point in every if point.file == name]
        for run in dict.fromkeys(point.run for point in own):
            values = {point.measure: point for point in own if point.run == run}
            cells = []
            for measure in history.measures:
                point = values.get(measure)
                if point is None or point.mean is None:
                    cells.append(ABSENT)
                    continue
                since = change(last.get((point.line, measure)), point.mean)
                cells.append(f"{point.mean:.4f} ({since})" if since else f"{point.mean:.4f}")
                if point.since and history.since == "the anchor":
                    difference, low, high = map(signed, point.since)
                    cells[-1] += f" anchor {difference} [{low}, {high}]"
                last[point.line, measure] = point.mean
            rows.append((name, run, *cells))
    columns = (*words("file", "run"), *numbers(*history.measures))
    return Table("Means over time", columns, tuple(rows), history.notes)


def history_charts(history: History, *, zero: bool = False) -> Iterator[Chart]:
    """Draw a line for each of the latest runs under each of the first measures; the table has all measures.

    With `zero`, axes begin at 0. The axis is time where every file's name has a date. A dashed rule stands wherever
    values are not comparable.
    """
    files, named = list(history.files), len(history.files) <= MOST_NAMES
    labels = {"labels": named, "ticks": named, "labelAngle": -40, "labelLimit": 110}
    x: dict[str, Any] = {"field": "file", "type": "ordinal", "sort": None, "scale": {"domain": files}, "axis": labels}
    x["title"] = "file" if named else f"{len(files)} files, in order"
    if all(point.date for point in history.points):
        x = {"field": "date", "type": "temporal", "title": "date"}
    for place, measure in enumerate(history.measures[:MOST_GRAPHS]):
        own = [p for p in history.points if p.measure == measure and p.mean is not None]
        said = history.subjects
        rows = tuple((p.file, p.line, number(p.mean), p.date, p.run, *p.bar, said.get(p.file, "")) for p in own)
        references = [(p.mean, p.file.partition(" ")) for p in history.references if p.measure == measure]
        held = [{"mean": number(mean), "name": f"{what} {Path(file).name}"} for mean, (what, _, file) in references]
        front = list(dict.fromkeys(p.line for p in reversed(own)))[:MOST_LINES]
        runs = len({p.line for p in own})
        caption = f"Mean {measure} of every run, file by file."
        if runs > len(front):
            caption += f" The {len(front)} latest of {runs} runs are drawn."
        if any(p.since for p in own):
            caption += f" Bars: the 95 % interval of the change since {history.since}, over the same topics."
        if history.changes:
            caption += " Dashed: gold, documents or policies changed, so the two sides are not comparable."
        y = axis("mean", measure, scale={"zero": zero})
        lines, points = lines_and_points(front)
        among = [{"filter": {"field": "run", "oneOf": front}}]
        point = {"mark": {"type": "point", "filled": True, "size": 60, "opacity": 1}, "transform": among}
        rule: dict[str, Any] = {"type": "rule", "color": "#888888", "aria": False}  # what it shows is in the table, too
        changed = {"filter": {"field": "file", "oneOf": [file for file, _ in history.changes]}}
        bars = {"x": x, "y": axis("low", measure), "y2": {"field": "high"}, "color": lines["color"]}
        told = hover(file="", name="", mean=".4f", low=".4f", high=".4f", **({"commit": ""} if said else {}))
        label, name = {"type": "text", "dy": -6, "aria": False}, {"y": y, "text": {"field": "name"}}
        ends = (("left", 4), ("right", "width"))  # an anchor and a baseline of one mean are named at either end
        layer: list[dict[str, Any]] = [
            {"mark": {"type": "line", "strokeWidth": 2}, "transform": among, "encoding": {"x": x, "y": y, **lines}},
            {"mark": {"type": "rule", "strokeWidth": 1, "aria": False}, "transform": among, "encoding": bars},
            {**point, "encoding": {"x": x, "y": y, **points, "tooltip": told}},
            {"mark": {**rule, "strokeDash": [4, 4]}, "transform": [changed], "encoding": {"x": x}},
            {"data": {"values": held}, "mark": rule, "encoding": {"y": y}},
            *(
                {"data": {"values": [one]}, "mark": {**label, "align": side}, "encoding": {**name, "x": {"value": at}}}
                for one, (side, at) in zip(held, ends, strict=False)
            ),
        ]
        columns = ("file", "run", "mean", "date", "name", "low", "high", "commit")
        spec = wide(260, layer=layer)
        yield Chart(f"history-{place}", measure, caption, "history", columns, rows, spec, columns[:3])


def render_history(history: History, title: str = "Scores over time", *, zero: bool = False) -> str:
    """Return the page: a graph per measure, a line per run, and the table behind them."""
    charts = tuple(history_charts(history, zero=zero))
    return render_page(
        "history.html",
        ("dom.js", "charts.js", "main.js"),
        {"charts": [chart_data(chart) for chart in charts]},
        title=title,
        history=history,
        counts=[
            counted(len(some), noun)
            for some, noun in ((history.files, "score file"), (history.runs, "run"), (history.measures, "measure"))
        ],
        charts=charts,
        grid=history_table(history),
        more=len(history.measures) - len(charts),
    )
