"""INEX assessments in XML (2002–2007), a topic a file: graded elements, then highlighted passages.

2002–2004::

    <assessments pool='41' topic='162'>
      <file file='co/2000/r7023'>
        <path path='/article[1]' exhaustiveness='2' specificity='1' inferred='true' inpool='true'/>
      </file>
    </assessments>

2002 grades ``relevance`` (0–3) and ``coverage`` (N no, L too large, S too small, E exact); 2003 and 2004 grade
``exhaustiveness`` and ``specificity`` (0–3). ``U`` or a missing grade means not assessed. Coverage is kept as 0, 1, 2,
3. 2005–2007: highlighted passages, best entry points and element sizes::

    <assessments pool="7" topic="401" version="2">
      <inex_topic …>…</inex_topic>
      <file collection="wikipedia" name="9996">
        <best-entry-point path="/article[1]/body[1]/p[2]"/>
        <passage start="/article[1]/body[1]/p[2]/text()[1].0" end="/article[1]/body[1]/p[3]/text()[2].56" size="812"/>
        <element path="/article[1]/body[1]" exhaustivity="2" size="3046" rsize="812"/>
      </file>
      <file collection="wikipedia" name="10013"></file>
    </assessments>

``exhaustivity`` is 1, 2 or ``?`` (too small) in 2005 and 2 from 2006 on. An empty ``<file>`` was judged and found
not relevant. Sizes are the file's own, off by one or not; with an index the gold's remarks count how many differ.
``whitespace-text-node="strip"`` says that blank text nodes are not counted. Files of one folder are one gold. The root
element's size is taken as the document's length.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

import numpy as np

from focuseval.data.gold import NOT_ASSESSED, TOO_SMALL, UNKNOWN, Gold
from focuseval.errors import FormatError
from focuseval.formats.content import Source
from focuseval.formats.judgements import Judgements
from focuseval.formats.xml import EventReader, attributes

_GRADES = {"0": 0, "1": 1, "2": 2, "3": 3, "U": NOT_ASSESSED, "u": NOT_ASSESSED, "": NOT_ASSESSED}
_COVERAGE = {"N": 0, "L": 1, "S": 2, "E": 3, "U": NOT_ASSESSED, "u": NOT_ASSESSED, "": NOT_ASSESSED}
_FLAG = {"true": True, "false": False, "1": True, "0": False, "yes": True, "no": False}
_SIZE = re.compile(r"[0-9]{1,15}")
_EXHAUSTIVITY = {"0": 0, "1": 1, "2": 2, "3": 3, "?": TOO_SMALL}


@dataclass
class _AssessmentReader(EventReader):
    """The state of one pass over one file: the topic, and the document that is open with what is known of it."""

    rows: Judgements
    code: int
    scales: set[str]  # the kinds of grades that were met in this file and others
    topic: str | None = None
    pair: tuple[int, int] | None = None
    article: dict[str, Any] = field(default_factory=dict)
    inner: int | None = None  # the byte where the embedded topic begins, while it is read
    title: list[str] | None = None
    encoding: str = "utf-8"

    REMEDY: ClassVar[str] = "correct the assessment"

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """Take in a start tag; elements come in millions, so they are asked for first."""
        if name == "element" and self.pair is not None and self.inner is None:
            self.element(attributes)
        elif self.inner is not None:
            self.title = [] if name == "title" and self.topic not in self.rows.queries else self.title
        elif name == "inex_topic":
            self.inner = self.parser.CurrentByteIndex
        elif name == "assessments":  # maybe of a topic that another file has, too
            self.topic = self.need(attributes, "topic")
            self.rows.topic(self.topic)
            facts = {name: value for name, value in attributes.items() if name != "topic"}
            self.rows.attributes.setdefault(self.topic, {}).update(facts)
        elif name == "file":
            self.document(attributes)
        elif name in {"path", "best-entry-point", "passage", "element"}:
            if self.pair is None:
                raise self.error(f"expected <{name}> inside <file>, found it outside")
            self.graded(attributes) if name == "path" else self.highlight(name, attributes)

    def document(self, attributes: dict[str, str]) -> None:
        """Begin a judged document, which may be of another collection than the others."""
        if self.topic is None or self.pair is not None:
            raise self.error("expected <file> directly inside <assessments>, found it elsewhere")
        name = (attributes.get("name") or self.need(attributes, "file")).strip()
        self.pair = self.rows.judge(self.topic, name, self.at())
        self.article = {"relevant": False, "length": UNKNOWN, "rsize": UNKNOWN, "bep": UNKNOWN, "bep_path": None}
        self.article["line"] = self.parser.CurrentLineNumber
        facts, collection = self.rows.attributes[self.topic], attributes.get("collection")
        if collection is not None and facts.setdefault("collection", collection) != collection:
            facts[f"collection:{name}"] = collection

    def graded(self, attributes: dict[str, str]) -> None:
        """Take in an element with two grades (2002–2004)."""
        early = attributes.keys() & {"relevance", "coverage"}
        if early or attributes.keys() & {"exhaustiveness", "specificity"}:
            self.scales.add("coverage" if early else "grades")
        names = ("relevance", "coverage") if early else ("exhaustiveness", "specificity")
        grades = []
        for name, known in zip(names, (_GRADES, _COVERAGE if early else _GRADES), strict=True):
            value = attributes.get(name, "").strip()
            if value not in known:
                expected = ", ".join(key for key in known if key and key != "u")
                raise self.error(f"expected {name} to be one of {expected}, found {value!r}")
            grades.append(known[value])
        flags = [attributes.get(name) for name in ("inferred", "inpool")]
        for name, flag in zip(("inferred", "inpool"), flags, strict=True):
            if flag is not None and flag.strip().lower() not in _FLAG:
                raise self.error(f"expected {name} to be true or false, found {flag!r}")
        known_flags = (None if flag is None else _FLAG[flag.strip().lower()] for flag in flags)
        self.article["relevant"] |= grades[0] > 0
        path = self.need(attributes, "path")
        self.rows.elements.append((*(self.pair or ()), path, *grades, UNKNOWN, UNKNOWN, *known_flags))

    def highlight(self, name: str, attributes: dict[str, str]) -> None:
        """Take in a highlighted passage, or where to begin reading."""
        if name == "passage":
            start, end = (self.need(attributes, edge) for edge in ("start", "end"))
            row = (UNKNOWN, UNKNOWN, self.size(attributes, "size"), start, end, None, None)
            self.article["relevant"] = True
            self.rows.passages.append((*(self.pair or ()), *row, self.parser.CurrentLineNumber))
        elif self.article["bep_path"] is None:
            self.article["bep_path"] = self.need(attributes, "path")
        else:
            raise self.error("expected one <best-entry-point> in a file, found two")

    def end(self, name: str) -> None:
        if name == "title" and self.title is not None and self.topic is not None:
            self.rows.queries[self.topic] = " ".join("".join(self.title).split())
            self.title = None
        elif name == "inex_topic" and self.inner is not None and self.topic is not None:
            begin, end, data = self.inner, self.parser.CurrentByteIndex, self.source.data
            whole = data[begin:end] + b"</inex_topic>" if end > begin else data[begin : data.find(b">", begin) + 1]
            self.rows.attributes[self.topic]["inex_topic"] = whole.decode(self.encoding, "replace")
            self.inner = None
        elif name == "file" and self.pair is not None:
            relevant, *facts = self.article.values()
            self.rows.articles.append((*self.pair, int(relevant), *facts, self.code))
            self.pair = None

    def characters(self, data: str) -> None:
        """Take in text: only the embedded topic's title is of use."""
        if self.title is not None:
            self.title.append(data)

    def declaration(self, _version: str, encoding: str | None, _standalone: int) -> None:
        """Remember the encoding, in which the embedded topic is cut out."""
        self.encoding = encoding or "utf-8"

    def element(self, attributes: dict[str, str]) -> None:
        """Take in an assessed element (2005–2007)."""
        grade = attributes.get("exhaustivity", "2").strip()
        if grade not in _EXHAUSTIVITY:
            raise self.error(f"expected an exhaustivity of 0 … 3 or '?', found {grade!r}")
        path = attributes.get("path") or self.need(attributes, "path")
        size, rsize = self.size(attributes, "size"), self.size(attributes, "rsize")
        if rsize > 0:
            self.article["relevant"] = True
        if path.count("/") == 1:
            self.article |= {"length": size, "rsize": rsize}
        row = (*(self.pair or ()), path.strip(), _EXHAUSTIVITY[grade], UNKNOWN, size, rsize, None, None)
        self.rows.elements.append(row)

    def size(self, attributes: dict[str, str], name: str) -> int:
        value = attributes.get(name)
        if value is None:
            return UNKNOWN
        if not (value.isdecimal() and len(value) < 10) and not _SIZE.fullmatch(value.strip()):
            raise self.error(f"expected a {name} that is not negative, found {value!r}")
        return int(value)


