"""Chunks and runs of chunks: every text at its span."""

from __future__ import annotations

from dataclasses import replace
from itertools import repeat
from typing import TYPE_CHECKING

import numpy as np

from focuseval.align.alignment import Alignment
from focuseval.align.documents import as_documents, as_strings, by_document
from focuseval.align.place import LOST, UNCHECKED, Page, Placed, Wanted, place
from focuseval.errors import FormatError, Place

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import pyarrow as pa
    from numpy.typing import ArrayLike, NDArray

    from focuseval.align.documents import Documents
    from focuseval.run import Run

SIMILARITY = 0.9
"""The least similarity at which an approximate match is taken."""

_UNKNOWN_DOCUMENT = Placed(-1, -1, LOST, 0.0, -1)


def align_chunks(
    document: pa.Array | Sequence[str],
    text: pa.Array | Sequence[str | None],
    documents: Documents | Mapping[str, str],
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
    if not 0.5 <= similarity <= 1:
        raise FormatError(f"expected a similarity from 0.5 to 1, found {similarity}")
    texts, names, source = as_strings(text), as_strings(document), as_documents(documents)
    numbers = [_column(values, len(texts)) for values in (start, end, order)]
    wanted = list(map(Wanted, texts, *(column.tolist() for column in numbers)))
    placed: list[Placed] = list(repeat(_UNKNOWN_DOCUMENT, len(wanted)))
    for row, positions, group in by_document(source.find(document), wanted):
        for i, found in zip(positions, place(Page(source.text(row)), group, similarity), strict=True):
            placed[i] = found
    return alignment(placed, names, texts, numbers[0], numbers[1])


def alignment(
    placed: Iterable[Placed],
    document: Sequence[str],
    text: Sequence[str | None],
    start: NDArray[np.int64],
    end: NDArray[np.int64],
) -> Alignment:
    """Turn places into columns."""
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


def align_run(
    run: Run, documents: Documents | Mapping[str, str], *, similarity: float = SIMILARITY
) -> tuple[Run, Alignment]:
    """Return a run whose texts have become spans, and what was found.

    A result without text keeps its span (*unchecked*), which must lie inside its document. A text that is
    ambiguous, lost, or of an unknown document keeps start and end −1: it is returned, it is counted, it covers nothing.
    """
    start, end, chunk = (_column(values, len(run)) for values in (run.start, run.end, run.chunk))
    texts = as_strings(run.text) if run.text is not None else [""] * len(run)
    found = align_chunks(run.document, texts, documents, order=chunk, start=start, end=end, similarity=similarity)
    has_text = np.array(run.text.is_valid(), np.bool_) if run.text is not None else np.zeros(len(run), np.bool_)
    plain = ~has_text
    _refuse_bad_spans(run, np.flatnonzero(plain & (end >= 0)), documents)
    found = replace(
        found,
        start=np.where(plain, start, found.start),
        end=np.where(plain, end, found.end),
        how=np.where(plain, np.int8(UNCHECKED), found.how),
        topic=[run.topics[code] for code in run.topic.tolist()],
        line=run.line if run.line is not None else np.arange(1, len(run) + 1),
        file=run.file,
        noun="results",
    )
    return replace(run, start=found.start, end=found.end, aligned=True), found


def _refuse_bad_spans(run: Run, rows: NDArray[np.int64], documents: Documents | Mapping[str, str]) -> None:
    """Raise at the first span without text that is reversed or reaches beyond its document."""
    if not len(rows) or run.start is None or run.end is None:
        return
    source = as_documents(documents)
    known = source.find(run.document)
    sizes = {row: len(source.text(row)) for row in np.unique(known[rows]).tolist() if row >= 0}
    size = np.array([sizes.get(row, np.iinfo(np.int64).max) for row in known[rows].tolist()])
    start, end = run.start[rows], run.end[rows]
    bad = np.flatnonzero((start < 0) | (start > end) | (end > size))
    if len(bad):
        row, i = rows[bad[0]], bad[0]
        more = f" (and {len(bad) - 1} more)" if len(bad) > 1 else ""
        raise FormatError(
            f"expected a span inside {run.document[int(row)]} ({size[i]} characters), found {start[i]}–{end[i]} "
            f"for topic {run.topics[run.topic[row]]!r}{more}",
            at=Place(run.file or "<run>", int(run.line[row] if run.line is not None else row + 1)),
            remedy="offsets are code points, half-open, of the very text given as documents",
        )


def _column(values: ArrayLike | None, size: int) -> NDArray[np.int64]:
    """Return a column of numbers, −1 throughout when there is none."""
    return np.full(size, -1, np.int64) if values is None else np.asarray(values, np.int64)
