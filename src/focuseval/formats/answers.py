r"""Answers with quotations and citations: what they cite is a run, and what they quote can be verified.

::

    {"topic": "q1", "answer": [{"text": "The sea rises.", "citations": [{"doc": "tide", "start": 0, "end": 46}]}]}
    {"topic_id": "q1", "references": ["tide", "moon"], "answer": [{"text": "…", "citations": [0, 1]}]}     TREC RAG
    {"question": "…?", "docs": [{"id": "tide", "text": "…"}], "output": "It rises [1]. It falls [2]."}     ALCE
    {"id": "q1", "answer": "The tide is “the slow rise and fall of the sea” [1].", "sources": ["tide"]}
    {"topic": "q1", "content": [{"type": "text", "text": "…", "citations": [{"type": "char_location", "cited_text": "…",
        "document_index": 0, "start_char_index": 0, "end_char_index": 46}]}], "documents": ["tide"]}
    {"topic": "q1", "answer": "…", "groundingMetadata": {"groundingChunks": [{"retrievedContext": {"uri": "tide",
        "text": "…"}}], "groundingSupports": [{"segment": {"endIndex": 14}, "groundingChunkIndices": [0]}]}}
    {"id": "q9", "answer": "I cannot say.", "abstains": true}

**As a run**, every citation is a result, in the order of the answer: the span that it names, else the place of its
text, else the whole document (or segment) that it names. A sentence's citations are its list, or the marks in it and
right behind it: ``[1]``, ``[^1]``, ``【1】`` and ``[tide]`` name a source by its number or id. Sources are a list of
the line, or the list at the end of a Markdown answer (``[1]: tide.md``, or numbered lines below *Sources*). A citation
that leads to no source is a result whose document nobody knows: it is counted, and gains nothing. An answer abstains
where it says so (``abstains``, ``abstained``, ``refused``, ``unanswerable``: true), or in words that the user names.

**As quotations** (``focuseval quotes``), a line has a list of quotes, each a text or an object with a text and a
document, or else an answer in whose text the quotations are what stands between quotation marks, and block quotes
(``>``). A mark cites a source right behind a quotation or, where none is there, before it in the same sentence
("According to [1], “…”"). A number that no source has cites a source that is not there; without a mark all sources of
the answer are meant::

    {"id": "a2", "quotes": [{"quote": "a lag that old pilots called the age of the tide", "doc": "water/tide"}]}

Other names for the fields::

    id       topic, topic_id, query_id, qid, question_id, query-id, narrative_id, _id; else the question itself
    answer   response, actual_output, output, generated_answer
    quotes   citations, quotations
    quote    text, cited_text, content, quotation
    doc      doc_id, document_id, docid, docno, corpus-id, source, file_name, document
    sources  docs, documents, references, contexts_ids, retrieved_ids
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from focuseval.collection.boundaries import sentences
from focuseval.collection.index import Collection
from focuseval.data.fields import layers, short, topic_of
from focuseval.data.run import CitedAnswer, Run, Statement
from focuseval.errors import FormatError, Place
from focuseval.formats.content import Source, open_source
from focuseval.formats.json_records import json_items
from focuseval.formats.rows import field, result_of, rows_of
from focuseval.formats.run_rows import NamedColumns, columns_run, result_table, said_columns
from focuseval.placing.texts import column_of

ID = ("id", "topic", "topic_id", "query_id", "qid", "question_id", "query-id", "narrative_id", "_id")
ANSWER = ("answer", "response", "actual_output", "output", "generated_answer")
QUOTES = ("quotes", "citations", "quotations")
QUOTE = ("quote", "text", "cited_text", "content", "quotation")
DOC = ("doc", "doc_id", "document_id", "docid", "docno", "corpus-id", "source", "file_name", "document")
SOURCES = ("sources", "docs", "documents", "references", "contexts_ids", "retrieved_ids")
ABSTAINS = ("abstains", "abstained", "refused", "unanswerable")

_QUOTED = re.compile(
    r"(?m:^((?: {0,3}>[^\n]*(?:\n|\Z))+))"  # lines of a block quote
    r"|“([^“”]+)”|„([^„“”]+)[“”]|«([^«»]+)»|»([^«»]+)«|(?<!\w)\"([^\"]+)\"(?!\w)|``(.+?)''",
    re.DOTALL,
)
_MARKS = re.compile(r"[\s.,;:!?—–-]{0,3}((?:[\[【][^\[\]【】\n]{1,200}[\]】][\s,;]?)+)")
_LAST_MARKS = re.compile(rf"{_MARKS.pattern}[\s.]*\Z")
_MARK = re.compile(r"[\[【]([^\[\]【】]+)[\]】]")
_LISTED = re.compile(r"(?m)^[ \t]*(?:[-*]\s+)?\[\^?([^\]\s]+)\](?!\():?\s+(\S.*)$")
_NUMBERED = re.compile(r"(?m)^[ \t]*([0-9]+)[.)]\s+(\S.*)$")
_HEADING = re.compile(r"(?mi)^[#*\s]*(?:sources|references)[*:\s]*$")
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def read(source: Source, documents: Collection | None = None) -> Run:
    """Return what the answers cite as a run, with the answers beside it."""
    results, lines, answers = list[dict[str, Any]](), list[int | None](), dict[str, CitedAnswer]()
    for row in rows_of(source):
        at = Place(source.name, row.line)
        layer = next((one for one in layers(row.values) if _value(one, ID, at, str | int) is not None), row.values)
        topic = str(_value(layer, ID, at, str | int, default=None) or topic_of(row.values, at, question=True))
        if topic in answers:
            raise FormatError(f"expected one answer to {topic!r}, found another", at=at, remedy="keep one of them")
        numbers, statements = dict[str, int](), list[Statement]()
        for text, citations in _statements(row.values, at):
            for one in citations:
                if (key := repr(one)) not in numbers:
                    numbers[key] = len(numbers)
                    results.append({**one, "topic": topic, "rank": len(numbers)})
                    lines.append(row.line)
            statements.append(Statement(text, tuple(dict.fromkeys(numbers[repr(one)] for one in citations))))
        answers[topic] = CitedAnswer(tuple(statements), any(row.values.get(name) is True for name in ABSTAINS))
    columns = NamedColumns(said_columns(result_table(results)), source.name, lines)
    run = columns_run(columns, source.stem, documents=documents)
    topics = tuple(dict.fromkeys((*run.topics, *answers)))  # an answer without citations is an answer
    run = replace(run, topics=topics, file=source.name, sha256=source.digest(), answers=answers)
    return _whole_documents(run, documents)


def _whole_documents(run: Run, documents: Collection | None) -> Run:
    """Return the run with the spans of segments, and of whole documents among results that are parts of them."""
    segments = getattr(documents, "segments", None)
    bare = np.ones(len(run), np.bool_) if run.start is None else run.start < 0
    bare &= True if run.text is None else run.text.is_null().to_numpy(zero_copy_only=False)
    if documents is None or not bare.any():
        return run
    rows = (documents if segments is None else segments).find(run.document)
    known = bare & (rows >= 0)
    if run.whole_documents and segments is None and known.all():
        return run
    start, end = (column_of(column, len(run)).copy() for column in (run.start, run.end))
    document = run.document
    if segments is None:
        start[known], end[known] = 0, np.asarray(documents.lengths)[rows[known]]
    else:
        start[known], end[known] = segments.start[rows[known]], segments.end[rows[known]]
        names = np.array(document.to_pylist(), object)
        names[known] = segments.document.take(pa.array(rows[known])).to_pylist()
        document = pa.array(names, pa.string())
    return replace(run, document=document, start=start, end=end)


def _statements(row: Mapping[str, Any], at: Place) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yield the sentences of an answer, each with what it cites as results."""
    sources, blocks = _value(row, SOURCES, at, list, default=[]), row.get("content")
    grounding = row if "groundingSupports" in row else row.get("groundingMetadata")
    answer = _value(row, ANSWER, at, str | list)
    if isinstance(blocks, list):
        pieces = list(_pieces(blocks, sources, at))
        yield from _cut("".join(text for text, _ in pieces), pieces)
    elif isinstance(answer, list):
        yield from ((text, cited) for text, cited in _pieces(answer, sources, at) if text.strip())
    elif answer is None:
        what = f"expected an answer ({', '.join(ANSWER)}, content), found only {', '.join(row) or 'nothing'}"
        raise FormatError(what, at=at, remedy="add the field; an empty text is an answer without words")
    elif grounding is not None:
        yield from _cut(answer, _grounded(answer, grounding, at))
    else:
        numbered = {str(number): one for number, one in enumerate(sources, 1)}
        body, own = (answer, numbered) if sources else listed_sources(answer)
        yield from _marked_sentences(body, own, at)


