"""What placing found out: the collection, every row's document in it, and why a row has no span."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from focuseval.engine.lazy import cached_property

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from focuseval.data.alignment import Alignment

STATUS = (
    "span",
    "entry point",
    "place declared unknown",
    "document not in the collection",
    "place not in the document",
    "text in several places",
    "text nowhere in its document",
    "span outside its document",
)
"""How a row lies in its collection; the codes below count into it."""
SPAN, POINT, UNKNOWN_PLACE, NO_DOCUMENT, NO_PLACE, AMBIGUOUS, LOST, BAD_SPAN = range(len(STATUS))


class Documents(Protocol):
    """What a placement asks of a collection."""

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

    def __len__(self) -> int:
        """Return the number of documents."""

    def find(self, ids: Any) -> NDArray[np.int32]:
        """Return the row of every id, −1 where it is unknown; an ambiguous id is refused."""


@dataclass(frozen=True, eq=False)
class Placement:
    """Where the rows of a run, or the documents of a gold, lie in a collection."""

    collection: Documents
    ids: pa.Array
    """Document ids: of every result of a run, of every document of a gold."""
    status: NDArray[np.int8] | None = None
    """For every result, a code into `STATUS`; None for whole documents, and for a gold."""
    alignment: Alignment | None = None
    """What was found for texts and quotes; None where there were none to look for."""

    @cached_property
    def document(self) -> NDArray[np.int64]:
        """For every id, the row of its document in the collection, −1 where the collection does not have it."""
        return self.collection.find(self.ids).astype(np.int64)

    @cached_property
    def length(self) -> NDArray[np.int64]:
        """For every id, the characters of its document, −1 where the collection does not have it."""
        return np.append(self.collection.lengths, -1)[self.document]

    def is_in(self, collection: Documents) -> bool:
        """Say whether this is a placement in the same documents."""
        return self.collection is collection or self.collection.sha256 == collection.sha256

    def take(self, rows: NDArray[np.integer]) -> Placement:
        """Return the placement of some rows; the alignment still speaks of all."""
        kept = replace(self, ids=self.ids.take(rows), status=None if self.status is None else self.status[rows])
        if "document" in vars(self):
            vars(kept)["document"] = self.document[rows]
        return kept
