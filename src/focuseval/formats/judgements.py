"""Judgements of one file, or of a folder of them, as one `Gold`: gathered row by row, or as columns.

`Judgements` gathers rows: elements and passages as files say them, or the spans of questions (`gold_reader`), for the
collections of retrieval-augmented generation. Overlapping spans are kept as they are, united in every count of
characters, and counted in the gold's remarks. `JudgedRows` holds columns, for formats whose golds are large: a check
marks the wrong rows of all at once, and the first wrong line is named, as if the lines had been read one after another.

A (topic, document) pair is judged once; a second judgement is refused with both places, even when the two agree.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import wraps
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, Any, Concatenate, NamedTuple, ParamSpec, TypeVar

import numpy as np
import pyarrow as pa

from focuseval.data.gold import UNKNOWN, Articles, Gold, GradedElements, Passages
from focuseval.data.remarks import Remark, counted_kinds
from focuseval.data.spans import union
from focuseval.errors import FormatError, MissingDataError, Place
from focuseval.formats.columns import FAR
from focuseval.formats.content import Source

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from focuseval.collection.index import Collection

P = ParamSpec("P")
Table = TypeVar("Table", Articles, Passages, GradedElements)

_TYPES = {
    "topic": np.int32, "document": np.int32, "source": np.int32, "relevance": np.int32,
    "exhaustivity": np.int8, "specificity": np.int8,
}  # fmt: skip
_STRINGS = frozenset({"bep_path", "start_path", "end_path", "quote", "need"})
_FLAGS = frozenset({"inferred", "inpool"})


class Span(NamedTuple):
    """One highlighted span as its file says it; start and end −1 where only the quote is known."""

    document: str
    start: int
    end: int
    quote: str | None = None
    need: str | None = None
    """What the span shows: spans of a topic with the same name are alternatives, one without is needed itself."""


class Question(NamedTuple):
    """A question of a collection, and what answers it."""

    query: str
    spans: Sequence[Span]
    at: Place
    name: str = ""  # its id; a question without one is ``q1``, ``q2`` … in file order
    judged: Sequence[str] = ()  # documents that were judged, whether they have a span or not
    attributes: Mapping[str, str] = {}


@dataclass
class Judgements:
    """Rows as they are read, in the order of the tables' columns; `gold` turns them into columns."""

    articles: list[tuple[Any, ...]] = field(default_factory=list)
    passages: list[tuple[Any, ...]] = field(default_factory=list)
    elements: list[tuple[Any, ...]] = field(default_factory=list)
    topics: dict[str, int] = field(default_factory=dict)
    documents: dict[str, int] = field(default_factory=dict)
    places: dict[tuple[int, int], Place] = field(default_factory=dict)
    attributes: dict[str, dict[str, str]] = field(default_factory=dict)
    queries: dict[str, str] = field(default_factory=dict)
    renamed: int = 0

    def topic(self, name: str) -> int:
        """Return a topic's code, new or known."""
        return self.topics.setdefault(name, len(self.topics))

    def question(self, name: str, query: str) -> str:
        """Return a question's topic id; a second question under the same id gets ``~2``, ``~3`` … added."""
        unique, number = name, 1
        while unique in self.queries:
            number += 1
            unique = f"{name}~{number}"
        self.renamed += number > 1
        self.topic(unique)
        self.queries[unique] = query
        return unique

    def judge(self, topic: str, document: str, place: Place) -> tuple[int, int]:
        """Note that a pair is judged here and return its codes; raise if it was judged before."""
        pair = self.topic(topic), self.documents.setdefault(document, len(self.documents))
        first = self.places.setdefault(pair, place)
        if first is not place:
            raise judged_twice(document, topic, first, place)
        return pair

    def add(
        self,
        topic: str,
        spans: Sequence[Span],
        at: Place,
        judged: Sequence[str] = (),
        *,
        code: int = 0,
        grade: int | None = None,
    ) -> None:
        """Take in spans of a topic in the file of this code; `judged` documents without any are not relevant.

        With a `grade` that is what the documents get.
        """
        by_document: dict[str, list[Span]] = {document: [] for document in judged}
        for span in spans:
            placeless = span.start == span.end == UNKNOWN and span.quote
            if not placeless and not 0 <= span.start < span.end < FAR:
                what = f"expected 0 ≤ start < end in {span.document!r} for topic {topic!r}"
                remedy = "spans are half-open; a document without relevant text has no spans"
                raise FormatError(f"{what}, found {span.start} and {span.end}", at=at, remedy=remedy)
            by_document.setdefault(span.document, []).append(span)
        for document, group in by_document.items():
            pair = self.judge(topic, document, at)
            relevance = int(bool(group)) if grade is None else grade
            starts, ends = [span.start for span in group], [span.end for span in group]
            rsize = sum(ends) - sum(starts)
            if UNKNOWN in starts:
                rsize = UNKNOWN
            elif len(group) > 1:
                rsize = int(union([0] * len(group), starts, ends).before[-1])
            self.articles.append((*pair, relevance, UNKNOWN, rsize, UNKNOWN, None, at.line, code))
            for _, start, end, quote, need in group:
                size = end - start if start >= 0 else UNKNOWN
                self.passages.append((*pair, start, end, size, None, None, quote, need, at.line))

    def gold(self, sources: Sequence[Source], scale: str = "highlights", remarks: Sequence[Remark] = ()) -> Gold:
        """Return everything that was gathered, grouped by topic."""
        articles, passages = table_of(Articles, self.articles), table_of(Passages, self.passages)
        elements, documents = table_of(GradedElements, self.elements), pa.array(list(self.documents), pa.string())
        said = {**_origin(sources), "queries": self.queries, "attributes": self.attributes}
        gold = Gold(tuple(self.topics), documents, articles, passages, elements, scale=scale, **said)
        return replace(gold, remarks=(*counted_kinds(united=gold.overlapping(), same_ids=self.renamed), *remarks))


