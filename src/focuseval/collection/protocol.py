"""What the rest of the package asks of a collection: documents found by id, their texts and elements, in columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import ArrayLike, NDArray

    from focuseval.collection.elements import Elements
    from focuseval.collection.segments import Segments


class Collection(Protocol):
    """Documents in rows 0 … len − 1; `focuseval.collection.Index` is one, on disk or in memory."""

    @property
    def name(self) -> str:
        """Where it was read from."""

    @property
    def sha256(self) -> str:
        """Hash over the ids and texts of all documents."""

    @property
    def ids(self) -> pa.Array:
        """The ids of all documents."""

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Code points of every document's text."""

    @property
    def element_bounds(self) -> NDArray[np.int64]:
        """The first element of every document in the numbering of all, and the end of the last."""

    @property
    def segments(self) -> Segments | None:
        """Where the segments lie, if that is what the documents were given as."""

    def __len__(self) -> int:
        """Return the number of documents."""

    def find(self, ids: Any) -> NDArray[np.int32]:
        """Return the row of every id, −1 where it is unknown; an ambiguous id is refused."""

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
