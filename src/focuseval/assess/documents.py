"""Documents by id, from whatever the collection is: an index, a folder, a file of texts."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from focuseval.assess.document import Document, Element
from focuseval.errors import AssessError

if TYPE_CHECKING:
    from focuseval.collection import Index

KEPT = 32
"""Documents that stay in memory; an edit must not parse a long document again."""


class DocumentCache:
    """The documents of an index, one at a time."""

    def __init__(self, index: Index) -> None:
        self.index = index
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, Document] = OrderedDict()

    def get(self, document: str) -> Document:
        """Return one document; an id that the collection does not know is refused, and never becomes a path."""
        with self._lock:
            if document in self._kept:
                self._kept.move_to_end(document)
                return self._kept[document]
            found = self._read(document)
            self._kept[document] = found
            if len(self._kept) > KEPT:
                self._kept.popitem(last=False)
            return found

    def _read(self, document: str) -> Document:
        (row,) = self.index.find([document])
        if row < 0:
            raise AssessError(f"the collection has no document {document!r}")
        return Document(document, self.index.text(int(row)), _elements(self.index.elements(int(row))))


def _elements(table: Any) -> tuple[Element, ...]:
    columns = (_list(table.tag), _list(table.start), _list(table.end), _list(table.parent))
    rows = zip(table.paths(), *columns, strict=True)
    return tuple(Element(path, tag, start, end, parent) for path, tag, start, end, parent in rows)


def _list(column: Any) -> list[Any]:
    """Return a column as plain values, whether Arrow or NumPy holds it."""
    values: list[Any] = column.to_pylist() if hasattr(column, "to_pylist") else column.tolist()
    return values
