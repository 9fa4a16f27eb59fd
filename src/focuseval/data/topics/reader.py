"""Read topics of every year: 2002, 2003–2008 (one or many in a file, or a folder), 2009–2010.

::

    <INEX-Topic topic-id="01" query-type="CAS"><Title><te>article/sec</te><cw>words</cw></Title>…       2002
    <inex_topic topic_id="231" query_type="CO+S" ct_no="76"><title>…</title><castitle>…</castitle>…     2003–2008
    <inex-topic-file><topic id="2009001" ct_no="186"><title>…</title><castitle>…</castitle>…            2009–2010

Names of elements and attributes are read in either case, with ``-`` or ``_``. Text of unknown children is kept in
`Topic.extra`. `focuseval.data.topics.topic` reads other formats; the format is detected from the content. A topic
without ``query_type`` is CO+S with a castitle beside its title, CAS with a structured title alone, else CO.

Files are found with one root, several, or none; joined from many files, each with its own XML declaration; and with a
DOCTYPE whose internal subset redeclares ``lt``, ``gt`` and ``amp`` as words. Declarations and DOCTYPEs are replaced by
blanks of the same shape, so no declaration is trusted, nothing outside is ever fetched, and places stay exact.
"""

from __future__ import annotations

import codecs
import html
import re
import sys
from pathlib import Path
from xml.parsers import expat

from focuseval.data.topics.topic import KINDS, Anchor, Kind, Topic, parse_other, topic_format
from focuseval.engine.storage import location, unpacked
from focuseval.errors import FormatError, Place

_BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_PIECE = re.compile(
    r"""
    (?P<keep> <!--.*?(?:-->|\Z) | <!\[CDATA\[.*?(?:\]\]>|\Z) )
    | <\?xml\s.*?(?:\?>|\Z)
    | <!DOCTYPE (?>[^\[>"'] | "[^"]*" | '[^']*')*+
      (?: \[ (?P<subset> (?> <!--.*?--> | <\?.*?\?> | "[^"]*" | '[^']*' | [^\]"'] )*+ ) \] \s* )? (?:>|\Z)
    """,
    re.VERBOSE | re.DOTALL,
)
_ENTITY = re.compile(r"""<!ENTITY\s+([\w.:-]+)\s+(?:"([^"&<%]*)"|'([^'&<%]*)')\s*>""")


def decode(data: bytes, file: str) -> str:
    """Return a topic file's text by its byte order mark, its declared encoding, or UTF-8."""
    declared = re.match(rb"""^\s*<\?xml[^>]*?encoding\s*=\s*["']([A-Za-z0-9._-]+)["']""", data)
    name = next((name for mark, name in _BOMS if data.startswith(mark)), None)
    name = name or (declared[1].decode() if declared else "utf-8")
    try:
        return data.decode(name).replace("\r\n", "\n").replace("\r", "\n")
    except LookupError:
        what = f"expected an encoding that exists, found {name!r}"
        raise FormatError(what, at=Place(file, 1), remedy="declare the encoding that the file is written in") from None
    except UnicodeError as error:  # Python has encodings of no text, whose errors know no place
        start = getattr(error, "start", 0)
        line = data[:start].count(b"\n") + 1
        found = f"byte 0x{data[start]:02x}" if start < len(data) else "the end"
        remedy = "declare the file's encoding in <?xml version='1.0' encoding='…'?>"
        raise FormatError(f"expected {name} text, found {found}", at=Place(file, line), remedy=remedy) from None


def without_prolog(text: str) -> tuple[str, dict[str, str]]:
    """Return the text with its declarations blanked, and the harmless entities that they declared.

    A declared entity counts when its value is plain text and XML does not define it; ``lt``, ``gt``, ``amp``,
    ``quot`` and ``apos`` always mean what XML says.

    >>> without_prolog('<!DOCTYPE t [<!ENTITY lt "less"> <!ENTITY x "INEX">]><t>&lt;</t>')[1]
    {'x': 'INEX'}
    """
    entities: dict[str, str] = {}

    def blank(piece: re.Match[str]) -> str:
        if piece["keep"]:
            return piece[0]
        for name, double, single in _ENTITY.findall(piece["subset"] or ""):
            entities[name] = double or single
        return re.sub(r"[^\n]", " ", piece[0])

    body = _PIECE.sub(blank, text)
    return body, {name: entities[name] for name in entities if name not in ("lt", "gt", "amp", "quot", "apos")}


