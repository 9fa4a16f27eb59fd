"""What a check found, or a repair changed: columns of rows, turned into sentences only when somebody reads them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from focuseval.engine.lazy import cached_property

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from focuseval.data.run import Run
    from focuseval.measures.tasks.rules import Rule
    from focuseval.measures.tasks.tasks import Level


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
        return {part.rule.name: len(part.rows) for part in self.broken if len(part.rows)}

    @property
    def errors(self) -> int:
        """The number of findings that make the run invalid."""
        return self.of_level("error")

    def of_level(self, level: Level) -> int:
        """Return the number of findings of one level."""
        return sum(len(part.rows) for part in self.broken if part.level == level)

    @property
    def lawful(self) -> bool:
        """Whether the run obeys the rules, or was repaired; one without any topic answers nothing."""
        return bool(self.run.topics) and (self.repaired or not self.errors)

    def _finding(self, part: Broken, number: int) -> Finding:
        row, other = int(part.rows[number]), int(part.others[number])
        run = self.run
        said = {
            "document": run.document[row].as_py(),
            "place": place_of(run, row),
            "rank": "" if run.rank is None else int(run.rank[row]),
            "score": "" if run.score is None else float(run.score[row]),
            "other": int(self.lines[other]),
            "limit": self.limit,
            "topic": run.topics[run.topic[row]],
            "count": len(run.split_topics),
        }
        what = (part.rule.repaired if self.repaired else part.rule.what).format(**said)
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
