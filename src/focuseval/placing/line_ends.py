"""Text files whose characters tools count in two ways: those with CRLF line ends or a byte-order mark."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from focuseval.collection.protocol import Collection

PLAIN = (".txt", ".md")
_BOM = 3
"""Bytes of a byte-order mark in UTF-8."""


def unsure_offsets(collection: Collection, rows: NDArray[np.integer]) -> str:
    """Say of offsets that no quote confirms that their documents' characters may have been counted in another way.

    `rows` are those of the documents into which such offsets point. Documents that were given as strings are counted
    as they are given.
    """
    table: Any = getattr(collection, "documents", None)
    rows = np.unique(rows[rows >= 0])
    if table is None or not len(rows):
        return ""
    some = table.select(["id", "file", "bytes"]).take(pa.array(rows))
    names = zip(some["id"].to_pylist(), some["file"].to_pylist(), strict=True)
    plain = np.array([file != name and file.lower().endswith(PLAIN) for name, file in names], np.bool_)
    if not plain.any():
        return ""
    texts = collection.texts(rows[plain])
    sizes = np.asarray(some["bytes"])[plain]
    marked = sizes - np.asarray(pc.binary_length(texts)) == _BOM
    ended = np.asarray(pc.match_substring(texts, "\r\n"))
    odd = np.flatnonzero(marked | ended)
    if not len(odd):
        return ""
    name = collection.ids[int(rows[plain][odd[0]])].as_py()
    what = " and ".join(said for said, has in (("CRLF line ends", ended), ("a byte-order mark", marked)) if has.any())
    return (
        f"offsets without quotes in documents with {what} (first {name!r}): a CRLF counts as two characters, a "
        "byte-order mark as none; where your tool counts otherwise, give the quotes, too"
    )
