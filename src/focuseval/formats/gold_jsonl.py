"""Our gold as JSON lines: a line for every judged topic and document.

::

    {"topic": "q1", "query": "…", "doc": "a.md", "spans": [{"start": 1200, "end": 1280, "quote": "…"}], "bep": 1200}
    {"topic": "q1", "doc": "b.md", "spans": []}
    {"topic": "301", "doc": "FR940202-2-00150", "relevance": 2}

``"spans": []`` was judged and found not relevant. Offsets are code points, half-open; a quote is compared with the
text when documents are given, and a span may be a quote alone until then. ``length`` is the document's length,
``relevance`` a grade for whole documents, ``tags`` a list of words about the topic, for tables by tag. Two lines for
the same topic and document are refused: join their spans.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from focuseval.errors import FormatError
from focuseval.formats.gold_jsonl_fast import SMALL, read_fast
from focuseval.formats.json_lines import Field, checked, objects
from focuseval.formats.judgements import Judgements
from focuseval.gold import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from focuseval.formats.source import Source
    from focuseval.gold import Gold

LINE = (
    Field("topic", pa.string(), needed=True),
    Field("doc", pa.string(), needed=True),
    Field("query", pa.string(), blank=True),
    Field("bep", pa.int64(), least=0),
    Field("length", pa.int64(), least=0),
    Field("relevance", pa.int64()),
)
SPAN = (
    Field("start", pa.int64(), least=0),
    Field("end", pa.int64(), least=0),
    Field("quote", pa.string(), blank=True),
)


def read(sources: Sequence[Source]) -> Gold:
    """Return the judgements of one or several files."""
    if len(sources) == 1 and len(sources[0].data) >= SMALL and (gold := read_fast(sources[0])) is not None:
        return gold
    rows, unknown, graded = Judgements(), 0, True
    for code, source in enumerate(sources):
        for line, value in objects(source):
            unknown += len(value.keys() - _KNOWN)
            graded &= _judge(rows, source, code, line, value)
    long = sum(row[7] is not None and row[2] >= 0 and len(row[7]) != row[3] - row[2] for row in rows.passages)
    remarks = (
        (unknown, f"{unknown} keys besides topic, doc, query, spans, bep, length, relevance and tags are left out"),
        (long, f"{long} quotes are not as long as their spans; the documents (--docs, --index) decide"),
    )
    scale = "trec" if graded and rows.articles else "highlights"
    gold = rows.gold(sources, scale, tuple(remark for count, remark in remarks if count))
    united = gold.overlapping()
    return replace(gold, remarks=(*gold.remarks, f"{united:,} overlapping spans are united")) if united else gold


_KNOWN = {field.name for field in LINE} | {"spans", "tags"}


def _judge(rows: Judgements, source: Source, code: int, line: int, value: dict[str, Any]) -> bool:
    """Take in one line; say whether it grades a whole document."""
    said = {field.name: checked(source, line, field, value.get(field.name)) for field in LINE}
    place = source.at(line)
    topic, document = rows.judge(said["topic"], said["doc"], place)
    if said["query"] is not None and rows.queries.setdefault(said["topic"], said["query"]) != said["query"]:
        raise FormatError(
            f"expected one query for topic {said['topic']!r}, found another", at=place, remedy="keep one of them"
        )
    _tag(rows, source, line, value)
    spans = _spans(source, line, value, said)
    for start, end, quote in spans:
        size = end - start if end >= 0 else UNKNOWN
        rows.passages.append((topic, document, start, end, size, None, None, quote, line))
    length = UNKNOWN if said["length"] is None else said["length"]
    grade = int(bool(spans)) if said["relevance"] is None else said["relevance"]
    bep = UNKNOWN if said["bep"] is None else said["bep"]
    if 0 <= length < bep:
        raise FormatError(
            f"expected a bep within the document's {length} characters, found {bep}",
            at=place,
            remedy="positions count code points of the text",
        )
    rows.articles.append((topic, document, grade, length, UNKNOWN, bep, None, line, code))
    return "spans" not in value


def _tag(rows: Judgements, source: Source, line: int, value: dict[str, Any]) -> None:
    """Take in a topic's tags, from any of its lines."""
    tags = value.get("tags") or []
    if not isinstance(tags, list) or not all(isinstance(tag, str) and tag and "," not in tag for tag in tags):
        raise FormatError("expected a list of words without commas as 'tags', found something else", at=source.at(line))
    if tags:
        said = rows.attributes.setdefault(value["topic"], {})
        known = said.get("tags", "").split(",") if said.get("tags") else []
        said["tags"] = ",".join(dict.fromkeys([*known, *tags]))