def _read(sources: Sequence[Source], scale: str) -> Gold:
    """Return the assessments of one file, or of a folder of them; `scale` is theirs where no element says another."""
    rows, scales = Judgements(), set[str]()
    for code, source in enumerate(sources):
        _AssessmentReader(source, rows, code, scales).read()
        if len(scales) > 1:
            what = "expected grades of one year, found coverage and specificity together"
            raise FormatError(what, at=source.name, remedy="keep golds of different years in different folders")
    if not rows.topics:
        what, remedy = "expected <assessments topic=…>, found none", "is it a file of assessments?"
        raise FormatError(what, at=sources[0].name, remedy=remedy)
    scale = next(iter(scales), scale)
    return rows.gold(
        sources, "exhaustivity" if scale == "highlights" and any(e[3] != 2 for e in rows.elements) else scale
    )


read_grades, read_highlights = partial(_read, scale="grades"), partial(_read, scale="highlights")


def write_grades(gold: Gold) -> Iterator[bytes]:
    """Yield the assessments, a topic after another."""
    e, early = gold.elements, gold.scale == "coverage"
    first, second, fits = ("relevance", "coverage", "NLSE") if early else ("exhaustiveness", "specificity", "0123")
    columns = {
        "path": e.path,
        first: np.array([*"0123U"])[np.maximum(e.exhaustivity, -1)],
        second: np.array([*fits, "U"])[np.maximum(e.specificity, -1)],
    }
    for name, flags in (("inferred", e.inferred), ("inpool", e.inpool)):
        if flags is not None:
            columns[name] = np.where(flags, "true", "false")
    return _written(gold, "file", (e, "path", columns))


