"""TREC Genomics (2006, 2007), runs: passages by byte offset.

::

    topic document rank offset length
    160 12474524 1 1572 27
    160 12474524 1 0.98 1572 27 tag          with score and tag, as runs were submitted

Offsets and lengths count bytes of the document in UTF-8 from 0; they become code points through the documents, which
must be given. **rank** decides the ranking.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from focuseval.data.run import Run
from focuseval.errors import FormatError, MissingDataError
from focuseval.formats.byte_offsets import from_bytes
from focuseval.formats.ranking import ranked, topic_codes
from focuseval.formats.table import FileTable, Layout, column_array, read_table
from focuseval.placing.texts import as_strings

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from focuseval.collection.protocol import Collection
    from focuseval.formats.source import Source

PLAIN = Layout({"topic": "text", "document": "text", "rank": "rank", "offset": "int", "length": "int"}, least=5)
SCORED = Layout(
    {
        "topic": "text",
        "document": "text",
        "rank": "rank",
        "score": "real",
        "offset": "int",
        "length": "int",
        "run": "text",
    },
    least=7,
)


def read(source: Source, documents: Collection | None = None) -> Run:
    """Return the run, its bytes as code points."""
    if documents is None:
        raise MissingDataError(f"{source.name}: byte offsets need the documents' text; give --docs or --index")
    first = next((line for line in source.head().splitlines() if line.strip()), b"")
    table = read_table(source, SCORED if len(first.split()) > 5 else PLAIN)
    topics, topic = topic_codes(table["topic"])
    document = table["document"]
    offset, length = (column_array(table[name], np.int64) for name in ("offset", "length"))
    start, end = _code_points(document, offset, offset + length, documents)
    _refuse_unplaced(source, table, (start < 0) | (end < start))
    columns = {
        "topic": topic,
        "document": document,
        "rank": column_array(table["rank"], np.int32),
        "score": column_array(table["score"], np.float64) if "score" in table else None,
        "start": start,
        "end": end,
        "line": table.line,
    }
    run_id = table["run"][0].as_py() if "run" in table and len(topic) else source.stem
    return Run(run_id, topics, **ranked(columns), file=source.name, sha256=source.digest(), faults=table.faults)


def _code_points(
    document: pa.ChunkedArray, start: NDArray[np.int64], end: NDArray[np.int64], documents: Collection
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Turn the bytes of all results into code points, document by document."""
    rows = documents.find(as_strings(document))
    first, last = np.full(len(start), -1, np.int64), np.full(len(start), -1, np.int64)
    order = np.argsort(rows, kind="stable")
    for mine in np.split(order, np.flatnonzero(np.diff(rows[order])) + 1):
        if len(mine) and rows[mine[0]] >= 0:
            text = documents.text(int(rows[mine[0]]))
            first[mine], last[mine] = from_bytes(text, start[mine]), from_bytes(text, end[mine])
    return first, last


def _refuse_unplaced(source: Source, table: FileTable, bad: NDArray[np.bool_]) -> None:
    """Raise at the first result whose bytes are not those of a known document."""
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        topic, document, offset, length = (table[n][row].as_py() for n in ("topic", "document", "offset", "length"))
        more = f" (and {np.count_nonzero(bad) - 1} more)" if np.count_nonzero(bad) > 1 else ""
        raise FormatError(
            f"expected bytes of a known document, found {offset}+{length} of {document!r} for topic {topic!r}{more}",
            at=source.at(table.line_of(row)),
            remedy="offsets count bytes of the UTF-8 text",
        )
