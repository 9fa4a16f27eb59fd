"""HTML as a tree of elements: read leniently by lxml, as browsers read it, because few pages are well-formed.

Scripts and styles are elements without text. Missing ``html`` and ``body`` are supplied, so that every path begins with
``/html[1]``; names of tags are in lower case. TREC's documents that are no well-formed XML are read in the same way,
and begin with ``/doc[1]``.
"""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from focuseval.collection.events import Tree
from focuseval.errors import CollectionError

if TYPE_CHECKING:
    from collections.abc import Iterator

_SILENT = frozenset(("script", "style"))
_CHARSET = re.compile(rb"""<meta\s[^>]*?charset\s*=\s*["']?\s*([\w-]+)""", re.IGNORECASE)


def read_html(data: bytes, file: str, root: str | None = None) -> Tree:
    """Read a page; of a document inside one, the part from its first `root` element on.

    >>> tree = read_html(b"<title>T</title><p>one<p>two<script>x()</script>", "a.html")
    >>> tree.text, tree.tag
    ('Tonetwo', ['html', 'head', 'title', 'body', 'p', 'p', 'script'])
    """
    page = _parsed(data, file)
    found = page if root is None or page is None else next(page.iter(root), None)
    if found is None:
        raise CollectionError("expected HTML, found no element", at=file, remedy="leave it out, or rename it .txt")
    tree = Tree(file, parser=SimpleNamespace(CurrentLineNumber=1, CurrentColumnNumber=0), limit=len(data) + (1 << 20))
    for event, node in _walked(found):
        if event == "comment":
            tree.cut()
        elif event == "start":
            tree.opened(node.tag, [])
        elif event == "end":
            tree.closed(node.tag)
        else:
            tree.characters(node)
    tree.parser = None
    return tree


def _walked(root: Any) -> Iterator[tuple[str, Any]]:
    """Yield elements as they begin and end, comments, and the text between them."""
    from lxml import etree  # noqa: PLC0415  `_parsed` has seen that it is there

    for event, node in etree.iterwalk(root, events=("start", "end", "comment", "pi")):
        if event in {"comment", "pi"}:
            yield "comment", None
        else:
            yield event, node
            if event == "start" and node.text and node.tag not in _SILENT:
                yield "text", node.text
        if event != "start" and node is not root and node.tail:
            yield "text", node.tail


def _parsed(data: bytes, file: str) -> Any:
    try:
        from lxml import etree  # noqa: PLC0415  only this kind of file needs it
    except ImportError:
        raise CollectionError(
            "HTML is read by lxml, which is not installed", at=file, remedy="pip install lxml"
        ) from None
    parser = etree.HTMLParser(encoding=_encoding(data), remove_blank_text=False, huge_tree=False)
    try:
        return etree.fromstring(data, parser)
    except (etree.LxmlError, ValueError):
        return None


def _encoding(data: bytes) -> str:
    """Return UTF-8 where that can be, else what the page declares, else what most old pages are."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        found = _CHARSET.search(data[:4096])
        return found[1].decode() if found and found[1].lower() != b"utf-8" else "windows-1252"
    return "utf-8"