def write_highlights(gold: Gold) -> Iterator[bytes]:
    """Yield the assessments, a topic after another."""
    a, p, e = gold.articles, gold.passages, gold.elements
    return _written(
        gold,
        "name",
        (a, "best-entry-point", {"path": a.bep_path}),
        (p, "passage", {"start": p.start_path, "end": p.end_path, "size": p.size}),
        (e, "element", {"path": e.path, "exhaustivity": e.exhaustivity, "size": e.size, "rsize": e.rsize}),
    )


def _written(gold: Gold, by: str, *tables: tuple[Any, str, Mapping[str, Any]]) -> Iterator[bytes]:
    """Yield an ``<assessments>`` for the gold's topic, or one after another inside a wrapper for several.

    Each of the tables gives a tag for every row inside the ``<file>`` of its judged pair, which is named `by` one of
    its attributes. An unknown number is left out, and a table without paths.
    """
    inside: dict[tuple[int, int], list[str]] = {}
    for table, tag, columns in tables:
        if any(column is None for column in columns.values()):
            continue
        listed = (c.tolist() if isinstance(c, np.ndarray) else c.to_pylist() for c in columns.values())
        for topic, document, *row in zip(table.topic.tolist(), table.document.tolist(), *listed, strict=True):
            known = {key: None if value == UNKNOWN else value for key, value in zip(columns, row, strict=True)}
            if known.get("exhaustivity") == TOO_SMALL:
                known["exhaustivity"] = "?"
            if any(value is not None for value in known.values()):
                inside.setdefault((topic, document), []).append(f"    <{tag}{attributes(known)}/>\n")
    a, names, many = gold.articles, gold.documents.to_pylist(), len(gold.topics) != 1
    yield b"<inex-assessments>\n" if many else b""
    for code, topic in enumerate(gold.topics):
        facts, embedded, collections = dict(gold.attributes.get(topic, {})), None, dict[str, str]()
        if by == "name":
            embedded = facts.pop("inex_topic", None)
            collections = {k: facts.pop(k) for k in list(facts) if k == "collection" or k.startswith("collection:")}
        yield f"<assessments{attributes({'topic': topic, **facts})}>\n".encode()
        yield f"  {embedded}\n".encode() if embedded else b""
        for document in a.document[a.topic == code].tolist():
            collection = collections.get(f"collection:{names[document]}", collections.get("collection"))
            head = attributes({"collection": collection, by: names[document]})
            yield f"  <file{head}>\n{''.join(inside.get((code, document), ()))}  </file>\n".encode()
        yield b"</assessments>\n"
    yield b"</inex-assessments>\n" if many else b""
