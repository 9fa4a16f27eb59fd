"""Rows of files, frames and objects: JSON lines, and what people call a topic, a document, a text, in one table.

The first name that is there counts, and two that say different things are refused. Names that also mean other things do
not contradict: those in `WEAK` (where a text came from, numbers of rows) are asked only where no other is there, and of
the fields in `FIRST` the first name counts, whatever the others say.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import lru_cache
from typing import Any, AnyStr

from focuseval.errors import FormatError, Place

NAMES: dict[str, tuple[str, ...]] = {
    "topic": ("topic", "topic_id", "query_id", "qid", "question_id", "query-id"),
    "query": ("query", "question", "user_input", "input"),
    "doc": (
        *("doc", "document", "doc_id", "docid", "docno", "document_id", "corpus-id", "corpus_id"),
        *("source", "source_id", "source_file", "file_path", "file_name", "filename", "doc_uri"),
    ),
    "text": ("text", "chunk_text", "page_content", "content", "contents", "passage", "chunk"),
    "quote": ("quote", "answer", "content", "text", "page_content", "contents", "passage", "chunk"),
    "start": ("start", "start_index", "start_char", "start_char_idx", "begin", "offset", "answer_start"),
    "end": ("end", "end_index", "end_char", "end_char_idx"),
    "length": ("length",),
    "page": ("page_number", "page_no", "page_num", "page"),
    "bbox": ("bbox", "box", "bounding_box", "boundingBox"),
    "chunk": ("chunk", "chunk_index", "split_id"),
    "rank": ("rank",),
    "score": ("score", "similarity", "relevance_score"),
    "distance": ("distance",),
    "path": ("path",),
    "end_path": ("end_path",),
    "need": ("need", "nugget", "subtopic", "hop"),
    "relevance": ("relevance", "grade", "score"),
    "tags": ("tags",),
    "group": ("group",),
    "run": ("run",),
    "results": (
        *("retrieved_contexts", "contexts", "retrieval_context", "retrievalContext"),
        *("documents", "source_nodes", "source_documents", "results"),
    ),
    "references": ("spans", "reference_contexts", "context", "evidence", "references", "quotes"),
    "answers": (
        *("answers", "ground_truth", "ground_truths", "expected", "expected_output", "expected_answer"),
        *("reference", "answer"),
    ),
}
"""Our name → all names, ours first. ``results`` and ``references`` are lists: what was returned for one question, and
what answers it. ``answers`` are texts that say it, maybe in words of their own. A ``distance`` is a score of which less
is better."""

KNOWN = frozenset(name for names in NAMES.values() for name in names)  # all names of fields
AROUND = KNOWN - {"results", "documents"}  # names that an object around a list of rows does not have

QUERIES = ("text", "title")  # what else a question may be called in a file of nothing but questions
QUESTION_IDS = ("id", "_id")
"""What may name a topic where a row is a question, and only there: elsewhere it numbers chunks or rows."""

WEAK = frozenset({"source", "source_id", "source_file", "file_path", "file_name", "filename", "doc_uri", *QUESTION_IDS})
"""Names that are asked last."""

SOURCES = ("source", "source_id", *(name for name in NAMES["doc"] if name not in {"source", "source_id"}))
"""Where splitters keep a document's id in their metadata, the first that is there."""

FIRST = frozenset({"text", "quote", "chunk", "relevance", "answers", "page", "bbox"})
"""Fields whose other names are also used for something else: a chunk's text beside its quote or its number."""

NESTED = ("metadata", "meta")  # where objects keep what belongs to a text's document


def column_name(name: str) -> str:
    """Return the name of a column as it is known, where it differs only in capitals and blanks.

    >>> column_name(" Query ID"), column_name("Text"), column_name("Latency (ms)")
    ('query_id', 'text', 'Latency (ms)')
    """
    name = name.strip().strip('"')
    plain = "_".join(name.lower().split())
    return plain if plain in KNOWN or plain in QUESTION_IDS else name


def delimiter_of(header: str) -> str:
    """Return what separates the columns of a header: tabs, commas or semicolons."""
    return "\t" if "\t" in header else max(",;", key=header.count)


def names_of(name: str, *, question: bool = False) -> tuple[str, ...]:
    """Return the names of a field; with `question`, those of a row that is a question."""
    return NAMES[name] + (QUESTION_IDS if question and name == "topic" else ())


def spelled(there: Collection[str], name: str, *, question: bool = False) -> tuple[str, ...]:
    """Return the names of a field that are there and must agree, the first first.

    >>> spelled(["qid", "source", "document_id"], "doc"), spelled(["source"], "doc"), spelled(["qid"], "text")
    (('document_id',), ('source',), ())
    """
    found = tuple(other for other in names_of(name, question=question) if other in there)
    strong = tuple(other for other in found if other not in WEAK)
    return strong[:1] if name in FIRST else strong or found[:1]


