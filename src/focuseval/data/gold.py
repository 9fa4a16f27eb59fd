"""Who highlighted what: judged articles, highlighted passages, graded elements, best entry points.

A `Gold` is three tables of columns over shared codes: ``topics[code]`` and ``documents[code]`` say which topic and
document a row speaks of. Unknown numbers are −1 (`UNKNOWN`), never a guess. What a format says in its own words
(paths of passages, grades, flags) is kept beside what is derived from it, so that writing it again loses nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pyarrow as pa

from focuseval.data.placement import Placement
from focuseval.data.remarks import Remark
from focuseval.data.spans import dense, pack, swept
from focuseval.data.tables import Described, Framed
from focuseval.errors import Place, counted

if TYPE_CHECKING:
    from numpy.typing import NDArray

UNKNOWN = -1  # a number that the file does not give
TOO_SMALL = -2  # the exhaustivity ``?`` of 2005: relevant, but too small to be judged on its own
NOT_ASSESSED = -3  # the grade ``U`` (or a missing grade) of 2002–2004
_SPAN_COLUMNS = ("start", "end", "quote", "need", "relevance")
ANSWERABLE = "answerable"  # the attribute of a topic that is ``no`` where nothing in the collection answers it

ORIGIN, ASSISTED = "origin", "assisted"
"""Attributes of a topic: where its question comes from (``draft``), and whose suggestions its assessor saw."""

FACTS = ("group", ORIGIN, ASSISTED)
"""What our JSON lines say of a topic besides its query, its tags and whether it has an answer."""


@dataclass(frozen=True, eq=False)
class Columns:
    """Rows of a gold, a column at a time: of which topic, of which document."""

    topic: NDArray[np.int32]
    document: NDArray[np.int32]

    def take(self, rows: NDArray[np.integer]) -> Self:
        """Return some of the rows."""
        columns = {part.name: getattr(self, part.name) for part in fields(self)}
        return replace(self, **{name: column.take(rows) for name, column in columns.items() if column is not None})


@dataclass(frozen=True, eq=False)
class Articles(Columns):
    """Judged (topic, document) pairs, one row each, grouped by topic in file order."""

    relevance: NDArray[np.int32]
    """TREC's grade; for highlighted gold 1 where something is highlighted, else 0."""
    length: NDArray[np.int64]
    """Characters of the whole document, or UNKNOWN."""
    rsize: NDArray[np.int64]
    """Highlighted characters, or UNKNOWN."""
    bep: NDArray[np.int64]
    """Position of the best entry point, or UNKNOWN."""
    bep_path: pa.Array | None = None
    """The best entry point as the file says it (path or XPointer), null where there is none."""
    line: NDArray[np.int64] | None = None
    """Line of every judgement in its file; None when it is not known."""
    source: NDArray[np.int32] | None = None
    """Codes into `Gold.sources`; None when there is one file."""


@dataclass(frozen=True, eq=False)
class Passages(Columns):
    """Highlighted passages: spans in code points, or UNKNOWN until an index resolves their paths."""

    start: NDArray[np.int64]
    end: NDArray[np.int64]
    size: NDArray[np.int64]
    """Size as the file gives it, or UNKNOWN."""
    start_path: pa.Array | None = None
    end_path: pa.Array | None = None
    quote: pa.Array | None = None
    need: pa.Array | None = None
    """What each passage shows of what its topic needs, by name: passages of a topic with the same name are
    alternatives, of which one will do; one without a name (null) is needed itself. None where no passage has a name."""
    line: NDArray[np.int64] | None = None
    """Line (or running number, in formats without lines) of every passage in its file; None when it is not known."""


