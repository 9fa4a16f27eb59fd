"""Texts to spans: where each chunk or quote stands in its document.

Each text is looked for in its own document,

1. as it stands (*exact*);
2. in normal form: NFKD, white space, quotes, dashes and invisible characters made equal (*normalised*), and then as
   it is rendered: the marks of Markdown and the entities of HTML make no difference (*normalised*, too);
3. by the fewest edits in normal form, down to a stated similarity (*approximate*).

The first way that finds anything decides. A text that is found in several places goes between its neighbours in chunk
order, else to the place nearest to what was claimed for it; where both leave a choice it is *ambiguous*, and has no
span. (The order comes first: a splitter that searches for its own chunks claims the place of a later copy, and the
text there is the same.) A text that is found nowhere is *lost*. Nothing is ever put at the first place because it is
the first.

A text that comes without a document is looked for in the whole collection by `holders_of`: many documents are searched
at once, joined into one long text, for all texts together: first as they stand, then, for texts found nowhere, in
normal form, and then as they are rendered.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from focuseval.data.placement import AMBIGUOUS, LOST, UNCHECKED, Alignment
from focuseval.errors import FormatError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from focuseval.collection.index import Collection

_AT_ONCE = 64  # documents whose texts are asked for together: one by one, small ones would cost more than the search
_SEARCHED = 1 << 22  # characters that are searched together
SIMILARITY = 0.9  # the least similarity at which an approximate match is taken


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
    '1 chunk: 0 exact, 1 ambiguous, 0 lost'
    """
    collection, texts = as_collection(documents), as_strings(text)
    names, rows = as_strings(document), collection.find(document)
    return align_texts(names, texts, rows, collection, (start, end, order), similarity=similarity)


def align_texts(
    names: Sequence[str],
    texts: Sequence[str | None],
    rows: NDArray[np.integer],
    collection: Collection,
    claimed: tuple[ArrayLike | None, ...],
    *,
    similarity: float = SIMILARITY,
    holders: NDArray[np.int64] | None = None,
) -> Alignment:
    """Align texts with documents known by their rows; a row whose text is None keeps its claim, *unchecked*.

    `claimed` are columns of starts, ends and numbers among their documents' chunks, −1 where nothing is claimed.
    `holders` says in how many documents a text was found that came without one, −1 for all others.
    """
    from focuseval.placing.page import Page, Placed, Wanted, place  # noqa: PLC0415  8 ms, and few runs hold texts

    if not 0.5 <= similarity <= 1:
        raise FormatError(f"expected a similarity from 0.5 to 1, found {similarity}")
    starts, ends, numbers = (column_of(values, len(texts)) for values in claimed)
    placed = [Placed(-1, -1, LOST, 0.0, -1)] * len(texts)
    given = np.array([text is not None for text in texts], np.bool_)
    for i in np.flatnonzero(~given).tolist():
        placed[i] = Placed(int(starts[i]), int(ends[i]), UNCHECKED, 0.0, 0)
    for i, number in enumerate(() if holders is None else holders.tolist()):
        if number >= 0:
            placed[i] = Placed(-1, -1, AMBIGUOUS if number > 1 else LOST, 0.0, number)
    wanted = list(map(Wanted, texts, *(column.tolist() for column in (starts, ends, numbers))))
    rows = np.where(given, rows, -1)
    order = np.argsort(rows, kind="stable")
    order = order[rows[order] >= 0]
    groups = np.split(order, np.flatnonzero(np.diff(rows[order])) + 1) if len(order) else []
    for first in range(0, len(groups), _AT_ONCE):
        some = groups[first : first + _AT_ONCE]
        for text, group in zip(collection.texts([int(rows[one[0]]) for one in some]), some, strict=True):
            found = place(Page(text.as_py()), [wanted[i] for i in group.tolist()], similarity)
            for i, one in zip(group.tolist(), found, strict=True):
                placed[i] = one
    start, end, how, similar, places = zip(*placed, strict=True) if placed else ((), (), (), (), ())
    return Alignment(
        start=np.array(start, np.int64),
        end=np.array(end, np.int64),
        how=np.array(how, np.int8),
        similarity=np.array(similar, np.float64),
        places=np.array(places, np.int64),
        claimed_start=starts,
        claimed_end=ends,
        document=names,
        text=texts,
    )


def as_collection(documents: Collection | Mapping[str, str]) -> Collection:
    """Return a collection as it is; a mapping from ids to texts becomes one."""
    if not isinstance(documents, Mapping):
        return documents
    from focuseval.collection.documents import open_documents  # noqa: PLC0415  loads every kind of file

    return open_documents(documents)


def as_strings(values: pa.Array | Sequence[str | None]) -> list[str]:
    """Return an Arrow or Python column as a list of strings; a missing value is an empty one."""
    to_list = getattr(values, "to_pylist", None)
    return ["" if value is None else value for value in (to_list() if to_list else values)]


def column_of(values: ArrayLike | None, size: int) -> NDArray[np.int64]:
    """Return a column of numbers, −1 throughout when there is none."""
    return np.full(size, -1, np.int64) if values is None else np.asarray(values, np.int64)


def holders_of(texts: Sequence[str | None], collection: Collection) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    r"""Return the row of the one document that holds each text, word for word or in a normal form, and how many do.

    The row is −1 where none or several do.

    >>> from focuseval import open_documents
    >>> row, documents = holders_of(["Boil", "Stir it ", "it"], open_documents({"a": "Boil it.", "b": "Stir\n it."}))
    >>> row.tolist(), documents.tolist()
    ([0, 1, -1], [1, 1, 2])
    """
    from focuseval.placing.normalise import normal_form, rendered_form, squeezed_form  # noqa: PLC0415  as `page`

    holders: dict[str, list[int]] = {text: [] for text in texts if text}
    _search(holders, collection, str)
    for form_of in (normal_form, rendered_form, squeezed_form):
        missed = {text: form for text in holders if not holders[text] and (form := form_of(text))}
        forms: dict[str, list[int]] = {form: [] for form in missed.values()}
        _search(forms, collection, partial(squeezed_form, least=0) if form_of is squeezed_form else form_of)
        holders |= {text: forms[form] for text, form in missed.items()}
    found = [holders.get(text or "", ()) for text in texts]
    row = np.array([rows[0] if len(rows) == 1 else -1 for rows in found], np.int64)
    return row, np.array([len(rows) for rows in found], np.int64)


def _search(wanted: dict[str, list[int]], collection: Collection, form: Callable[[str], str]) -> None:
    """Add to every text the rows of the documents whose form holds it."""
    from focuseval.placing.occurrences import occurrences  # noqa: PLC0415  as `page`

    if not wanted:
        return
    sizes = np.array([len(text) for text in wanted])
    before = np.concatenate(([0], np.cumsum(collection.lengths)))
    last = 0
    while last < len(collection.lengths):
        first, last = last, max(int(np.searchsorted(before, before[last] + _SEARCHED, "right")) - 1, last + 1)
        texts = collection.texts(list(range(first, last))).to_pylist()
        forms = [form(text) for text in texts]
        ends = np.cumsum([len(text) for text in forms])
        starts = occurrences("".join(forms), list(wanted))
        for rows, places, size in zip(wanted.values(), starts, sizes.tolist(), strict=True):
            if places:
                at = np.array(places)
                inside = np.searchsorted(ends, at, "right")
                within = at + size <= ends[inside]
                rows.extend((first + np.unique(inside[within])).tolist())
