"""Topics from elsewhere: plain lines, TREC's SGML, Indri's parameters, JSON lines, a JSON list, CSV with a header.

::

    401<TAB>foreign minorities, Germany
    <top> <num> Number: 401 <title> foreign minorities, Germany <desc> Description: … <narr> Narrative: … </top>
    <parameters><query><number>401</number><text>foreign minorities Germany</text></query></parameters>
    {"topic": "401", "query": "foreign minorities, Germany"}

Tags of TREC's topics are often not closed. JSON and CSV may name the fields as BEIR, RAGAS and others do
(`focuseval.data.fields`), and JSON lines may be our own gold, which repeats a topic for every document. A query that
begins with ``/`` is NEXI.
"""

from __future__ import annotations

import csv
import html
import io
import json
import re
from typing import TYPE_CHECKING, Any, Literal

from focuseval.data.fields import NAMES, disagree, missing, spelled, value
from focuseval.data.topics.topic import Topic
from focuseval.errors import FormatError, Place

if TYPE_CHECKING:
    from collections.abc import Iterator

Kind = Literal["lines", "trec", "indri", "json", "table"]

_TREC = re.compile(r"<top>(.*?)(?=</top>|<top>|\Z)", re.IGNORECASE | re.DOTALL)
_FIELD = re.compile(r"<(num|title|desc|narr)>\s*(?:(?:number|topic|title|description|narrative)\s*:)?", re.IGNORECASE)
_ANY_TAG = re.compile(r"</?[a-z][a-z0-9]*>", re.IGNORECASE)
_QUERY = re.compile(r"<query>(.*?)</query>", re.IGNORECASE | re.DOTALL)
_NUMBER = re.compile(r"<number>\s*(.*?)\s*</number>", re.IGNORECASE | re.DOTALL)
_TEXT = re.compile(r"<text>\s*(.*?)\s*</text>", re.IGNORECASE | re.DOTALL)
_OPERATOR = re.compile(r"#[a-z0-9]+(?::[^\s(]*)?\s*\(", re.IGNORECASE)
_NAMES = {"num": "id", "title": "title", "desc": "description", "narr": "narrative"}

_QUERIES = ("text", "title")
"""What else a question may be called in a file of nothing but questions."""
_MORE = ("castitle", "description", "narrative")


def kind_of(text: str) -> Kind | None:
    r"""Return which of these formats a text has; None is XML of INEX, or nothing that is known.

    >>> kind_of("401\tforeign minorities"), kind_of('{"qid": 1}'), kind_of("<inex_topic/>")
    ('lines', 'json', None)
    """
    head = text.lstrip("\ufeff \t\r\n")[:4000]
    if head.startswith(("{", "[")):
        return "json"
    if not head.startswith("<"):
        first = head.partition("\n")[0]
        return "table" if _is_header(first) else "lines" if "\t" in first else None
    if re.search(r"<top>", head, re.IGNORECASE):
        return "trec"
    return "indri" if re.search(r"<parameters\b", head, re.IGNORECASE) else None


def parse_other(text: str, kind: Kind, file: str) -> list[Topic]:
    """Return the topics in a text of one of these formats; at least one is expected."""
    read = {"lines": _lines, "trec": _trec, "indri": _indri, "json": _json, "table": _table}[kind]
    topics = list(read(text, file))
    if not topics:
        raise FormatError("expected topics, found none", at=file, remedy="name a file that holds some")
    return topics


def plain_topic(name: str, query: str, place: Place | None = None, **fields: str) -> Topic:
    """Return a query as a topic.

    >>> plain_topic("1", "//sec[about(., tides)]").kind
    'CAS'
    """
    title = query.strip()
    kind = "CAS" if title.startswith("/") else "CO+S" if fields.get("castitle") else "CO"
    return Topic(name, kind, title=title, **fields, place=place or Place("topic"))  # type: ignore[arg-type]


def _lines(text: str, file: str) -> Iterator[Topic]:
    for number, line in enumerate(text.lstrip("\ufeff").split("\n"), start=1):
        if not line.strip():
            continue
        name, tab, query = line.partition("\t")
        if not tab or not name.strip() or "\t" in query:
            found = f"{line.count(chr(9)) + 1} columns"
            what = f"expected a topic's id, a tab and a query, found {found}: {line[:60]!r}"
            raise FormatError(what, at=Place(file, number), remedy="write one topic on a line")
        yield plain_topic(name.strip(), query, Place(file, number))


