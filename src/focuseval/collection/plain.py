"""Plain text as a document with one element: ``/document[1]`` spans all of it.

The text is kept as it is, line ends included, so that offsets made by any other tool on the same file agree; only a
byte order mark is dropped.
"""

from __future__ import annotations

import codecs

from focuseval.collection.events import Tree
from focuseval.errors import CollectionError, Place

TAG = "document"
"""The tag of a plain text's only element."""


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
    tree = Tree(file)
    tree.limit = len(text)
    tree.opened(TAG, [])
    tree.characters(text)
    tree.closed(TAG)
    return tree
