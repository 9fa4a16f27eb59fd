"""Our gold as JSON lines: a line for every judged topic and document.

::

    {"topic": "q1", "query": "…", "doc": "a.md", "spans": [{"start": 1200, "end": 1280, "quote": "…"}], "bep": 1200}
    {"topic": "q1", "doc": "b.md", "spans": []}
    {"topic": "301", "doc": "FR940202-2-00150", "relevance": 2}

    {"topic": "q2", "doc": "c.md", "spans": [{"quote": "…", "need": "birthplace"}, {"quote": "…", "need": "year"}]}

``"spans": []`` was judged and found not relevant. Offsets are code points, half-open; a quote is compared with the
text when documents are given, and a span may be a quote alone until then. ``length`` is the document's length,
``relevance`` a grade for whole documents, ``tags`` a list of words about the topic, for tables by tag. Two lines for
the same topic and document are refused: join their spans. Spans of a topic (in any of its documents) with the same
``need`` are alternatives, of which one will do; different needs are all needed, and a span without one is needed
itself. Only the measures of needed spans read it (needR, S-recall, all-recall).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from focuseval.data.fields import json_line
from focuseval.data.gold import UNKNOWN
from focuseval.data.remarks import counted_kinds
from focuseval.engine.native import indices
from focuseval.errors import FormatError
from focuseval.formats.json_records import Known, Text, Whole, Word, batch, checked, no_object, other_keys, records
from focuseval.formats.judgements import SpanRows, first_span, judged_rows, refuse_first

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from focuseval.data.gold import Gold
    from focuseval.errors import Place
    from focuseval.formats.content import Source
    from focuseval.formats.judgements import JudgedRows, Wrong

Tag = Annotated[str, msgspec.Meta(pattern="^[^,]+$")]


class SpanRecord(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """A highlighted span of a line."""

    start: Known | None = None
    end: Known | None = None
    quote: Text | None = None
    need: Word | None = None


class JudgementRecord(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """A line."""

    topic: Word
    doc: Word
    query: Text | None = None
    bep: Known | None = None
    length: Known | None = None
    relevance: Whole | None = None
    tags: list[Tag] | None = None
    spans: list[SpanRecord] | msgspec.UnsetType = msgspec.UNSET


_SPAN = pa.schema([("start", "int64"), ("end", "int64"), ("quote", "string"), ("need", "string")])
_NUMBERS = ("bep", "length", "relevance")
_LINE = pa.schema([(name, "int64" if name in _NUMBERS else "string") for name in ("topic", "doc", "query", *_NUMBERS)])


def read(sources: Sequence[Source]) -> Gold:
    """Return the judgements of one or several files.

    All lines before the first that is no judgement are checked first, so that the first wrong line is named.
    """
    unknown, error = Counter[str](), None
    lines, spans, sizes, tags = [], [], list[int](), list[tuple[int, list[str]]]()
    place = [(np.zeros(0, np.int32), np.zeros(0, np.int64))]
    for code, source in enumerate(sources):
        try:
            for found, line in records(source, JudgementRecord, partial(_judgement, unknown)):
                lists = [getattr(one, "spans", msgspec.UNSET) for one in found]
                tags += [
                    (row, words) for row, one in enumerate(found, len(sizes)) if (words := getattr(one, "tags", None))
                ]
                lines.append(batch(found, _LINE))
                spans.append(batch([span for some in lists if some for span in some], _SPAN))
                sizes += [-1 if some is msgspec.UNSET else len(some) for some in lists]
                place.append((np.full(len(line), code, np.int32), line))
        except FormatError as refusal:
            error = refusal
            break
    table, marks = pa.Table.from_batches(lines, _LINE), pa.Table.from_batches(spans, _SPAN)
    files, numbers = (np.concatenate(column) for column in zip(*place, strict=True))
    rows = judged_rows(sources, files, numbers, *(table[name].combine_chunks() for name in ("topic", "doc")))
    attributes: dict[str, dict[str, None]] = {}
    for row, words in tags:
        attributes.setdefault(rows.names(row)[1], {}).update(dict.fromkeys(words))
    gold, differing = _judged(rows, table, marks, np.array(sizes, np.int64))
    if error is not None:
        raise error
    counted = counted_kinds(other_keys=unknown.total(), quote_lengths=differing, united=gold.overlapping())
    tagged = {name: {"tags": ",".join(words)} for name, words in attributes.items()}
    return replace(gold, attributes=tagged, remarks=counted)


def _judgement(unknown: Counter[str], value: dict[str, Any], constants: list[str], at: Place) -> JudgementRecord:
    """Return the judgement that a line describes, or raise."""
    if constants:
        raise no_object(f": {constants[0]} is not a number", at)
    unknown.update(other_keys(value, JudgementRecord, at))
    fields = {name: checked(JudgementRecord, name, value.get(name), at) for name in _LINE.names}
    try:
        tags = msgspec.convert(value.get("tags") or [], list[Tag])
    except msgspec.ValidationError as error:
        raise FormatError("expected a list of words without commas as 'tags', found something else", at=at) from error
    spans: Any = value.get("spans", msgspec.UNSET)
    if spans is not msgspec.UNSET:
        if not isinstance(spans, list) or not all(isinstance(span, dict) for span in spans):
            remedy = 'write "spans": [{"start": …, "end": …}], or [] where nothing is relevant'
            raise FormatError("expected a list of objects as 'spans', found something else", at=at, remedy=remedy)
        spans = [SpanRecord(*(checked(SpanRecord, name, span.get(name), at) for name in _SPAN.names)) for span in spans]
    return JudgementRecord(**fields, tags=tags, spans=spans)


def _judged(rows: JudgedRows, table: pa.Table, spans: pa.Table, count: NDArray[np.int64]) -> tuple[Gold, int]:
    """Return the gold, and how many quotes are not as long as their spans; raise at the first line that is wrong.

    `count` says how many of the spans every line has, −1 where it does not say.
    """
    bep, length = (_filled(table[name]) for name in ("bep", "length"))
    graded = table["relevance"].is_valid().to_numpy()
    grade = np.where(graded, _filled(table["relevance"]), count > 0)
    row = np.repeat(np.arange(len(rows)), np.maximum(count, 0))
    start, end, quote, need = (spans[name].combine_chunks() for name in _SPAN.names)
    marks = SpanRows(row, _filled(start), _filled(end), quote, need)
    queries, other_query = _queries(rows, table["query"].combine_chunks())
    refuse_first(
        rows.twice(),
        other_query,
        rows.check(
            (count < 0) & ~graded,
            lambda _: "expected 'spans' or a 'relevance', found neither",
            'write "spans": [] for a document judged not relevant',
        ),
        _bad_spans(rows, marks, length),
        rows.check(
            (length >= 0) & (bep > length),
            lambda row: f"expected a bep within the document's {length[row]} characters, found {bep[row]}",
            "positions count code points of the text",
        ),
    )
    scale = "trec" if len(rows) and (count < 0).all() else "highlights"
    quoted = pc.utf8_length(quote).fill_null(UNKNOWN).to_numpy(zero_copy_only=False)
    differing = (quoted >= 0) & (marks.start >= 0) & (quoted != marks.end - marks.start)
    gold = rows.gold(grade, marks, {"length": length, "bep": bep}, scale=scale, queries=queries)
    return gold, int(np.count_nonzero(differing))


def _filled(column: pa.Array | pa.ChunkedArray) -> NDArray[np.int64]:
    """Return numbers, UNKNOWN where none is given."""
    return np.asarray(column.fill_null(UNKNOWN).to_numpy())


def _queries(rows: JudgedRows, query: pa.Array) -> tuple[dict[str, str], Wrong | None]:
    """Return the query of every topic that has one, and the lines that give a topic another."""
    given = np.flatnonzero(query.is_valid().to_numpy(zero_copy_only=False))
    topic = rows.topic[given]
    code = query.dictionary_encode().indices.take(indices(given)).to_numpy()
    first = np.full(len(rows.topics), -1)
    first[topic[::-1]] = np.arange(len(given))[::-1]
    wrong = np.zeros(len(rows), np.bool_)
    wrong[given] = code != code[first[topic]]
    asking = given[np.sort(first[first >= 0])]
    names = [rows.topics[code] for code in rows.topic[asking].tolist()]
    queries = dict(zip(names, query.take(indices(asking)).to_pylist(), strict=True))
    what = "expected one query for topic {!r}, found another"
    return queries, rows.check(wrong, lambda row: what.format(rows.topics[rows.topic[row]]), "keep one of them")


def _bad_spans(rows: JudgedRows, marks: SpanRows, length: NDArray[np.int64]) -> Wrong | None:
    """Find spans that are none; one that runs past the document's end needs a quote, by which it may be put right."""
    row, start, end, quote, _ = marks
    limit = length[row]
    quoted = pc.greater(pc.binary_length(quote).fill_null(0), 0).to_numpy(zero_copy_only=False)
    alone = (start < 0) & (end < 0) & quoted

    def where(mark: int) -> str:
        document, topic = rows.names(int(row[mark]))
        return f"in {document!r} for topic {topic!r}"

    return first_span(
        rows.check(
            ~alone & ((start < 0) | (end < 0)),
            lambda mark: f"expected a span's start and end, or its quote, found neither {where(mark)}",
            "give the offsets, the quote, or both",
            row,
        ),
        rows.check(
            end < start,
            lambda mark: f"expected start ≤ end, found the reversed span {start[mark]} … {end[mark]} {where(mark)}",
            "exchange start and end, if that is what was meant",
            row,
        ),
        rows.check(
            (limit >= 0) & (end > limit) & ~quoted,
            lambda mark: (
                f"expected a span within {limit[mark]} characters, found {start[mark]} … {end[mark]} {where(mark)}"
            ),
            "offsets count code points of the text, markup excluded",
            row,
        ),
    )


