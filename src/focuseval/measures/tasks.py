"""The tasks of INEX and of RAG, the rules that a run can break, and what a check found or a repair changed.

Findings are columns of rows, worded only when they are read, as lines or as JSON.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, TypeAlias, overload

import numpy as np

from focuseval.data.run import Run
from focuseval.engine.lazy import cached_property
from focuseval.errors import UsageError, counted, did_you_mean
from focuseval.measures.topicwise import Integers

Level: TypeAlias = Literal["error", "warning", "change"]
"""An error makes a run invalid: it is not scored. A warning is scored by a rule that the measures have for it. A change
is what a repair did."""

MOST_RESULTS = 1500  # INEX's limit for one topic


@dataclass(frozen=True)
class Task:
    """One task: its name and what it forbids."""

    name: str
    summary: str
    limit: int | None = MOST_RESULTS  # most results of a topic, or None
    cut: bool = False
    """Whether lists are cut at the limit before they are scored: results beyond it break no other rule."""
    overlap: bool = True  # whether two results of a topic may share text
    grouped: bool = False  # whether the results of an article must stand together; their scores then need not fall
    one_per_article: bool = False
    aliases: tuple[str, ...] = ()


TASKS: tuple[Task, ...] = (
    Task("thorough", "All relevant elements, ranked; nested elements allowed.", aliases=("co", "cas", "adhoc")),
    Task("focused", "The most focused results, ranked; no two overlap.", overlap=False, aliases=("focussed",)),
    Task("relevant-in-context", "Articles, ranked; within each a set of results without overlap.",
        overlap=False, grouped=True, aliases=("ric", "allincontext")),
    Task("best-in-context", "Articles, ranked; one entry point in each.", one_per_article=True, aliases=("bic",)),
    Task("fetch-browse", "Articles, ranked; within each its results.", grouped=True, aliases=("fetchandbrowse",)),
    Task("spans", "Spans of text, ranked, as a retriever for RAG returns them.", limit=None, aliases=("rag",)),
)  # fmt: skip
"""Every task, in the order of the documentation."""


def find_task(name: str) -> Task:
    """Return a task by its name, in any of the ways in which run files write it.

    >>> find_task("COS.Focussed ").name, find_task("RelevantInContext").name
    ('focused', 'relevant-in-context')
    """
    key = "".join(letter for letter in name.rpartition(".")[2].lower() if letter.isalnum())
    for task in TASKS:
        if key in {task.name.replace("-", ""), *task.aliases}:
            return task
    known = [task.name for task in TASKS]
    raise UsageError(
        f"expected a task ({', '.join(known)}), found {name!r}; {did_you_mean(name, known, 'name one of these')}"
    )


@dataclass(frozen=True)
class Rule:
    """One rule; a finding fills in the fields of `what` and `repaired`."""

    name: str
    what: str
    remedy: str
    repaired: str = ""  # what a repair does about it; empty where nothing is done
    level: Level = "warning"  # how grave it is, where the task or the result does not decide


UNKNOWN_DOCUMENT = Rule("unknown-document", "expected a document of the collection, found {document}",
    "leave it out", "dropped: {document} is unknown")  # fmt: skip
UNKNOWN_PATH = Rule("unknown-path", "expected an element of {document}, found {place}",
    "leave it out", "dropped: {place} is not in {document}")  # fmt: skip
UNPLACED = Rule("unplaced-text", "expected a text of {document}, found one that is nowhere in it, or in several places",
    "correct the text, or number the chunks", "dropped: its text has no one place in {document}")  # fmt: skip
BAD_SPAN = Rule("bad-span", "expected a span inside {document}, found {place}",
    "correct the offsets", "dropped: {place} is no span of {document}", level="error")  # fmt: skip
BAD_SCORE = Rule("bad-score", "expected a finite score, found {score}",
    "write a number", "score {score} replaced by its neighbour's", level="error")  # fmt: skip
REPEATED_KEY = Rule("repeated-key",
    "expected each JSON key once, found a key again on the line; of {document} only the last value was read",
    "remove one of the two", "read with the last value of a key that the line repeats")  # fmt: skip
SPLIT_TOPIC = Rule("split-topic",
    "expected the results of a topic together, found topic {topic} again after another one ({count} topics so split)",
    "sort the file by topic", "the results of topic {topic} joined")  # fmt: skip
RANK_REPEATS = Rule("rank-repeats", "expected each rank once, found rank {rank} again (first on line {other})",
    "renumber")  # fmt: skip
RANK_JUMPS = Rule("rank-jumps", "expected consecutive ranks, found rank {rank} after a gap", "renumber")
SCORE_ORDER = Rule("score-order",
    "expected scores that fall with the rank, found {score} above the score on line {other}",
    "sort by score, or correct the scores", "score {score} lowered to the score before it")  # fmt: skip
DUPLICATE = Rule("duplicate", "expected each result once, found {document} {place} again (first on line {other})",
    "leave it out", "dropped: {document} {place} is on line {other} already")  # fmt: skip
TOO_MANY = Rule("too-many", "expected at most {limit} results, found one more",
    "cut the list", "dropped: beyond {limit} results")  # fmt: skip
INTERLEAVED = Rule("interleaved",
    "expected the results of {document} together (first on line {other}), found another article between",
    "group results by article", "moved up to the other results of {document}")  # fmt: skip
SECOND_RESULT = Rule("second-result",
    "expected one result for an article, found {document} again (first on line {other})", "keep the best one",
    "dropped: {document} has a result on line {other}", level="error")  # fmt: skip
OVERLAP = Rule("overlap", "expected no overlap, found {document} {place} overlapping the result on line {other}",
    "keep the higher-ranked one", "dropped: {document} {place} overlaps the result on line {other}",
    level="error")  # fmt: skip
UNCHECKED = Rule("unchecked",
    "expected documents to tell where {document} {place} lies, found none: its overlap is not checked",
    "give docs= or index=")  # fmt: skip
RENUMBERED = Rule("renumbered", "rank {rank}", "", "rank {rank} renumbered")


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


@dataclass(frozen=True, eq=False)
class Broken:
    """All rows of a run that break one rule, each with the other row it clashes with (itself where none)."""

    rule: Rule
    rows: Integers
    others: Integers
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
    def lines(self) -> Integers:
        """The line of every row of the run."""
        return np.arange(1, len(self.run) + 1) if self.run.line is None else np.asarray(self.run.line, np.int64)

    @cached_property
    def _order(self) -> tuple[Integers, Integers]:
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
        rule, within = (int(column[item]) for column in self._order)
        part, run = self.broken[rule], self.run
        row, other = int(part.rows[within]), int(part.others[within])
        topic = run.topic_of(row)
        what = (part.rule.repaired if self.repaired else part.rule.what).format(
            document=run.document[row].as_py(), place=place_of(run, row),
            rank="" if run.rank is None else int(run.rank[row]),
            score="" if run.score is None else float(run.score[row]),
            other=int(self.lines[other]), limit=self.limit, topic=topic, count=len(run.split_topics),
        )  # fmt: skip
        remedy, line = "" if self.repaired else part.rule.remedy, int(self.lines[row])
        return Finding(part.rule.name, part.level, run.file or run.run_id, line, topic, what, remedy)

    @property
    def counts(self) -> dict[str, int]:
        """How often each rule is broken; rules that hold are left out."""
        counts = Counter[str]()
        for part in self.broken:
            counts[part.rule.name] += len(part.rows)
        return dict(+counts)

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
        "file": run.file, "run": run.run_id, "task": task.name, "results": len(run), "topics": len(run.topics),
        "lawful": findings.lawful, "repaired": findings.repaired,
        "errors": findings.errors, "warnings": findings.of_level("warning"), "counts": findings.counts,
        "findings": [asdict(finding) for finding in findings[:limit]],
    }  # fmt: skip


def with_repeated_keys(findings: Findings, data: bytes) -> Findings:
    """Add the results whose lines of JSON repeat a key: readers take its last value."""
    lengths: list[tuple[int, int]] = []
    repeated = []
    for number, line in enumerate(data.split(b"\n"), 1):
        lengths.clear()
        if line.strip():
            json.loads(line, object_pairs_hook=lambda pairs: lengths.append((len(pairs), len(dict(pairs)))))
        if any(given > kept for given, kept in lengths):
            repeated.append(number)
    rows = np.flatnonzero(np.isin(findings.lines, repeated))
    broken = Broken(REPEATED_KEY, rows, rows, "change" if findings.repaired else "warning")
    return replace(findings, broken=(broken, *findings.broken)) if len(rows) else findings
