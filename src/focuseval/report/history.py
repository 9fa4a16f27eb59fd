"""Scores over time: a folder of ``focuseval score --format json`` files becomes a line per run and measure.

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
from focuseval.evaluation.score_file import decisions, finite, read_score_file

if TYPE_CHECKING:
    from collections.abc import Sequence

_DATE = re.compile(r"(\d{4})-?([01]\d)-?([0-3]\d)(?:[T_ -]?([0-2]\d)[:-]?([0-5]\d)(?:[:-]?([0-5]\d))?)?")
_REMEDY = "put files there that 'focuseval score … --format json -o FILE' wrote"


@dataclass(frozen=True)
class Point:
    """One run's mean under one measure, in one file."""

    file: str
    run: str
    measure: str
    mean: float | None
    basis: str
    """Gold, documents and policies: values on another basis are not comparable."""


@dataclass(frozen=True)
class History:
    """Every point, files in order."""

    files: tuple[str, ...]
    points: tuple[Point, ...]
    changes: tuple[str, ...]
    """Sentences on files whose gold, documents or policies differ from those before."""

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
        points = [{"file": p.file, "run": p.run, "measure": p.measure, "mean": p.mean} for p in self.points]
        return {"files": list(self.files), "points": points, "changes": list(self.changes)}


def read_history(folder: str | Path) -> History:
    """Read every JSON file of scores in a folder."""
    place = Path(folder)
    if not place.is_dir():
        raise FormatError("expected a folder of score files, found none", at=str(folder), remedy=_REMEDY)
    paths = sorted((p for p in place.iterdir() if p.suffix == ".json" and p.is_file()), key=lambda p: order_key(p.stem))
    if not paths:
        raise FormatError("expected score files (*.json), found none", at=str(folder), remedy=_REMEDY)
    documents = [(path.stem, _read(path)) for path in paths]
    points = tuple(point for name, document in documents for point in _points(name, document))
    return History(tuple(name for name, _ in documents), points, tuple(_changes(documents)))


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


def _read(path: Path) -> dict[str, Any]:
    document = read_score_file(path, _REMEDY)
    if not all(isinstance(run.get("measures"), dict) for run in document["runs"]):
        raise FormatError("expected scores with their runs, found something else", at=str(path), remedy=_REMEDY)
    for run in document["runs"]:
        for measure, mean in run["measures"].items():
            if mean is not None:  # no topic has a value
                run["measures"][measure] = finite(mean, str(measure), path, _REMEDY)
    return document


def _points(name: str, document: dict[str, Any]) -> list[Point]:
    basis = basis_of(document)
    return [
        Point(name, str(run.get("run", "")), str(measure), mean, basis)
        for run in document["runs"]
        for measure, mean in run["measures"].items()
    ]


def basis_of(document: dict[str, Any]) -> str:
    """Return what scores were computed from and how, without the version."""
    policies = sorted(f"{name}:{word}" for name, word in decisions(str(document.get("signature", ""))).items())
    return "|".join([str(document.get("gold_sha256")), str(document.get("docs_sha256")), *policies])


def _changes(documents: list[tuple[str, dict[str, Any]]]) -> list[str]:
    """Say where the basis changes: a step there is no drift."""
    said = []
    for (_, before), (name, after) in pairwise(documents):
        if basis_of(before) == basis_of(after):
            continue
        named = (("gold_sha256", "the gold"), ("docs_sha256", "the documents"))
        what = [words for key, words in named if before.get(key) != after.get(key)]
        said.append(
            f"{name}: {' and '.join(what) or 'the policies'} changed here, so values before it are not comparable."
        )
    return said


def history_table(found: History) -> Table:
    """Return a row per file and run, a column per measure, with the change since the run's last value."""
    last: dict[tuple[str, str], float] = {}
    rows = []
    for name in found.files:
        own = [point for point in found.points if point.file == name]
        for run in dict.fromkeys(point.run for point in own):
            values = {point.measure: point.mean for point in own if point.run == run}
            rows.append((name, run, *(_cell(last, run, m, values.get(m)) for m in found.measures)))
    columns = (*words("file", "run"), *numbers(*found.measures))
    return Table("Means over time", columns, tuple(rows), found.changes)


def _cell(last: dict[tuple[str, str], float], run: str, measure: str, value: float | None) -> str:
    if value is None:
        return ABSENT
    before = last.get((run, measure))
    last[run, measure] = value
    change = "" if before is None or value == before else f" ({value - before:+.4f})".replace("-", "−")
    return f"{value:.4f}{change}"
