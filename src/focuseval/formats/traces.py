"""Traces of production systems: what was asked, and what was retrieved, as a run or as topics.

::

    {"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": "5b8e…", "attributes": [{"key": …}]}]}]}]}     OTLP JSON
    {"context": {"trace_id": "0x5b8e…"}, "attributes": {"openinference.span.kind": "RETRIEVER", …}}      OpenInference
    {"info": {"trace_id": "tr-5b8e…"}, "data": {"spans": [{"attributes": {"mlflow.spanType": …}}]}}             MLflow
    {"traceId": "5b8e…", "type": "RETRIEVER", "input": "How long?", "output": [{"page_content": …}]}          Langfuse

A file of JSON, JSON lines, CSV or Parquet, or a folder of them. Names may have dots or be objects in objects, as OTLP,
Phoenix and pandas have them; `SOURCES` says where each kind of trace keeps a retrieval:

=============  ===================================  ===============================  ==============================
traces         spans                                the question                     the results, best first
=============  ===================================  ===============================  ==============================
OpenTelemetry  with ``gen_ai.retrieval``            ``gen_ai.retrieval.query.text``  ``gen_ai.retrieval.documents``
OpenInference  of the kind (``openinference.span.   ``input.value``                  ``retrieval.documents``
               kind``) RETRIEVER
..             RERANKER                             ``reranker.query``               ``reranker.output_documents``
MLflow         of ``mlflow.spanType`` RETRIEVER     ``mlflow.spanInputs``            ``mlflow.spanOutputs``
Langfuse       of the ``type`` RETRIEVER            ``input``                        ``output``
=============  ===================================  ===============================  ==============================

A span without a question of its own has that of the span around it. What a reranker returns takes the place of what was
retrieved for the same question; a retriever inside another is part of it. The topic's id is the trace's, with ``/2``,
``/3`` … where a trace retrieves for several questions, in order of time. Equal questions are one topic, of which a run
has the first list. A result is known by its document (in its metadata, or its id where the documents have it), else by
its text, which is looked for in all documents; one with neither is left out, and counted. Langfuse's export is read as
its documentation describes it; no export of a server was at hand to try.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import math
import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import islice
from tempfile import TemporaryFile
from typing import IO, Any, NamedTuple

import msgspec
import pyarrow as pa

from focuseval.collection.index import Collection
from focuseval.data.fields import NAMES
from focuseval.data.remarks import Remark, worded
from focuseval.data.run import Run
from focuseval.data.topics.topic import Topic
from focuseval.engine.storage import location
from focuseval.errors import CollectionError, FormatError, Place, counted
from focuseval.formats.content import Source
from focuseval.formats.json_records import Item, json_items
from focuseval.formats.rows import as_list, parsed, table_rows
from focuseval.formats.run_rows import NamedColumns, columns_run, result_table, results_of, said_columns

_NESTING = frozenset({dict, list})
_TYPED = {
    **dict.fromkeys(("stringValue", "intValue", "doubleValue", "boolValue", "bytesValue"), True),
    **dict.fromkeys(("arrayValue", "kvlistValue"), False),
}
"""How OTLP names the types of values, and whether one is the value itself or has a list of values."""


class TraceFields(NamedTuple):
    """Where spans of one kind keep a retrieval: paths into a span whose dotted names are taken apart."""

    kind: str  # the path that tells such spans from others
    value: str  # what stands there; empty where it is enough that something does
    question: str
    results: str
    answer: str = ""


_GEN_AI = ("attributes.gen_ai.retrieval.query.text", "attributes.gen_ai.retrieval.documents")
SOURCES = (
    TraceFields("attributes.gen_ai.retrieval.query.text", "", *_GEN_AI),
    TraceFields("attributes.gen_ai.retrieval.documents", "", *_GEN_AI),
    TraceFields("attributes.openinference.span.kind", "RETRIEVER", "attributes.input.value",
        "attributes.retrieval.documents", "attributes.output.value"),
    TraceFields("attributes.openinference.span.kind", "RERANKER", "attributes.reranker.query",
        "attributes.reranker.output_documents"),
    TraceFields("attributes.mlflow.spanType", "RETRIEVER", "attributes.mlflow.spanInputs",
        "attributes.mlflow.spanOutputs", "attributes.mlflow.spanOutputs"),
    TraceFields("type", "RETRIEVER", "input", "output", "output"),
)  # fmt: skip

IDS = {
    "trace": ("attributes.mlflow.traceRequestId", "context.trace_id", "traceId", "trace_id"),
    "span": ("context.span_id", "spanId", "span_id", "id"),
    "parent": ("parent_id", "parentSpanId", "parent_span_id", "parentObservationId", "parent_observation_id"),
    "time": ("startTimeUnixNano", "start_time_unix_nano", "start_time", "startTime"),
}
"""What every kind of trace says of a span, under the names that they have for it."""

_ASKED = (*NAMES["query"], "messages", "content", "text")
_ANSWERED = ("answer", "response", "output", "result", "messages", "content", "text")
_PLACES = ("", "attributes.", "resource.attributes.", "info.", "info.tags.", "metadata.")
"""Where a condition's name is looked for."""
_AT_ONCE = 1000  # topics whose results are read at once
_NEAR = 0.8  # share of the words of two questions that both have, from which on they are near-duplicates


