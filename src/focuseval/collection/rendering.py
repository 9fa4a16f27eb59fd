"""A document as people read it: its text, its elements, its title, and its layout.

The layout is a partition of the text into headings, paragraphs, list items, table cells. Every character belongs to
exactly one block, in order, so that the text of the page is the text of the document; breaks between blocks are the
style sheet's alone. Small tables of names cover JATS, HTML, DocBook and the vocabularies that INEX used; an element
with an unknown name is part of the line unless it holds blocks itself.

`render` adds what is around blocks and inside them: tables are grids of cells, each with its blocks; formulas, sub- and
superscripts, emphasis, code and links are elements inside of a block. An index has no attributes: a cell that is alone
in its row takes the whole row, and a link leads nowhere. Markdown keeps its signs, which are part of the text; its
tables are grids, and code, links and what is emphasised look so.

``static/nest.js`` builds the page's elements from it, for the assessing pages and for the report.
"""

from __future__ import annotations

import hashlib
import re
import threading
import time
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from focuseval.collection.images import Images
from focuseval.collection.index import Index
from focuseval.collection.pages import Pages
from focuseval.collection.trees import IMAGES
from focuseval.engine.lazy import Kept, cached_property
from focuseval.errors import AssessError


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
    images: tuple[tuple[int, str], ...] = field(default=(), repr=False)
    """Where it has images, and their names in the collection."""

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
    "paragraph": "p ip1 ip2 ip3 ip4 ip5 para simpara paragraph scndescr persona pgroup license-p",
    "line": "line stagedir",
    "speaker": "speaker",
    "item": "item li listitem list-item dt dd l1 l2 l3 ref bb fn def-item",
    "cell": "td th cell entry",
    "caption": "caption figcaption",
    "formula": "disp-formula informalequation tmath",
    "meta": (
        "contrib aff article-id journal-id journal-title issn publisher pub-date subject kwd au aug corresp"
        " copyright-year copyright-holder history counts funding-source award-id object-id doi hdr"
    ),
    "code": "pre program verbatim code-block preformat programlisting screen",
    "section": (
        "article doc document root book play bdy body fm bm front back sec ss1 ss2 ss3 section subsection chapter div"
        " act scene prologue epilogue speech sp abs abstract blockquote bq disp-quote list ul ol dl itemlist normallist"
        " numberlist definitionlist def-list table tbl table-wrap thead tbody row tr figure fig references ref-list"
        " bib bibl title-group article-meta journal-meta contrib-group permissions author-notes ack app fn-group"
        " itemizedlist orderedlist variablelist informaltable tgroup sect1 sect2 sect3 note example mediaobject"
    ),
}
"""Kind of block → names of elements, in lower case."""
ABOUT = frozenset(("article-meta", "journal-meta", "front-stub", "custom-meta-group", "processing-meta"))
"""Elements whose text is about the document, whatever is inside them …"""
TEXT = frozenset(("title-group", "abstract", "trans-abstract"))  # … but these, which a reader came for

_KIND = {name: kind for kind, names in KINDS.items() for name in names.split()}
_RUNNING = ("paragraph", "heading")
_INLINE_WITHIN = {
    "paragraph": _RUNNING,
    "heading": (*_RUNNING, "item", "cell", "meta", "caption"),
    "formula": ("heading", "cell", "item", "formula"),
    "meta": (*_RUNNING, "item", "meta"),
}
"""Kind → kinds of blocks in which it is only a part of the line: a title inside a reference, say."""
_NUMBERED = ("ol", "orderedlist", "numberlist")
_LONG = 8_000
TITLE = 120  # characters of a title in a list
STATIC = Path(__file__).parent / "static"  # the script and the style sheet of every page that shows documents


@dataclass(frozen=True)
class TextBlock:
    """A stretch of text shown as one: what it is, and how deep it stands."""

    start: int
    end: int
    kind: str
    level: int
    sign: str = ""
    """Of an item of a numbered list, its number; of one in Markdown, which has its sign in the text, a blank."""

    @property
    def named(self) -> str:
        """The kind, and the sign if there is one: ``item 3.``."""
        return f"{self.kind} {self.sign}".rstrip()


