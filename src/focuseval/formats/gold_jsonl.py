"""Our gold as JSON lines: a line for every judged topic and document.

::

    {"topic": "q1", "query": "…", "doc": "a.md", "spans": [{"start": 1200, "end": 1280, "quote": "…"}], "bep": 1200}
    {"topic": "q1", "doc": "b.md", "spans": []}
    {"topic": "301", "doc": "FR940202-2-00150", "relevance": 2}

    {"topic": "q2", "doc": "c.md", "spans": [{"quote": "…", "need": "birthplace"}, {"quote": "…", "need": "year"}]}
    {"topic": "q3", "doc": "c.md", "spans": [], "forbidden": [{"start": 40, "end": 95, "quote": "…"}]}
    {"topic": "q9", "query": "…", "answerable": false}

``"spans": []`` was judged and found not relevant; ``"answerable": false`` says that nothing in the collection answers
the question (silence and waste measure what a run does then), and needs no document. ``forbidden`` is text that must
not come back: superseded, another tenant's, an injected instruction (leak). A line whose spans are null judges nothing:
it is left out, and counted. Offsets are code points, half-open; a quote is compared with the
text when documents are given, and a span may be a quote alone until then. ``length`` is the document's length,
``relevance`` a grade for whole documents, ``tags`` a list of words about the topic, for tables by tag; ``group`` names
the topics that belong together, such as questions about one article, for ``--cluster-by group``. ``origin`` says where
a topic comes from (``draft``: a language model wrote the question), ``assisted`` which model's suggestions its assessor
saw. Two lines for the same topic and document are refused: join their spans. Spans of a topic (in any of its documents)
with the same ``need`` are alternatives, of which one will do; different needs are all needed, and a span without one is
needed itself. Only the measures of needed spans read it (needR, S-recall, all-recall).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Annotated, Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from focuseval.data.fields import json_line
from focuseval.data.gold import ANSWERABLE, FACTS, UNKNOWN, Gold
from focuseval.data.remarks import counted_kinds
from focuseval.engine.native import indices
from focuseval.errors import FormatError, Place
from focuseval.formats.content import Source
from focuseval.formats.json_records import Known, Text, Whole, Word, batch, checked, no_object, other_keys, records
from focuseval.formats.judgements import JudgedRows, SpanRows, Wrong, first_span, judged_rows, refuse_first

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
    group: Word | None = None
    origin: Word | None = None
    assisted: Word | None = None
    tags: list[Tag] | None = None
    spans: list[SpanRecord] | msgspec.UnsetType = msgspec.UNSET
    forbidden: list[SpanRecord] | None = None
    answerable: bool | None = None


_SPAN = pa.schema([("start", "int64"), ("end", "int64"), ("quote", "string"), ("need", "string")])
_TEXTS, _NUMBERS = ("topic", "doc", "query", *FACTS), ("bep", "length", "relevance")
_LINE = pa.schema({**dict.fromkeys(_TEXTS, "string"), **dict.fromkeys(_NUMBERS, "int64"), "answerable": "bool"}.items())


def read(sources: Sequence[Source]) -> Gold:
    """Return the judgements of one or several files.

    All lines before the first that is no judgement are checked first, so that the first wrong line is named.
    """
    noticed, error = Counter[str](), None
    lines, spans, forbidden, sizes, tags = [], [], [], list[tuple[int, int]](), dict[str, dict[str, None]]()
    place = [(np.zeros(0, np.int32), np.zeros(0, np.int64))]
    for code, source in enumerate(sources):
        try:
            for found, line in records(source, JudgementRecord, partial(_judgement, noticed)):
                marked = [getattr(one, "spans", msgspec.UNSET) for one in found]
                banned = [getattr(one, "forbidden", None) or () for one in found]
                for one in found:
                    if words := getattr(one, "tags", None):
                        tags.setdefault(str(one.topic), {}).update(dict.fromkeys(words))
                lines.append(batch(found, _LINE))
                spans.append(batch([span for some in marked if some for span in some], _SPAN))
                forbidden.append(batch(list(chain.from_iterable(banned)), _SPAN))
                sizes += [
                    (-1 if some is msgspec.UNSET else len(some), len(bad))
                    for some, bad in zip(marked, banned, strict=True)
                ]
                place.append((np.full(len(line), code, np.int32), line))
        except FormatError as refusal:
            error = refusal
            break
    table, count = pa.Table.from_batches(lines, _LINE), np.array(sizes, np.int64).reshape(-1, 2)
    files, numbers = (np.concatenate(column) for column in zip(*place, strict=True))
    judging = pc.not_equal(table["doc"], "").to_numpy()
    judged = table.filter(judging)
    names = (judged[name].combine_chunks() for name in ("topic", "doc"))
    rows = judged_rows(sources, files[judging], numbers[judging], *names)
    texts = [pa.Table.from_batches(some, _SPAN) for some in (spans, forbidden)]
    gold, differing = _judged(rows, judged, texts, count[judging])
    if error is not None:
        raise error
    counted = counted_kinds(**noticed, quote_lengths=differing, united=gold.overlapping())
    return replace(_with_facts(gold, table, tags), remarks=counted)


def _with_facts(gold: Gold, table: pa.Table, tags: Mapping[str, Iterable[str]]) -> Gold:
    """Return the gold with what its lines say of topics: tags, and that nothing answers them."""
    silent = table.filter(pc.equal(table["answerable"], pa.scalar(False)).fill_null(False)).select(["topic", "query"])
    unanswered = {one["topic"]: one["query"] for one in silent.to_pylist()}
    for topic in np.flatnonzero(gold.relevant_topics).tolist() if unanswered else ():
        if gold.topics[topic] in unanswered:
            what = f"expected no relevant text for topic {gold.topics[topic]!r}, which nothing answers, found some"
            raise FormatError(what, at=gold.file or None, remedy='leave out "answerable": false, or the spans')
    attributes = {name: dict(own) for name, own in gold.attributes.items()}
    for name, words in tags.items():
        attributes.setdefault(name, {})["tags"] = ",".join(words)
    for name in unanswered:
        attributes.setdefault(name, {})[ANSWERABLE] = "no"
    queries = {name: query for name, query in unanswered.items() if query is not None} | dict(gold.queries)
    topics = tuple(dict.fromkeys((*gold.topics, *unanswered)))
    return replace(gold, topics=topics, queries=queries, attributes=attributes)


def _judgement(noticed: Counter[str], value: dict[str, Any], constants: list[str], at: Place) -> JudgementRecord:
    """Return the judgement that a line describes, or raise.

    The document of a line that judges none is empty: nothing answers its topic, or its spans are null.
    """
    if constants:
        raise no_object(f": {constants[0]} is not a number", at)
    noticed["other_keys"] += len(other_keys(value, JudgementRecord, at))
    null = value.get("spans", ()) is None and value.get("relevance") is None
    unanswered = value.get("answerable") is False and value.get("doc") is None
    noticed["null_spans"] += null and not unanswered
    given = {**value, "spans": [], "forbidden": None} if null else {**value, "spans": []} if unanswered else value
    names = [name for name in _LINE.names if name != "doc" or not (null or unanswered)]
    fields = {"doc": ""} | {name: checked(JudgementRecord, name, given.get(name), at) for name in names}
    try:
        tags = msgspec.convert(value.get("tags") or [], list[Tag])
    except msgspec.ValidationError as error:
        raise FormatError("expected a list of words without commas as 'tags', found something else", at=at) from error
    texts: dict[str, Any] = {name: given[name] for name in ("spans", "forbidden") if given.get(name) is not None}
    for name, spans in texts.items():
        if not isinstance(spans, list) or not all(isinstance(span, dict) for span in spans):
            remedy = f'write "{name}": [{{"start": …, "end": …}}], or [] where there is none'
            raise FormatError(f"expected a list of objects as {name!r}, found something else", at=at, remedy=remedy)
        texts[name] = [
            SpanRecord(*(checked(SpanRecord, key, span.get(key), at) for key in _SPAN.names)) for span in spans
        ]
    return JudgementRecord(**fields, tags=tags, **texts)


def _judged(
    rows: JudgedRows, table: pa.Table, texts: Sequence[pa.Table], counts: NDArray[np.int64]
) -> tuple[Gold, int]:
    """Return the gold, and how many quotes are not as long as their spans; raise at the first line that is wrong.

    `texts` are highlighted and forbidden spans, `counts` how many of both every line has, −1 where it does not say.
    """
    count = counts[:, 0]
    bep, length = (_filled(table[name]) for name in ("bep", "length"))
    graded = table["relevance"].is_valid().to_numpy()
    grade = np.where(graded, _filled(table["relevance"]), count > 0)
    marks, forbidden = (
        SpanRows(
            np.repeat(np.arange(len(rows)), np.maximum(number, 0)),
            *(_filled(spans[name]) for name in ("start", "end")),
            *(spans[name].combine_chunks() for name in ("quote", "need")),
        )
        for spans, number in zip(texts, counts.T, strict=True)
    )
    said = {name: _of_topics(rows, table, name) for name in ("query", *FACTS)}
    refuse_first(
        rows.twice(),
        *(other for _, other in said.values()),
        rows.check(
            (count < 0) & ~graded,
            lambda _: "expected 'spans' or a 'relevance', found neither",
            'write "spans": [] for a document judged not relevant',
        ),
        _bad_spans(rows, marks, length),
        _bad_spans(rows, forbidden, length),
        rows.check(
            (length >= 0) & (bep > length),
            lambda row: f"expected a bep within the document's {length[row]} characters, found {bep[row]}",
            "positions count code points of the text",
        ),
    )
    scale = "trec" if len(rows) and (count < 0).all() else "highlights"
    quoted = pc.utf8_length(marks.quote).fill_null(UNKNOWN).to_numpy(zero_copy_only=False)
    differing = (quoted >= 0) & (marks.start >= 0) & (quoted != marks.end - marks.start)
    attributes: dict[str, dict[str, str]] = {}
    for name in FACTS:
        for topic, text in said[name][0].items():
            attributes.setdefault(topic, {})[name] = text
    known = {"length": length, "bep": bep}
    gold = rows.gold(grade, marks, known, scale=scale, queries=said["query"][0], attributes=attributes)
    if len(forbidden.row):
        gold = replace(gold, forbidden=rows.gold(counts[:, 1] > 0, forbidden, {"length": length}))
    return gold, int(np.count_nonzero(differing))


def _filled(column: pa.Array | pa.ChunkedArray) -> NDArray[np.int64]:
    """Return numbers, UNKNOWN where none is given."""
    return np.asarray(column.fill_null(UNKNOWN).to_numpy())


def _of_topics(rows: JudgedRows, table: pa.Table, field: str) -> tuple[dict[str, str], Wrong | None]:
    """Return the query or another fact of every topic that has one, and the lines that give a topic another."""
    column = table[field].combine_chunks()
    given = np.flatnonzero(column.is_valid().to_numpy(zero_copy_only=False))
    topic = rows.topic[given]
    code = column.dictionary_encode().indices.take(indices(given)).to_numpy()
    first = np.full(len(rows.topics), -1)
    first[topic[::-1]] = np.arange(len(given))[::-1]
    wrong = np.zeros(len(rows), np.bool_)
    wrong[given] = code != code[first[topic]]
    asking = given[np.sort(first[first >= 0])]
    names = [rows.topics[code] for code in rows.topic[asking].tolist()]
    found = dict(zip(names, column.take(indices(asking)).to_pylist(), strict=True))
    what = f"expected one {field} for topic {{!r}}, found another"
    return found, rows.check(wrong, lambda row: what.format(rows.topics[rows.topic[row]]), "keep one of them")


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
    a, spans = gold.articles, _spans_by_name(gold)
    forbidden = {} if gold.forbidden is None else _spans_by_name(gold.forbidden)
    documents, written = gold.documents.to_pylist(), set()
    columns = (a.topic, a.document, a.relevance, a.length, a.bep)
    for topic, document, grade, length, bep in zip(*(column.tolist() for column in columns), strict=True):
        name = gold.topics[topic]
        pair = name, documents[document]
        here, banned = spans.get(pair, []), forbidden.get(pair)
        line = {"topic": name} | ({} if name in written else _facts(gold, topic)) | {"doc": documents[document]}
        written.add(name)
        line |= {"relevance": grade} if gold.scale == "trec" else {"spans": here}
        line |= {"relevance": grade} if grade != int(bool(here)) else {}
        line |= {name: value for name, value in (("bep", bep), ("length", length)) if value >= 0}
        yield json_line(line | ({"forbidden": banned} if banned else {}))
    for topic in np.flatnonzero(gold.unanswerable).tolist():
        if gold.topics[topic] not in written:
            yield json_line({"topic": gold.topics[topic]} | _facts(gold, topic))


def _facts(gold: Gold, topic: int) -> dict[str, Any]:
    """Return what a topic's first line says of the topic itself."""
    name = gold.topics[topic]
    own = gold.attributes.get(name, {})
    tags = own["tags"].split(",") if own.get("tags") else None
    said: dict[str, Any] = {"query": gold.queries.get(name), "tags": tags, **{fact: own.get(fact) for fact in FACTS}}
    said["answerable"] = False if own.get(ANSWERABLE) == "no" else None
    return {key: value for key, value in said.items() if value is not None}


def _spans_by_name(gold: Gold) -> dict[tuple[str, str], list[dict[str, Any]]]:
    """Return the spans of every judged pair of a topic and a document, as a line says them."""
    spans: dict[tuple[str, str], list[dict[str, Any]]] = {}
    p, documents = gold.passages, gold.documents.to_pylist()
    texts = [column.to_pylist() if column is not None else [None] * len(p.topic) for column in (p.quote, p.need)]
    for topic, document, start, end, quote, need in zip(p.topic, p.document, p.start, p.end, *texts, strict=True):
        span = {} if start < 0 else {"start": int(start), "end": int(end)}
        span |= {name: text for name, text in (("quote", quote), ("need", need)) if text is not None}
        spans.setdefault((gold.topics[topic], documents[document]), []).append(span)
    return spans