@dataclass(slots=True)
class TracedSpan:
    """What is kept of a span: the one around it, and what it says of a question, an answer and what was retrieved."""

    trace: str
    parent: str
    at: Place
    time: datetime | None
    question: str = ""
    answer: str = ""
    stored: tuple[int, int, str] | None = None
    """The results as JSON in the file of all results: where, how many bytes, under which name; None where it retrieves
    nothing."""
    reranks: bool = False
    meets: frozenset[tuple[str, str]] = frozenset()  # the conditions that it meets


def read(sources: Sequence[Source], documents: Collection | None = None) -> Run:
    """Return what was retrieved as a run: for every question the list of its first retrieval."""
    tables, lines, lost = [result_table([])], list[int | None](), 0
    with TemporaryFile() as store:
        asked, remarks = retrievals(sources, store=store)
        firsts = ((topic, span) for topic, (span, *_) in asked.items())
        while block := list(islice(firsts, _AT_ONCE)):
            rows = [(span.at, *one) for topic, span in block for one in _results(topic, span, store)]
            known = _documents_of({name for *_, names in rows for name in names}, documents)
            for _, row, names in rows:
                held = next((name for name in names if name in known), None)
                if held or (names and (documents is None or "text" not in row)):
                    row["doc"] = held or names[0]
            kept = [(at.line, row) for at, row, _ in rows if "doc" in row or "text" in row]
            lost += len(rows) - len(kept)
            lines += [line for line, _ in kept]
            tables.append(result_table([row for _, row in kept]))
    table = pa.concat_tables(tables)
    mixed = [name for name in ("score", "distance") if table[name].null_count]  # of a reranker and of a retriever
    if lost:
        without = f"{counted(lost, 'result')} left out: they have neither the id of a document nor a text"
        remarks = (*remarks, worded(without))
    whole = len(sources) == 1
    file = sources[0].name if whole else str(location(sources[0].name).parent)
    table = said_columns(table.drop_columns(mixed))
    columns = NamedColumns(table, file, lines if whole else [None] * len(lines))
    run = columns_run(columns, location(file).name.split(".")[0], documents=documents)
    digests = "".join(source.digest() for source in sources)
    sha256 = digests if whole else hashlib.sha256(digests.encode()).hexdigest()
    queries = {topic: span.question for topic, (span, *_) in asked.items()}
    return replace(run, file=file, sha256=sha256, remarks=remarks, queries=queries)


def _results(topic: str, span: TracedSpan, store: IO[bytes]) -> Iterator[tuple[dict[str, Any], list[str]]]:
    """Yield the results of a retrieval, and what may be the id of the document of each, the likeliest first.

    An id may be that of a chunk, so that what the metadata say comes before it.
    """
    start, size, name = span.stored or (0, 0, "")
    store.seek(start)
    listed = parsed(msgspec.json.decode(store.read(size)))
    if isinstance(listed, Mapping):  # around a list, as some frameworks have it
        listed = next((some for some in listed.values() if isinstance(some, list)), None)
    items = list[Any]()
    for item in [] if listed is None else as_list(listed, name, span.at):
        value = parsed(item)
        if isinstance(value, dict):
            inner = value.get("document")
            value = {**value, **inner} if isinstance(inner, dict) else value
            if not isinstance(value.get("document", ""), str):
                del value["document"]
            if "metadata" in value:
                value["metadata"] = parsed(value["metadata"])
        items.append(value)
    for row, item in zip(results_of({"topic": topic, "results": items}, span.at), items, strict=True):
        names = (row.pop("doc", None), item.get("id") if isinstance(item, dict) else None)
        yield row, [str(name) for name in names if name not in (None, "")]