def value(row: Mapping[str, Any], name: str, at: Place, *, question: bool = False) -> Any:
    """Return what a row says under any name of a field, None where it says nothing.

    >>> from focuseval.errors import Place
    >>> value({"qid": 7, "text": None}, "topic", Place("run.json")), value({"text": None}, "text", Place("run.json"))
    (7, None)
    """
    there = named_fields(tuple(row)).get(name, ())
    there += tuple(other for other in QUESTION_IDS if other in row) if question and name == "topic" else ()
    said = [other for other in there if row[other] is not None and row[other] != ""] if there else ()
    if not said:
        return None
    names = spelled(said, name, question=question) if len(said) > 1 else said
    first = row[names[0]]
    for other in names[1:]:
        if str(row[other]) != str(first):
            raise disagree(names[0], first, other, row[other], at)
    return first


@lru_cache(maxsize=1 << 12)
def named_fields(keys: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """Return our fields that are among a row's keys, each with its names there: rows of a file mostly have the same.

    >>> named_fields(("qid", "page_content", "latency"))
    {'topic': ('qid',), 'text': ('page_content',), 'quote': ('page_content',)}
    """
    there = {field: tuple(name for name in names if name in keys) for field, names in NAMES.items()}
    return {field: names for field, names in there.items() if names}


def disagree(one: str, first: object, other: str, second: object, at: Place) -> FormatError:
    """Return the refusal of two names of a field that say different things."""
    what = f"expected one value, found {one}={short(first)} and {other}={short(second)}"
    return FormatError(what, at=at, remedy="keep one of them")


def missing(
    name: str, row: Collection[str], at: Place, *also: str, question: bool = False, remedy: str = "add the field"
) -> FormatError:
    """Return the refusal of a row without a field, which names what it may be called and what is there."""
    wanted = ", ".join((*names_of(name, question=question), *also))
    found = ", ".join(map(str, row)) or "nothing"
    return FormatError(f"expected the field {name!r} (one of {wanted}), found {found}", at=at, remedy=remedy)


def topic_of(row: Mapping[str, Any], at: Place, *, question: bool) -> str:
    """Return a row's topic: its id, or, where a file gives its questions none, the question itself."""
    named = value(row, "topic", at, question=question)
    if named is None and (empty := [name for name in names_of("topic", question=question) if name in row]):
        what = f"expected a topic as {empty[0]!r}, found an empty one"
        raise FormatError(what, at=at, remedy="give every row its own")
    named = value(row, "query", at) if named is None else named
    if named is None:
        raise missing("topic", row, at, *NAMES["query"], question=question)
    return str(named)


def of_queries(names: Collection[str]) -> bool:
    """Return whether names of columns are those of a table of questions."""
    return bool(spelled(names, "query") or (spelled(names, "topic", question=True) and set(names) & set(QUERIES)))


def query_of(row: Mapping[str, Any], at: Place) -> str:
    """Return the question of a row in a file of questions, where it may also be called text or title."""
    given = {name: str(row[name]).strip() for name in (*NAMES["query"], *QUERIES) if row.get(name) is not None}
    if not given:
        raise missing("query", row, at, *QUERIES)
    (name, query), *others = given.items()
    if other := next((pair for pair in others if pair[1] != query), None):
        raise disagree(name, query, *other, at)
    return query


def layers(row: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield a row, and what is nested in it as metadata."""
    yield row
    for name in NESTED:
        if isinstance(inner := row.get(name), dict):
            yield inner


def short(content: object) -> str:
    """Return a value short enough for one line."""
    text = repr(content)
    return text if len(text) <= 40 else text[:40] + "…"


def numbered_lines(text: AnyStr, first: int = 1) -> Iterator[tuple[int, AnyStr]]:
    r"""Yield the lines that are not blank, with their numbers from `first`; ``\n`` alone ends a line.

    A string in JSON may hold U+0085, U+2028 and U+2029 as they are; `str.splitlines` would cut the value in two there.

    >>> list(numbered_lines('{"a": 1}\r\n\n"x\u2028y"'))
    [(1, '{"a": 1}\r'), (3, '"x\u2028y"')]
    """
    newline: AnyStr = "\n" if isinstance(text, str) else b"\n"
    return ((number, line) for number, line in enumerate(text.split(newline), first) if line.strip())


def json_line(value: Any, errors: str = "strict", default: Callable[[Any], Any] | None = None) -> bytes:
    r"""Return a value as one line in UTF-8; `errors` says what is done with half a surrogate pair, as in `str.encode`.

    >>> json_line({"topic": "q1", "text": "é\n"}).decode()
    '{"topic": "q1", "text": "é\\n"}\n'
    """
    return f"{json.dumps(value, ensure_ascii=False, default=default)}\n".encode("utf-8", errors)


def json_fault(error: Exception) -> str:
    """Return what is wrong with JSON: the parser's words, or what is too much for Python though it is well-formed."""
    if isinstance(error, RecursionError):
        return "lists nested too deeply"
    return str(error) if isinstance(error, json.JSONDecodeError | UnicodeError) else "a number of thousands of digits"


def read_object(line: str | bytes, at: Place, remedy: str = "") -> dict[str, Any]:
    """Return the object on one line; anything else is refused with its place."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"expected a JSON object, found: {json_fault(error)}", at=at, remedy=remedy) from error
    if not isinstance(value, dict):
        raise FormatError(f"expected a JSON object, found {type(value).__name__}", at=at, remedy=remedy)
    return value