def gold_of_questions(questions: Iterable[Question | Remark], sources: Sequence[Source] = ()) -> Gold:
    """Return questions and their spans, and remarks among them, as a gold."""
    rows, remarks, codes = Judgements(), list[Remark](), {source.name: code for code, source in enumerate(sources)}
    for one in questions:
        if isinstance(one, Remark):
            remarks.append(one)
            continue
        topic = rows.question(one.name or f"q{len(rows.queries) + 1}", one.query)
        rows.add(topic, one.spans, one.at, one.judged, code=codes.get(one.at.file, 0))
        if one.attributes:
            rows.attributes[topic] = dict(one.attributes)
    return rows.gold(sources, remarks=remarks)


def gold_reader(
    questions: Callable[Concatenate[Sequence[Source], P], Iterable[Question | Remark]],
) -> Callable[Concatenate[Sequence[Source], P], Gold]:
    """Make the reader of a collection from a generator of the questions in its files."""

    @wraps(questions)
    def read(sources: Sequence[Source], /, *more: P.args, **named: P.kwargs) -> Gold:
        return gold_of_questions(questions(sources, *more, **named), sources)

    return read


def judged_twice(document: str, topic: str, first: Place, second: Place) -> FormatError:
    """Return the refusal of a second judgement."""
    what = f"expected one judgement of document {document!r} for topic {topic!r}, found another at {first}"
    return FormatError(what, at=second, remedy="keep one of the two")


def _origin(sources: Sequence[Source]) -> dict[str, Any]:
    """Return what a gold says of the files that it was read from; the hash of several is that of their hashes."""
    if len(sources) == 1:
        return {"sha256": sources[0].digest(), "file": sources[0].name}
    digests = "\n".join(source.digest() for source in sources)
    return {"sha256": hashlib.sha256(digests.encode()).hexdigest(), "sources": tuple(source.name for source in sources)}


def table_of(kind: type[Table], rows: list[tuple[Any, ...]]) -> Table:
    """Return rows as a table, in blocks of topics."""
    names = [one.name for one in fields(kind)]
    columns = zip(*sorted(rows, key=itemgetter(0)), strict=True) if rows else [()] * len(names)
    return kind(**{name: _column(name, values) for name, values in zip(names, columns, strict=True)})


def _column(name: str, values: tuple[Any, ...]) -> Any:
    """Return an array of the column's type; what no row says is None where the table allows it."""
    if name == "path":
        return pa.array(values, pa.string()).dictionary_encode()
    if name in {*_STRINGS, *_FLAGS, "line", "source"} and values.count(None) == len(values):
        return None
    if name in _STRINGS:
        return pa.array(values, pa.string())
    if name in _FLAGS:
        return np.array([bool(value) for value in values], np.bool_)
    filled = [UNKNOWN if value is None else value for value in values] if None in values else values
    return np.array(filled, _TYPES.get(name, np.int64))


class Wrong(NamedTuple):
    """What a check of rows found: the first wrong row, the span in it (or the row once more), and the error."""

    row: int
    span: int
    error: FormatError


class SpanRows(NamedTuple):
    """Highlighted spans: the row of the judgement that each belongs to, its ends, maybe its quote and what it shows."""

    row: NDArray[np.int64]
    start: NDArray[np.int64]
    end: NDArray[np.int64]
    quote: pa.Array | None = None
    need: pa.Array | None = None


