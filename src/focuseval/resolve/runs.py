"""A run's paths → spans."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from focuseval.errors import FormatError, Place
from focuseval.resolve.pointers import starts_and_ends, strings

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from focuseval.collection import Index
    from focuseval.run import Run


def resolve_run(run: Run, index: Index) -> Run:
    """Return the run with a span for every path that the index knows, its own offsets checked against the text.

    A document or path that the index does not have keeps −1 and is counted in the run's remarks; a span past the end
    of its document, or one whose end stands before its start, is refused.
    """
    if run.path is None and run.start is None:
        return run
    rows = index.find(run.document)
    size = len(run)
    start = np.full(size, -1, np.int64) if run.start is None else run.start.copy()
    end = np.full(size, -1, np.int64) if run.end is None else run.end.copy()
    remarks = _strangers(run, np.flatnonzero(rows < 0))
    if run.path is not None:
        path = strings(run.path)
        last = pa.nulls(size, pa.string()) if run.end_path is None else strings(run.end_path)
        wanted = np.flatnonzero(pc.is_valid(path).to_numpy(zero_copy_only=False) & (start < 0) & (rows >= 0))
        at = pa.array(wanted)
        start[wanted], end[wanted] = starts_and_ends(index, rows[wanted], path.take(at), last.take(at))
        remarks += _lost(run, wanted[start[wanted] < 0])
    _refuse_bad_spans(run, index, rows, start, end)
    return replace(run, start=start, end=end, remarks=(*run.remarks, *remarks))


def _strangers(run: Run, rows: NDArray[Any]) -> list[str]:
    """Count the results in documents that the index does not have, and name the first with its place and topic."""
    if not len(rows):
        return []
    first = int(rows[0])
    name, topic = run.document[first].as_py(), run.topics[int(run.topic[first])]
    where = f"first {name!r} for topic {topic!r} ({place_of(run, first)})"
    return [f"{len(rows)} results name documents that are not in the index, {where}"]


def _lost(run: Run, rows: NDArray[Any]) -> list[str]:
    """Count the results at places that their documents do not have, and name the first."""
    if not len(rows):
        return []
    first = int(rows[0])
    path = None if run.path is None else run.path[first].as_py()
    where = f"first {path!r} of {run.document[first].as_py()!r}"
    topic = f"for topic {run.topics[int(run.topic[first])]!r} ({place_of(run, first)})"
    return [f"{len(rows)} results name places that are not in the index, {where} {topic}"]


def place_of(run: Run, row: int) -> Place:
    """Return where a result stands in its file."""
    return Place(run.file or "<run>", int(row) + 1 if run.line is None else int(run.line[row]))


def _refuse_bad_spans(run: Run, index: Index, rows: NDArray[Any], start: NDArray[Any], end: NDArray[Any]) -> None:
    """Raise at the first span that is reversed or runs past its document's end."""
    length = np.append(index.lengths, np.iinfo(np.int64).max)[rows]
    bad = np.flatnonzero((start > length) | (end > length) | ((end >= 0) & (end < start)))
    if len(bad):
        row = int(bad[0])
        raise FormatError(
            f"expected a span within the {length[row]} characters of {run.document[row].as_py()!r}, "
            f"found {start[row]} … {end[row]} for topic {run.topics[int(run.topic[row])]!r}",
            at=place_of(run, row),
            remedy="offsets count code points of the text, markup excluded; is it the same collection?",
        )