def _spans(source: Source, line: int, value: dict[str, Any], said: dict[str, Any]) -> list[tuple[int, int, Any]]:
    """Return the spans of a line, each with its quote or None."""
    spans = value.get("spans", [])
    if not isinstance(spans, list) or not all(isinstance(span, dict) for span in spans):
        raise FormatError(
            "expected a list of objects as 'spans', found something else",
            at=source.at(line),
            remedy='write "spans": [{"start": …, "end": …}], or [] where nothing is relevant',
        )
    if "spans" not in value and said["relevance"] is None:
        raise FormatError(
            "expected 'spans' or a 'relevance', found neither",
            at=source.at(line),
            remedy='write "spans": [] for a document judged not relevant',
        )
    return [_span(source, line, span, said) for span in spans]


def _span(source: Source, line: int, span: dict[str, Any], said: dict[str, Any]) -> tuple[int, int, Any]:
    """Return one span; one that runs past the document's end needs a quote, by which it may be put right."""
    start, end, quote = (checked(source, line, field, span.get(field.name)) for field in SPAN)
    where = f"in {said['doc']!r} for topic {said['topic']!r}"
    if start is None and end is None and quote:
        return UNKNOWN, UNKNOWN, quote
    if start is None or end is None:
        raise FormatError(
            f"expected a span's start and end, or its quote, found neither {where}",
            at=source.at(line),
            remedy="give the offsets, the quote, or both",
        )
    if end < start:
        raise FormatError(
            f"expected start ≤ end, found the reversed span {start} … {end} {where}",
            at=source.at(line),
            remedy="exchange start and end, if that is what was meant",
        )
    if said["length"] is not None and end > said["length"] and not quote:
        raise FormatError(
            f"expected a span within {said['length']} characters, found {start} … {end} {where}",
            at=source.at(line),
            remedy="offsets count code points of the text, markup excluded",
        )
    return start, end, quote


def write(gold: Gold) -> Iterator[bytes]:
    """Yield a line for every judged document, its topic's query on the first."""
    spans: dict[tuple[int, int], list[dict[str, Any]]] = {}
    p, a = gold.passages, gold.articles
    quotes = p.quote.to_pylist() if p.quote is not None else [None] * len(p.topic)
    for topic, document, start, end, quote in zip(p.topic, p.document, p.start, p.end, quotes, strict=True):
        said = {} if start < 0 else {"start": int(start), "end": int(end)}
        spans.setdefault((int(topic), int(document)), []).append(said if quote is None else {**said, "quote": quote})
    documents, asked = gold.documents.to_pylist(), set()
    columns = (a.topic, a.document, a.relevance, a.length, a.bep)
    for topic, document, grade, length, bep in zip(*(column.tolist() for column in columns), strict=True):
        name, here = gold.topics[topic], spans.get((topic, document), [])
        line: dict[str, Any] = {"topic": name}
        if name in gold.queries and name not in asked:
            line["query"] = gold.queries[name]
        if name not in asked and (tags := gold.attributes.get(name, {}).get("tags")):
            line["tags"] = tags.split(",")
        asked.add(name)
        line["doc"] = documents[document]
        line |= {"relevance": grade} if gold.scale == "trec" else {"spans": here}
        line |= {"relevance": grade} if grade != int(bool(here)) else {}
        line |= {name: value for name, value in (("bep", bep), ("length", length)) if value >= 0}
        yield (json.dumps(line, ensure_ascii=False) + "\n").encode()
