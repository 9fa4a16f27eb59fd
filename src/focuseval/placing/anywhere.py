"""Texts that come without a document: which documents of the whole collection hold them.

Many documents are searched at once, joined into one long text, for all texts together: first as they stand, then, for
texts found nowhere, in normal form. Only the documents are found here; `focuseval.placing.texts` finds the place.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from focuseval.collection.protocol import Collection

_AT_ONCE = 1 << 22
"""Characters that are searched together."""


@dataclass(frozen=True, eq=False)
class Holders:
    """For every text, which document holds it, and how many do."""

    row: NDArray[np.int64]
    """The row of the one document; −1 where there is none, or where there are several."""
    documents: NDArray[np.int64]
    """In how many documents the text was found."""


def holders_of(texts: Sequence[str | None], collection: Collection) -> Holders:
    r"""Return which document of a collection holds each text: word for word, else in normal form.

    >>> from focuseval.collection.documents import open_documents
    >>> found = holders_of(["Boil", "Stir it ", "it"], open_documents({"a": "Boil it.", "b": "Stir\n it."}))
    >>> found.row.tolist(), found.documents.tolist()
    ([0, 1, -1], [1, 1, 2])
    """
    from focuseval.placing.normalise import normal_form  # noqa: PLC0415  few files hold texts without documents

    holders: dict[str, list[int]] = {text: [] for text in texts if text}
    _search(holders, collection, str)
    missed = {text: form for text in holders if not holders[text] and (form := normal_form(text))}
    forms: dict[str, list[int]] = {form: [] for form in missed.values()}
    _search(forms, collection, normal_form)
    holders |= {text: forms[form] for text, form in missed.items()}
    found = [holders.get(text or "", ()) for text in texts]
    row = np.array([rows[0] if len(rows) == 1 else -1 for rows in found], np.int64)
    return Holders(row, np.array([len(rows) for rows in found], np.int64))


def _search(wanted: dict[str, list[int]], collection: Collection, form: Callable[[str], str]) -> None:
    """Add to every text the rows of the documents whose form holds it."""
    from focuseval.placing.occurrences import occurrences  # noqa: PLC0415  as above

    if not wanted:
        return
    sizes = np.array([len(text) for text in wanted])
    for first, texts in _portions(collection):
        forms = [form(text) for text in texts]
        ends = np.cumsum([len(text) for text in forms])
        starts = occurrences("".join(forms), list(wanted))
        for rows, places, size in zip(wanted.values(), starts, sizes.tolist(), strict=True):
            if places:
                at = np.array(places)
                inside = np.searchsorted(ends, at, "right")
                within = at + size <= ends[inside]
                rows.extend((first + np.unique(inside[within])).tolist())


def _portions(collection: Collection) -> Iterator[tuple[int, list[str]]]:
    """Yield the texts of neighbouring documents, about as many characters at a time, with the row of the first."""
    before = np.concatenate(([0], np.cumsum(collection.lengths)))
    first = 0
    while first < len(collection.lengths):
        last = max(int(np.searchsorted(before, before[first] + _AT_ONCE, "right")) - 1, first + 1)
        yield first, collection.texts(list(range(first, last))).to_pylist()
        first = last