_FIELDS = {"initialtopicstatement": "initial_statement", "initial_topic_statement": "initial_statement"} | {
    name: name for name in ("title", "castitle", "phrasetitle", "description", "narrative", "keywords", "parent")
}
_PARTS = frozenset(("te", "cw", "ce"))


def read_topics(source: str | Path) -> tuple[Topic, ...]:
    """Return the topics of a file, of all ``.xml`` files below a folder in order of name, or of stdin (``-``).

    Raises
    ------
    FormatError
        When a file holds no topics or is not well formed, or two topics share an id: both places are named.
    """
    files, folder = [str(source)], location(source)
    if str(source) != "-" and folder.is_dir():
        files = sorted(str(file) for file in folder.rglob("*") if file.suffix.lower() == ".xml")
        if not files:
            what = "expected topic files (*.xml) in the folder, found none"
            raise FormatError(what, at=str(source), remedy="name the folder that holds them")
    topics: list[Topic] = []
    for file in files:
        try:
            data = sys.stdin.buffer.read() if file == "-" else location(file).read_bytes()
        except (OSError, ValueError) as error:  # ValueError: a name with a NUL in it
            what = f"expected a topic file, found {getattr(error, 'strerror', None) or error}"
            raise FormatError(what, at=file, remedy="check the name and the permissions") from None
        topics += read_topic_bytes(data, "<stdin>" if file == "-" else file)
    return _each_once(topics)


def read_topic_bytes(data: bytes, file: str) -> tuple[Topic, ...]:
    """Return the topics in the content of one file, gzip and zstd unpacked."""
    return _each_once(parse_topics(decode(unpacked(data, file), file), file))


def _each_once(topics: list[Topic]) -> tuple[Topic, ...]:
    """Refuse two topics of one id: a run that answers it could mean either."""
    seen: dict[str, Topic] = {}
    for topic in topics:
        if topic.id in seen:
            what = f"expected each topic once, found topic {topic.id!r} again (first at {seen[topic.id].place})"
            raise FormatError(what, at=topic.place, remedy="remove or rename one of them")
        seen[topic.id] = topic
    return tuple(topics)


def parse_topics(text: str, file: str = "topics") -> list[Topic]:
    """Return the topics in a text; at least one is expected.

    >>> [topic] = parse_topics('<inex_topic topic_id="7"><title>free</title></inex_topic>')
    >>> topic.kind, topic.title
    ('CO', 'free')
    """
    other = topic_format(text)
    if other is not None:
        return parse_other(text, other, file)
    body, entities = without_prolog(text)
    collector = _Collector(file, entities)
    parser = collector.parser
    try:
        parser.Parse(f"<any>\n{body}\n</any>", True)
    except expat.ExpatError as error:
        at = Place(file, min(error.lineno - 1, body.count("\n") + 1), error.offset + 1)
        what = f"expected well-formed XML, found {expat.errors.messages[error.code]}"
        raise FormatError(what, at=at, remedy="mend the file at this place") from None
    if not collector.topics:
        remedy = "topics are <inex_topic topic_id='…'> or <topic id='…'> elements, or lines of id, tab and query"
        raise FormatError("expected topics, found none", at=file, remedy=remedy)
    return collector.topics


