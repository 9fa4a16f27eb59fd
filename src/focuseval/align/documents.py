"""The documents that texts are aligned to: an index, or any mapping from ids to texts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from focuseval.align.place import Wanted


class Documents(Protocol):
    """What alignment asks of a collection; an index is one."""

    def find(self, ids: pa.Array | Sequence[str], /) -> NDArray[np.int32]:
        """Return each document's row, −1 where there is none."""

    def text(self, row: int, /) -> str:
        """Return one document's text."""


class TextMapping:
    """Documents held in a mapping.

    >>> TextMapping({"a": "text"}).find(["a", "b"]).tolist()
    [0, -1]
    """

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = tuple(texts.values())
        self._row = {name: row for row, name in enumerate(texts)}

    def find(self, ids: pa.Array | Sequence[str], /) -> NDArray[np.int32]:
        """Return each document's row, −1 where there is none."""
        return np.fromiter((self._row.get(name, -1) for name in as_strings(ids)), np.int32)

    def text(self, row: int, /) -> str:
        """Return one document's text."""
        return self._texts[row]


def as_documents(documents: Documents | Mapping[str, str]) -> Documents:
    """Return documents as they are, a mapping made into documents."""
    return TextMapping(documents) if isinstance(documents, Mapping) else documents


def as_strings(values: pa.Array | Sequence[str | None]) -> list[str]:
    """Return an Arrow or Python column as a list of strings; a missing value is an empty one."""
    to_list = getattr(values, "to_pylist", None)
    return ["" if value is None else value for value in (to_list() if to_list else values)]


def by_document(rows: NDArray[np.int32], wanted: Sequence[Wanted]) -> Iterator[tuple[int, list[int], list[Wanted]]]:
    """Yield each known document's row, with its texts and their positions."""
    order = np.argsort(rows, kind="stable")
    cuts = np.flatnonzero(np.diff(rows[order])) + 1
    for group in np.split(order, cuts):
        if len(group) and rows[group[0]] >= 0:
            positions = group.tolist()
            yield int(rows[group[0]]), positions, [wanted[i] for i in positions]
