"""From elements to something readable: a partition of the text into headings, paragraphs, list items, table cells.

Every character belongs to exactly one block, in order, so that the text of the page is the text of the document;
breaks between blocks are the style sheet's alone. One small table of names covers the vocabularies that INEX and
its successors used; an element with an unknown name is part of the line unless it holds blocks itself.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from focuseval.collection.rendering.document import Document

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
_PARAGRAPH_BREAK = re.compile(r"\n[ \t\r]*\n\s*")
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

    >>> from focuseval.collection.rendering.document import Document
    >>> [(block.start, block.end, block.kind) for block in layout(Document("d", "One.\n\nTwo."))]
    [(0, 6, 'plain'), (6, 10, 'plain')]
    """
    kinds, text = _kinds(document), document.text
    blocks = _partition(document, kinds) if any(kinds[1:]) else _plain(text)
    return [piece for block in blocks for piece in _bounded(_named_gap(block, text), text)]


def _kinds(document: Document) -> list[str]:
    """Return the kind of every element, '' for what is part of a line.

    An element stands apart by its name, unless it is inside running text; or because something inside it does.
    """
    kinds: list[str] = []
    around: list[str] = []
    about: list[bool] = []
    for element in document.elements:
        outer = around[element.parent] if element.parent >= 0 else ""
        kind, tag = _named(element.tag.lower(), element.parent), element.tag.lower()
        if outer in _INLINE_WITHIN.get(kind, ()):
            kind = ""
        kinds.append(kind)
        around.append(kind or outer)
        inherited = element.parent >= 0 and about[element.parent]
        about.append(tag in ABOUT or (inherited and tag not in TEXT))
    for row in range(len(kinds) - 1, 0, -1):
        parent = document.elements[row].parent
        if kinds[row] and parent >= 0:
            kinds[parent] = kinds[parent] or "section"
    return [_METADATA.get(kind, "meta") if kind and here else kind for kind, here in zip(kinds, about, strict=True)]


_METADATA = {"section": "meta-section"}
"""Kind inside metadata, where everything is metadata; a section still has a depth."""


def _named(tag: str, parent: int) -> str:
    """Return the kind that a name stands for; ``name`` is an article's title only right below the root."""
    return "heading" if tag == "name" and parent == 0 else _KIND.get(tag, "")


def _partition(document: Document, kinds: list[str]) -> Iterator[TextBlock]:
    """Cut the text where blocks begin and end; each piece belongs to the innermost block around it."""
    position, around = 0, [-1]
    for row, element in enumerate(document.elements):
        if not kinds[row] or element.start == element.end:
            continue
        while around[-1] >= 0 and document.elements[around[-1]].end <= element.start:
            end = document.elements[around[-1]].end
            yield from _piece(kinds, position, end, around)
            position = max(position, end)
            around.pop()
        yield from _piece(kinds, position, element.start, around)
        position = element.start
        around.append(row)
    while around:
        end = document.elements[around[-1]].end if around[-1] >= 0 else len(document.text)
        yield from _piece(kinds, position, end, around)
        position = max(position, end)
        around.pop()


def _piece(kinds: list[str], start: int, end: int, around: list[int]) -> Iterator[TextBlock]:
    if start < end:
        outer = [kinds[row] for row in around[1:]]
        kind = outer[-1] if outer else "paragraph"
        depth = outer.count("section") + outer.count("meta-section")
        yield TextBlock(start, end, {"section": "paragraph", "meta-section": "meta"}.get(kind, kind), depth)


def title_of(document: Document) -> str:
    r"""Return the first heading of a document, or its first line; '' for one without text.

    >>> from focuseval.collection.rendering.document import Document
    >>> title_of(Document("d", "One line.\n\nAnother."))
    'One line.'
    """
    blocks = [block for block in layout(document) if block.kind not in ("gap", "meta")]
    first = next((block for block in blocks if block.kind == "heading"), blocks[0] if blocks else None)
    words = " ".join(document.text[first.start : first.end].split()) if first else ""
    return words if len(words) <= TITLE else f"{words[: TITLE - 1]}…"


def _named_gap(block: TextBlock, text: str) -> TextBlock:
    """Return a block of white space between others as what it is: nothing to see."""
    blank = block.kind != "plain" and not text[block.start : block.end].strip()
    return replace(block, kind="gap") if blank else block


def _plain(text: str) -> Iterator[TextBlock]:
    """Cut plain text after blank lines."""
    start = 0
    for end in [*(found.end() for found in _PARAGRAPH_BREAK.finditer(text)), len(text)]:
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
