"""INEX assessments in XML (2005–2007): highlighted passages, best entry points and element sizes, a topic a file.

::

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
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from focuseval.data.gold import TOO_SMALL, UNKNOWN
from focuseval.formats.judgements import Judgements
from focuseval.formats.xml import AssessmentReader, attributes, read_each, wrapped

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from focuseval.data.gold import Gold
    from focuseval.formats.source import Source

_SIZE = re.compile(r"[0-9]{1,15}")
_EXHAUSTIVITY = {"0": 0, "1": 1, "2": 2, "3": 3, "?": TOO_SMALL}


@dataclass
class HighlightsReader(AssessmentReader):
    """The state of one pass over one file."""

    article: dict[str, Any] = field(default_factory=dict)
    inner: int | None = None
    title: list[str] | None = None
    encoding: str = "utf-8"

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """Take in a start tag; elements come in millions, so they are asked for first."""
        if name == "element" and self.pair is not None and self.inner is None:
            self.element(attributes)
        elif self.inner is not None:
            self.title = [] if name == "title" and self.topic not in self.rows.queries else self.title
        elif name == "inex_topic":
            self.inner = self.parser.CurrentByteIndex
        elif name == "assessments":
            self.open_topic(attributes)
        elif name == "file":  # which may be of another collection than the others
            document = self.open_document(attributes, "name", "file")
            facts, collection = self.rows.attributes[self.topic or ""], attributes.get("collection")
            if collection is not None and facts.setdefault("collection", collection) != collection:
                facts[f"collection:{document}"] = collection
            self.article = {"relevant": False, "length": UNKNOWN, "rsize": UNKNOWN, "bep": None}
            self.article["line"] = self.parser.CurrentLineNumber
        elif name in {"best-entry-point", "passage", "element"}:
            self.highlight(name, attributes)

    def highlight(self, name: str, attributes: dict[str, str]) -> None:
        """Take in a highlighted passage, or where to begin reading."""
        if self.pair is None:
            raise self.error(f"expected <{name}> inside <file>, found it outside")
        if name == "passage":
            start, end = (self.need(attributes, edge) for edge in ("start", "end"))
            row = (UNKNOWN, UNKNOWN, self.size(attributes, "size"), start, end, None, None)
            self.article["relevant"] = True
            self.rows.passages.append((*self.pair, *row, self.parser.CurrentLineNumber))
        elif self.article["bep"] is None:
            self.article["bep"] = self.need(attributes, "path")
        else:
            raise self.error("expected one <best-entry-point> in a file, found two")

    def end(self, name: str) -> None:
        """Take in an end tag."""
        if name == "title" and self.title is not None and self.topic is not None:
            self.rows.queries[self.topic] = " ".join("".join(self.title).split())
            self.title = None
        elif name == "inex_topic" and self.inner is not None and self.topic is not None:
            begin, end, data = self.inner, self.parser.CurrentByteIndex, self.source.data
            whole = data[begin:end] + b"</inex_topic>" if end > begin else data[begin : data.find(b">", begin) + 1]
            self.rows.attributes[self.topic]["inex_topic"] = whole.decode(self.encoding, "replace")
            self.inner = None
        elif name == "file" and self.pair is not None:
            facts = self.article
            relevance = int(facts["relevant"])
            row = (facts["length"], facts["rsize"], UNKNOWN, facts["bep"], facts["line"], self.code)
            self.rows.articles.append((*self.pair, relevance, *row))
            self.pair = None

    def characters(self, data: str) -> None:
        """Take in text: only the embedded topic's title is of use."""
        if self.title is not None:
            self.title.append(data)

    def declaration(self, _version: str, encoding: str | None, _standalone: int) -> None:
        """Remember the encoding, in which the embedded topic is cut out."""
        self.encoding = encoding or "utf-8"

    def element(self, attributes: dict[str, str]) -> None:
        """Take in an assessed element."""
        grade = attributes.get("exhaustivity", "2").strip()
        if grade not in _EXHAUSTIVITY:
            raise self.error(f"expected an exhaustivity of 0 … 3 or '?', found {grade!r}")
        path = attributes.get("path") or self.need(attributes, "path")
        size, rsize = self.size(attributes, "size"), self.size(attributes, "rsize")
        if rsize > 0:
            self.article["relevant"] = True
        if path.count("/") == 1:
            self.article |= {"length": size, "rsize": rsize}
        topic, document = self.pair or (0, 0)
        row = (topic, document, path.strip(), _EXHAUSTIVITY[grade], UNKNOWN, size, rsize, None, None)
        self.rows.elements.append(row)

    def size(self, attributes: dict[str, str], name: str) -> int:
        """Return a size, or UNKNOWN when it is not given."""
        value = attributes.get(name)
        if value is None:
            return UNKNOWN
        if value.isdecimal() and len(value) < 10:
            return int(value)
        if not _SIZE.fullmatch(value.strip()):
            raise self.error(f"expected a {name} that is not negative, found {value!r}")
        return int(value)


def read(sources: Sequence[Source]) -> Gold:
    """Return the assessments of one file, or of a folder of them."""
    rows = Judgements()
    for _ in read_each(sources, rows, HighlightsReader):
        pass
    graded = any(row[3] != 2 for row in rows.elements)
    return rows.gold(sources, "exhaustivity" if graded else "highlights")


def write(gold: Gold) -> Iterator[bytes]:
    """Yield the assessments, a topic after another."""
    beps, p, e = gold.articles.bep_path, gold.passages, gold.elements
    starts, ends = (column.to_pylist() if column is not None else [] for column in (p.start_path, p.end_path))
    paths = e.path.to_pylist()

    def known(size: Any) -> int | None:
        return None if size < 0 else int(size)

    def write_topic(code: int, topic: str) -> Iterator[bytes]:
        facts = dict(gold.attributes.get(topic, {}))
        embedded = facts.pop("inex_topic", None)
        collections = {k: facts.pop(k) for k in list(facts) if k == "collection" or k.startswith("collection:")}
        yield f"<assessments{attributes({'topic': topic, **facts})}>\n".encode()
        yield f"  {embedded}\n".encode() if embedded else b""
        inside: dict[int, list[str]] = {}
        for row in np.flatnonzero(p.topic == code).tolist():
            said = attributes({"start": starts[row], "end": ends[row], "size": known(p.size[row])})
            inside.setdefault(int(p.document[row]), []).append(f"    <passage{said}/>\n")
        for row in np.flatnonzero(e.topic == code).tolist():
            grade = "?" if e.exhaustivity[row] == TOO_SMALL else int(e.exhaustivity[row])
            sizes = {"size": known(e.size[row]), "rsize": known(e.rsize[row])}
            said = attributes({"path": paths[row], "exhaustivity": grade, **sizes})
            inside.setdefault(int(e.document[row]), []).append(f"    <element{said}/>\n")
        for row in np.flatnonzero(gold.articles.topic == code).tolist():
            name = gold.documents[int(gold.articles.document[row])].as_py()
            collection = collections.get(f"collection:{name}", collections.get("collection"))
            head = attributes({"collection": collection, "name": name})
            bep = beps[row].as_py() if beps is not None else None
            lines = [f"    <best-entry-point{attributes({'path': bep})}/>\n"] if bep else []
            lines += inside.get(int(gold.articles.document[row]), [])
            yield f"  <file{head}>\n{''.join(lines)}  </file>\n".encode()

    return wrapped(gold, write_topic)
