"""A run in a collection: paths, offsets and chunk texts → spans, once."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from focuseval.data.placement import (
    AMBIGUOUS,
    BAD_SPAN,
    LOST,
    NO_DOCUMENT,
    NO_PLACE,
    POINT,
    SPAN,
    UNKNOWN_PLACE,
    Placement,
)
from focuseval.errors import FormatError, MissingDataError
from focuseval.placing.pointers import starts_and_ends, strings
from focuseval.placing.texts import (
    SIMILARITY,
    Claims,
    align_texts,
    as_collection,
    as_strings,
    column_of,
    holders_of,
    unsure_offsets,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from focuseval.collection.index import Collection
    from focuseval.data.alignment import Alignment
    from focuseval.data.run import Run

    Integers = NDArray[np.int64]


def place_run(
    run: Run, collection: Collection, *, similarity: float = SIMILARITY, bad: Literal["refuse", "keep"] = "refuse"
) -> Run:
    """Return the run with a span for every path and text that the collection knows, and its `placement`.

    A text that is ambiguous or lost, and a document or path that the collection does not have, keep −1 and are counted
    in the run's remarks. A span that is reversed or reaches past its document's end is refused, or kept with the status
    `BAD_SPAN`. A run that is placed in the same collection already is returned as it is.
    """
    if run.placement is not None and run.placement.is_in(collection):
        return run
    run, holders = _with_documents(run, collection)
    placement = Placement(collection, run.document)
    if run.whole_documents:
        return replace(run, placement=placement)
    rows = placement.document
    start, end = (column_of(column, len(run)).copy() for column in (run.start, run.end))
    alignment, sought = None, np.zeros(0, np.int64)
    if run.text is not None:
        alignment = _aligned(run, rows, collection, similarity, holders)
        start, end = alignment.start.copy(), alignment.end.copy()
    if run.path is not None:
        path = strings(run.path)
        last = pa.nulls(len(run), pa.string()) if run.end_path is None else strings(run.end_path)
        sought = np.flatnonzero(pc.is_valid(path).to_numpy(zero_copy_only=False) & (start < 0) & (rows >= 0))
        at = pa.array(sought)
        start[sought], end[sought] = starts_and_ends(collection, rows[sought], path.take(at), last.take(at))
    status = np.full(len(start), SPAN, np.int8)
    status[end < 0] = POINT
    status[start < 0] = UNKNOWN_PLACE
    status[sought[start[sought] < 0]] = NO_PLACE
    if alignment is not None:
        status[alignment.is_ambiguous] = AMBIGUOUS
        status[alignment.is_lost] = LOST
    length = np.where(rows < 0, np.iinfo(np.int64).max, placement.length)
    reversed_ = (end >= 0) & ((end < start) | (start < 0))
    status[reversed_ | (start > length) | (end > length)] = BAD_SPAN
    named = True if holders is None else holders < 0
    status[(rows < 0) & (status != BAD_SPAN) & named] = NO_DOCUMENT
    placed = replace(
        run,
        start=start,
        end=end,
        placement=replace(placement, status=status, alignment=alignment),
        remarks=(*run.remarks, *_remarks(run, rows, status, alignment, collection)),
    )
    if bad == "refuse":
        refuse_bad_spans(placed)
    return placed


def align_run(
    run: Run, documents: Collection | Mapping[str, str], *, similarity: float = SIMILARITY
) -> tuple[Run, Alignment]:
    """Return a run whose texts and paths have become spans, and what was found for the texts.

    A result without text keeps its span (*unchecked*), which must lie inside its document. A text that is
    ambiguous, lost, or of an unknown document keeps start and end −1: it is returned, it is counted, it covers nothing.
    """
    collection = as_collection(documents)
    placed = place_run(run, collection, similarity=similarity)
    found = None if placed.placement is None else placed.placement.alignment
    return placed, found or _aligned(placed, np.full(len(run), -1), collection, similarity)


def _with_documents(run: Run, collection: Collection) -> tuple[Run, Integers | None]:
    """Return the run with documents for texts that came without one (an empty id), where one document holds the text.

    For every result, too, in how many documents its text was found if that is not one, −1 for all others; None where
    every result has its document.
    """
    if run.text is None or not len(rows := run.nameless):
        return run, None
    found = holders_of(run.text.take(pa.array(rows)).to_pylist(), collection)
    one = found.row >= 0
    names = np.array(as_strings(run.document), object)
    names[rows[one]] = collection.ids.take(pa.array(found.row[one])).to_pylist()
    holders = np.full(len(run), -1, np.int64)
    holders[rows[~one]] = found.documents[~one]
    return replace(run, document=pa.array(names, pa.string())), holders


def _aligned(
    run: Run, rows: Integers, collection: Collection, similarity: float, holders: Integers | None = None
) -> Alignment:
    """Look for the texts of a run; a result without one keeps what it claims."""
    names = as_strings(run.document)
    texts = [None] * len(run) if run.text is None else run.text.to_pylist()
    claims = Claims(*(column_of(values, len(run)) for values in (run.start, run.end, run.chunk)))
    found = align_texts(names, texts, rows, collection, claimed=claims, similarity=similarity, holders=holders)
    topic = [run.topics[code] for code in run.topic.tolist()]
    line = run.line if run.line is not None else np.arange(1, len(run) + 1)
    return replace(found, topic=topic, line=line, file=run.file, noun="results")


def _remarks(
    run: Run, documents: Integers, status: NDArray[np.int8], alignment: Alignment | None, collection: Collection
) -> Iterator[str]:
    """Count what has no place, and name the first of each kind with its topic and line.

    Offsets that no text confirms, into documents that tools count in two ways, are warned about.
    """
    if alignment is not None:
        yield alignment.summary()
        yield from alignment.first_unplaced()
    for code, what in ((NO_DOCUMENT, "documents"), (NO_PLACE, "places")):
        rows = np.flatnonzero(status == code)
        if len(rows):
            row = int(rows[0])
            path = f"{run.path[row].as_py()!r} of " if code == NO_PLACE and run.path is not None else ""
            where = f"{path}{run.document[row].as_py()!r} for topic {run.topic_of(row)!r} ({run.at(row)})"
            yield f"{len(rows)} results name {what} that are not in the index, first {where}"
    if run.start is not None and run.path is None:
        bare = run.start >= 0
        if run.text is not None:
            bare = bare & pc.is_null(run.text).to_numpy(zero_copy_only=False)
        if bare.any() and (warning := unsure_offsets(collection, documents[bare])):
            yield warning


def needs_collection(run: Run) -> MissingDataError:
    """Return the refusal of results that only a collection could place: texts, or element paths."""
    where = run.file or run.run_id
    if run.path is None:
        return MissingDataError(f"{where}: results are texts, so their places are unknown; give docs or an index")
    return MissingDataError(
        f"{where}: results are element paths, so their characters are unknown; "
        "build the collection's index with 'focuseval index' and give it as the index"
    )


def refuse_bad_spans(run: Run) -> None:
    """Raise at the first span that is reversed or runs past its document's end."""
    placement = run.placement
    if placement is None or placement.status is None:
        return
    bad = np.flatnonzero(placement.status == BAD_SPAN)
    if len(bad) and run.start is not None and run.end is not None:
        row = int(bad[0])
        more = f" (and {len(bad) - 1} more)" if len(bad) > 1 else ""
        raise FormatError(
            f"expected a span within the {placement.length[row]} characters of {run.document[row].as_py()!r}, "
            f"found {run.start[row]} … {run.end[row]} for topic {run.topic_of(row)!r}{more}",
            at=run.at(row),
            remedy="offsets count code points of the text, markup excluded, half-open; is it the same collection?",
        )
