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
import json
import math
import random
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from focuseval.data.fields import NAMES
from focuseval.data.remarks import worded
from focuseval.data.topics.topic import Topic
from focuseval.engine.storage import location
from focuseval.errors import CollectionError, FormatError, Place, counted
from focuseval.formats.rows import as_list, json_values, table_rows
from focuseval.formats.run_rows import columns_run, result_columns, results_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from focuseval.collection.index import Collection
    from focuseval.data.remarks import Remark
    from focuseval.data.run import Run
    from focuseval.formats.content import Source


class TraceFields(NamedTuple):
    """Where spans of one kind keep a retrieval: paths into a span whose dotted names are taken apart."""

    kind: str
    """The path that tells such spans from others."""
    value: str
    """What stands there; empty where it is enough that something does."""
    question: str
    results: str
    answer: str = ""


SOURCES = (
    TraceFields(
        "attributes.gen_ai.retrieval", "", "attributes.gen_ai.retrieval.query.text",
        "attributes.gen_ai.retrieval.documents",
    ),
    TraceFields(
        "attributes.openinference.span.kind", "RETRIEVER", "attributes.input.value",
        "attributes.retrieval.documents", "attributes.output.value",
    ),
    TraceFields(
        "attributes.openinference.span.kind", "RERANKER", "attributes.reranker.query",
        "attributes.reranker.output_documents",
    ),
    TraceFields(
        "attributes.mlflow.spanType", "RETRIEVER", "attributes.mlflow.spanInputs",
        "attributes.mlflow.spanOutputs", "attributes.mlflow.spanOutputs",
    ),
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
_NEAR = 0.8
"""Share of the words of two questions that both have, from which on they are near-duplicates."""


@dataclass
class TracedSpan:
    """What is kept of a span: the one around it, and what it says of a question, an answer and what was retrieved."""

    trace: str
    parent: str
    at: Place
    time: datetime | None
    question: str = ""
    answer: str = ""
    results: list[Any] | None = None
    """None where it retrieves nothing."""
    reranks: bool = False
    meets: frozenset[tuple[str, str]] = frozenset()
    """The conditions that it meets."""


def read(sources: Sequence[Source], documents: Collection | None = None) -> Run:
    """Return what was retrieved as a run: for every question the list of its first retrieval."""
    asked, remarks = retrievals(sources)
    rows = [(span.at, *one) for topic, (span, *_) in asked.items() for one in _results(topic, span)]
    every = {name for *_, names in rows for name in names}
    known = {name for name in every if documents is not None and _is_document(name, documents)}
    for _, row, names in rows:
        held = next((name for name in names if name in known), None)
        if held or (names and (documents is None or "text" not in row)):
            row["doc"] = held or names[0]
    kept = [(at.line, row) for at, row, _ in rows if "doc" in row or "text" in row]
    if lost := len(rows) - len(kept):
        without = f"{counted(lost, 'result')} left out: they have neither the id of a document nor a text"
        remarks = (*remarks, worded(without))
    for name in ("score", "distance"):  # ranks decide; a reranker's scores are others than a retriever's
        if not all(name in row for _, row in kept):
            kept = [(line, {key: value for key, value in row.items() if key != name}) for line, row in kept]
    whole = len(sources) == 1
    file = sources[0].name if whole else str(location(sources[0].name).parent)
    table = result_columns([row for _, row in kept], file, [line if whole else None for line, _ in kept])
    run = columns_run(table, location(file).name.split(".")[0], documents=documents)
    digests = "".join(source.digest() for source in sources)
    sha256 = digests if whole else hashlib.sha256(digests.encode()).hexdigest()
    queries = {topic: span.question for topic, (span, *_) in asked.items()}
    return replace(run, file=file, sha256=sha256, remarks=remarks, queries=queries)


def _results(topic: str, span: TracedSpan) -> Iterator[tuple[dict[str, Any], list[str]]]:
    """Yield the results of a retrieval, and what may be the id of the document of each, the likeliest first.

    An id may be that of a chunk, so that what the metadata say comes before it.
    """
    for rank, item in enumerate(span.results or (), 1):
        value = _parsed(item)
        if isinstance(value, Mapping):
            inner = value.get("document")
            value = {**value, **inner} if isinstance(inner, Mapping) else dict(value)
            value["metadata"] = _parsed(value.get("metadata"))
            value = {name: one for name, one in value.items() if name != "document" or isinstance(one, str)}
        row = results_of({"topic": topic, "results": [value]}, span.at)[0] | {"rank": rank}
        names = (row.pop("doc", None), value.get("id") if isinstance(value, Mapping) else None)
        yield row, [str(name) for name in names if name not in (None, "")]


def _is_document(name: str, documents: Collection) -> bool:
    """Say whether a name is that of a document; one that could be that of several is none."""
    try:
        return int(documents.find([name])[0]) >= 0
    except CollectionError:
        return False


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
    sources: Sequence[Source], since: datetime | None = None, where: Sequence[tuple[str, str]] = ()
) -> tuple[dict[str, list[TracedSpan]], tuple[Remark, ...]]:
    """Return topics with the retrievals of each, in the order of the files, and remarks on what counts in part.

    `where` are names and values that a span, or one around it, must have; names may leave out ``attributes.``.
    """
    spans, kinds = dict[tuple[str, str], TracedSpan](), Counter[str]()
    for source in sources:
        for at, raw in _spans(source):
            trace, number = (_id(_first(raw, IDS[name])) for name in ("trace", "span"))
            spans[trace, number or f"#{len(spans)}"] = span = _span(raw, trace, at, where)
            kinds.update([str(raw.get("name", "span without a name"))] if span.results is None else ())
    found, unasked = list[TracedSpan](), 0
    for span in spans.values():
        around = list(_around(span, spans))
        met = {*where} <= span.meets.union(*(one.meets for one in around))
        recent = since is None or (span.time is not None and span.time >= since)
        if span.results is None or not met or not recent or any(one.results is not None for one in around):
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


