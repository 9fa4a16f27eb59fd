"""One document and its elements, for readers and programs that need not know about rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from focuseval.collection.paths import path_strings
from focuseval.engine.lazy import cached_property

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from focuseval.collection.protocol import Collection


class IndexedElement(NamedTuple):
    """One element: its path, its tag, and where it lies in its document's text."""

    path: str
    tag: str
    depth: int
    start: int
    end: int


@dataclass(frozen=True, eq=False)
class Elements:
    """Elements of one document or of several, in document order: columns, or one by one."""

    document: NDArray[np.int64]
    """Row of the document in the index."""
    row: NDArray[np.int64]
    """Number of the element in the whole index."""
    tag_code: NDArray[np.int32]
    n: NDArray[np.int32]
    depth: NDArray[np.int16]
    """1 for a root."""
    start: NDArray[np.int64]
    end: NDArray[np.int64]
    parent: NDArray[np.int64]
    """Row of the parent in this table, −1 for a root."""
    tag_names: tuple[str, ...]
    """``tag_names[tag_code]`` is the name of a tag."""

    def __len__(self) -> int:
        """Return the number of elements."""
        return len(self.start)

    def __iter__(self) -> Iterator[IndexedElement]:
        """Yield every element."""
        columns = (self.depth.tolist(), self.start.tolist(), self.end.tolist())
        return (IndexedElement(*row) for row in zip(self.paths(), self.tags, *columns, strict=True))

    @cached_property
    def tag(self) -> pa.Array:
        """The tag of every element, a string array."""
        return pa.array(self.tag_names, pa.string()).take(pa.array(self.tag_code))

    @property
    def tags(self) -> list[str]:
        """The tag of every element."""
        found: list[str] = self.tag.to_pylist()
        return found

    def paths(self) -> list[str]:
        """Return the path of every element."""
        found: list[str] = self.path_strings(np.arange(len(self))).to_pylist()
        return found

    def path_strings(self, rows: NDArray[np.integer]) -> Any:
        """Return the paths of some rows of this table as a string array."""
        return path_strings(rows.astype(np.int64), self.parent, self.tag_code, self.n, self.tag_names)


@dataclass(frozen=True, eq=False)
class IndexedDocument:
    """One document of a collection."""

    collection: Collection
    row: int

    @property
    def id(self) -> str:
        """Its id."""
        return str(self.collection.ids[self.row])

    @cached_property
    def text(self) -> str:
        """Its text, to which the offsets of its elements and of everybody's spans refer."""
        return self.collection.text(self.row)

    @cached_property
    def elements(self) -> Elements:
        """Its elements, in document order."""
        return self.collection.elements(self.row)

    def __len__(self) -> int:
        """Return the number of characters."""
        return int(self.collection.lengths[self.row])

    def __iter__(self) -> Iterator[IndexedElement]:
        """Yield its elements."""
        return iter(self.elements)

    def span(self, path: str) -> tuple[int, int] | None:
        """Return where an element begins and ends, None where the document has no such path."""
        start, end = self.collection.resolve([self.row], [path])
        return (int(start[0]), int(end[0])) if start[0] >= 0 else None

    def __repr__(self) -> str:
        """Name the document and its size."""
        return f"IndexedDocument({self.id!r}, {len(self):,} characters)"
