"""A topic, in the fields that INEX gave it over the years; and topics of other sources.

Read here: plain lines, TREC's SGML, Indri's parameters, JSON lines, a JSON list, CSV with a header.

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
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal, TypeAlias

from focuseval.data.fields import column_name, delimiter_of, json_fault, numbered_lines, of_queries, query_of, topic_of
from focuseval.data.topics.parser import parse_nexi
from focuseval.data.topics.syntax import About, Query, Term, parse_terms
from focuseval.engine.lazy import cached_property
from focuseval.errors import FormatError, Place

Kind: TypeAlias = Literal["CO", "CAS", "CO+S"]
KINDS: tuple[Kind, ...] = ("CO", "CAS", "CO+S")
"""Content only; content and structure; content only with a structured title beside it."""

Anchor: TypeAlias = tuple[int, int, int]
"""An offset into a field's text, and the line and column (from 0) of the file where that character stands."""


@dataclass(frozen=True)
class Topic:
    """One topic with everything its file says of it; an absent field is empty.

    >>> topic = Topic("231", "CO+S", title="markov chains", castitle="//sec[about(., +graphs)]")
    >>> str(topic.query), [str(term) for term in topic.terms]
    ('//sec[about(., +graphs)]', ['markov', 'chains'])
    """

    id: str
    kind: Kind
    title: str = ""
    castitle: str = ""
    phrasetitle: str = ""
    description: str = ""
    narrative: str = ""
    keywords: str = ""
    initial_statement: str = ""
    parent: str = ""
    ct_no: str = ""
    """Number of the candidate topic that it was selected from."""
    parts: tuple[tuple[str, str], ...] = ()
    """The title of 2002 as (tag, text) in file order: ``te`` target element, ``cw`` words, ``ce`` context element."""
    attributes: Mapping[str, str] = field(default_factory=dict)
    """The attributes of the topic's element, as written."""
    extra: Mapping[str, str] = field(default_factory=dict)
    """Text of children that no field is named after."""
    place: Place = field(default=Place("topic"), compare=False)
    anchors: tuple[Anchor, ...] = field(default=(), compare=False, repr=False)
    """Where the pieces of the structured title stand in the file, so that an error can point there."""

    @property
    def nexi(self) -> str:
        """The structured title: the castitle, or the title of a CAS topic of 2003–04; empty where there is none."""
        return self.castitle or (self.title if self.kind == "CAS" and not self.parts else "")

    @cached_property
    def query(self) -> Query | None:
        """The structured title, parsed; None where there is none. A `NexiError` points into the topic's file."""
        return parse_nexi(self.nexi, self.locate) if self.nexi else None

    @cached_property
    def terms(self) -> tuple[Term, ...]:
        """The terms of the title, or of all ``about`` clauses when the title itself is structured."""
        if self.title and self.title != self.nexi:
            return parse_terms(self.title)
        clauses = [condition.clause for condition in self.query.conditions] if self.query else []
        return tuple(term for clause in clauses if isinstance(clause, About) for term in clause.terms)

    @property
    def target(self) -> str:
        """What the topic asks to return, as a path without predicates; 2002's target element as it stands."""
        if self.query:
            return self.query.location
        return ", ".join(text for tag, text in self.parts if tag == "te")

    @property
    def statuses(self) -> tuple[str, ...]:
        """What became of the topic: candidate, selected, assessed, by ``status="assessed"`` or ``selected="yes"``."""
        given = {**self.extra, **self.attributes}
        words = given.get("status", "").lower().replace(",", " ").split()
        known = ("candidate", "selected", "assessed")
        flagged = [name for name in known if given.get(name, "").lower() in {"yes", "true", "1"}]
        return tuple(dict.fromkeys(words + flagged))

    def locate(self, offset: int) -> Place:
        """Return the place in the file of a character of the structured title."""
        known = bisect_right(self.anchors, offset, key=lambda anchor: anchor[0])
        if not known:
            return Place(self.place.file, self.place.line, offset + 1)
        at, line, column = self.anchors[known - 1]
        return Place(self.place.file, line, column + offset - at + 1)

    def as_json(self) -> dict[str, Any]:
        """Return all fields, terms and the syntax tree, ready for JSON; raises `NexiError` like `query`."""
        return {
            **{part.name: getattr(self, part.name) for part in fields(self) if part.type in {"str", "Kind"}},
            "parts": [list(part) for part in self.parts],
            "attributes": dict(self.attributes),
            "extra": dict(self.extra),
            "place": str(self.place),
            "terms": [{"text": t.text, "sign": t.sign, "phrase": t.phrase} for t in self.terms],
            "target": self.target,
            "query": self.query.as_json() if self.query else None,
        }


OtherFormat = Literal["lines", "trec", "indri", "json", "table"]

_FIELD = re.compile(r"<(num|title|desc|narr)>\s*(?:(?:number|topic|title|description|narrative)\s*:)?", re.IGNORECASE)
_NAMES = {"num": "id", "title": "title", "desc": "description", "narr": "narrative"}


