"""Plain text as a document with one element: ``/document[1]`` spans all of it.

The text is kept as it is, line ends included, so that offsets made by any other tool on the same file agree; only a
byte order mark is dropped.
"""

from __future__ import annotations

import codecs
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from focuseval.collection.events import WHITE, Tree
from focuseval.collection.forest import Forest
from focuseval.errors import CollectionError, Place

if TYPE_CHECKING:
    from collections.abc import Sequence

    from focuseval.collection.forest import Parsed

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


def plain_forest(texts: Sequence[str]) -> Parsed:
    """Return many texts as columns at once: each is one element with at most one text node."""
    size = np.array([len(text) for text in texts], np.int32)
    none, filled = np.zeros(len(texts), np.int32), np.flatnonzero(size)
    solid = np.array([bool(texts[row].strip(WHITE)) for row in filled.tolist()], np.bool_)
    forest = Forest(
        element_bounds=np.arange(len(texts) + 1),
        tag=none,
        depth=none + 1,
        start=none,
        end=size,
        parent=np.full(len(texts), -1, np.int64),
        node_bounds=np.append(0, np.cumsum(size > 0)),
        node_parent=filled,
        node_start=none[filled],
        node_end=size[filled],
        node_solid=solid,
    )
    return pa.array(texts, pa.large_string()), (TAG,), forest


def plain_tree(text: str, file: str) -> Tree:
    """Return a text as a tree of one element."""
    tree = Tree(file)
    tree.limit = len(text)
    tree.opened(TAG, [])
    tree.characters(text)
    tree.closed(TAG)
    return tree