def _trec(text: str, file: str) -> Iterator[Topic]:
    for found in _TREC.finditer(text):
        place = Place(file, text.count("\n", 0, found.start()) + 1)
        marks = list(_FIELD.finditer(found[1]))
        ends = [mark.start() for mark in marks[1:]] + [len(found[1])]
        fields: dict[str, str] = {}
        for mark, end in zip(marks, ends, strict=True):
            fields.setdefault(_NAMES[mark[1].lower()], _clean(found[1][mark.end() : end]))
        number = fields.pop("id", "")
        if not number:
            raise FormatError("expected <num> in a topic, found none", at=place, remedy="give the topic a number")
        yield plain_topic(number, fields.pop("title", ""), place, **fields)


def _clean(text: str) -> str:
    return " ".join(html.unescape(_ANY_TAG.sub(" ", text)).split())


def _indri(text: str, file: str) -> Iterator[Topic]:
    for found in _QUERY.finditer(text):
        place = Place(file, text.count("\n", 0, found.start()) + 1)
        number, query = _NUMBER.search(found[1]), _TEXT.search(found[1])
        if number is None or query is None:
            what = "expected <number> and <text> in a query, found one without"
            raise FormatError(what, at=place, remedy="give the query both")
        operator = _OPERATOR.search(query[1])
        if operator:
            what = f"expected words, found Indri's operator {operator[0].rstrip('( ')}"
            raise FormatError(what, at=place, remedy="write the words alone; phrases in quotes")
        yield plain_topic(html.unescape(number[1]), " ".join(html.unescape(query[1]).split()), place)


def _json(text: str, file: str) -> Iterator[Topic]:
    """Read an object a line, or a list of objects; of our gold, with a line for every document, a topic's first."""
    seen: dict[str, str] = {}
    for place, row in _objects(text, file):
        if not isinstance(row, dict):
            raise FormatError("expected a JSON object, found another value", at=place, remedy="write an object a line")
        name = _name(row, place)
        if "doc" in row and name in seen and row.get("query", seen[name]) == seen[name]:
            continue
        seen[name] = _query(row, place)
        yield plain_topic(name, seen[name], place, **{key: str(row[key]).strip() for key in _MORE if row.get(key)})


def _objects(text: str, file: str) -> Iterator[tuple[Place, Any]]:
    """Yield the values of a list, or of lines, with their places."""
    whole = text.lstrip("\ufeff \t\r\n")
    pieces = [whole] if whole.startswith("[") else text.lstrip("\ufeff").split("\n")
    for number, piece in enumerate(pieces, start=1):
        if piece.strip():
            try:
                found = json.loads(piece)
            except (ValueError, RecursionError) as error:
                what = f"expected a JSON object, found {error}"
                raise FormatError(what, at=Place(file, number), remedy="mend the line") from None
            rows = found if isinstance(found, list) and len(pieces) == 1 else [found]
            yield from ((Place(file, number), row) for row in rows)


def _name(row: dict[str, Any], place: Place) -> str:
    """Return a topic's id; a question without one, as RAGAS and DeepEval write them, is its own id."""
    named = value(row, "topic", place, question=True)
    named = value(row, "query", place) if named is None else named
    if named is None:
        raise missing("topic", row, place, *NAMES["query"], question=True)
    return str(named).strip()


def _query(row: dict[str, Any], place: Place) -> str:
    """Return a topic's question; in a file of questions it may also be called text or title."""
    said = {name: str(row[name]).strip() for name in (*NAMES["query"], *_QUERIES) if row.get(name) is not None}
    if not said:
        raise missing("query", row, place, *_QUERIES)
    (name, query), *others = said.items()
    if other := next((pair for pair in others if pair[1] != query), None):
        raise disagree(name, query, *other, place)
    return query


def _table(text: str, file: str) -> Iterator[Topic]:
    """Read a table with a header that names an id and a question."""
    reader = csv.DictReader(io.StringIO(text.lstrip("\ufeff"), newline=""), delimiter=_delimiter(text))
    for row in reader:
        place = Place(file, reader.line_num)
        yield plain_topic(_name(row, place), _query(row, place), place)


def _delimiter(text: str) -> str:
    return "\t" if "\t" in text.lstrip("\ufeff \r\n").partition("\n")[0] else ","


def _is_header(line: str) -> bool:
    """Say whether a first line names the columns of a table of topics."""
    names = line.strip().split(_delimiter(line))
    asked = spelled(names, "query") or set(names) & set(_QUERIES)
    return bool(spelled(names, "topic", question=True) and asked)