def _around(span: TracedSpan, spans: Mapping[tuple[str, str], TracedSpan]) -> Iterator[TracedSpan]:
    """Yield the spans around a span, from the inside out."""
    met, one = {id(span)}, spans.get((span.trace, span.parent))
    while one is not None and id(one) not in met:
        yield one
        met.add(id(one))
        one = spans.get((one.trace, one.parent))


def _span(raw: dict[str, Any], trace: str, at: Place, where: Sequence[tuple[str, str]]) -> TracedSpan:
    """Return what is kept of a span."""
    span = TracedSpan(trace, _id(_first(raw, IDS["parent"])), at, _time(_first(raw, IDS["time"])))
    for one in SOURCES:
        kind = _parsed(_at(raw, one.kind))
        if kind is None:
            continue
        span.question = span.question or _said(_at(raw, one.question), _ASKED)
        span.answer = span.answer or _said(_at(raw, one.answer), _ANSWERED)
        if span.results is None and (not one.value or str(kind).upper() == one.value):
            listed = _parsed(_at(raw, one.results))
            if isinstance(listed, Mapping):  # around a list, as some frameworks have it
                listed = next((some for some in listed.values() if isinstance(some, list)), None)
            span.results = [] if listed is None else as_list(listed, one.results, at)
            span.reranks = one.value == "RERANKER"
    for name, value in where:
        there = (_parsed(_at(raw, f"{place}{name}")) for place in _PLACES)
        if any(value in (map(str, some) if isinstance(some, list) else [str(some)]) for some in there):
            span.meets |= {(name, value)}
    return span


