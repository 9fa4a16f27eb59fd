"""Documents by id, from whatever the collection is: an index, a folder, a file of texts."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

import numpy as np

from focuseval.collection.rendering.document import Document, Element
from focuseval.errors import AssessError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from focuseval.collection import Index

Extents = tuple[str, "NDArray[np.int64]", "NDArray[np.int64]"]
"""A text's hash, and where its elements with text begin and end."""

KEPT = 64
"""Documents that stay in memory with their elements, for those who open the same ones."""
CHARACTERS = 40_000_000
"""Characters of texts that stay in memory: an edit needs the text alone, and must not parse a document again."""


class DocumentCache:
    """The documents of an index, one at a time."""

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
                found = Document(document, self.index.text(row), _elements(self.index.elements(row)))
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

    def extents(self, document: str) -> Extents:
        """Return the hash of a document's text, and where its elements with text begin and end."""
        sha256 = self.plain(document).sha256
        with self._reading:
            table = self.index.elements(self._row(document))
        start, end = (np.asarray(column, np.int64) for column in (table.start, table.end))
        return sha256, start[start < end], end[start < end]

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


def _elements(table: Any) -> tuple[Element, ...]:
    columns = (_list(table.tag), _list(table.start), _list(table.end), _list(table.parent))
    rows = zip(table.paths(), *columns, strict=True)
    return tuple(Element(path, tag, start, end, parent) for path, tag, start, end, parent in rows)


def _list(column: Any) -> list[Any]:
    """Return a column as plain values, whether Arrow or NumPy holds it."""
    values: list[Any] = column.to_pylist() if hasattr(column, "to_pylist") else column.tolist()
    return values
