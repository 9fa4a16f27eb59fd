"""One document into a tree of elements, in Python: XML, HTML or plain text.

*XML* is read by expat's events, one Python call each; right for every document that expat accepts. The text of a
document is the character data of its root element as expat reports it: line ends normalised, references and CDATA
sections replaced by what they stand for. A text node is what XPath 1.0 counts as one: references and CDATA join their
neighbours, comments and processing instructions separate. Nothing outside the file is ever read. A named entity that
only an unread DTD could define becomes its character if HTML knows the name, and is left out and counted if not.

*HTML* is read leniently by lxml, as browsers read it, because few pages are well-formed. Scripts and styles are
elements without text. Where a reader sees a break and the page has no white space (between blocks, at ``<br>``, between
cells), a line end or a tab is put between the words; it belongs to no text node. (Version 0.2.0 put nothing there; what
was made with it can be opened so, with ``apart=False``.) Missing ``html`` and ``body`` are supplied, so that every path
begins with ``/html[1]``; names of tags are in lower case. TREC's documents that are no well-formed XML are read in the
same way, and begin with ``/doc[1]``; their text is what they hold, with nothing put into it.

*Plain text* is one element: ``/document[1]`` spans all of it. The text is kept as it is, line ends included, so that
offsets made by any other tool on the same file agree; only a byte order mark is dropped. Of a notebook (``.ipynb``) the
text is that of its cells, with an empty line between them; of a Word document (``.docx``) its paragraphs, a line each.
"""

from __future__ import annotations

import codecs
import io
import json
import re
import zipfile
import zlib
from array import array
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from html.entities import html5
from itertools import chain
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree as ET
from xml.parsers import expat

from focuseval.errors import CollectionError, Place

MAX_DEPTH = 2_000  # elements nested deeper than this are refused
MAX_ENTITIES = 4_096  # a file that declares more is refused: long chains of them exhaust expat's stack
MAX_GROWTH = 100  # times that a document's text may be longer than its file, once it passes `GROWTH_FROM`
GROWTH_FROM = 8_000_000  # characters
MAX_WORD = 1 << 28  # a Word document with more bytes of text than this is refused
KEEP_GOING = "mend the file, or index the others with keep_going=True"
"""What can be done about a document that cannot be read."""
WHITE = " \t\n\r"
IMAGES = frozenset(("graphic", "inline-graphic", "img", "imagedata", "image"))  # elements that may name an image
_NAMED = frozenset(("xlink:href", "href", "src", "fileref"))


