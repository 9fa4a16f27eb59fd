"""Our runs as JSON lines: one result a line, its place as offsets, as text or as a path.

::

    {"topic": "q1", "doc": "a.md", "rank": 1, "score": 0.83, "start": 1024, "end": 1536}
    {"topic": "q1", "doc": "a.md", "rank": 2, "text": "The chunk itself, to be found in its document."}
    {"topic": "401", "doc": "9996", "rank": 1, "path": "/article[1]/sec[2]", "end_path": "/article[1]/sec[3]"}

Offsets are code points, half-open; ``start`` alone is an entry point. ``chunk`` may number a document's chunks, ``run``
name the run (one in a file). **rank** decides the ranking, else descending **score**, else the file order. Every result
has a place, or none has (whole documents); ``"start": -1`` declares a place unknown. Other keys are left out, and
counted; one that is a letter away from these is refused.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from functools import partial
from typing import Annotated, Any

import msgspec
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from focuseval.data.fields import json_line
from focuseval.data.remarks import Remark
from focuseval.data.run import Run
from focuseval.errors import FormatError, Place
from focuseval.formats.columns import FAR, ranked_run
from focuseval.formats.content import Source
from focuseval.formats.json_records import Text, Whole, Word, batch, checked, no_object, no_score, other_keys, records
from focuseval.formats.ranking import topic_codes

Position = Annotated[int, msgspec.Meta(ge=-1, lt=FAR)]


class Result(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """A line."""

    topic: Word
    doc: Word
    rank: Whole | None = None
    score: float | None = None
    start: Position | None = None
    end: Position | None = None
    path: Word | None = None
    end_path: Word | None = None
    text: Text | None = None
    chunk: Whole | None = None
    run: Word | None = None


_NUMBERS = {"rank": "int32", "score": "float64", "start": "int64", "end": "int64", "chunk": "int64"}
_SCHEMA = pa.schema([(name, _NUMBERS.get(name, "string")) for name in Result.__struct_fields__])
_OPTIONAL = frozenset({"start", "end", "chunk"})


def read(source: Source) -> Run:
    """Return the run in ranking order."""
    faults, others = list[FormatError](), Counter[str]()
    batches, lines = [], [np.zeros(0, np.int64)]
    try:
        for results, numbers in records(source, Result, partial(_result, faults, others)):
            batches.append(batch(results, _SCHEMA))
            lines.append(numbers)
    except FormatError as error:
        raise (faults[0] if faults else error) from None
    table, line = pa.Table.from_batches(batches, _SCHEMA), np.concatenate(lines)
    run_id = _checked_run_id(source, table, line)
    topics, topic = topic_codes(table["topic"])
    columns: dict[str, Any] = {"topic": topic, "line": line, "document": table["doc"]}
    columns |= {name: table[name] for name in _SCHEMA.names[2:-1]}
    if columns["start"].null_count < len(line) and columns["end"].null_count == len(line):
        columns["end"] = np.full(len(line), -1, np.int64)
    remarks = (Remark("left keys", others.total(), (min(others),)),) if others else ()
    return ranked_run(source, run_id, topics, columns, remarks=remarks, faults=tuple(faults[:1]))


def _result(
    faults: list[FormatError], others: Counter[str], value: dict[str, Any], constants: list[str], at: Place
) -> Result:
    """Return the result that a line describes, or raise; a score that is no finite number is a fault."""
    score = value.get("score")
    unsound = isinstance(score, float) and not math.isfinite(score)
    if constants:
        error = no_object(f": {constants[0]} is not a number", at)
        if len(constants) > 1 or not unsound:
            raise error
        faults.append(error)
    elif unsound:
        faults.append(no_score("score", score, at))
    others.update(other_keys(value, Result, at))
    return Result(*(checked(Result, name, value.get(name), at) for name in Result.__struct_fields__))


def _checked_run_id(source: Source, table: pa.Table, line: NDArray[np.int64]) -> str:
    """Return the run's name; refuse what no ranking or place can be made of."""

    def refuse(wrong: NDArray[np.bool_], what: str) -> None:
        if wrong.any():
            row = int(np.flatnonzero(wrong)[0])
            raise FormatError(f"{what} for topic {table['topic'][row].as_py()!r}", at=source.at(int(line[row])))

    given = {name: table[name].is_valid().to_numpy() for name in table.column_names}
    start, end = (table[name].fill_null(-1).to_numpy() for name in ("start", "end"))
    for name in ("rank", "score"):
        refuse(given[name].any() & ~given[name], f"expected a {name!r} in every result or in none, found none here")
    what = "expected an 'end' of 0 or more, or none for an entry point, found one below 0"
    refuse(given["end"] & (end < 0) & (start >= 0), what)
    refuse((end >= 0) & (start < 0), "expected a 'start' beside the 'end', found none")
    refuse((end >= 0) & (end < start), "expected start ≤ end, found a reversed span")
    refuse(given["end_path"] & ~given["path"], "expected a 'path' beside the 'end_path', found none")
    place = given["start"] | given["path"] | given["text"]
    refuse(
        ~place & place.any(), "expected a place (start and end, text or path) in every result or in none, found none"
    )
    names = table["run"].drop_null().unique().to_pylist()
    if len(names) > 1:
        other = np.array([value not in {None, names[0]} for value in table["run"].to_pylist()])
        refuse(other, f"expected one run in the file, {names[0]!r}, found {names[1]!r}")
    return names[0] if names else source.stem


def write(run: Run) -> Iterator[bytes]:
    """Yield a line for every result."""
    names = ("document", *_SCHEMA.names[2:-1])
    columns = {name: column for name in names if (column := getattr(run, name)) is not None}
    topics = [run.topics[code] for code in run.topic.tolist()]
    values = [c.tolist() if isinstance(c, np.ndarray) else c.to_pylist() for c in columns.values()]
    keys = ["doc", *list(columns)[1:]]
    fixed = {"run": run.run_id} if run.run_id else {}
    for topic, *row in zip(topics, *values, strict=True):
        line = {k: v for k, v in zip(keys, row, strict=True) if v is not None and not (k in _OPTIONAL and v < 0)}
        if "start" in columns and not {"start", "path", "text"} & line.keys():
            line["start"] = -1
        yield json_line({"topic": topic, **line, **fixed})
