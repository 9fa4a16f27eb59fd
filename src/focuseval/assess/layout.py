"""From elements to something readable: a partition of the text into headings, paragraphs, list items, table cells.

Every character belongs to exactly one block, in order, so that the text of the page is the text of the document;
breaks between blocks are the style sheet's alone. One small table of names covers the vocabularies that INEX and
its successors used; an element with an unknown name is part of the line unless it holds blocks itself.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from focuseval.assess.document import Document

KINDS = {
    "heading": "title st atl head heading h h1 h2 h3 h4 h5 h6 subtitle article-title ti1 name jtitle",
    "paragraph": "p ip1 ip2 ip3 ip4 ip5 para paragraph abs abstract blockquote quote bq line dialogue l stage speech",
    "item": "item li listitem list-item dt dd l1 l2 ref bb entry citation definition",
    "cell": "td th cell caption label",
    "code": "pre program verbatim source code-block",
    "section": (
        "article doc document root book bdy body fm bm front back sec ss1 ss2 ss3 section subsection chapter part div"
        " act scene list ul ol dl itemlist table tbl row tr figure fig image references ref-list normallist numberlist"
        " definitionlist title-group article-meta sp template"
    ),
}
"""Kind of block → names of elements, in lower case."""

_KIND = {name: kind for kind, names in KINDS.items() for name in names.split()}
_PARAGRAPH_BREAK = re.compile(r"\n[ \t\r]*\n\s*")
_LONG = 8_000


@dataclass(frozen=True)
class Block:
    """A stretch of text shown as one: what it is, and how deep it stands."""

    start: int
    end: int
    kind: str
    level: int


def layout(document: Document) -> list[Block]:
    r"""Return the blocks of a document, from the first character to the last.

    >>> from focuseval.assess.document import Document
    >>> [(block.start, block.end, block.kind) for block in layout(Document("d", "One.\n\nTwo."))]
    [(0, 6, 'plain'), (6, 10, 'plain')]
    """
    is_block = _blocks(document)
    inner = [row for row, element in enumerate(document.elements) if is_block[row] and element.parent >= 0]
    if not inner:
        return _plain(document.text)
    return [_blank_is_gap(block, document.text) for block in _partition(document, is_block)]


def _blocks(document: Document) -> list[bool]:
    """Return for every element whether it stands apart: by its name, or because something inside it does."""
    is_block = [element.tag.lower() in _KIND for element in document.elements]
    for row in range(len(is_block) - 1, 0, -1):
        parent = document.elements[row].parent
        if is_block[row] and parent >= 0:
            is_block[parent] = True
    return is_block


def _partition(document: Document, is_block: list[bool]) -> Iterator[Block]:
    """Cut the text where blocks begin and end; each piece belongs to the innermost block around it."""
    position, around = 0, [-1]
    for row, element in enumerate(document.elements):
        if not is_block[row] or element.start == element.end:
            continue
        while around[-1] >= 0 and document.elements[around[-1]].end <= element.start:
            end = document.elements[around[-1]].end
            yield from _piece(document, position, end, around)
            position = max(position, end)
            around.pop()
        yield from _piece(document, position, element.start, around)
        position = element.start
        around.append(row)
    while around:
        end = document.elements[around[-1]].end if around[-1] >= 0 else len(document.text)
        yield from _piece(document, position, end, around)
        position = max(position, end)
        around.pop()


def _piece(document: Document, start: int, end: int, around: list[int]) -> Iterator[Block]:
    if start < end:
        kinds = [_KIND.get(document.elements[row].tag.lower(), "section") for row in around[1:]]
        kind = kinds[-1] if kinds else "paragraph"
        yield Block(start, end, "paragraph" if kind == "section" else kind, kinds.count("section"))


def _blank_is_gap(block: Block, text: str) -> Block:
    return block if text[block.start : block.end].strip() else Block(block.start, block.end, "gap", block.level)


def _plain(text: str) -> list[Block]:
    """Cut plain text after blank lines, and a very long paragraph after any line."""
    blocks, start = [], 0
    ends = [found.end() for found in _PARAGRAPH_BREAK.finditer(text)]
    for end in [*ends, len(text)]:
        while end - start > _LONG and 0 <= (line := text.find("\n", start + _LONG // 2, end - 1)) < start + 4 * _LONG:
            blocks.append(Block(start, line + 1, "plain", 0))
            start = line + 1
        if start < end:
            blocks.append(Block(start, end, "plain", 0))
        start = end
    return blocks