@dataclass(frozen=True, eq=False)
class GradedElements(Columns):
    """Assessed elements: grades of 2002–2004, or sizes of 2005–2007."""

    path: pa.Array  # dictionary-encoded string paths, every step with its ``[n]``
    exhaustivity: NDArray[np.int8]  # a grade (2002: relevance), TOO_SMALL or NOT_ASSESSED
    specificity: NDArray[np.int8]
    """A grade 0–3 of 2002–2004 (2002: coverage N, L, S, E as 0, 1, 2, 3, see `Gold.scale`); UNKNOWN from 2005 on."""
    size: NDArray[np.int64]
    rsize: NDArray[np.int64]
    inferred: NDArray[np.bool_] | None = None
    inpool: NDArray[np.bool_] | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Gold(Described, Framed):
    """A recall base as it was judged: what every measure is computed against."""

    topics: tuple[str, ...]
    documents: pa.Array
    articles: Articles
    passages: Passages
    elements: GradedElements
    scale: str = "highlights"
    """``coverage`` (2002), ``grades`` (2003–04), ``exhaustivity`` (2005), ``highlights`` (2006+, spans), ``trec``."""
    sha256: str = ""
    """Hash of the bytes read: golds with the same hash are the same gold."""
    file: str = ""
    queries: Mapping[str, str] = field(default_factory=dict)
    attributes: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Per topic, what the format says besides (pool, version, the topic's XML …)."""
    sources: tuple[str, ...] = ()
    """The files that were read, when they were several."""
    placement: Placement | None = None
    """Where the documents lie in a collection, once `focuseval.placing` has put the gold there."""
    remarks: tuple[Remark, ...] = ()
    """What a reader noticed and did not change: sizes that differ from the index, keys it does not know …"""
    merge: str = ""
    """The rule by which several judgements of a document became one, where a project's were merged."""
    origin: str = ""
    """The package whose format read it, with its version, where it is none of ours."""
    forbidden: Gold | None = None
    """Text that must not come back, as the passages of a gold of its own over the same topics."""

    def description(self) -> str:
        """Return one line: kind, file and counts."""
        counts = [counted(len(self.topics), "topic"), counted(len(self.articles.topic), "judged document")]
        counts += [counted(len(self.passages.topic), "passage")] if len(self.passages.topic) else []
        counts += [counted(len(self.elements.topic), "graded element")] if len(self.elements.topic) else []
        return f"Gold{f' {self.file}' if self.file else ''}: {', '.join(counts)}"

    def to_arrow(self) -> pa.Table:
        """Return a table of the spans, in the columns that 'focuseval formats gold-rows' names.

        A judged document without a span has one row, its grade where it has one. Graded elements are not in it.
        """
        a, p = self.articles, self.passages
        bare = np.flatnonzero(~np.isin(pack(a.topic, a.document), pack(p.topic, p.document)))
        graded = [grade if grade > 0 or self.scale == "trec" else None for grade in a.relevance[bare].tolist()]
        texts = ([None] * len(p.topic) if column is None else column.to_pylist() for column in (p.quote, p.need))
        spans = ([None if place < 0 else place for place in column.tolist()] for column in (p.start, p.end))
        marked = zip(p.topic.tolist(), p.document.tolist(), *spans, *texts, repeat(None), strict=False)
        others = zip(a.topic[bare].tolist(), a.document[bare].tolist(), *[repeat(None)] * 4, graded, strict=False)
        rows = sorted(chain(marked, others), key=lambda row: row[:2])
        topics = [self.topics[row[0]] for row in rows]
        columns: dict[str, Any] = {
            "topic": topics,
            "query": [self.queries.get(name) for name in topics],
            "doc": self.documents.cast(pa.string()).take(pa.array([row[1] for row in rows], pa.int64())),
        }
        columns |= {name: [row[at] for row in rows] for at, name in enumerate(_SPAN_COLUMNS, 2)}
        columns |= {name: [self.attributes.get(topic, {}).get(name) for topic in topics] for name in ("tags", "group")}
        kinds = dict.fromkeys(("start", "end", "relevance"), pa.int64())
        table = pa.table({name: pa.array(column, kinds.get(name, pa.string())) for name, column in columns.items()})
        return table.select(
            [name for name in table.column_names if name == "doc" or table[name].null_count < len(table)]
        )

    def __post_init__(self) -> None:
        """Refuse tables whose codes point nowhere: a defect in a reader, not in the user's file."""
        for table in (self.articles, self.passages, self.elements):
            if len(table.topic) and table.topic.max(initial=-1) >= len(self.topics):
                raise IndexError("a topic code beyond the gold's topics")
            if len(table.document) and table.document.max(initial=-1) >= len(self.documents):
                raise IndexError("a document code beyond the gold's documents")

    @property
    def aligned(self) -> bool:
        """Whether quotes were compared with the documents: a passage that then has no span is ambiguous or lost."""
        return self.placement is not None and self.placement.alignment is not None

    @property
    def sizes_only(self) -> bool:
        """Whether sizes of elements are all that it says of highlighted text: there are no passages."""
        return not len(self.passages.topic) and bool((self.elements.rsize > 0).any())

    def article_of(self, table: Passages | GradedElements) -> NDArray[np.int64]:
        """Return, for every passage or element, the row of its judged document, −1 where it was not judged."""
        known, wanted = (pack(t.topic, t.document) for t in (self.articles, table))
        if not len(known):
            return np.full(len(wanted), -1, np.int64)
        order = np.argsort(known, kind="stable")
        found = order[np.minimum(np.searchsorted(known, wanted, sorter=order), len(known) - 1)]
        return np.where(known[found] == wanted, found, -1)

    def at_article(self, row: int) -> Place:
        """Return where a judgement stands in its file."""
        a = self.articles
        return Place(self._file(row), None if a.line is None else int(a.line[row]))

    def at_passage(self, row: int) -> Place:
        """Return where a passage stands in its file."""
        line = self.passages.line
        article = int(self.article_of(self.passages)[row])
        return Place(self._file(article), None if line is None else int(line[row]))

    def _file(self, article: int) -> str:
        source = self.articles.source
        return self.sources[int(source[article])] if source is not None and self.sources else self.file or "<gold>"

    def overlapping(self) -> int:
        """Return how many passages overlap an earlier one of their topic and document; touching ones do not."""
        p = self.passages
        group = dense(pack(p.topic, p.document))
        _, begins, reach = swept(group, p.start, p.end, np.flatnonzero((p.start >= 0) & (p.end > p.start)))
        return int(np.count_nonzero(begins[1:] < reach[:-1]))

    @property
    def unanswerable(self) -> NDArray[np.bool_]:
        """For every topic, whether the gold says that nothing answers it."""
        return np.array([self.attributes.get(name, {}).get(ANSWERABLE) == "no" for name in self.topics], np.bool_)

    @property
    def relevant_topics(self) -> NDArray[np.bool_]:
        """For every topic, whether any judged article is relevant."""
        relevant = np.zeros(len(self.topics), np.bool_)
        relevant[self.articles.topic[self.articles.relevance > 0]] = True
        return relevant
