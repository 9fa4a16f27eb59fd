"""Frames as runs and gold: pandas, polars, pyarrow, Hugging Face rows, lists of dictionaries.

A frame is taken through Arrow's PyCapsule interface (``__arrow_c_stream__``), else through the dataframe interchange
protocol (``__dataframe__``); a mapping of columns and an iterable of rows are taken as they are. No frame library is
imported. Columns are found by name, in these spellings or in one that the caller gives::

    topic   topic, topic_id, query_id, qid, question_id
    doc     doc, document, doc_id, docid, docno, document_id
    start   start, start_index, start_char, start_char_idx
    end     end, end_index, end_char, end_char_idx
    text    text, chunk_text, page_content, content
    chunk   chunk, chunk_index, split_id
    rank    rank                              path    path, end_path
    score   score, similarity
    quote   quote, answer, content
    query   query, question

Offsets are half-open and count code points, unless `unit` declares UTF-8 ``bytes`` or ``utf-16`` code units; then the
documents must be given. Row n of a frame is reported as ``<frame>:n``, from 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from focuseval.errors import FormatError, Place

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NAMES = {
    "topic": ("topic", "topic_id", "query_id", "qid", "question_id"),
    "doc": ("doc", "document", "doc_id", "docid", "docno", "document_id"),
    "start": ("start", "start_index", "start_char", "start_char_idx"),
    "end": ("end", "end_index", "end_char", "end_char_idx"),
    "text": ("text", "chunk_text", "page_content", "content"),
    "chunk": ("chunk", "chunk_index", "split_id"),
    "rank": ("rank",),
    "path": ("path",),
    "end_path": ("end_path",),
    "score": ("score", "similarity"),
    "quote": ("quote", "answer", "content"),
    "query": ("query", "question"),
    "need": ("need",),
}
FRAME = "<frame>"


def is_frame(value: object) -> bool:
    """Say whether a value is something that `to_table` takes, and not a file's name."""
    if isinstance(value, str | bytes) or hasattr(value, "__fspath__"):
        return False
    interchange = hasattr(value, "__arrow_c_stream__") or hasattr(value, "__dataframe__")
    return interchange or isinstance(value, Mapping | list | tuple | pa.Table)


def to_table(frame: Any) -> pa.Table:
    """Return any frame as an Arrow table.

    >>> to_table([{"a": 1}, {"a": 2, "b": "x"}]).to_pydict()
    {'a': [1, 2], 'b': [None, 'x']}
    """
    try:
        if isinstance(frame, pa.Table):
            return frame
        if hasattr(frame, "__arrow_c_stream__"):
            return pa.table(frame)
        if hasattr(frame, "__dataframe__"):
            from pyarrow.interchange import from_dataframe  # noqa: PLC0415  the older protocol is rare

            return from_dataframe(frame)
        if isinstance(frame, Mapping):
            return pa.table(dict(frame))
        return _from_rows(frame)
    except (pa.ArrowException, TypeError, ValueError) as error:
        found = str(error).splitlines()[0]
        raise FormatError(f"expected a frame or a list of rows, found {type(frame).__name__}: {found}") from error


def _from_rows(rows: Iterable[Any]) -> pa.Table:
    """Return rows as a table with every key that any of them has."""
    listed = list(rows)
    for number, row in enumerate(listed, 1):
        if not isinstance(row, Mapping):
            raise FormatError(f"expected a row as a dictionary, found {type(row).__name__}", at=Place(FRAME, number))
    names = dict.fromkeys(name for row in listed for name in row)
    return pa.table({name: [row.get(name) for row in listed] for name in names})


def column(
    table: pa.Table, name: str, columns: Mapping[str, str] | None, *, needed: bool = False
) -> pa.ChunkedArray | None:
    """Return the column that is meant by a name, None when there is none."""
    given = (columns or {}).get(name)
    for spelling in (given,) if given else NAMES[name]:
        if spelling in table.column_names:
            return table[spelling]
    if needed or given:
        wanted = repr(given) if given else " or ".join(NAMES[name])
        raise FormatError(
            f"expected a column {wanted}, found {', '.join(table.column_names) or 'none'}",
            at=FRAME,
            remedy=f"say which with columns={{'{name}': …}}",
        )
    return None


def strings(values: pa.ChunkedArray, name: str) -> pa.Array:
    """Return a column of names that must all be there; numbers are written as they look."""
    if values.null_count:
        row = values.is_null().to_pylist().index(True)
        raise FormatError(f"expected a {name} in every row, found none", at=Place(FRAME, row + 1))
    return _cast(values, pa.string(), name)


def texts(values: pa.ChunkedArray | None, name: str) -> pa.Array | None:
    """Return a column of texts, which may be missing."""
    return None if values is None else _cast(values, pa.string(), name)


def numbers(
    values: pa.ChunkedArray | None, name: str, kind: pa.DataType, missing: float | None = None
) -> NDArray[Any] | None:
    """Return a column of numbers; what is missing becomes `missing`, or is refused where that is None."""
    if values is None:
        return None
    cast = _cast(values, kind, name)
    if cast.null_count and missing is None:
        row = cast.is_null().to_pylist().index(True)
        raise FormatError(f"expected a {name} in every row or in none, found none", at=Place(FRAME, row + 1))
    array: NDArray[np.generic] = (cast if missing is None else cast.fill_null(missing)).to_numpy(zero_copy_only=False)
    return array


def _cast(values: pa.ChunkedArray, kind: pa.DataType, name: str) -> pa.Array:
    """Return one array of the wanted type; a float column that holds whole numbers and NaN is one of integers."""
    chunks = values.chunks if isinstance(values, pa.ChunkedArray) else [values]
    whole = pa.concat_arrays(chunks) if chunks else pa.array([], values.type)
    try:
        if pa.types.is_floating(whole.type) and not pa.types.is_floating(kind):
            whole = pa.array(whole.to_numpy(zero_copy_only=False), from_pandas=True).cast(pa.int64())
        return whole.cast(kind)
    except pa.ArrowException as error:
        found = str(error).splitlines()[0]
        raise FormatError(f"expected {kind} in column {name!r}, found {whole.type}: {found}", at=FRAME) from error
