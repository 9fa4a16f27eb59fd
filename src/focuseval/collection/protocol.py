"""What the rest of the package asks of a collection: documents found by id, their texts and elements, in columns.

`IndexedDocument` and `Elements` are one document and its elements, for readers and programs that need not know rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
import pyarrow as pa

from focuseval.collection.names import path_strings
from focuseval.data.placement import Documents
from focuseval.engine.lazy import cached_property

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike, NDArray

    from focuseval.collection.segments import Segments


class Collection(Documents, Protocol):
    """Documents in rows 0 … len − 1; `focuseval.collection.index.Index` is one, on disk or in memory."""

    @property
    def element_bounds(self) -> NDArray[np.int64]:
        """The first element of every document in the numbering of all, and the end of the last."""

    @property
    def segments(self) -> Segments | None:
        """Where the segments lie, if that is what the documents were given as."""

    def text(self, row: int) -> str:
        """Return the text of one document."""

    def texts(self, rows: ArrayLike) -> pa.Array:
        """Return the texts of several documents."""

    def elements(self, row: int) -> Elements:
        """Return the elements of one document, in document order."""

    def elements_of(self, rows: ArrayLike) -> Elements:
        """Return the elements of several documents, one document after the other."""

    def path_strings(self, elements: ArrayLike) -> pa.Array:
        """Return the paths of elements, given by their numbers in the whole collection."""

    def resolve(self, rows: ArrayLike, paths: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the spans of elements given by document row and path; −1, −1 where there is none."""

    def resolve_rows(self, rows: ArrayLike, paths: Any) -> NDArray[np.int64]:
        """Return the numbers of elements in the whole collection, −1 where there is none."""

    def resolve_points(self, rows: ArrayLike, pointers: Any, whitespace: str = "keep") -> NDArray[np.int64]:
        """Return the positions of XPointers or of elements' starts; −1 where there is none."""


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
        return len(self.start)

    def __iter__(self) -> Iterator[IndexedElement]:
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
        return int(self.collection.lengths[self.row])

    def __iter__(self) -> Iterator[IndexedElement]:
        return iter(self.elements)

    def span(self, path: str) -> tuple[int, int] | None:
        """Return where an element begins and ends, None where the document has no such path."""
        start, end = self.collection.resolve([self.row], [path])
        return (int(start[0]), int(end[0])) if start[0] >= 0 else None

    def __repr__(self) -> str:
        """Name the document and its size."""
        return f"IndexedDocument({self.id!r}, {len(self):,} characters)"