@dataclass(frozen=True, eq=False)
class JudgedRows:
    """Judgements as columns, in the order of the files: a row for every judged document."""

    sources: Sequence[Source]
    source: NDArray[np.int32]
    line: NDArray[np.int64]
    topic: NDArray[np.int32]  # codes into `topics`
    topics: tuple[str, ...]
    document: NDArray[np.int32]  # codes into `documents`
    documents: pa.Array

    def __len__(self) -> int:
        """Return the number of judgements."""
        return len(self.line)

    def names(self, row: int) -> tuple[str, str]:
        """Return which document was judged, and for which topic."""
        return self.documents[int(self.document[row])].as_py(), self.topics[self.topic[row]]

    def at(self, row: int) -> Place:
        """Return where a judgement stands."""
        return self.sources[int(self.source[row])].at(int(self.line[row]))

    def check(
        self, wrong: NDArray[np.bool_], what: Callable[[int], str], remedy: str, row: NDArray[np.int64] | None = None
    ) -> Wrong | None:
        """Return the first row that is wrong, or the first span where spans that belong to rows (`row`) are checked."""
        if not wrong.any():
            return None
        number = int(np.argmax(wrong))
        place = number if row is None else int(row[number])
        return Wrong(place, number, FormatError(what(number), at=self.at(place), remedy=remedy))

    def twice(self) -> Wrong | None:
        """Return the first pair that was judged before."""
        pair = self.topic.astype(np.int64) << 32 | self.document
        ordered = np.sort(pair)
        if not (ordered[1:] == ordered[:-1]).any():
            return None
        _, first, number = np.unique(pair, return_index=True, return_inverse=True)
        row = int(np.argmax(first[number] < np.arange(len(self))))
        return Wrong(row, row, judged_twice(*self.names(row), self.at(int(first[number[row]])), self.at(row)))

    def gold(
        self,
        relevance: NDArray[Any],
        marks: SpanRows | None = None,
        articles: Mapping[str, NDArray[np.int64]] | None = None,
        **more: Any,
    ) -> Gold:
        """Return the gold with these grades and spans, in blocks of topics; `articles`: maybe length, rsize, bep."""
        topic, document = self.topic, self.document
        row, start, end, *texts = marks or SpanRows(*np.zeros((3, 0), np.int64))
        unknown = np.full(len(self), UNKNOWN, np.int64)
        known: dict[str, Any] = {**dict.fromkeys(("length", "rsize", "bep"), unknown), **(articles or {})}
        source = self.source if len(self.sources) > 1 else None
        judged = Articles(topic, document, relevance.astype(np.int32), **known, line=self.line, source=source)
        size = np.where(end >= 0, end - start, UNKNOWN)
        quote, need = (None if text is None or text.null_count == len(text) else text for text in texts)
        line = self.line[row] if len(row) else None
        passages = Passages(topic[row], document[row], start, end, size, quote=quote, need=need, line=line)

        def in_blocks(table: Table) -> Table:  # mostly as it stands: nothing is copied
            falls = table.topic[1:] < table.topic[:-1]
            return table.take(np.argsort(table.topic, kind="stable")) if falls.any() else table

        judged, passages, graded = in_blocks(judged), in_blocks(passages), table_of(GradedElements, [])
        return Gold(self.topics, self.documents, judged, passages, graded, **more, **_origin(self.sources))


def judged_rows(
    sources: Sequence[Source], source: NDArray[np.int32], line: NDArray[np.int64], topic: pa.Array, document: pa.Array
) -> JudgedRows:
    """Return rows by the names of their topics and documents."""
    topics, documents = topic.dictionary_encode(), document.dictionary_encode()
    names = tuple(topics.dictionary.to_pylist())
    codes = topics.indices.to_numpy(), documents.indices.to_numpy()
    return JudgedRows(sources, source, line, codes[0], names, codes[1], documents.dictionary)


def refuse_first(*checks: Wrong | None) -> None:
    """Raise the error of the first row that is wrong; of several checks, that of the first."""
    first = min(filter(None, checks), key=attrgetter("row"), default=None)
    if first is not None:
        raise first.error


def first_span(*checks: Wrong | None) -> Wrong | None:
    """Return the first span that is wrong; of several checks, that of the first."""
    return min(filter(None, checks), key=attrgetter("span"), default=None)


def spans_of(gold: Gold, *, placed: bool = True) -> dict[tuple[int, int], list[Span]]:
    """Return the spans of every judged pair, in code points; where all must be `placed`, others are refused."""
    p, ids = gold.passages, gold.documents.to_pylist()
    if placed and (p.start < 0).any():
        row = int(np.flatnonzero(p.start < 0)[0])
        where = f"for topic {gold.topics[p.topic[row]]!r} in {ids[p.document[row]]!r}"
        what = f"expected every span to have a place, found none {where}"
        raise FormatError(what, at=gold.file or None, remedy="align the gold with its documents first")
    pairs = zip(gold.articles.topic.tolist(), gold.articles.document.tolist(), strict=True)
    spans: dict[tuple[int, int], list[Span]] = {pair: [] for pair in pairs}
    texts = ([None] * len(p.start) if column is None else column.to_pylist() for column in (p.quote, p.need))
    columns = (column.tolist() for column in (p.topic, p.document, p.start, p.end))
    for topic, document, start, end, quote, need in zip(*columns, *texts, strict=True):
        spans.setdefault((topic, document), []).append(Span(ids[document], start, end, quote, need))
    return spans


def text_of(documents: Collection | None, name: str, topic: str, at: Place) -> str:
    """Return the text that a format's offsets need to be understood."""
    if documents is None:
        raise MissingDataError(f"{at}: the offsets in {name!r} need the documents' text; give docs= or index=")
    row = int(documents.find([name])[0])
    if row < 0:
        what = f"expected documents of the collection, found {name!r} for topic {topic!r}"
        raise FormatError(what, at=at, remedy="check the documents given, or the ids in the gold")
    return documents.text(row)
