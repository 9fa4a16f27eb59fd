"""A document as people read it: its text, its elements, its title, and its layout.

The layout is a partition of the text into headings, paragraphs, list items, table cells. Every character belongs to
exactly one block, in order, so that the text of the page is the text of the document; breaks between blocks are the
style sheet's alone. One small table of names covers the vocabularies that INEX and its successors used; an element with
an unknown name is part of the line unless it holds blocks itself.
"""

from __future__ import annotations

import hashlib
import re
import threading
import time
from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from focuseval.engine.lazy import cached_property
from focuseval.errors import AssessError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    import numpy as np
    from numpy.typing import NDArray

    from focuseval.collection.index import Index
    from focuseval.collection.pages import Pages


class Element(NamedTuple):
    """One element: where it is, and which row of the table contains it (−1 for the root)."""

    path: str
    tag: str
    start: int
    end: int
    parent: int


@dataclass(frozen=True)
class Document:
    """An immutable text with its elements in document order (none for plain text)."""

    id: str
    text: str
    elements: tuple[Element, ...] = field(default=(), repr=False)

    @cached_property
    def sha256(self) -> str:
        """The hash that every judgement of this text is tied to."""
        return hashlib.sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()

    @cached_property
    def row_of(self) -> dict[str, int]:
        """Path → row in `elements`."""
        return {element.path: row for row, element in enumerate(self.elements)}


KINDS = {
    "heading": "title st atl head heading h h1 h2 h3 h4 h5 h6 subtitle article-title ti1 jtitle playsubt",
    "paragraph": "p ip1 ip2 ip3 ip4 ip5 para paragraph scndescr persona pgroup license-p",
    "line": "line stagedir",
    "speaker": "speaker",
    "item": "item li listitem list-item dt dd l1 l2 l3 ref bb fn def-item",
    "cell": "td th cell caption",
    "meta": (
        "contrib aff article-id journal-id journal-title issn publisher pub-date subject kwd au aug corresp"
        " copyright-year copyright-holder history counts funding-source award-id object-id doi hdr"
    ),
    "code": "pre program verbatim code-block preformat",
    "section": (
        "article doc document root book play bdy body fm bm front back sec ss1 ss2 ss3 section subsection chapter div"
        " act scene prologue epilogue speech sp abs abstract blockquote bq disp-quote list ul ol dl itemlist normallist"
        " numberlist definitionlist def-list table tbl table-wrap thead tbody row tr figure fig references ref-list"
        " bib bibl title-group article-meta journal-meta contrib-group permissions author-notes ack app fn-group"
    ),
}
"""Kind of block → names of elements, in lower case."""

ABOUT = frozenset(("article-meta", "journal-meta", "front-stub", "custom-meta-group", "processing-meta"))
"""Elements whose text is about the document, whatever is inside them …"""
TEXT = frozenset(("title-group", "abstract", "trans-abstract"))
"""… but these, which a reader came for."""

_KIND = {name: kind for kind, names in KINDS.items() for name in names.split()}
_RUNNING = ("paragraph", "heading")
_INLINE_WITHIN = {
    "paragraph": _RUNNING,
    "heading": (*_RUNNING, "item", "cell", "meta"),
    "meta": (*_RUNNING, "item", "meta"),
}
"""Kind → kinds of blocks in which it is only a part of the line: a title inside a reference, say."""
_LONG = 8_000
TITLE = 120
"""Characters of a title in a list."""


@dataclass(frozen=True)
class TextBlock:
    """A stretch of text shown as one: what it is, and how deep it stands."""

    start: int
    end: int
    kind: str
    level: int


def layout(document: Document) -> list[TextBlock]:
    r"""Return the blocks of a document, from the first character to the last.

    >>> [(block.start, block.end, block.kind) for block in layout(Document("d", "One.\n\nTwo."))]
    [(0, 6, 'plain'), (6, 10, 'plain')]
    """
    kinds, text = _kinds(document), document.text
    pieces: list[TextBlock] = []
    for block in _partition(document, kinds) if any(kinds[1:]) else _plain(text):
        blank = block.kind != "plain" and not text[block.start : block.end].strip()
        pieces += _bounded(replace(block, kind="gap") if blank else block, text)
    return pieces


def _kinds(document: Document) -> list[str]:
    """Return the kind of every element, '' for what is part of a line.

    An element stands apart by its name, unless it is inside running text; or because something inside it does. ``name``
    is an article's title only right below the root. Inside metadata everything is metadata; sections have a depth.
    """
    kinds: list[str] = []
    around: list[str] = []
    about: list[bool] = []
    for element in document.elements:
        tag, parent = element.tag.lower(), element.parent
        outer = around[parent] if parent >= 0 else ""
        kind = "heading" if tag == "name" and parent == 0 else _KIND.get(tag, "")
        if outer in _INLINE_WITHIN.get(kind, ()):
            kind = ""
        kinds.append(kind)
        around.append(kind or outer)
        about.append(tag in ABOUT or (parent >= 0 and about[parent] and tag not in TEXT))
    for row in range(len(kinds) - 1, 0, -1):
        parent = document.elements[row].parent
        if kinds[row] and parent >= 0:
            kinds[parent] = kinds[parent] or "section"
    within = {"": "", "section": "meta-section"}
    return [within.get(kind, "meta") if here else kind for kind, here in zip(kinds, about, strict=True)]