@dataclass
class Tree:
    """One document as it is being read; columns of elements in document order and of text nodes."""

    file: str
    parser: Any = None
    limit: int = GROWTH_FROM
    pieces: list[str] = field(default_factory=list)
    tag: list[str] = field(default_factory=list)
    depth: array[int] = field(default_factory=lambda: array("i"))
    start: array[int] = field(default_factory=lambda: array("i"))
    end: array[int] = field(default_factory=lambda: array("i"))
    parent: array[int] = field(default_factory=lambda: array("q"))
    node_parent: array[int] = field(default_factory=lambda: array("q"))
    node_start: array[int] = field(default_factory=lambda: array("i"))
    node_end: array[int] = field(default_factory=lambda: array("i"))
    stack: list[int] = field(default_factory=lambda: [-1])
    position: int = 0
    node_from: int = 0
    entities: int = 0
    named: int = 0  # references to entities of an unread DTD whose character was found by name
    left_out: Counter[str] = field(default_factory=Counter)  # references that could not be replaced, by name
    lenient: bool = False  # whether it was read as HTML is
    laid: Any = None  # where the characters of a PDF stand (`collection.pages.Pages`)
    images: list[tuple[int, str]] = field(default_factory=list)
    """Where elements stand that name an image, and what they name."""

    def opened(self, name: str, attributes: list[str]) -> None:
        """Begin an element."""
        self.cut()
        if attributes and name in IMAGES:
            named = (value for key, value in zip(attributes[::2], attributes[1::2], strict=True) if key in _NAMED)
            self.images += [(self.position, value) for value in list(named)[:1]]
        stack = self.stack
        if len(stack) > MAX_DEPTH:
            self.refuse(f"elements nested more than {MAX_DEPTH} deep")
        self.parent.append(stack[-1])
        stack.append(len(self.tag))
        self.tag.append(name)
        self.depth.append(len(stack) - 1)
        self.start.append(self.position)
        self.end.append(-1)

    def closed(self, _name: str) -> None:
        """End an element."""
        self.cut()
        self.end[self.stack.pop()] = self.position

    def characters(self, data: str) -> None:
        """Add to the text."""
        self.pieces.append(data)
        self.position += len(data)
        if self.position > self.limit:
            self.refuse(f"entities make its text more than {MAX_GROWTH} times longer than the file")

    def cut(self, *_: object) -> None:
        """End the current text node, if there is one."""
        if self.position > self.node_from:
            self.node_parent.append(self.stack[-1])
            self.node_start.append(self.node_from)
            self.node_end.append(self.position)
            self.node_from = self.position

    def separate(self, sign: str) -> None:
        """Put a sign between two words that nothing else separates; it belongs to no text node."""
        if self.pieces and not self.pieces[-1][-1].isspace():
            self.cut()
            self.pieces.append(sign)
            self.position += 1
            self.node_from = self.position

    def skipped(self, name: str, is_parameter: int) -> None:
        """Replace an entity of an unread DTD by the character of that name, or count it."""
        if is_parameter:
            return
        if characters := html5.get(name + ";"):
            self.named += 1
            self.characters(characters)
        else:
            self.left_out[name] += 1

    def external(self, context: str, *_: object) -> int:
        """Count a reference to another file; nothing is fetched."""
        self.left_out[context.rsplit("\f", maxsplit=1)[-1]] += 1
        return 1

    def declared(self, *_: object) -> None:
        """Count entity declarations."""
        self.entities += 1
        if self.entities > MAX_ENTITIES:
            self.refuse(f"more than {MAX_ENTITIES} entity declarations")

    def refuse(self, what: str) -> None:
        """Stop reading this document."""
        at = Place(self.file, self.parser.CurrentLineNumber, self.parser.CurrentColumnNumber + 1)
        raise CollectionError(f"refused: {what}", at=at, remedy="leave this file out, or mend it")

    @property
    def text(self) -> str:
        """Return the document's text."""
        return "".join(self.pieces)


def read_tree(data: bytes, file: str) -> Tree:
    """Read one XML document with expat's events.

    >>> tree = read_tree(b"<a>x<b>y</b><b/></a>", "a.xml")
    >>> tree.text, tree.tag, tree.start.tolist(), tree.end.tolist(), tree.parent.tolist()
    ('xy', ['a', 'b', 'b'], [0, 1, 2], [2, 2, 2], [-1, 0, 0])
    """
    tree = Tree(file, limit=max(GROWTH_FROM, MAX_GROWTH * len(data)))
    tree.parser = parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.buffer_size = 1 << 16
    parser.ordered_attributes = True
    parser.StartElementHandler = tree.opened
    parser.EndElementHandler = tree.closed
    parser.CharacterDataHandler = tree.characters
    parser.CommentHandler = tree.cut
    parser.ProcessingInstructionHandler = tree.cut
    parser.SkippedEntityHandler = tree.skipped
    parser.ExternalEntityRefHandler = tree.external
    parser.EntityDeclHandler = tree.declared
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        what = f"expected well-formed XML, found: {expat.ErrorString(error.code)}"
        raise CollectionError(what, at=Place(file, error.lineno, error.offset + 1), remedy=KEEP_GOING) from None
    except (LookupError, ValueError) as error:
        raise CollectionError(f"cannot decode: {error}", at=Place(file, 1), remedy="convert it to UTF-8") from None
    tree.parser = None
    return tree


