"""Ranked results: what a system returned for every topic, as columns.

Rows stand in ranking order within their topic, and topics in blocks, in the order in which the file names them
first. A result is a whole document, an element (`path`), a range of elements or an XPointer passage
(`path` … `end_path`), a span (`start`, `end`), an entry point (`start` alone) or a chunk's `text`. What is not
said is −1, null or None; `focuseval.formats` reads it, an index resolves paths into spans. A run without any
place (no `start`, `path` or `text` column) returns whole documents; in a run with places, a row without one is a
result whose place the file declares unknown (``X``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from focuseval.data.placement import Placement
from focuseval.data.remarks import Remark
from focuseval.data.tables import Described, Framed
from focuseval.engine.lazy import cached_property
from focuseval.errors import FormatError, Place, counted

if TYPE_CHECKING:
    from numpy.typing import NDArray


COLUMNS = (
    *("topic", "document", "rank", "score", "start", "end"),
    *("path", "end_path", "text", "chunk", "line", "listed", "keys"),
)
"""The columns of a run: what has an entry for every result."""


class Statement(NamedTuple):
    """A sentence of an answer, and the numbers of the topic's results that it cites, in the order of the file."""

    text: str
    cites: tuple[int, ...] = ()


class CitedAnswer(NamedTuple):
    """What was answered to a question."""

    statements: tuple[Statement, ...]
    abstains: bool = False  # whether it says, by a field or in words that the user named, that it does not answer

    @property
    def text(self) -> str:
        """The whole answer."""
        return " ".join(statement.text for statement in self.statements)


@dataclass(frozen=True, eq=False, repr=False)
class Run(Described, Framed):
    """One run: its name, its topics and the columns of its results."""

    run_id: str
    topics: tuple[str, ...]
    topic: NDArray[np.int32]
    """Codes into `topics`, non-decreasing."""
    document: pa.Array
    """Document ids: a string or dictionary-encoded Arrow array (maybe chunked)."""
    rank: NDArray[np.int32] | None = None
    """Ranks as the file gives them; None when it gives none. The order of rows is the ranking."""
    score: NDArray[np.float64] | None = None
    start: NDArray[np.int64] | None = None
    """First code point, −1 where unknown; None when no row has one."""
    end: NDArray[np.int64] | None = None
    """One past the last code point, −1 where unknown (an entry point has a start alone)."""
    path: pa.Array | None = None
    end_path: pa.Array | None = None
    text: pa.Array | None = None
    """A chunk's own text, to be aligned."""
    chunk: NDArray[np.int64] | None = None
    """Position of a chunk among its document's chunks, −1 where unknown: its neighbours tell repeated texts apart."""
    line: NDArray[Any] | None = None
    """Line of every result in its file; None when row i stands on line i + 1."""
    listed: NDArray[np.int64] | None = None
    """Place of every result in its file, where scores alone put the results into another order."""
    keys: NDArray[np.uint64] | None = None
    """`focuseval.engine.native.hash64` of the document ids, where the reader has computed it and, by it, found no
    document twice in a topic; a promise that saves the match a second look at every id."""
    file: str = ""
    task: str = ""
    participant: str = ""
    sha256: str = ""
    attributes: Mapping[str, str] = field(default_factory=dict)
    placement: Placement | None = None
    """Where the results lie in a collection, once `focuseval.placing` has put them there."""
    remarks: tuple[Remark, ...] = ()
    """What a reader noticed and did not change."""
    origin: str = ""
    """The package whose format read it, with its version, where it is none of ours."""
    queries: Mapping[str, str] = field(default_factory=dict)
    """Topic → what was asked, where the file says it and names the topics otherwise."""
    answers: Mapping[str, CitedAnswer] = field(default_factory=dict)
    """Topic → its answer, where the results are what answers cite; empty for a run of a retriever."""
    faults: tuple[FormatError, ...] = ()
    """Why no measure can be computed: the first score that is no finite number, the first document that a TREC run
    repeats. `focuseval.formats.read_run` raises the first unless it is asked to keep them."""

    def __len__(self) -> int:
        return len(self.topic)

    def description(self) -> str:
        """Return one line: kind, name, file and counts."""
        file = f" {self.file}" if self.file else ""
        return f"Run {self.run_id!r}{file}: {counted(len(self.topics), 'topic')}, {counted(len(self), 'result')}"

    def to_arrow(self) -> pa.Table:
        """Return a table of the results, best first, in the columns that 'focuseval formats run-rows' names."""
        names = pc.take(pa.array(self.topics, pa.string()), pa.array(self.topic))
        columns: dict[str, Any] = {"topic": names, "doc": self.document.cast(pa.string())}
        for name in COLUMNS[2:10]:
            column = getattr(self, name)
            if column is not None and name in {"start", "end", "chunk"}:
                column = pa.array(column, mask=column < 0)
            columns |= {} if column is None else {name: column}
        return pa.table(columns | ({"run": pa.repeat(self.run_id, len(self))} if self.run_id else {}))

    def take(self, rows: NDArray[np.integer]) -> Run:
        """Return the run with these rows only, in this order; topics must stay in blocks."""
        taken = {name: column.take(rows) for name in COLUMNS if (column := getattr(self, name)) is not None}
        return replace(self, **taken, placement=None if self.placement is None else self.placement.take(rows))

    def at(self, row: int) -> Place:
        """Return where a result stands in its file."""
        return Place(self.file or "<run>", int(row) + 1 if self.line is None else int(self.line[row]))

    def topic_of(self, row: int) -> str:
        """Return the name of a result's topic."""
        return self.topics[int(self.topic[row])]

    @cached_property
    def split_topics(self) -> tuple[tuple[str, int], ...]:
        """The topics whose lines do not stand together in the file, each with the line where it comes back."""
        if self.line is None or len(self.topics) < 2 or not len(self):
            return ()
        bounds = np.flatnonzero(np.r_[True, self.topic[1:] != self.topic[:-1]])
        first, last = np.minimum.reduceat(self.line, bounds), np.maximum.reduceat(self.line, bounds)
        order = np.argsort(first)
        if (first[order][1:] > np.maximum.accumulate(last[order])[:-1]).all():
            return ()
        by_line = np.argsort(self.line, kind="stable")
        topic = self.topic[by_line]
        begins = np.flatnonzero(np.r_[True, topic[1:] != topic[:-1]])
        _, once = np.unique(topic[begins], return_index=True)
        again = np.delete(begins, once)
        _, earliest = np.unique(topic[again], return_index=True)
        rows = by_line[again[np.sort(earliest)]]
        return tuple((self.topic_of(row), int(self.line[row])) for row in rows.tolist())

    @property
    def whole_documents(self) -> bool:
        """Whether the results are whole documents: no row says a place."""
        return self.start is None and self.path is None and self.text is None

    @property
    def nameless(self) -> NDArray[np.int64]:
        """The rows of results that come without a document: their id is empty."""
        return np.flatnonzero(np.asarray(pc.equal(self.document.cast("string"), "")))

    @cached_property
    def bounds(self) -> NDArray[np.int64]:
        """Where each topic's block begins, and one more entry for the end of the last."""
        numbers = np.arange(len(self.topics) + 1, dtype=self.topic.dtype)  # of another type, all rows would be copied
        return np.searchsorted(self.topic, numbers).astype(np.int64)