def _spans(source: Source) -> Iterator[tuple[Place, dict[str, Any]]]:
    """Yield the spans of a file, one at a time, with dotted names taken apart."""
    in_json = source.head().lstrip()[:1] in {b"{", b"["}
    for line, row in json_values(source) if in_json else ((one.line, one.values) for one in table_rows(source)):
        trace = _parsed(row.get("trace")) if isinstance(row, Mapping) else {}  # in a frame of MLflow it is a text
        trace = trace if isinstance(trace, Mapping) and isinstance(trace.get("data"), Mapping) else row
        scoped = [trace] if _at(trace, "scopeSpans") else _at(trace, "resourceSpans")
        if isinstance(scoped, list):
            scopes = [(_at(one, "resource"), scope) for one in scoped for scope in _each(one, "scopeSpans")]
            spans: list[Any] = [{"resource": named} | one for named, scope in scopes for one in _each(scope, "spans")]
        else:
            inner = next((path for path in ("data.spans", "spans", "data") if isinstance(_at(trace, path), list)), None)
            more = {"info": _at(trace, "info")}
            spans = [more | one for one in _each(trace, inner)] if inner else [trace]
        yield from ((source.at(line), span) for one in spans if isinstance(span := _nested(one), dict))


def _each(value: Any, path: str) -> list[dict[str, Any]]:
    """Return the objects of the list that a path leads to."""
    listed = _at(value, path)
    return [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []


def _nested(value: Any) -> Any:
    """Return a value whose dotted names are objects in objects, numbers in them lists; what is null is left out.

    Attributes as OTLP lists them, each with the name of its type, become objects, too.

    >>> _nested({"results.0.id": "a", "results.1.id": "b", "x": None, "y": [{"key": "z", "value": {"intValue": 1}}]})
    {'results': [{'id': 'a'}, {'id': 'b'}], 'y': {'z': 1}}
    """
    if isinstance(value, list):
        pairs = bool(value) and all(isinstance(one, dict) and isinstance(one.get("key"), str) for one in value)
        return _nested({one["key"]: one.get("value") for one in value}) if pairs else [_nested(one) for one in value]
    if not isinstance(value, Mapping):
        return None if isinstance(value, float) and math.isnan(value) else value
    if len(value) == 1 and (typed := _TYPED.fullmatch(next(iter(value)))):
        inner = next(iter(value.values()))
        return _nested(_at(inner, "values") or []) if typed[1] else inner
    groups: dict[str, Any] = {}
    for name, content in value.items():
        head, dot, rest = str(name).partition(".")
        there = groups.get(head)
        if not dot:
            groups[head] = {**content, **there} if isinstance(content, Mapping) and isinstance(there, dict) else content
        elif there is None or isinstance(there, dict):
            groups[head] = {**(there or {}), rest: content}
    nested = {name: held for name, content in groups.items() if (held := _nested(content)) is not None}
    return [nested[n] for n in sorted(nested, key=int)] if nested and all(map(str.isdecimal, nested)) else nested


_TYPED = re.compile(r"(array|kvlist)?(?:string|int|double|bool|bytes)?Value")


def _at(value: Any, path: str) -> Any:
    """Return what a path leads to, None where it leads nowhere."""
    for step in path.split("."):
        value = value.get(step) if isinstance(value, Mapping) else None
    return value


def _first(span: Mapping[str, Any], paths: Sequence[str]) -> Any:
    return next((found for path in paths if (found := _at(span, path)) not in (None, "")), "")


def _id(value: Any) -> str:
    """Return an id of a trace or a span in the hexadecimal digits of OpenTelemetry; others as they are."""
    text = str(_parsed(value)).removeprefix("0x")
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


def _parsed(value: Any) -> Any:
    """Return what a text says as JSON; one that is no object, list or string in JSON is a text."""
    if not isinstance(value, str) or value.lstrip()[:1] not in {"{", "[", '"'}:
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def _said(value: Any, names: Sequence[str]) -> str:
    """Return the text that somebody said: itself, under a name that is usual, or in the last of several messages."""
    value = _parsed(value)
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