def layout(document: Document) -> list[TextBlock]:
    r"""Return the blocks of a document, from the first character to the last.

    >>> [(block.start, block.end, block.kind) for block in layout(Document("d", "One.\n\nTwo."))]
    [(0, 6, 'plain'), (6, 10, 'plain')]
    """
    kinds, text = _kinds(document), document.text
    pieces, shown = list[TextBlock](), ["plain"]
    if any(kinds[1:]):
        found = _partition(document, kinds)
    elif _MARKDOWN.search(text):
        found, shown = _markdown(text), ["plain", "cell"]  # an empty cell keeps its place
    else:
        ends = (one.end() for one in re.finditer(r"\n[ \t\r]*\n\s*", text))  # plain text is cut after blank lines
        found = (TextBlock(*edges, "plain", 0) for edges in pairwise(dict.fromkeys([0, *ends, len(text)])))
    for block in found:
        blank = block.kind not in shown and not text[block.start : block.end].strip()
        pieces += _bounded(replace(block, kind="gap") if blank else block, text)
    return pieces


def _kinds(document: Document) -> list[str]:
    """Return the kind of every element, '' for what is part of a line.

    An element stands apart by its name, unless it is inside running text; or because something inside it does. ``name``
    is an article's title only right below the root. Inside metadata everything is metadata; sections have a depth.
    """
    kinds, around, about = list[str](), list[str](), list[bool]()
    for element in document.elements:
        tag, parent = element.tag.lower(), element.parent
        outer = around[parent] if parent >= 0 else ""
        kind = "heading" if tag == "name" and parent == 0 else _KIND.get(tag, "")
        if outer in _INLINE_WITHIN.get(kind, ()):
            kind = ""
        elif kind == "paragraph" and outer in ("item", "caption") and parent >= 0 and kinds[parent] == outer:
            first = all(one.start == one.end for one in document.elements[parent + 1 : len(kinds)])
            kind = outer if first or outer == "caption" else kind  # the text of an item stands beside its sign
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
    position, size = 0, len(document.text)
    around = [(-1, size)]  # the blocks that the position is in, and where they end
    shown = [(row, one.start, one.end) for row, one in enumerate(document.elements) if kinds[row]]
    for row, start, end in [*(one for one in shown if one[1] < one[2]), (-1, size, size)]:
        while around and (position < start or around[-1][1] <= start):
            inner, upto = around[-1]
            if position < (cut := min(upto, start)):
                outer = [kinds[one] for one, _ in around[1:]]
                kind = outer[-1] if outer else "paragraph"
                depth = outer.count("section") + outer.count("meta-section")
                sign = _number(document, inner) if kind == "item" else ""
                kind = {"section": "paragraph", "meta-section": "meta"}.get(kind, kind)
                yield TextBlock(position, cut, kind, depth, sign)
            position = max(position, cut)
            if upto <= start:
                around.pop()
        position = start
        around.append((row, end))


def _number(document: Document, row: int) -> str:
    """Return the number of an item in a list that counts its items; '' in another."""
    item = document.elements[row]
    while item.parent >= 0 and _KIND.get(item.tag.lower()) != "item":
        item = document.elements[item.parent]
    around = document.elements[item.parent].tag.lower() if item.parent >= 0 else ""
    return f"{item.path.rpartition('[')[2].rstrip(']')}." if around in _NUMBERED else ""


class Group(NamedTuple):
    """Blocks that stand together: a ``grid``, its ``row`` s, and in them each ``cell`` or ``head``; or an ``image``."""

    first: int
    last: int  # the block after the last one; the same as `first` for an empty cell, and for an image
    kind: str
    depth: int  # how many groups it is in
    columns: int | str = 1  # how many a grid has, or a cell takes; of an image its name


@dataclass(frozen=True)
class Rendering:
    """A document laid out: blocks of text, groups of blocks, and elements inside of a block with what they are."""

    blocks: list[TextBlock]
    groups: list[Group]
    inline: list[tuple[int, int, str, int]]
    """Start and end, in the document's order; a name of `INLINE`, of MathML, ``apart`` or ``tex``; the depth."""

    def as_json(self) -> dict[str, Any]:
        """Return groups and what is inside of blocks as plain values; blocks are for the pages to write."""
        return {"groups": [list(group) for group in self.groups], "inline": [list(one) for one in self.inline]}