def _partition(document: Document, kinds: list[str]) -> Iterator[TextBlock]:
    """Cut the text where blocks begin and end; each piece belongs to the innermost block around it."""
    position, around = 0, [-1]

    def piece(end: int) -> Iterator[TextBlock]:
        if position < end:
            outer = [kinds[row] for row in around[1:]]
            kind = outer[-1] if outer else "paragraph"
            depth = outer.count("section") + outer.count("meta-section")
            yield TextBlock(position, end, {"section": "paragraph", "meta-section": "meta"}.get(kind, kind), depth)

    for row, element in enumerate(document.elements):
        if not kinds[row] or element.start == element.end:
            continue
        while around[-1] >= 0 and (end := document.elements[around[-1]].end) <= element.start:
            yield from piece(end)
            position = max(position, end)
            around.pop()
        yield from piece(element.start)
        position = element.start
        around.append(row)
    while around:
        end = document.elements[around[-1]].end if around[-1] >= 0 else len(document.text)
        yield from piece(end)
        position = max(position, end)
        around.pop()


def title_of(document: Document) -> str:
    r"""Return the first heading of a document, or its first line; '' for one without text.

    >>> title_of(Document("d", "One line.\n\nAnother."))
    'One line.'
    """
    blocks = [block for block in layout(document) if block.kind not in ("gap", "meta")]
    first = next((block for block in blocks if block.kind == "heading"), blocks[0] if blocks else None)
    words = " ".join(document.text[first.start : first.end].split()) if first else ""
    return words if len(words) <= TITLE else f"{words[: TITLE - 1]}…"


def _plain(text: str) -> Iterator[TextBlock]:
    """Cut plain text after blank lines."""
    start = 0
    for end in [*(found.end() for found in re.finditer(r"\n[ \t\r]*\n\s*", text)), len(text)]:
        if start < end:
            yield TextBlock(start, end, "plain", 0)
        start = end


def _bounded(block: TextBlock, text: str) -> Iterator[TextBlock]:
    """Cut a block that is too long to be laid out in one: after a line, else a sentence, else a word."""
    start = block.start
    while block.end - start > 2 * _LONG:
        window = range(start + _LONG, start + 2 * _LONG)
        found = (text.rfind(mark, window.start, window.stop) + len(mark) for mark in ("\n", ". ", " "))
        end = next((cut for cut in found if cut in window), window.stop)
        yield replace(block, start=start, end=end)
        start = end
    yield block if start == block.start else replace(block, start=start)


Extents = tuple[str, "NDArray[np.int64]", "NDArray[np.int64]"]
"""A text's hash, and where its elements with text begin and end."""

PATIENCE = 0.5
"""Seconds that a list may spend on titles that are not known yet; the rest are known the next time."""

KEPT = 64
"""Documents that stay in memory with their elements, for those who open the same ones."""
CHARACTERS = 40_000_000
"""Characters of texts that stay in memory: an edit needs the text alone, and must not parse a document again."""


class DocumentCache:
    """The documents of an index by id, one at a time; those that are opened again are kept in memory."""

    def __init__(self, index: Index) -> None:
        self.index = index
        self._reading = threading.Lock()
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, Document] = OrderedDict()
        self._texts: OrderedDict[str, Document] = OrderedDict()
        self._characters = 0

    def get(self, document: str) -> Document:
        """Return one document; an id that the collection does not know is refused, and never becomes a path."""
        found = self._known(self._kept, document)
        if found is None:
            with self._reading:
                row = self._row(document)
                table = self.index.elements(row)
                columns = table.start.tolist(), table.end.tolist(), table.parent.tolist()
                elements = tuple(map(Element, table.paths(), table.tags, *columns))
                found = Document(document, self.index.text(row), elements)
            with self._lock:
                self._kept[document] = found
                while len(self._kept) > KEPT:
                    self._kept.popitem(last=False)
        return found

    def plain(self, document: str) -> Document:
        """Return one document without its elements, which most edits do not need and which take long to make."""
        found = self._known(self._texts, document)
        if found is None:
            with self._reading:
                found = Document(document, self.index.text(self._row(document)))
            with self._lock:
                self._characters += len(found.text) if document not in self._texts else 0
                self._texts[document] = found
                while self._characters > CHARACTERS and len(self._texts) > 1:
                    self._characters -= len(self._texts.popitem(last=False)[1].text)
        return found

    def pages(self, document: str) -> Pages | None:
        """Return the pages of a PDF; None for a document of another kind."""
        with self._reading:
            return self.index.pages(self._row(document))

    def extents(self, document: str) -> Extents:
        """Return the hash of a document's text, and where its elements with text begin and end."""
        sha256 = self.plain(document).sha256
        with self._reading:
            table = self.index.elements(self._row(document))
        filled = table.start < table.end
        return sha256, table.start[filled], table.end[filled]

    def _known(self, kept: OrderedDict[str, Document], document: str) -> Document | None:
        """Return a document that is in memory; nobody waits here for one that is being read."""
        with self._lock:
            found = kept.get(document)
            if found is not None:
                kept.move_to_end(document)
            return found

    def _row(self, document: str) -> int:
        (row,) = self.index.find([document])
        if row < 0:
            raise AssessError(f"the collection has no document {document!r}")
        return int(row)


class Titles:
    """Titles of documents for lists: read once each, and never so many at once that a page has to wait for them."""

    def __init__(self, document: Callable[[str], Document]) -> None:
        self._document = document
        self._known: dict[str, str] = {}

    def of(self, names: Iterable[str], *, patience: float = PATIENCE) -> dict[str, str]:
        """Return the titles of documents, as far as they are known or soon found; '' for one that is gone."""
        end = time.monotonic() + patience
        found = {}
        for name in names:
            if name not in self._known and time.monotonic() < end:
                title = ""
                with suppress(AssessError):
                    title = title_of(self._document(name))
                self._known[name] = title
            found[name] = self._known.get(name, "")
        return found
