"""Chunks as columns: what a chunker cuts out of documents, for no topic in particular."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from focuseval.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from focuseval.collection import Collection


@dataclass(frozen=True, eq=False)
class Chunks:
    """All chunks of a chunker: document ids and half-open spans of code points."""

    document: pa.Array
    start: NDArray[np.int64]
    end: NDArray[np.int64]
    name: str = ""
    """How they were cut: the SPEC, or the file that they were read from."""
    remarks: tuple[str, ...] = ()
    """What a reader should know: texts of a splitter that stand nowhere, say."""

    def __len__(self) -> int:
        """Return the number of chunks."""
        return len(self.start)

    def to_arrow(self) -> pa.Table:
        """Return a table of doc, start and end, a row for every chunk."""
        return pa.table({"doc": self.document.cast(pa.string()), "start": self.start, "end": self.end})

    def rows(self, documents: Collection) -> NDArray[np.int64]:
        """Return the row of every chunk's document; one that is unknown, or ends before its chunk, is refused."""
        rows = documents.find(self.document).astype(np.int64)
        length = np.append(documents.lengths, -1)[rows]
        bad = np.flatnonzero((self.start < 0) | (self.end < self.start) | (self.end > length))
        if len(bad):
            which = int(bad[0])
            name, more = self.document[which].as_py(), f" (and {len(bad) - 1:,} more)" if len(bad) > 1 else ""
            known = (
                f"the {length[which]:,} characters of {name!r}" if rows[which] >= 0 else "a document of the collection"
            )
            what = f"expected a chunk within {known}, found {name!r} {self.start[which]} … {self.end[which]}{more}"
            raise FormatError(what, at=self.name or None, remedy="give the documents that were cut")
        return rows

    def texts(self, documents: Collection) -> Iterator[str]:
        """Yield the text of every chunk."""
        return span_texts(documents, self.rows(documents), self.start, self.end)


def span_texts(
    documents: Collection, rows: NDArray[np.int64], start: NDArray[np.int64], end: NDArray[np.int64]
) -> Iterator[str]:
    """Yield the texts of spans; those of one document that stand together are cut from it at once."""
    edges = [*np.flatnonzero(np.diff(rows, prepend=-2)).tolist(), len(rows)]
    for first, last in pairwise(edges):
        text = documents.text(int(rows[first]))
        pairs = zip(start[first:last].tolist(), end[first:last].tolist(), strict=True)
        yield from (text[begin:stop] for begin, stop in pairs)