INLINE = {
    "sub": "sub subscript inf",
    "sup": "sup super superscript",
    "strong": "b bold strong emph3",
    "em": "i em it italic emph2 emphasis cite",
    "code": "code tt monospace literal samp kbd",
    "link": "a xref ext-link uri email ulink link collectionlink outsidelink weblink unknownlink wikipedialink",
}
"""What is inside of a line → names of elements, in lower case."""
_INLINE = {name: kind for kind, names in INLINE.items() for name in names.split()}
_MATHML = (
    "math mi mn mo ms mtext mspace mrow mfrac msqrt mroot mstyle merror mpadded mphantom mfenced menclose msub msup"
    " msubsup munder mover munderover mmultiscripts mprescripts none mtable mtr mtd mlabeledtr semantics annotation"
)
MATHML = frozenset(_MATHML.split())
_GRIDS, _ROWS, _CELLS = ("table", "tgroup", "informaltable"), ("tr", "row"), ("td", "th", "entry", "cell")


def render(document: Document) -> Rendering:
    """Return a document laid out, with its tables, its images and what is inside of its lines."""
    blocks, text = layout(document), document.text
    if len(document.elements) > 1:
        groups, inline = _groups(document, blocks), _inside(document, blocks)
    else:
        shown = [block for block in blocks if block.kind not in ("code", "gap")] if _MARKDOWN.search(text) else []
        found = (one for block in shown for one in _EMPHASIS.finditer(text, block.start, block.end))
        groups, inline = _markdown_groups(text, blocks), [(*one.span(), one.lastgroup or "", 0) for one in found]
    starts, tables = [block.start for block in blocks], [group for group in groups if group.kind == "grid"]
    for position, name in document.images:  # behind the block that it stands in, and behind a table
        after = bisect_left(starts, position)
        after = max([after, *(table.last for table in tables if table.first < after < table.last)])
        groups.append(Group(after, after, "image", 0, name))
    groups.sort(key=lambda group: (group.first, group.kind != "image"))
    return Rendering(blocks, groups, inline)


def _groups(document: Document, blocks: list[TextBlock]) -> list[Group]:
    """Return grids, rows and cells as numbers of blocks, what is outside first."""
    elements = document.elements
    tags = [element.tag.lower() for element in elements]
    starts = [block.start for block in blocks]
    inside: dict[int, list[int]] = {}  # the rows of every grid, and the cells of every row
    for number, tag in enumerate(tags):
        if tag in _CELLS or tag in _ROWS:
            around = elements[number].parent
            while around >= 0 and tags[around] not in (_ROWS if tag in _CELLS else _GRIDS):
                around = elements[around].parent
            inside.setdefault(around, []).append(number)
    found: dict[int, tuple[str, int]] = {}
    for grid in (number for number in inside if number >= 0 and tags[number] in _GRIDS):
        cells = {row: inside.get(row, []) for row in inside[grid]}
        width = max(map(len, cells.values()))
        found[grid] = ("grid", width)
        for row, own in cells.items():
            found[row] = ("row", 1)
            headed = elements[row].parent >= 0 and tags[elements[row].parent] == "thead"
            kinds = {cell: "head" if headed or tags[cell] == "th" else "cell" for cell in own}
            found |= {cell: (kind, width if len(own) == 1 else 1) for cell, kind in kinds.items()}
    groups, depths = [], list[int]()
    for number, element in enumerate(elements):
        depths.append(depths[element.parent] + (element.parent in found) if element.parent >= 0 else 0)
        if number in found:
            first, last = bisect_left(starts, element.start), bisect_left(starts, element.end)
            kind, columns = found[number]
            groups.append(Group(first, last, kind, depths[-1], columns))
    return groups


def _markdown_groups(text: str, blocks: list[TextBlock]) -> list[Group]:
    """Return the tables of Markdown: its cells are blocks already, and a line is a row."""
    grids: list[list[list[int]]] = [[[]]]
    for number, block in enumerate(blocks):
        if block.kind == "cell":
            grids[-1][-1].append(number)
        elif block.kind != "gap":
            grids.append([[]])
        elif "\n" in text[block.start : block.end]:
            grids[-1].append([])
    groups = []
    for rows in ([row for row in grid if row] for grid in grids):
        if rows:
            first, last = rows[0][0], rows[-1][-1] + 1  # with the strokes before the first cell and behind the last
            first -= "|" in text[blocks[first - 1].start : blocks[first].start] if first else 0
            last += last < len(blocks) and "|" in text[blocks[last].start : blocks[last].end]
            groups.append(Group(first, last, "grid", 0, max(map(len, rows))))
            for row in rows:
                groups.append(Group(row[0], row[-1] + 1, "row", 1))
                groups += [Group(cell, cell + 1, "head" if row is rows[0] else "cell", 2) for cell in row]
    return groups


