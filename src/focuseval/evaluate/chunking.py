"""All chunks of a chunker, for the ceiling of a chunking: any run file will do, its topics and ranks are ignored.

So will a file of segments (TREC RAG), which are the chunks of a chunker.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from focuseval.errors import MissingDataError
from focuseval.match import Chunks
from focuseval.storage import location

if TYPE_CHECKING:
    from focuseval.collection import Collection
    from focuseval.run import Run


def read_chunks(path: str, index: Collection | None = None) -> Chunks:
    """Read chunks from a run file: JSON lines of ``doc``, ``start``, ``end`` or any other format with spans."""
    from focuseval.collection.json_lines import json_files  # noqa: PLC0415  chunks in memory need no reader
    from focuseval.collection.segments import holds_segments, read_segments  # noqa: PLC0415  as above
    from focuseval.formats import read_run  # noqa: PLC0415  as above

    files = json_files(location(path))
    if files and holds_segments(files):
        every, _ = read_segments(files)
        return Chunks(every.document, every.start, every.end)
    return chunks_of(read_run(path, index=index))


def chunks_of(run: Run) -> Chunks:
    """Return the places of a run's results as chunks."""
    if run.start is None or run.end is None:
        raise MissingDataError(f"{run.file or run.run_id}: chunks need a start and an end in their document")
    placed = np.flatnonzero((run.start >= 0) & (run.end > run.start))
    return Chunks(run.document.take(placed), run.start[placed], run.end[placed])
