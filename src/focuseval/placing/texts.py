"""Texts to spans: where each chunk or quote stands in its document.

Each text is looked for in its own document,

1. as it stands (*exact*);
2. in normal form: NFKD, white space, quotes, dashes and invisible characters made equal (*normalised*);
3. by the fewest edits in normal form, down to a stated similarity (*approximate*).

The first way that finds anything decides. A text that is found in several places goes between its neighbours in chunk
order, else to the place nearest to what was claimed for it; where both leave a choice it is *ambiguous*, and has no
span. (The order comes first: a splitter that searches for its own chunks claims the place of a later copy, and the
text there is the same.) A text that is found nowhere is *lost*. Nothing is ever put at the first place because it is
the first.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np

from focuseval.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import pyarrow as pa
    from numpy.typing import ArrayLike, NDArray

    from focuseval.collection.protocol import Collection
    from focuseval.data.alignment import Alignment
    from focuseval.data.placement import Placement
    from focuseval.placing.page import Placed

_AT_ONCE = 64
"""Documents whose texts are asked for together: one by one, small ones would cost more than the search."""

SIMILARITY = 0.9
"""The least similarity at which an approximate match is taken."""


def align_chunks(
    document: pa.Array | Sequence[str],
    text: pa.Array | Sequence[str | None],
    documents: Collection | Mapping[str, str],
    *,
    order: ArrayLike | None = None,
    start: ArrayLike | None = None,
    end: ArrayLike | None = None,
    similarity: float = SIMILARITY,
) -> Alignment:
    """Return the span of every chunk in its document.

    Parameters
    ----------
    document, text
        Each chunk's document id and text.
    documents
        An index, or a mapping from ids to texts.
    order
        Each chunk's number among its document's chunks, −1 where unknown. A text that occurs more than once is
        placed between its neighbours; without numbers, or where they leave a choice, it is reported as ambiguous.
    start, end
        Spans that the chunker claims, −1 where unknown: verified, or repaired to the nearest occurrence.
    similarity
        The least similarity, from 0.5 to 1, at which an approximate match is taken.

    Examples
    --------
    >>> found = align_chunks(["d", "d", "d"], ["yes", "no", "yes"], {"d": "yes no yes"}, order=[0, 1, 2])
    >>> found.start.tolist(), found.summary()
    ([0, 4, 7], '3 chunks: 3 exact, 0 ambiguous, 0 lost')
    >>> align_chunks(["d"], ["yes"], {"d": "yes no yes"}).summary()
    '1 chunks: 0 exact, 1 ambiguous, 0 lost'
    """
    collection, texts = as_collection(documents), as_strings(text)
    claimed = Claims(*(column_of(values, len(texts)) for values in (start, end, order)))
    names, rows = as_strings(document), collection.find(document)
    return align_texts(names, texts, rows, collection, claimed=claimed, similarity=similarity)


class Claims(NamedTuple):
    """What is claimed for texts: spans, and numbers among their documents' chunks; −1 where nothing is."""

    start: NDArray[np.int64]
    end: NDArray[np.int64]
    order: NDArray[np.int64]


def align_texts(
    names: Sequence[str],
    texts: Sequence[str | None],
    rows: NDArray[np.integer],
    collection: Collection,
    *,
    claimed: Claims,
    similarity: float = SIMILARITY,
    holders: NDArray[np.int64] | None = None,
) -> Alignment:
    """Align texts with documents known by their rows; a row whose text is None keeps its claim, *unchecked*.

    `holders` says in how many documents a text was found that came without one, −1 for all others.
    """
    from focuseval.data.alignment import AMBIGUOUS, LOST, UNCHECKED  # noqa: PLC0415  few runs hold texts
    from focuseval.placing.page import Page, Placed, Wanted, place  # noqa: PLC0415  few runs hold texts

    if not 0.5 <= similarity <= 1:
        raise FormatError(f"expected a similarity from 0.5 to 1, found {similarity}")
    placed = [Placed(-1, -1, LOST, 0.0, -1)] * len(texts)
    said = np.array([text is not None for text in texts], np.bool_)
    for i in np.flatnonzero(~said).tolist():
        placed[i] = Placed(int(claimed.start[i]), int(claimed.end[i]), UNCHECKED, 0.0, 0)
    for i, number in enumerate(() if holders is None else holders.tolist()):
        if number >= 0:
            placed[i] = Placed(-1, -1, AMBIGUOUS if number > 1 else LOST, 0.0, number)
    wanted = list(map(Wanted, texts, *(column.tolist() for column in claimed)))
    for text, positions in _by_document(np.where(said, rows, -1), collection):
        found = place(Page(text), [wanted[i] for i in positions], similarity)
        for i, one in zip(positions, found, strict=True):
            placed[i] = one
    return _columns(placed, names, texts, claimed.start, claimed.end)


def as_collection(documents: Collection | Mapping[str, str]) -> Collection:
    """Return a collection as it is; a mapping from ids to texts becomes one."""
    if not isinstance(documents, Mapping):
        return documents
    from focuseval.collection.documents import open_documents  # noqa: PLC0415  a collection is mostly open already

    return open_documents(documents)


def as_strings(values: pa.Array | Sequence[str | None]) -> list[str]:
    """Return an Arrow or Python column as a list of strings; a missing value is an empty one."""
    to_list = getattr(values, "to_pylist", None)
    return ["" if value is None else value for value in (to_list() if to_list else values)]


def column_of(values: ArrayLike | None, size: int) -> NDArray[np.int64]:
    """Return a column of numbers, −1 throughout when there is none."""
    return np.full(size, -1, np.int64) if values is None else np.asarray(values, np.int64)


def _by_document(rows: NDArray[np.integer], collection: Collection) -> Iterator[tuple[str, list[int]]]:
    """Yield the text of each document that is known, with the positions of what is looked for in it."""
    order = np.argsort(rows, kind="stable")
    order = order[rows[order] >= 0]
    groups = np.split(order, np.flatnonzero(np.diff(rows[order])) + 1) if len(order) else []
    for first in range(0, len(groups), _AT_ONCE):
        some = groups[first : first + _AT_ONCE]
        texts = collection.texts([int(rows[group[0]]) for group in some])
        yield from ((text.as_py(), group.tolist()) for text, group in zip(texts, some, strict=True))


def _columns(
    placed: Iterable[Placed],
    document: Sequence[str],
    text: Sequence[str | None],
    start: NDArray[np.int64],
    end: NDArray[np.int64],
) -> Alignment:
    """Turn places into columns."""
    from focuseval.data.alignment import Alignment  # noqa: PLC0415  as above

    starts, ends, how, similar, places = zip(*placed, strict=True) if document else ((), (), (), (), ())
    return Alignment(
        start=np.array(starts, np.int64),
        end=np.array(ends, np.int64),
        how=np.array(how, np.int8),
        similarity=np.array(similar, np.float64),
        places=np.array(places, np.int64),
        claimed_start=start,
        claimed_end=end,
        document=document,
        text=text,
    )


def collection_of(placement: Placement) -> Collection:
    """Return the collection of a placement with its texts and elements: `place_run` and `place_gold` put it there."""
    return cast("Collection", placement.collection)