_EMPHASIS = re.compile(
    r"(?P<code>`[^`\n]+`)|(?P<strong>(\*\*|__)(?=\S)[^\n]+?(?<=\S)\3)"
    r"|(?P<em>(?<![\w*])([*_])(?=\S)[^*_\n]+(?<=\S)\5(?![\w*]))|(?P<link>\[[^\]\n]*\]\([^()\s]*\))"
)
"""Code, links and what is emphasised in Markdown, with its signs."""


def _inside(document: Document, blocks: list[TextBlock]) -> list[tuple[int, int, str, int]]:
    """Return what is inside of blocks: where elements are, with their names and depths."""
    found, kinds = list[tuple[int, int, str, int]](), list[str]()
    depths = list[int]()  # how many of the elements that were found an element's own content is in
    text, elements = document.text, document.elements
    ends, starts = {element.end for element in elements}, [block.start for block in blocks]
    for row, (_, tag, start, end, parent) in enumerate(elements):
        name, in_math = tag.lower().rpartition(":")[2], parent >= 0 and kinds[parent] in MATHML
        kind = name if (in_math or name == "math") and name in MATHML else _INLINE.get(name, "")
        near = elements[max(0, row - 9) : row + 9]
        if name == "tex-math" and any(one.parent == parent and one.tag.lower().endswith("math") for one in near):
            kind = "tex"  # the same formula stands beside it
        kinds.append(kind)
        depths.append(depths[parent] if parent >= 0 else 0)
        block = blocks[bisect_right(starts, start) - 1] if blocks else None
        if block is None or end > block.end:
            continue
        touches = block.start < start < end and start in ends and text[start].isalnum() and text[start - 1].isalnum()
        if not kind and touches and block.kind in ("meta", "item", "heading", "caption"):
            kind = "apart"
        if kind and (start < end or in_math):
            found.append((start, end, kind, depths[row]))
            depths[row] += 1
    return found


def title_of(document: Document) -> str:
    r"""Return the first heading of a document, or its first line; '' for one without text.

    >>> title_of(Document("d", "# One line.\n\nAnother."))
    'One line.'
    """
    blocks = [block for block in layout(document) if block.kind not in ("gap", "meta")]
    first = next((block for block in blocks if block.kind == "heading"), blocks[0] if blocks else None)
    words = " ".join(document.text[first.start : first.end].split()).lstrip("# ") if first else ""
    return words if len(words) <= TITLE else f"{words[: TITLE - 1]}…"


_MARKDOWN = re.compile(r"^#{1,6} \S|^```|^\|?[ :]*-{3,}[ :]*\|[ |:-]*$", re.MULTILINE)
"""What Markdown has and other texts hardly: a heading, a fence, the line below a table's head."""
_SIGNS = re.compile(
    r"(?P<heading>(#{1,6}) \S)|(?P<item>\s*(?:[-*+]|\d{1,3}[.)]) \S)|(?P<row>\s*\|.*\|\s*$)|(?P<code>\s*```)"
)
_ROW = re.compile(r"^[ |:-]+\s*$|^\s*\||\|\s*$|\||[^|]+")


