"""A submission's raw columns → a `Run` in ranking order, whichever way they were read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from focuseval.data.run import Run
from focuseval.errors import FormatError
from focuseval.formats.ranking import ranked
from focuseval.formats.table import column_array

if TYPE_CHECKING:
    from focuseval.formats.source import Source
    from focuseval.formats.xml_slow import Submission

_TYPES = {"rank": pa.int32(), "score": pa.float64(), "start": pa.int64(), "end": pa.int64(), "line": pa.int64()}
_NUMPY: dict[str, Any] = {"rank": np.int32, "score": np.float64, "start": np.int64, "end": np.int64, "line": np.int64}


def build(source: Source, raw: Submission) -> Run:
    """Return the run that a submission describes, in ranking order."""
    known = dict(raw.attributes)
    run_id, task, participant = (known.pop(name, "").strip() for name in ("run-id", "task", "participant-id"))
    columns, remarks = _arrays(source, raw)
    columns = ranked(columns | {"topic": np.asarray(raw.topic, np.int32)})
    inside = columns.pop("in")
    if inside is not None:
        names = inside.unique().to_pylist()
        known |= {"in": names[0]} if len(names) == 1 else {}
        remarks += [] if len(names) == 1 else [f"<in> names {len(names)} collections; it is left out"]
    return Run(
        run_id or source.stem,
        tuple(raw.topics),
        **columns,
        file=source.name,
        task=task,
        participant=participant,
        sha256=source.digest(),
        attributes=known,
        remarks=tuple(remarks),
        faults=tuple(raw.faults[:1]),
    )


def _arrays(source: Source, raw: Submission) -> tuple[dict[str, Any], list[str]]:
    """Return typed columns; a column that no result fills is None."""
    columns: dict[str, Any] = {
        name: pa.chunked_array(
            [column if isinstance(column, pa.Array) else pa.array(column, _TYPES.get(name, pa.string()))]
        )
        for name, column in raw.columns.items()
    }
    ranks, scores = columns["rank"], columns["score"]
    if 0 < ranks.null_count < len(ranks):
        row = pc.index(ranks.is_null(), pa.scalar(True)).as_py()
        raise FormatError(
            "expected a <rank> in every result or in none, found a result without",
            at=source.at(columns["line"][row].as_py()),
            remedy="give every result its rank, or leave all ranks out",
        )
    remarks = []
    if 0 < scores.null_count < len(scores):
        if ranks.null_count:
            row = pc.index(scores.is_null(), pa.scalar(True)).as_py()
            raise FormatError(
                "expected a <rsv> in every result, as there are no ranks, found a result without",
                at=source.at(columns["line"][row].as_py()),
                remedy="give every result its rsv, or leave all out: the file order is then the ranking",
            )
        remarks.append(f"{scores.null_count} results have no <rsv>; the scores of the others are left out")
        columns["score"] = scores.filter(pa.array([False] * len(scores)))
    return {name: _numpy(name, column) for name, column in columns.items()}, remarks


def _numpy(name: str, column: Any) -> Any:
    """Return numbers as NumPy (−1 for a missing position), text as Arrow, nothing as None."""
    if column.null_count == len(column) and name not in {"document", "line"}:
        return None
    if name not in _TYPES:
        return column
    return column_array(column.fill_null(-1) if name in {"start", "end"} else column, _NUMPY[name])