def _pieces(parts: Sequence[Any], sources: Sequence[Any], at: Place) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yield the text of every part of an answer and what it cites."""
    for part in parts:
        if not isinstance(part, dict):
            raise FormatError(f"expected a part of an answer as an object with a text, found {short(part)}", at=at)
        yield str(part.get("text") or ""), [_citation(cited, sources, at) for cited in part.get("citations") or []]


def _grounded(answer: str, grounding: Any, at: Place) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yield pieces that make up an answer: what a support names, in bytes of the answer, cites its chunks."""
    chunks, whole = field(grounding, "groundingChunks", list, at), answer.encode()
    spans = list[tuple[int, int, list[dict[str, Any]]]]()
    for support in field(grounding, "groundingSupports", list, at):
        segment = field(support, "segment", dict, at)
        cited = [_citation(number, chunks, at) for number in support.get("groundingChunkIndices") or []]
        spans.append((int(segment.get("startIndex") or 0), int(segment.get("endIndex") or 0), cited))
    edges = sorted({0, len(whole), *(edge for one in spans for edge in one[:2] if 0 <= edge <= len(whole))})
    for first, last in pairwise(edges):
        cited = [one for low, high, some in spans if low <= first and last <= high for one in some]
        yield whole[first:last].decode("utf-8", "replace"), cited


