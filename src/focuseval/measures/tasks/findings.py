"""What a check found or a repair changed: columns of rows, worded only when they are read, as lines or as JSON."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from focuseval.engine.lazy import cached_property
from focuseval.errors import counted
from focuseval.measures.tasks.tasks import REPEATED_KEY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from focuseval.data.run import Run
    from focuseval.measures.tasks.tasks import Level, Rule, Task


@dataclass(frozen=True)
class Finding:
    """One result that breaks one rule."""

    rule: str
    level: Level
    file: str
    line: int
    topic: str
    what: str
    remedy: str

    def __str__(self) -> str:
        """Return one line: place, level, topic, what, remedy, rule."""
        remedy = f"; {self.remedy}" if self.remedy else ""
        return f"{self.file}:{self.line}: {self.level}: topic {self.topic}: {self.what}{remedy} [{self.rule}]"

    def as_json(self) -> dict[str, Any]:
        """Return the fields by name."""
        return asdict(self)


@dataclass(frozen=True, eq=False)
class Broken:
    """All rows of a run that break one rule, each with the other row it clashes with (itself where none)."""

    rule: Rule
    rows: NDArray[np.int64]
    others: NDArray[np.int64]
    level: Level = "error"


@dataclass(frozen=True)
class Findings(Sequence[Finding]):
    """Findings in the order of the file; a million of them cost two arrays until they are read."""

    run: Run
    broken: tuple[Broken, ...]
    limit: int | None = None
    repaired: bool = False
    """Whether these are changes that a repair made."""

    @cached_property
    def lines(self) -> NDArray[np.int64]:
        """The line of every row of the run."""
        return np.arange(1, len(self.run) + 1) if self.run.line is None else np.asarray(self.run.line, np.int64)

    @cached_property
    def _order(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """For every finding, which rule and which of its rows; sorted by line, then by rule."""
        sizes = [len(part.rows) for part in self.broken]
        rule = np.repeat(np.arange(len(sizes)), sizes)
        within = np.concatenate([np.zeros(0, np.int64), *(np.arange(size) for size in sizes)])
        rows = np.concatenate([np.zeros(0, np.int64), *(part.rows for part in self.broken)])
        order = np.argsort(self.lines[rows], kind="stable")
        return rule[order], within[order]

    def __len__(self) -> int:
        """Return the number of findings, warnings included."""
        return sum(len(part.rows) for part in self.broken)

    @overload
    def __getitem__(self, item: int) -> Finding: ...

    @overload
    def __getitem__(self, item: slice) -> list[Finding]: ...

    def __getitem__(self, item: int | slice) -> Finding | list[Finding]:
        """Return one finding, or a list of some."""
        if isinstance(item, slice):
            return [self[number] for number in range(*item.indices(len(self)))]
        rule, within = self._order
        part = self.broken[rule[item]]
        return self._finding(part, int(within[item]))

    @property
    def counts(self) -> dict[str, int]:
        """How often each rule is broken; rules that hold are left out."""
        counts = Counter[str]()
        for part in self.broken:
            counts[part.rule.name] += len(part.rows)
        return {name: count for name, count in counts.items() if count}

    @property
    def errors(self) -> int:
        """The number of findings that make the run invalid."""
        return self.of_level("error")

    @property
    def first_error(self) -> Finding | None:
        """The first finding that makes the run invalid, if any."""
        serious = np.array([part.level == "error" for part in self.broken], np.bool_)[self._order[0]]
        return self[int(serious.argmax())] if serious.any() else None

    def of_level(self, level: Level) -> int:
        """Return the number of findings of one level."""
        return sum(len(part.rows) for part in self.broken if part.level == level)

    @property
    def lawful(self) -> bool:
        """Whether the run is valid: no errors, or repaired. A run without topics is not valid."""
        return bool(self.run.topics) and (self.repaired or not self.errors)

    def _finding(self, part: Broken, number: int) -> Finding:
        row, other = int(part.rows[number]), int(part.others[number])
        run = self.run
        fields = {
            "document": run.document[row].as_py(),
            "place": place_of(run, row),
            "rank": "" if run.rank is None else int(run.rank[row]),
            "score": "" if run.score is None else float(run.score[row]),
            "other": int(self.lines[other]),
            "limit": self.limit,
            "topic": run.topics[run.topic[row]],
            "count": len(run.split_topics),
        }
        what = (part.rule.repaired if self.repaired else part.rule.what).format(**fields)
        remedy = "" if self.repaired else part.rule.remedy
        topic = run.topics[run.topic[row]]
        return Finding(part.rule.name, part.level, run.file or run.run_id, int(self.lines[row]), topic, what, remedy)


def place_of(run: Run, row: int) -> str:
    """Return where a result lies in its document, as briefly as the run says it."""
    path, last = (column[row].as_py() if column is not None else None for column in (run.path, run.end_path))
    if path is not None:
        return f"{path} … {last}" if last is not None else str(path)
    start = -1 if run.start is None else int(run.start[row])
    end = -1 if run.end is None else int(run.end[row])
    if start == end == -1:
        return "(text)" if run.text is not None else "(whole document)"
    return f"{start}:{end}" if end != -1 else f"{start}"


def as_lines(findings: Findings, task: Task, limit: int | None = None) -> Iterator[str]:
    """Yield one line for each of the first findings, then counts by rule, then the verdict."""
    yield from map(str, findings[:limit])
    if limit is not None and len(findings) > limit:
        yield f"… and {len(findings) - limit:,} more"
    for part in findings.broken:
        if len(part.rows):
            yield f"{len(part.rows):>9,}  {part.rule.name} ({part.level})"
    run = findings.run
    held = f"{counted(len(run), 'result')}, {counted(len(run.topics), 'topic')}"
    yield f"{run.file or run.run_id}: {held}: {verdict(findings, task)}"


def verdict(findings: Findings, task: Task) -> str:
    """Return what became of the check, in numbers that add up to those of the rules."""
    if not findings.run.topics:
        return f"not valid for task {task.name}: it answers no topic"
    if findings.repaired:
        return f"{len(findings):,} changes for task {task.name}"
    errors, warnings = findings.errors, findings.of_level("warning")
    numbers = [counted(number, what) for number, what in ((errors, "error"), (warnings, "warning")) if number]
    answer = "not valid" if errors else "valid"
    return f"{answer} for task {task.name}" + (f": {' and '.join(numbers)}" if numbers else "")


def as_json(findings: Findings, task: Task, limit: int | None = None) -> dict[str, Any]:
    """Return the verdict, the counts by rule and the first findings."""
    run = findings.run
    return {
        "file": run.file,
        "run": run.run_id,
        "task": task.name,
        "results": len(run),
        "topics": len(run.topics),
        "lawful": findings.lawful,
        "repaired": findings.repaired,
        "errors": findings.errors,
        "warnings": findings.of_level("warning"),
        "counts": findings.counts,
        "findings": [finding.as_json() for finding in findings[:limit]],
    }


def with_repeated_keys(findings: Findings, data: bytes) -> Findings:
    """Add the results whose lines of JSON repeat a key: readers take its last value."""
    lines = list(repeated_keys(data))
    rows = np.flatnonzero(np.isin(findings.lines, lines))
    broken = Broken(REPEATED_KEY, rows, rows, "change" if findings.repaired else "warning")
    return replace(findings, broken=(broken, *findings.broken)) if len(rows) else findings


def repeated_keys(data: bytes) -> Iterator[int]:
    r"""Yield the numbers of the lines whose object repeats a key.

    >>> list(repeated_keys(b'{"a":1}\n{"a":1,"a":2}'))
    [2]
    """
    for number, line in enumerate(data.split(b"\n"), 1):
        twice: list[str] = []

        def keep(pairs: list[tuple[str, Any]], twice: list[str] = twice) -> None:
            twice += [name for name, _ in pairs[len({name for name, _ in pairs}) :]]

        if line.strip():
            json.loads(line, object_pairs_hook=keep)
        if twice:
            yield number