def transcoded(data: bytes, file: str) -> bytes | None:
    """Return a document in UTF-8 if it declares a multi-byte encoding that Python reads and expat does not.

    >>> transcoded('<?xml version="1.0" encoding="shift_jis"?><a>漢</a>'.encode("shift_jis"), "a.xml").decode()
    '<?xml version="1.0" ?><a>漢</a>'
    """
    found = re.match(rb"""<\?xml[^>]*?encoding\s*=\s*["']([A-Za-z][\w.-]*)["']""", data)
    if not found or found[1].lower() in (b"utf-8", b"utf-16", b"iso-8859-1", b"us-ascii"):
        return None
    try:
        name = codecs.lookup(found[1].decode("ascii")).name
        "漢".encode(name)  # what cannot write it has one byte per character, and expat reads that
        text = data.decode(name)
    except (LookupError, UnicodeEncodeError):
        return None
    except UnicodeError as error:  # Python has encodings of no text, whose errors know no place
        line = data.count(b"\n", 0, getattr(error, "start", 0)) + 1
        what = f"expected {found[1].decode()}, found bytes that are not"
        raise CollectionError(what, at=Place(file, line), remedy="correct the encoding it declares") from None
    return re.sub(r"""encoding\s*=\s*["'][\w.-]*["']""", "", text, count=1).encode("utf-8")


TAG = "document"  # the tag of a plain text's only element


def read_plain(data: bytes, file: str) -> Tree:
    """Read a text file as UTF-8.

    >>> tree = read_plain("naïve".encode(), "a.txt")
    >>> tree.text, tree.tag, tree.end[0]
    ('naïve', ['document'], 5)
    """
    try:
        text = data.removeprefix(codecs.BOM_UTF8).decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        what = f"expected UTF-8, found byte 0x{error.object[error.start]:02x} ({error.reason})"
        raise CollectionError(what, at=Place(file, line), remedy="convert the file to UTF-8") from None
    if (nul := text.find("\0")) >= 0:
        line = text.count("\n", 0, nul) + 1
        raise CollectionError("expected text, found a NUL character", at=Place(file, line), remedy="leave it out")
    return plain_tree(text, file)


def plain_tree(text: str, file: str) -> Tree:
    """Return a text as a tree of one element."""
    tree = Tree(file, limit=len(text))
    tree.opened(TAG, [])
    tree.characters(text)
    tree.closed(TAG)
    return tree


def read_notebook(data: bytes, file: str) -> Tree:
    """Read the cells of a notebook, code and Markdown, without what the code has printed."""
    try:
        cells = json.loads(data)["cells"]
        sources = [cell["source"] for cell in cells]
        text = "\n\n".join(source if isinstance(source, str) else "".join(source) for source in sources)
        text.encode()
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        what = f"expected a notebook with cells, found: {error or type(error).__name__}"
        raise CollectionError(what, at=file, remedy=KEEP_GOING) from None
    return plain_tree(text, file)


_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_SIGNS = {f"{_WORD}tab": "\t", f"{_WORD}br": "\n", f"{_WORD}cr": "\n", f"{_WORD}noBreakHyphen": "-"}


