"""Rows of other tools as runs and gold: spans come from columns, or from document ids such as ``d1#40-120``.

ir_measures and PyTerrier know queries, documents and scores. A passage of a document is told apart by two more columns,
``start`` and ``end`` (code points, half-open), or, where a format has no room for them, by its document's id followed
by ``#start-end``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from focuseval.data.gold import UNKNOWN, Gold
from focuseval.data.run import Run
from focuseval.errors import FormatError
from focuseval.formats.frames import gold_from_frame, run_from_frame, to_table

if TYPE_CHECKING:
    from collections.abc import Iterable

    Row = dict[str, Any]

_SPAN = re.compile(r"(.+)#([0-9]+)-([0-9]+)")


def as_gold(qrels: Any) -> Gold:
    """Return qrels as gold: a row with a relevance above 0 is a highlighted span, others are judged not relevant.

    Rows with a path judge elements (`focuseval.bridges.ir_datasets`), and are left out.

    >>> as_gold({"q1": {"d1#40-120": 1, "d2": 0}}).passages.end.tolist()
    [120]
    """
    if isinstance(qrels, Gold):
        return qrels
    rows = [_placed(row) for row in rows_of(qrels, "relevance") if not row.get("path")]
    for number, row in enumerate(rows, 1):
        if row["relevance"] <= 0:
            row["start"] = row["end"] = UNKNOWN
        elif row["start"] < 0:
            what = f"expected a span for the relevant document {row['doc_id']}, found none"
            raise FormatError(what, at=f"<qrels>:{number}", remedy="give columns start and end, or ids as d1#40-120")
    return gold_from_frame(rows)


def as_run(results: Any) -> Run:
    """Return scored documents as a run, ranked by descending score.

    >>> as_run({"q1": {"d1#0-9": 0.5, "d1#9-20": 0.7}}).start.tolist()
    [9, 0]
    """
    if isinstance(results, Run):
        return results
    rows = [_placed(row) for row in rows_of(results, "score")]
    return run_from_frame(
        [{name: row[name] for name in ("query_id", "doc_id", "score", "start", "end")} for row in rows]
    )


def rows_of(given: Any, value: str) -> list[Row]:
    """Return the rows of what ir_measures takes: a dictionary of dictionaries, a frame, or named tuples."""
    if isinstance(given, dict):
        pairs: Iterable[tuple[str, str, Any]] = ((q, d, found) for q, own in given.items() for d, found in own.items())
        return [{"query_id": q, "doc_id": d, value: found} for q, d, found in pairs]
    if hasattr(given, "columns"):
        rows: list[Row] = to_table(given).to_pylist()
        return rows
    return [row._asdict() for row in given]


def _placed(row: Row) -> Row:
    """Return a row with a start and an end; −1 where it has none."""
    found = _SPAN.fullmatch(str(row["doc_id"])) if row.get("start") is None else None
    if found:
        return {**row, "doc_id": found[1], "start": int(found[2]), "end": int(found[3])}
    return {"start": UNKNOWN, "end": UNKNOWN, **row}