def _documents_of(names: set[str], documents: Collection | None) -> set[str]:
    """Return the names that are those of documents; one that could be that of several is none."""
    listed = sorted(names)
    if documents is None or not listed:
        return set()
    try:
        return {name for name, row in zip(listed, documents.find(listed).tolist(), strict=True) if row >= 0}
    except CollectionError:
        halves = (listed[: len(listed) // 2], listed[len(listed) // 2 :]) if len(listed) > 1 else ()
        return {name for half in halves for name in _documents_of(set(half), documents)}


def read_topics(
    sources: Sequence[Source], since: datetime | None = None, where: Sequence[tuple[str, str]] = ()
) -> tuple[tuple[Topic, ...], tuple[Remark, ...]]:
    """Return the questions as topics, each with the ids of its traces, and remarks on what was left out."""
    asked, remarks = retrievals(sources, since, where)
    topics = []
    for topic, spans in asked.items():
        first, traces = spans[0], dict.fromkeys(span.trace for span in spans if span.trace)
        time = first.time.isoformat() if first.time else ""
        facts = {"asked": str(len(spans)), "traces": " ".join(traces), "time": time, "response": first.answer}
        attributes = {name: text for name, text in facts.items() if text}
        topics.append(Topic(topic, "CO", title=first.question, attributes=attributes, place=first.at))
    return tuple(topics), remarks


def retrievals(
    sources: Sequence[Source],
    since: datetime | None = None,
    where: Sequence[tuple[str, str]] = (),
    store: IO[bytes] | None = None,
) -> tuple[dict[str, list[TracedSpan]], tuple[Remark, ...]]:
    """Return topics with the retrievals of each, in the order of the files, and remarks on what counts in part.

    `where` are names and values that a span, or one around it, must have; names may leave out ``attributes.``.
    What was retrieved is put into the file `store`.
    """
    spans, kinds = dict[tuple[str, str], TracedSpan](), Counter[str]()
    for source in sources:
        for at, members in _spans(source):
            trace, number = (_id(_first(members, IDS[name])) for name in ("trace", "span"))
            spans[trace, number or f"#{len(spans)}"] = span = _span(members, trace, at, where, store)
            kinds.update([str(members.get("name", "span without a name"))] if span.stored is None else ())
    found, unasked = list[TracedSpan](), 0
    for span in spans.values():
        around, one = list[TracedSpan](), spans.get((span.trace, span.parent))
        while one is not None and all(one is not met for met in (span, *around)):
            around.append(one)  # from the inside out
            one = spans.get((one.trace, one.parent))
        met = {*where} <= span.meets.union(*(one.meets for one in around))
        recent = since is None or (span.time is not None and span.time >= since)
        if span.stored is None or not met or not recent or any(one.stored is not None for one in around):
            continue
        span.question = span.question or next((one.question for one in around if one.question), "")
        span.answer = next((one.answer for one in reversed(around) if one.answer), "")
        found += [span] if span.question else []
        unasked += not span.question
    if not found:
        seen = ", ".join(f"{number:,} × {kind[:40]!r}" for kind, number in kinds.most_common(3)) or "none at all"
        what = f"expected spans that retrieve{' and are asked for' if since or where else ''}, found others: {seen}"
        raise FormatError(what, at=sources[0].name, remedy="'focuseval formats traces' says which are read")
    reranked = {(one.trace, one.question) for one in found if one.reranks}
    lists = [one for one in found if one.reranks or (one.trace, one.question) not in reranked]
    asked = _by_topic(lists)
    said = (
        (len(lists) - len(asked), "retrieval", "for a question that was asked before: a run has the first list"),
        (len(reranked), "list", "as a reranker returned it"),
        (unasked, "retrieval", "left out: no question is known"),
    )
    return asked, tuple(worded(f"{counted(number, noun)} {what}") for number, noun, what in said if number)


def _by_topic(found: Sequence[TracedSpan]) -> dict[str, list[TracedSpan]]:
    """Return retrievals by the id of their question's topic."""
    traces: dict[str, list[str]] = {}
    for one in sorted(found, key=lambda one: one.time or datetime.max.replace(tzinfo=UTC)):
        if one.question not in traces.setdefault(one.trace, []):
            traces[one.trace].append(one.question)
    ids, asked = dict[str, str](), dict[str, list[TracedSpan]]()
    for one in found:
        questions = traces[one.trace]
        number = f"/{questions.index(one.question) + 1}" if len(questions) > 1 else ""
        topic = ids.setdefault(one.question, f"{one.trace}{number}" if one.trace else one.question)
        asked.setdefault(topic, []).append(one)
    return asked


def _span(
    members: dict[str, Any], trace: str, at: Place, where: Sequence[tuple[str, str]], store: IO[bytes] | None
) -> TracedSpan:
    """Return what is kept of a span."""
    span = TracedSpan(trace, _id(_first(members, IDS["parent"])), at, _time(_first(members, IDS["time"])))
    for one in SOURCES:
        kind = parsed(_at(members, one.kind))
        if kind is None:
            continue
        span.question = span.question or _said(_at(members, one.question), _ASKED)
        span.answer = span.answer or _said(_at(members, one.answer), _ANSWERED)
        if span.stored is None and (not one.value or str(kind).upper() == one.value):
            content = b"" if store is None else msgspec.json.encode(_at(members, one.results))
            start = 0 if store is None else store.tell()
            span.stored = start, 0 if store is None else store.write(content), one.results
            span.reranks = one.value == "RERANKER"
    for name, value in where:
        there = (parsed(_at(members, f"{place}{name}")) for place in _PLACES)
        if any(value in (map(str, some) if isinstance(some, list) else [str(some)]) for some in there):
            span.meets |= {(name, value)}
    return span


def _spans(source: Source) -> Iterator[tuple[Place, dict[str, Any]]]:
    """Yield the members of the spans of a file, one span at a time; what is around spans is among them."""
    if source.head().lstrip()[:1] in {b"{", b"["}:
        items = json_items(source, frozenset({"resourceSpans", "scopeSpans", "spans", "data"}))
    else:
        items = (Item(row.line or 0, dict(row.values), {}) for row in table_rows(source))
    for line, members, around in items:
        outer = {name: around[name] for name in ("resource", "info") if name in around}
        for span in _inner_spans(members):
            found = _nested(outer | span)
            yield source.at(line), found if isinstance(found, dict) else {}


def _inner_spans(members: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the members of the spans in an object: OTLP's, those of a trace, or itself."""
    trace = parsed(members.get("trace"))  # in a frame of MLflow it is a text
    members = trace if isinstance(trace, dict) and isinstance(trace.get("data"), dict) else members
    names = ("resourceSpans", "scopeSpans", "data.spans", "spans", "data")
    listed = next((found for name in names if isinstance(found := _at(members, name), list)), None)
    if listed is None:
        yield members
        return
    outer = {name: members[name] for name in ("resource", "info") if name in members}
    for one in listed:
        if isinstance(one, dict):
            inside = "scopeSpans" in one or ("spans" in one and "traceId" not in one)
            yield from (outer | span for span in (_inner_spans(one) if inside else (one,)))


def _nested(value: Any) -> Any:
    """Return a value whose dotted names are objects in objects, numbers in them lists; what is null is left out.

    Attributes as OTLP lists them, each with the name of its type, become objects, too.

    >>> _nested({"results.0.id": "a", "results.1.id": "b", "x": None, "y": [{"key": "z", "value": {"intValue": 1}}]})
    {'results': [{'id': 'a'}, {'id': 'b'}], 'y': {'z': 1}}
    """
    if isinstance(value, list):
        pairs = bool(value) and all(isinstance(one, dict) and isinstance(one.get("key"), str) for one in value)
        return _nested({one["key"]: one.get("value") for one in value}) if pairs else [_nested(one) for one in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1 and (kind := next(iter(value))) in _TYPED:
        inner = value[kind]
        return inner if _TYPED[kind] else _nested(inner.get("values") or []) if isinstance(inner, dict) else []
    tree: dict[str, Any] = {}
    for name, content in value.items():
        held = _nested(content) if type(content) in _NESTING else content
        if held is None:
            continue
        node, steps = tree, name.split(".")
        for step in steps[:-1]:
            node = node.setdefault(step, {}) if isinstance(node, dict) else {}
        if isinstance(node, dict):
            there = node.get(steps[-1])
            node[steps[-1]] = {**held, **there} if isinstance(held, dict) and isinstance(there, dict) else held
    return _numbered(tree, deep=any("." in name for name in value))


def _numbered(value: Any, *, deep: bool) -> Any:
    """Return an object whose names are all numbers as a list; with `deep`, those in it, too."""
    if not isinstance(value, dict):
        return value
    inner = {name: _numbered(held, deep=True) for name, held in value.items()} if deep else value
    return [inner[n] for n in sorted(inner, key=int)] if inner and all(map(str.isdecimal, inner)) else inner


def _at(members: Any, path: str) -> Any:
    """Return the value that a path leads to, None where it leads nowhere."""
    for step in path.split(".") if path else ():
        members = members.get(step) if isinstance(members, dict) else None
    return members if path else None


def _first(span: dict[str, Any], paths: Sequence[str]) -> Any:
    return next((found for path in paths if (found := _at(span, path)) not in (None, "")), "")


def _id(value: Any) -> str:
    """Return an id of a trace or a span in the hexadecimal digits of OpenTelemetry; others as they are."""
    text = str(parsed(value)).removeprefix("0x")
    try:
        return base64.b64decode(text, validate=True).hex() if len(text) in {12, 24} and text[-1] == "=" else text
    except binascii.Error:
        return text


def _time(value: Any) -> datetime | None:
    """Return a time: of a text, or of a number since 1970, in the unit that makes it one after 1973."""
    text = str(value).strip()
    try:
        if text.isdecimal():
            unit = next((unit for unit in (1e9, 1e6, 1e3) if int(text) / unit > 1e8), 1)
            return datetime.fromtimestamp(int(text) / unit, UTC)
        time = datetime.fromisoformat(text)
        return time if time.tzinfo else time.replace(tzinfo=UTC)
    except (ValueError, OverflowError, OSError):
        return None


def _said(value: Any, names: Sequence[str]) -> str:
    """Return the text that somebody said: itself, under a name that is usual, or in the last of several messages."""
    value = parsed(value)
    if isinstance(value, list):
        spoken = [one for one in value if isinstance(one, Mapping) and one.get("role") in {"user", "human"}]
        return _said((spoken or value)[-1], names) if value else ""
    if isinstance(value, Mapping):
        own = next((value[name] for name in names if value.get(name)), None)
        return _said(next(iter(value.values())) if own is None and len(value) == 1 else own, names)
    return " ".join(value.split()) if isinstance(value, str) else ""


def draw(topics: Sequence[Topic], number: int, seed: int) -> tuple[list[Topic], int]:
    """Return so many topics, drawn at random from those that are no near-duplicates, and how many were folded.

    Two questions are near-duplicates if four fifths of their words are in both; the first stands for the others, and
    keeps their traces. Only questions that share one of their rarest words can be, and are compared.
    """
    words = [frozenset(re.findall(r"\w+", topic.title.casefold())) for topic in topics]
    often = Counter(word for own in words for word in own)
    kept, holders = list[tuple[Topic, frozenset[str]]](), dict[str, list[int]]()
    for topic, own in zip(topics, words, strict=True):
        rarest = sorted(own, key=lambda word: (often[word], word))[: len(own) - math.ceil(_NEAR * len(own)) + 1]
        near = sorted({one for word in rarest for one in holders.get(word, ())})
        same = next((one for one in near if len(own & kept[one][1]) >= _NEAR * len(own | kept[one][1])), None)
        if same is None:
            for word in rarest:
                holders.setdefault(word, []).append(len(kept))
            kept.append((topic, own))
            continue
        first, more = kept[same][0], topic.attributes
        facts = {**first.attributes, "asked": str(sum(int(one.attributes.get("asked", 1)) for one in (first, topic)))}
        facts |= {"traces": f"{facts.get('traces', '')} {more['traces']}".strip()} if "traces" in more else {}
        kept[same] = replace(first, attributes=facts), kept[same][1]
    chosen = random.Random(seed).sample(range(len(kept)), min(number, len(kept)))  # noqa: S311  no secret
    return [kept[one][0] for one in sorted(chosen)], len(topics) - len(kept)