def read_docx(data: bytes, file: str) -> Tree:
    """Read the paragraphs of a Word document, those of tables and lists among them."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if archive.getinfo("word/document.xml").file_size > MAX_WORD:
                raise zipfile.BadZipFile("a larger one")  # noqa: TRY301  one message for all
            content = archive.read("word/document.xml")
        root = ET.fromstring(content)  # noqa: S314  expat bounds what entities become
    except (zipfile.BadZipFile, zlib.error, ET.ParseError, KeyError, NotImplementedError, RuntimeError) as error:
        what = f"expected a Word document (.docx) of at most {MAX_WORD >> 20} MB, found: {error}"
        raise CollectionError(what, at=file, remedy=KEEP_GOING) from None
    lines = []
    for paragraph in root.iter(f"{_WORD}p"):
        runs = (one for one in paragraph.iter() if one.tag == f"{_WORD}t" or one.tag in _SIGNS)
        lines.append("".join(_SIGNS.get(one.tag) or one.text or "" for one in runs))
    return plain_tree("\n".join(lines), file)


ONE_ELEMENT = {"plain": read_plain, "notebook": read_notebook, "docx": read_docx}
"""Kinds of documents that become one element, and how they are read."""

_SILENT = frozenset(("script", "style"))
_CELLS = frozenset(("td", "th"))
_BREAKING = (
    "address article aside blockquote body br caption center dd details dialog dir div dl dt fieldset figcaption figure"
    " footer form h1 h2 h3 h4 h5 h6 head header hgroup hr html iframe legend li main menu nav noscript ol optgroup"
    " option p pre search section select summary table tbody textarea tfoot thead title tr ul video"
)
_BLOCKS = frozenset(_BREAKING.split())  # elements before and behind which a browser breaks the line


def read_html(data: bytes, file: str, root: str | None = None, *, apart: bool = True) -> Tree:
    r"""Read a page; of a document inside one, the part from its first `root` element on.

    Where it is `apart`, words are separated where a browser breaks the line.

    >>> tree = read_html(b"<title>T</title><p>one<p>t<b>w</b>o<script>x()</script>", "a.html")
    >>> tree.text, tree.tag
    ('T\none\ntwo', ['html', 'head', 'title', 'body', 'p', 'p', 'b', 'script'])
    """
    from lxml import etree  # noqa: PLC0415  15 ms, and only this kind of file needs it

    try:  # UTF-8 where that can be, else what the page declares, else what most old pages are
        data.decode("utf-8")
        encoding = "utf-8"
    except UnicodeDecodeError:
        declared = re.search(rb"""(?i)<meta\s[^>]*?charset\s*=\s*["']?\s*([\w-]+)""", data[:4096])
        encoding = declared[1].decode() if declared and declared[1].lower() != b"utf-8" else "windows-1252"
    parser = etree.HTMLParser(encoding=encoding, remove_blank_text=False, huge_tree=False)
    try:
        page = etree.fromstring(data, parser)
    except (etree.LxmlError, ValueError):
        page = None
    found = page if root is None or page is None else next(page.iter(root), None)
    if found is None:
        raise CollectionError("expected HTML, found no element", at=file, remedy="leave it out, or rename it .txt")
    tree = Tree(file, parser=SimpleNamespace(CurrentLineNumber=1, CurrentColumnNumber=0), limit=len(data) + (1 << 20))
    _walk(tree, found, etree.iterwalk(found, events=("start", "end", "comment", "pi")), apart=apart)
    tree.parser, tree.lenient = None, True
    return tree


def _walk(tree: Tree, root: Any, events: Iterable[tuple[str, Any]], *, apart: bool) -> None:
    """Add the elements and the text of a page; with `apart`, a sign where a browser separates words."""
    sign = ""  # what is wanted before the next word
    for event, node in events:
        if apart and event in {"start", "end"}:
            sign = "\n" if node.tag in _BLOCKS else sign or ("\t" if node.tag in _CELLS else "")
        text = node.tail if node is not root else None
        if event == "start":
            if sign:  # before the element, not in it
                tree.separate(sign)
                sign = ""
            tree.opened(node.tag, [*chain(*node.attrib.items())] if node.tag == "img" else [])
            text = node.text if node.tag not in _SILENT else None
        elif event == "end":
            tree.closed(node.tag)
        else:
            tree.cut()
        if text:
            if sign and not text[0].isspace():
                tree.separate(sign)
            sign = ""
            tree.characters(text)