def write(gold: Gold) -> Iterator[bytes]:
    """Yield a line for every judged document, its topic's query on the first."""
    spans: dict[tuple[int, int], list[dict[str, Any]]] = {}
    p, a = gold.passages, gold.articles
    texts = [column.to_pylist() if column is not None else [None] * len(p.topic) for column in (p.quote, p.need)]
    for topic, document, start, end, quote, need in zip(p.topic, p.document, p.start, p.end, *texts, strict=True):
        span = {} if start < 0 else {"start": int(start), "end": int(end)}
        span |= {name: text for name, text in (("quote", quote), ("need", need)) if text is not None}
        spans.setdefault((int(topic), int(document)), []).append(span)
    documents, written = gold.documents.to_pylist(), set()
    columns = (a.topic, a.document, a.relevance, a.length, a.bep)
    for topic, document, grade, length, bep in zip(*(column.tolist() for column in columns), strict=True):
        name, here = gold.topics[topic], spans.get((topic, document), [])
        line: dict[str, Any] = {"topic": name}
        if name in gold.queries and name not in written:
            line["query"] = gold.queries[name]
        if name not in written and (tags := gold.attributes.get(name, {}).get("tags")):
            line["tags"] = tags.split(",")
        written.add(name)
        line["doc"] = documents[document]
        line |= {"relevance": grade} if gold.scale == "trec" else {"spans": here}
        line |= {"relevance": grade} if grade != int(bool(here)) else {}
        line |= {name: value for name, value in (("bep", bep), ("length", length)) if value >= 0}
        yield json_line(line)
