"""Frames as runs and gold: pandas, polars, pyarrow, Hugging Face rows, lists of dictionaries.

A frame is taken through Arrow's PyCapsule interface (``__arrow_c_stream__``), else through the dataframe interchange
protocol (``__dataframe__``); a mapping of columns and an iterable of rows are taken as they are. No frame library is
imported. Columns are found by the names in `focuseval.data.fields`, or by one that the caller gives.

Offsets are half-open and count code points, unless `unit` declares UTF-8 ``bytes`` or ``utf-16`` code units; then the
documents must be given. Row n of a frame is reported as ``<frame>:n``, from 1.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from itertools import chain, count
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow.interchange import from_dataframe

from focuseval.collection.index import Collection
from focuseval.data.fields import NAMES, column_name, missing, spelled
from focuseval.data.gold import Gold
from focuseval.data.run import Run
from focuseval.errors import FormatError, Place
from focuseval.formats.gold_rows import gold_of, judgements_of
from focuseval.formats.ranking import RankingOrder, in_order
from focuseval.formats.rows import Row
from focuseval.formats.run_rows import FRAME, WHICH_COLUMN, NamedColumns, columns_of, columns_run, in_code_points
from focuseval.placing.place import place_run
from focuseval.placing.texts import as_collection


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
            return from_dataframe(frame)
        if isinstance(frame, Mapping):
            return pa.table(dict(frame))
        rows = list(frame)
        for number, row in enumerate(rows, 1):
            if not isinstance(row, Mapping):
                what = f"expected a row as a dictionary, found {type(row).__name__}"
                raise FormatError(what, at=Place(FRAME, number))
        return pa.table({name: [row.get(name) for row in rows] for name in dict.fromkeys(chain.from_iterable(rows))})
    except (pa.ArrowException, TypeError, ValueError) as error:
        found = str(error).splitlines()[0]
        raise FormatError(f"expected a frame or a list of rows, found {type(frame).__name__}: {found}") from error


def _named(frame: Any, columns: Mapping[str, str] | None) -> pa.Table:
    """Return a frame as a table whose columns have our names where the caller says which is which.

    A table without a column that can be the topic, neither an id nor the question itself, is refused.
    """
    table = to_table(frame)
    for name, given in (columns or {}).items():
        if given not in table.column_names:
            there = ", ".join(table.column_names) or "none"
            raise FormatError(f"expected a column {given!r}, found {there}", at=FRAME, remedy=WHICH_COLUMN.format(name))
    ours = {given: name for name, given in (columns or {}).items()}
    kept = [name for name in table.column_names if name in ours or name not in ours.values()]
    plain = [column_name(name) for name in kept]
    names = [ours.get(name, name) for name in (plain if len(set(plain)) == len(plain) else kept)]
    if names and not (spelled(names, "topic", question=True) or spelled(names, "query")):
        raise missing("topic", names, Place(FRAME), *NAMES["query"], remedy=WHICH_COLUMN.format("topic"))
    return table.select(kept).rename_columns(names)


def run_from_frame(
    frame: Any,
    *,
    run_id: str = "run",
    columns: Mapping[str, str] | None = None,
    unit: str = "code points",
    documents: Collection | Mapping[str, str] | None = None,
    order: RankingOrder | None = None,
) -> Run:
    """Return the results in a frame, one a row (or a list of them for every question), as a run.

    Columns are found by the names in `focuseval.data.fields`. Ranked by rank, else by descending score, else as they
    stand; or in `order`, as `focuseval.read_run` has it. Where `documents` are given, texts are aligned with them (and
    an index resolves paths), and a text without a document is looked for in all of them; the run's remarks say what was
    found.

    >>> run = run_from_frame([{"topic": "q1", "doc": "a", "score": s, "start": 0, "end": 9} for s in (0.1, 0.7)])
    >>> run.score.tolist(), run.line.tolist()
    ([0.7, 0.1], [2, 1])
    """
    table = _named(frame, columns)
    collection = None if documents is None else as_collection(documents)
    there = table.column_names
    lengths = spelled(there, "length") and not spelled(there, "end")
    plain = not there or (spelled(there, "doc") and spelled(there, "topic") and not spelled(there, "results"))
    named = NamedColumns(table) if plain and not lengths else columns_of(map(Row, count(1), table.to_pylist()), FRAME)
    run = replace(columns_run(named, run_id, unit, collection), file=FRAME, sha256=_digest(table))
    run = in_order(run, order)
    return run if collection is None else place_run(run, collection)


def gold_from_frame(
    frame: Any,
    *,
    columns: Mapping[str, str] | None = None,
    unit: str = "code points",
    documents: Collection | Mapping[str, str] | None = None,
) -> Gold:
    """Return the spans in a frame, one a row (or a list of them for every question), as gold.

    A row of a document without span and quote judges it not relevant. A quote without a document is looked for in all
    `documents`.

    >>> gold_from_frame([{"topic": "q1", "doc": "a", "start": 3, "end": 9}]).passages.end.tolist()
    [9]
    """
    table = _named(frame, columns)
    collection = None if documents is None else as_collection(documents)
    rows = enumerate(table.to_pylist(), 1)
    judged = [one for number, row in rows for one in judgements_of(row, Place(FRAME, number))]
    if unit != "code points":
        documents_of = pa.array([one.doc or "" for one in judged], pa.string())
        spans = (np.array([getattr(one, name) for one in judged], np.int64) for name in ("start", "end"))
        start, end = (
            np.asarray(in_code_points(lambda row: judged[row].at, documents_of, some, unit, collection))
            for some in spans
        )
        judged = [one._replace(start=int(a), end=int(b)) for one, a, b in zip(judged, start, end, strict=True)]
    return replace(gold_of(judged, collection), file=FRAME, sha256=_digest(table))


def _digest(table: pa.Table) -> str:
    """Return a hash of what a frame says, whatever library it came from."""
    content = json.dumps({name: table[name].to_pylist() for name in table.column_names}, default=str)
    return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()
