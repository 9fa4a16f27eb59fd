r"""Answers with quotations and citations: lines of JSON, or a JSON array.

::

    {"id": "a1", "answer": "The tide is “the slow rise and fall of the sea” [1].", "sources": ["water/tide"]}
    {"id": "a2", "quotes": [{"quote": "a lag that old pilots called the age of the tide", "doc": "water/tide"}]}

A line has a list of quotes, each a text or an object with a text and a document, or else an answer in whose text the
quotations are what stands between quotation marks, and block quotes (``>``). A mark such as ``[1]`` or ``[water/tide]``
cites the first of the sources, or a document by its id: right behind a quotation or, where none is there, before it in
the same sentence ("According to [1], “…”"). A number that no source has cites a source that is not there; without a
mark all sources of the answer are meant. Other names for the fields::

    id       topic, query_id, qid, question_id, query-id, _id
    answer   response, actual_output, output, generated_answer
    quotes   citations, quotations
    quote    text, cited_text, content, quotation
    doc      doc_id, document_id, docid, docno, corpus-id, source, file_name, document
    sources  docs, documents, contexts_ids, retrieved_ids
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from focuseval.collection.boundaries import sentences
from focuseval.errors import FormatError, Place
from focuseval.formats.content import open_source
from focuseval.formats.rows import parse, parse_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

ID = ("id", "topic", "query_id", "qid", "question_id", "query-id", "_id")
ANSWER = ("answer", "response", "actual_output", "output", "generated_answer")
QUOTES = ("quotes", "citations", "quotations")
QUOTE = ("quote", "text", "cited_text", "content", "quotation")
DOC = ("doc", "doc_id", "document_id", "docid", "docno", "corpus-id", "source", "file_name", "document")
SOURCES = ("sources", "docs", "documents", "contexts_ids", "retrieved_ids")

_QUOTED = re.compile(
    r"(?m:^((?: {0,3}>[^\n]*(?:\n|\Z))+))"  # lines of a block quote
    r"|“([^“”]+)”|„([^„“”]+)[“”]|«([^«»]+)»|»([^«»]+)«|(?<!\w)\"([^\"]+)\"(?!\w)|``(.+?)''",
    re.DOTALL,
)
_MARKS = re.compile(r"[\s.,;:!?—–-]{0,3}((?:[\[【][^\[\]【】\n]{1,200}[\]】][\s,;]?)+)")
_LAST_MARKS = re.compile(rf"{_MARKS.pattern}[\s.]*\Z")
_MARK = re.compile(r"[\[【]([^\[\]【】]+)[\]】]")


class Quotation(NamedTuple):
    """One quotation: whose, what, and which documents are cited for it."""

    answer: str
    text: str
    cited: tuple[str, ...] = ()
    at: Place = Place("answers")


def read_answers(path: str | Path) -> Iterator[tuple[Place, Any]]:
    """Yield the answers of a file, each with its place: its line, or its number in an array."""
    source = open_source(path)
    if not source.head().strip():
        raise FormatError("expected answers, found an empty file", at=source.name, remedy="was it written to the end?")
    whole = source.head().lstrip()[:1] == b"["
    answers = parse(source) if whole else None
    if answers == []:
        raise FormatError("expected answers, found an empty list", at=source.name, remedy="was it written to the end?")
    for line, record in parse_lines(source) if answers is None else enumerate(answers, 1):
        yield source.at(line), record


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
    if quotes is not None:
        for quote in quotes:
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
        return
    numbered = {str(number): one for number, one in enumerate(sources, 1)}
    for text, marks in marked(answer or ""):
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
        inner = [part for mark in _MARK.findall(marks) for part in mark.split(",")]
        yield quote, tuple(part.strip().lstrip("^").removeprefix("doc:").strip() for part in inner if part.strip())


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