def _cut(answer: str, pieces: Iterable[tuple[str, list[dict[str, Any]]]]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yield the sentences of an answer; each cites what the pieces of it cite."""
    begins, ends = (column.tolist() for column in sentences(answer))
    cites: list[list[dict[str, Any]]] = [[] for _ in begins]
    at = 0
    for text, cited in pieces:
        for number, (begin, end) in enumerate(zip(begins, ends, strict=True) if cited else ()):
            if begin < at + len(text) and at < end:
                cites[number] += cited
        at += len(text)
    yield from ((answer[begin:end], cites[n]) for n, (begin, end) in enumerate(zip(begins, ends, strict=True)))


def _marked_sentences(answer: str, sources: Mapping[str, Any], at: Place) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yield the sentences of a text with what their marks cite; marks behind a full stop belong to it."""
    by_name = {_document(one, at): one for one in sources.values() if not isinstance(one, dict) or "text" not in one}
    found: list[tuple[str, list[str]]] = []
    for begin, end in zip(*(column.tolist() for column in sentences(answer)), strict=True):
        sentence = answer[begin:end]
        if (behind := _MARKS.match(sentence)) and found:
            found[-1][1].extend(_names(behind[1]))
            sentence = sentence[behind.end() :]
        if sentence.strip():
            found.append((sentence, _names(sentence)))
    for sentence, marks in found:
        cited = [mark for mark in marks if mark.isdecimal() or mark in sources or mark in by_name]
        yield sentence, [_citation(sources.get(mark, by_name.get(mark, f"[{mark}]")), (), at) for mark in cited]


def listed_sources(answer: str) -> tuple[str, dict[str, str]]:
    r"""Return an answer without the list of sources at its end, and the sources by their marks.

    >>> listed_sources("It rises [1].\n\n[1]: [The tide](tide.md)")
    ('It rises [1].', {'1': 'tide.md'})
    """
    heading = _HEADING.search(answer)
    items = list((_NUMBERED if heading else _LISTED).finditer(answer, heading.end() if heading else 0))
    items = items or list(_LISTED.finditer(answer))
    if not items:
        return answer, {}
    first = heading.start() if heading else items[0].start()
    links = ((item[1], _LINK.search(item[2]), item[2].strip()) for item in items)
    return answer[:first].rstrip(), {mark: link[1] if link else text for mark, link, text in links}


def _citation(cited: Any, sources: Sequence[Any], at: Place) -> dict[str, Any]:
    """Return one citation as a result: a number of a source, a document's id, or an object that says more."""
    if isinstance(cited, bool) or not isinstance(cited, int | str | dict):
        raise FormatError(f"expected a citation as a number, an id or an object, found {short(cited)}", at=at)
    if isinstance(cited, int):
        return _citation(sources[cited], (), at) if 0 <= cited < len(sources) else {"doc": f"[{cited}]"}
    if isinstance(cited, str):
        return {"doc": cited}
    inner = next((cited[name] for name in ("web", "retrievedContext") if isinstance(cited.get(name), dict)), cited)
    places = (("text", "cited_text"), ("start", "start_char_index"), ("end", "end_char_index"))
    result = result_of({**inner, **{ours: inner[name] for ours, name in places if inner.get(name) is not None}}, at)
    if isinstance(quote := inner.get("quote"), str):
        result["text"] = quote
    number = inner.get("document_index")
    if "doc" not in result and isinstance(number, int) and 0 <= number < len(sources):
        result["doc"] = _document(sources[number], at)
    name = next((inner[key] for key in ("id", "_id", "uri", "document_title", "title") if inner.get(key)), None)
    if name is not None or "text" not in result:
        result.setdefault("doc", f"[{number}]" if name is None else str(name))
    return {name: value for name, value in result.items() if name in {"doc", "text", "start", "end", "chunk", "path"}}


class Quotation(NamedTuple):
    """One quotation: whose, what, and which documents are cited for it."""

    answer: str
    text: str
    cited: tuple[str, ...] = ()
    at: Place = Place("answers")


def read_answers(path: str | Path) -> Iterator[tuple[Place, Any]]:
    """Yield the answers of a file, each with its place: its line, or its number in an array."""
    source, number = open_source(path), 0
    listed = source.head().lstrip()[:1] == b"["
    for number, item in enumerate(json_items(source), 1):
        yield source.at(number if listed else item.line), item.members
    if not number:
        what = f"expected answers, found an empty {'list' if source.head().strip() else 'file'}"
        raise FormatError(what, at=source.name, remedy="was it written to the end?")


def quotations(record: Any, at: Place, *, shortest: int, is_document: Callable[[str], bool]) -> Iterator[Quotation]:
    """Yield the quotations of one answer.

    Those in running text count if they have so many characters; a mark is a citation if it is a number or the id of a
    document.
    """
    if not isinstance(record, dict):
        raise FormatError(f"expected an object with an answer, found {str(record)[:40]!r}", at=at)
    name = str(_value(record, ID, at, str | int, default=at.line or ""))
    sources = tuple(_document(one, at) for one in _value(record, SOURCES, at, list, default=[]))
    quotes = _value(record, QUOTES, at, list)
    answer = _value(record, ANSWER, at, str)
    if quotes is None and answer is None:
        remedy = f"name the answer one of {', '.join(ANSWER)}, or list its quotes"
        raise FormatError("expected 'answer' or 'quotes', found neither", at=at, remedy=remedy)
    for quote in quotes or ():
        text, cited = quote, sources
        if not isinstance(quote, str | dict):
            raise FormatError(f"expected a quote as a text or an object, found {str(quote)[:40]!r}", at=at)
        if isinstance(quote, dict):
            text = _value(quote, QUOTE, at, str)
            if text is None:
                raise FormatError("expected the text of a quote as 'quote', found none", at=at)
            document = _value(quote, DOC, at, str | int | dict)
            cited = sources if document is None else (_document(document, at),)
        yield Quotation(name, text, cited, at)
    numbered = {str(number): one for number, one in enumerate(sources, 1)}
    for text, marks in marked(answer or "") if quotes is None else ():
        citations = (mark for mark in marks if mark.isdecimal() or mark in sources or is_document(mark))
        named = [numbered.get(mark, mark) for mark in citations]
        if len(text) >= shortest:
            yield Quotation(name, text, tuple(dict.fromkeys(named)) or sources, at)


def marked(text: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield every quotation with what the brackets right behind it name, else those before it in its sentence.

    >>> list(marked('He says “the sea is deep,” [2][b/one] and "no more" (see 3). In [4] I read: "much".'))
    [('the sea is deep,', ('2', 'b/one')), ('no more', ()), ('much', ('4',))]
    """
    before = 0
    for found in _QUOTED.finditer(text):
        quote = next(group for group in found.groups() if group is not None)
        behind = _MARKS.match(text, found.end())
        if found[1]:
            quote = re.sub(r"(?m)^ {0,3}> ?", "", quote).strip()
            inside = _LAST_MARKS.search(quote)
            quote, behind = (quote[: inside.start()], inside) if inside else (quote, behind)
            within = _QUOTED.fullmatch(quote)
            quote = next(group for group in within.groups() if group is not None) if within else quote
        introduced = f"{text[before : found.start()]}Q"  # a letter in the quotation's place: is it the same sentence?
        marks = behind[1] if behind else introduced[sentences(introduced)[0][-1] :]
        before = max(found.end(), behind.end() if behind and not found[1] else 0)
        yield quote, tuple(_names(marks))


def _names(marks: str) -> list[str]:
    """Return what the marks in a text name."""
    inner = (part.strip() for mark in _MARK.findall(marks) for part in mark.split(","))
    return [part.lstrip("^").removeprefix("doc:").strip() for part in inner if part]


def _document(value: Any, at: Place) -> str:
    """Return a document's id, from the id itself or from an object that has it."""
    if isinstance(value, dict):
        inner = _value({**value, **(value.get("metadata") or {})}, (*DOC, "id", "_id"), at, str | int)
        if inner is None:
            raise FormatError(f"expected a document's id as 'doc', found only {', '.join(value) or 'nothing'}", at=at)
        value = inner
    if not isinstance(value, str | int):
        raise FormatError(f"expected a document's id, found {str(value)[:40]!r}", at=at)
    return str(value)


def _value(record: Mapping[str, Any], names: tuple[str, ...], at: Place, kind: Any, *, default: Any = None) -> Any:
    """Return the field that has one of the names; two that disagree are refused."""
    there = [name for name in names if record.get(name) is not None]
    if not there:
        return default
    value = record[there[0]]
    other = next((name for name in there[1:] if record[name] != value), None)
    if other is not None:
        raise FormatError(f"expected one {names[0]}, found {there[0]!r} and {other!r}, which disagree", at=at)
    if not isinstance(value, kind) or isinstance(value, bool):
        raise FormatError(f"expected another kind of value as {there[0]!r}, found {str(value)[:40]!r}", at=at)
    return value