def _markdown(text: str) -> Iterator[TextBlock]:
    r"""Cut Markdown where its blocks begin: headings, items, cells of a table, fenced code, paragraphs.

    >>> [(block.start, block.kind) for block in _markdown("# One\n\nTwo\nlines.\n* three\n")]
    [(0, 'heading'), (6, 'gap'), (7, 'plain'), (18, 'item')]
    >>> text = "|a|b c|\n|-|-|\n"
    >>> [(text[block.start : block.end], block.kind) for block in _markdown(text)]
    [('|', 'gap'), ('a', 'cell'), ('|', 'gap'), ('b c', 'cell'), ('|\n', 'gap'), ('|-|-|\n', 'gap')]
    """
    start, kind, level, position, fenced = 0, "gap", 0, 0, False
    for line in text.splitlines(keepends=True):
        found = _SIGNS.match(line)
        sign = found.lastgroup if found else "plain" if line.strip() else "gap"
        begins = sign == "code" if fenced else sign != kind or sign in ("heading", "item", "row")
        if fenced or (sign == "plain" and kind == "item"):  # an item goes on, and all is code until the fence ends
            begins = False
        if begins:
            if start < position:
                yield TextBlock(start, position, kind, level, "\u200b" if kind == "item" else "")
            start, kind, level = position, sign or "", len(found.group(2)) if found and sign == "heading" else 0
        if kind == "row":
            for piece in _ROW.finditer(line):
                signs = piece.group().startswith("|") or not line.strip(" |:-\r\n")
                yield TextBlock(position + piece.start(), position + piece.end(), "gap" if signs else "cell", 0)
            start, kind = position + len(line), "gap"
        position += len(line)
        fenced = fenced != (sign == "code")
        if kind == "code" and not fenced:
            yield TextBlock(start, position, kind, level)
            start, kind = position, "gap"
    if start < len(text):
        yield TextBlock(start, len(text), kind, level, "\u200b" if kind == "item" else "")


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
PATIENCE = 0.5  # seconds that a list may spend on titles that are not known yet; the rest are known the next time
KEPT = 64  # documents that stay in memory with their elements, for those who open the same ones
CHARACTERS = 40_000_000
"""Characters of texts that stay in memory: an edit needs the text alone, and must not parse a document again."""


class DocumentCache:
    """The documents of an index by id, one at a time; those that are opened again are kept in memory."""

    def __init__(self, index: Index) -> None:
        self.index = index
        self._images = Images(index)
        self._reading = threading.Lock()
        self._kept = Kept[Document](KEPT)
        self._titles: dict[str, str] = {}
        self._texts = Kept[Document](CHARACTERS, lambda document: len(document.text))

    def get(self, document: str) -> Document:
        """Return one document; an id that the collection does not know is refused, and never becomes a path."""

        def read() -> Document:
            with self._reading:
                row = self._row(document)
                table = self.index.elements(row)
                columns = table.start.tolist(), table.end.tolist(), table.parent.tolist()
                elements, text = tuple(map(Element, table.paths(), table.tags, *columns)), self.index.text(row)
            named = not IMAGES.isdisjoint(table.tag_names) or "![" in text  # else its source need not be read
            return Document(document, text, elements, tuple(self._images.of(row)) if named else ())

        return self._kept.get(document, read)

    def plain(self, document: str) -> Document:
        """Return one document without its elements, which most edits do not need and which take long to make."""

        def read() -> Document:
            with self._reading:
                return Document(document, self.index.text(self._row(document)))

        return self._texts.get(document, read)

    def pages(self, document: str) -> Pages | None:
        """Return the pages of a PDF; None for a document of another kind."""
        with self._reading:
            return self.index.pages(self._row(document))

    def image(self, document: str, number: int) -> bytes | None:
        """Return an image of a document, by its number from 0."""
        return self._images.read(self._row(document), number)

    def extents(self, document: str) -> Extents:
        """Return the hash of a document's text, and where its elements with text begin and end."""
        sha256 = self.plain(document).sha256
        with self._reading:
            table = self.index.elements(self._row(document))
        filled = table.start < table.end
        return sha256, table.start[filled], table.end[filled]

    def _row(self, document: str) -> int:
        (row,) = self.index.find([document])
        if row < 0:
            raise AssessError(f"the collection has no document {document!r}")
        return int(row)

    def titles(self, names: Iterable[str], *, patience: float = PATIENCE) -> dict[str, str]:
        """Return titles for a list, as far as they are known or soon found; '' for a document that is gone.

        Each is read once, and never so many at once that a page has to wait for them.
        """
        end = time.monotonic() + patience
        found = {}
        for name in names:
            if name not in self._titles and time.monotonic() < end:
                self._titles[name] = ""
                with suppress(AssessError):
                    self._titles[name] = title_of(self.get(name))
            found[name] = self._titles.get(name, "")
        return found
