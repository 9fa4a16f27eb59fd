"""Our runs as JSON lines: one result a line, its place as offsets, as text or as a path.

::

    {"topic": "q1", "doc": "a.md", "rank": 1, "score": 0.83, "start": 1024, "end": 1536}
    {"topic": "q1", "doc": "a.md", "rank": 2, "text": "The chunk itself, to be found in its document."}
    {"topic": "401", "doc": "9996", "rank": 1, "path": "/article[1]/sec[2]", "end_path": "/article[1]/sec[3]"}

Offsets are code points, half-open; ``start`` alone is an entry point. ``chunk`` may number a document's chunks, ``run``
name the run (one in a file). **rank** decides the ranking, else descending **score**, else the file order. Every result
has a place, or none has (whole documents); ``"start": -1`` declares a place unknown.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import numpy as np
import pyarrow as pa

from focuseval.data.json_lines import json_line
from focuseval.data.run import Run
from focuseval.errors import FormatError
from focuseval.formats.json_records import FAR, Text, Whole, Word, batch, checked, no_object, no_score, records
from focuseval.formats.ranking import ranked, topic_codes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from focuseval.errors import Place
    from focuseval.formats.source import Source

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
    columns, line, faults = _columns(source)
    _check(source, columns, line)
    topics, topic = topic_codes(columns.pop("topic"))
    names = columns.pop("run").drop_null().unique().to_pylist()
    kept = {name: _column(name, column) for name, column in columns.items()}
    kept["document"] = kept.pop("doc")
    if kept["start"] is not None and kept["end"] is None:
        kept["end"] = np.full(len(topic), -1, np.int64)
    kept |= {"topic": topic, "line": line}
    run_id = names[0] if names else source.stem
    return Run(run_id, topics, **ranked(kept), file=source.name, sha256=source.digest(), faults=tuple(faults[:1]))


def _columns(source: Source) -> tuple[dict[str, pa.ChunkedArray], NDArray[np.int64], list[FormatError]]:
    """Return a column for every key, the line of every row, and scores that are no finite numbers."""
    faults: list[FormatError] = []
    batches, lines = [], [np.zeros(0, np.int64)]
    try:
        for results, line in records(source, Result, partial(_result, faults)):
            batches.append(batch(results, _SCHEMA))
            lines.append(line)
    except FormatError as error:
        raise (faults[0] if faults else error) from None
    table = pa.Table.from_batches(batches, _SCHEMA)
    return {name: table[name] for name in table.column_names}, np.concatenate(lines), faults


def _result(faults: list[FormatError], value: dict[str, Any], constants: list[str], at: Place) -> Result:
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
    unknown = value.keys() - set(Result.__struct_fields__)
    if unknown:
        names = ", ".join(Result.__struct_fields__)
        raise FormatError(f"expected only the keys {names}, found {min(unknown)!r}", at=at, remedy="remove the key")
    return Result(*(checked(Result, name, value.get(name), at) for name in Result.__struct_fields__))


def _column(name: str, column: pa.ChunkedArray) -> Any:
    """Return numbers as NumPy, text as Arrow, a column that nobody fills as None."""
    if column.null_count == len(column) and name != "doc":
        return None
    if name not in _NUMBERS:
        return column
    filled = column.fill_null(-1) if name in _OPTIONAL else column
    return filled.combine_chunks().to_numpy(zero_copy_only=False).astype(_NUMBERS[name])


def _check(source: Source, columns: dict[str, pa.ChunkedArray], line: NDArray[np.int64]) -> None:
    """Refuse what no ranking or place can be made of."""

    def refuse(wrong: NDArray[np.bool_], what: str) -> None:
        if wrong.any():
            row = int(np.flatnonzero(wrong)[0])
            raise FormatError(f"{what} for topic {columns['topic'][row].as_py()!r}", at=source.at(int(line[row])))

    said = {name: column.is_valid().to_numpy() for name, column in columns.items()}
    number = {name: column.fill_null(-1).to_numpy() for name, column in columns.items() if name in {"start", "end"}}
    for name in ("rank", "score"):
        if name == "rank" or not said["rank"].all():
            refuse(~said[name] & said[name].any(), f"expected a {name!r} in every result or in none, found none here")
    refuse(said["score"].any() & ~said["score"], "expected a 'score' in every result or in none, found none here")
    refuse(
        said["end"] & (number["end"] < 0) & (number["start"] >= 0),
        "expected an 'end' of 0 or more, or none for an entry point, found one below 0",
    )
    refuse((number["end"] >= 0) & (number["start"] < 0), "expected a 'start' beside the 'end', found none")
    refuse((number["end"] >= 0) & (number["end"] < number["start"]), "expected start ≤ end, found a reversed span")
    refuse(said["end_path"] & ~said["path"], "expected a 'path' beside the 'end_path', found none")
    place = said["start"] | said["path"] | said["text"]
    refuse(
        ~place & place.any(), "expected a place (start and end, text or path) in every result or in none, found none"
    )
    names = columns["run"].drop_null().unique().to_pylist()
    if len(names) > 1:
        other = np.array([value not in {None, names[0]} for value in columns["run"].to_pylist()])
        refuse(other, f"expected one run in the file, {names[0]!r}, found {names[1]!r}")


def write(run: Run) -> Iterator[bytes]:
    """Yield a line for every result."""
    names = {"doc": run.document, "rank": run.rank, "score": run.score, "start": run.start, "end": run.end}
    names |= {"path": run.path, "end_path": run.end_path, "text": run.text, "chunk": run.chunk}
    columns = {name: column for name, column in names.items() if column is not None}
    topics = [run.topics[code] for code in run.topic.tolist()]
    values = [c.tolist() if isinstance(c, np.ndarray) else c.to_pylist() for c in columns.values()]
    fixed = {"run": run.run_id} if run.run_id else {}
    placed = "start" in columns
    for topic, *row in zip(topics, *values, strict=True):
        said = {k: v for k, v in zip(columns, row, strict=True) if v is not None and not (k in _OPTIONAL and v < 0)}
        if placed and not {"start", "path", "text"} & said.keys():
            said["start"] = -1
        yield json_line({"topic": topic, **said, **fixed})