class _Collector:
    """Expat's handlers: gather text by child element, and finish a topic at its end tag."""

    def __init__(self, file: str, entities: dict[str, str]) -> None:
        self.file = file
        self.entities = entities
        self.topics: list[Topic] = []
        self.open: list[str] = []
        """Names of the open elements inside the current topic, itself first; empty between topics."""
        self.parser = expat.ParserCreate()
        self.parser.UseForeignDTD(True)  # unknown entities reach `entity`; nothing is read
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.characters
        self.parser.SkippedEntityHandler = self.entity

    def here(self) -> Place:
        return Place(self.file, self.parser.CurrentLineNumber - 1, self.parser.CurrentColumnNumber + 1)

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        name = _plain(tag)
        if self.open:
            self.open.append(name)
            if len(self.open) == 2:
                if self.text.setdefault(name, []):
                    self.characters("\n")  # a field that is written twice keeps both texts
            elif len(self.open) == 3 and name in _PARTS:
                self.parts.append([name])
        elif name in ("inex_topic", "inextopic", "topic"):
            self.open, self.attributes, self.place = [name], attributes, self.here()
            self.text: dict[str, list[tuple[Anchor, str]]] = {}
            self.parts: list[list[str]] = []

    def characters(self, data: str) -> None:
        if len(self.open) < 2:
            return
        pieces = self.text[self.open[1]]
        offset = pieces[-1][0][0] + len(pieces[-1][1]) if pieces else 0
        anchor = (offset, self.parser.CurrentLineNumber - 1, self.parser.CurrentColumnNumber)
        pieces.append((anchor, data))
        if len(self.open) > 2 and self.open[2] in _PARTS:
            self.parts[-1].append(data)

    def entity(self, name: str, is_parameter: bool) -> None:  # noqa: ARG002  expat's signature
        known = self.entities[name] if name in self.entities else html.unescape(f"&{name};")
        if name not in self.entities and known.startswith("&") and known.endswith(";"):  # HTML does not know it, either
            raise FormatError(f"expected a known entity, found &{name};", at=self.here(), remedy="write the character")
        self.characters(known)

    def end(self, tag: str) -> None:  # noqa: ARG002  expat's signature; its balance is expat's business
        if len(self.open) == 1:
            self.topics.append(self.topic())
        if self.open:
            self.open.pop()

    def topic(self) -> Topic:
        attributes = {_plain(name): value.strip() for name, value in self.attributes.items()}
        names = ("topic_id", "id", "topicid", "number")
        number = next((attributes[name] for name in names if attributes.get(name)), None)
        if number is None:
            what = "expected a topic with topic_id or id, found neither"
            raise FormatError(what, at=self.place, remedy="give the topic an id")
        texts = {name: "".join(data for _, data in pieces) for name, pieces in self.text.items()}
        fields = {_FIELDS[name]: text.strip() for name, text in texts.items() if name in _FIELDS}
        if not fields:
            remedy = "give the topic a title, a castitle or a description"
            raise FormatError(f"expected a title in topic {number!r}, found none", at=self.place, remedy=remedy)
        parts = tuple((name, "".join(data).strip()) for name, *data in self.parts)
        if parts:
            fields["title"] = " ".join(text for name, text in parts if name == "cw")
        # Where the pieces of the structured title stand, counted from its first character that is not blank.
        nexi = "castitle" if fields.get("castitle") else "title"
        lead = len(texts.get(nexi, "")) - len(texts.get(nexi, "").lstrip())
        anchors = tuple((offset - lead, line, column) for (offset, line, column), _ in self.text.get(nexi, []))
        extra = {name: text.strip() for name, text in texts.items() if name not in _FIELDS}
        return Topic(
            id=number, kind=_kind(attributes, fields, parts, self.place), **fields, ct_no=attributes.get("ct_no", ""),
            parts=parts, attributes=self.attributes, extra=extra, place=self.place, anchors=anchors,
        )  # fmt: skip


def _plain(name: str) -> str:
    return name.lower().replace("-", "_")


def _kind(attributes: dict[str, str], fields: dict[str, str], parts: tuple[tuple[str, str], ...], at: Place) -> Kind:
    """Return the kind that the topic says it is, or the one that its titles make it."""
    kind = attributes.get("query_type", "").upper()
    kind = {"COS": "CO+S", "SCAS": "CAS", "VCAS": "CAS"}.get(kind, kind)
    if kind in KINDS:
        return kind
    if kind:
        what = f"expected query_type CO, CAS or CO+S, found {kind!r}"
        raise FormatError(what, at=at, remedy="correct the attribute, or leave it out")
    if fields.get("castitle"):
        return "CO+S" if fields.get("title") else "CAS"
    return "CAS" if fields.get("title", "").startswith("/") or any(name != "cw" for name, _ in parts) else "CO"