def topic_format(text: str) -> OtherFormat | None:
    r"""Return which of these formats a text has; None is XML of INEX, or nothing that is known.

    >>> topic_format("401\tforeign minorities"), topic_format('{"qid": 1}'), topic_format("<inex_topic/>")
    ('lines', 'json', None)
    """
    head = text.lstrip("\ufeff \t\r\n")[:4000]
    if head.startswith(("{", "[")):
        return "json"
    if not head.startswith("<"):
        first = head.partition("\n")[0]
        questions = of_queries([column_name(name) for name in first.split(delimiter_of(first))])
        return "table" if questions else "lines" if "\t" in first else None
    if re.search(r"<top>", head, re.IGNORECASE):
        return "trec"
    return "indri" if re.search(r"<parameters\b", head, re.IGNORECASE) else None


def parse_other(text: str, kind: OtherFormat, file: str) -> list[Topic]:
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
    for number, line in numbered_lines(text.lstrip("\ufeff")):
        name, tab, query = line.partition("\t")
        if not tab or not name.strip() or "\t" in query:
            found = f"{line.count(chr(9)) + 1} columns"
            what = f"expected a topic's id, a tab and a query, found {found}: {line[:60]!r}"
            raise FormatError(what, at=Place(file, number), remedy="write one topic on a line")
        yield plain_topic(name.strip(), query, Place(file, number))


def _trec(text: str, file: str) -> Iterator[Topic]:
    for found in re.finditer(r"(?is)<top>(.*?)(?=</top>|<top>|\Z)", text):
        place = Place(file, text.count("\n", 0, found.start()) + 1)
        marks = list(_FIELD.finditer(found[1]))
        ends = [mark.start() for mark in marks[1:]] + [len(found[1])]
        fields: dict[str, str] = {}
        for mark, end in zip(marks, ends, strict=True):
            plain = html.unescape(re.sub(r"(?i)</?[a-z][a-z0-9]*>", " ", found[1][mark.end() : end]))
            fields.setdefault(_NAMES[mark[1].lower()], " ".join(plain.split()))
        number = fields.pop("id", "")
        if not number:
            raise FormatError("expected <num> in a topic, found none", at=place, remedy="give the topic a number")
        yield plain_topic(number, fields.pop("title", ""), place, **fields)


def _indri(text: str, file: str) -> Iterator[Topic]:
    for found in re.finditer(r"(?is)<query>(.*?)</query>", text):
        place = Place(file, text.count("\n", 0, found.start()) + 1)
        number, query = (re.search(rf"(?is)<{tag}>\s*(.*?)\s*</{tag}>", found[1]) for tag in ("number", "text"))
        if number is None or query is None:
            what = "expected <number> and <text> in a query, found one without"
            raise FormatError(what, at=place, remedy="give the query both")
        if operator := re.search(r"(?i)#[a-z0-9]+(?::[^\s(]*)?\s*\(", query[1]):
            what = f"expected words, found Indri's operator {operator[0].rstrip('( ')}"
            raise FormatError(what, at=place, remedy="write the words alone; phrases in quotes")
        yield plain_topic(html.unescape(number[1]), " ".join(html.unescape(query[1]).split()), place)


def _json(text: str, file: str) -> Iterator[Topic]:
    """Read an object a line, or a list of objects; of our gold, with a line for every document, a topic's first."""
    seen: dict[str, str] = {}
    whole = text.lstrip("\ufeff \t\r\n")
    is_list = whole.startswith("[")
    for number, piece in [(1, whole)] if is_list else numbered_lines(text.lstrip("\ufeff")):
        place = Place(file, number)
        try:
            parsed = json.loads(piece)
        except (ValueError, RecursionError) as error:
            what = f"expected a JSON object, found {json_fault(error)}"
            raise FormatError(what, at=place, remedy="mend the line") from None
        for row in parsed if is_list else [parsed]:
            if not isinstance(row, dict):
                what = "expected a JSON object, found another value"
                raise FormatError(what, at=place, remedy="write an object a line")
            name = topic_of(row, place, question=True).strip()
            if "doc" in row and name in seen and row.get("query", seen[name]) == seen[name]:
                continue
            seen[name] = query_of(row, place)
            more = {key: str(row[key]).strip() for key in ("castitle", "description", "narrative") if row.get(key)}
            yield plain_topic(name, seen[name], place, **more)


def _table(text: str, file: str) -> Iterator[Topic]:
    """Read a table with a header that names an id and a question."""
    text = text.lstrip("\ufeff \r\n")
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter_of(text.partition("\n")[0]))
    reader.fieldnames = [column_name(name) for name in reader.fieldnames or ()]
    for row in reader:
        place = Place(file, reader.line_num)
        yield plain_topic(topic_of(row, place, question=True).strip(), query_of(row, place), place)
