"""TREC runs: whole documents, one result a line, six columns.

::

    topic Q0 document rank score run
    301   Q0 FR940202-2-00150 1 2.7385 VSM

Columns are separated by blanks or tabs. The ranking is by **score**, descending, ties by descending document id, as
trec_eval ranks; scores are compared in single precision, as there. The rank column is kept, and does not decide.
A document may occur once in a topic.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from focuseval.data.run import Run
from focuseval.errors import FormatError
from focuseval.formats.columns import Layout
from focuseval.formats.ranking import (
    by_score_and_document,
    distinct_keys,
    lines_taken,
    moved,
    only_value,
    taken,
    topic_codes,
)
from focuseval.formats.table import FileTable, column_array, read_table, run_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from focuseval.formats.source import Source

LAYOUT = Layout(
    {"topic": "block", "Q0": None, "document": "text", "rank": "rank", "score": "real", "run": "block"},
    least=6,
    remedy="a run with places has 7 or 8 columns, see 'focuseval formats inex-text'",
)


def read(source: Source, name: str | None = None) -> Run:
    """Return the run in trec_eval's order; for a part of a file, `name` is the run's name on the file's first line."""
    table = read_table(source, LAYOUT)
    run_id = one_run_id(source, table, name)
    topics, topic = topic_codes(table.pop("topic"))
    document = table.pop("document")
    found, faults = distinct_keys(topic, document), table.faults
    keys = None if isinstance(found, tuple) else found
    if isinstance(found, tuple):
        first, second = (source.at(table.line_of(row)) for row in found)
        name_of = document[found[0]].as_py()
        what = f"expected a document once in a topic, found {name_of!r} again, first on line {first.line}"
        faults = (*faults, FormatError(what, at=second, remedy="keep one of the two lines"))
    score = column_array(table.pop("score"), np.float64)
    rank = column_array(table.pop("rank"), np.int32)
    line, order = table.line, by_score_and_document(topic, score, document)
    if order is not None:  # one column after another, so that the memory of each is free for the next
        document = taken(document, order)
        topic = moved(topic, order)
        score = moved(score, order)
        rank = moved(rank, order)
        keys = None if keys is None else moved(keys, order)
        line = lines_taken(line, order)
    return Run(
        run_id,
        topics,
        topic,
        document,
        rank=rank,
        score=score,
        line=line,
        keys=keys,
        file=source.name,
        sha256=source.digest(),
        faults=faults,
    )


def one_run_id(source: Source, table: FileTable, name: str | None = None) -> str:
    """Return the run's name; a file holds one run."""

    def refuse(row: int, first: str, other: str) -> FormatError:
        return FormatError(
            f"expected one run in the file, {first!r}, found {other!r}",
            at=source.at(table.line_of(row)),
            remedy="split the file by its sixth column",
        )

    return only_value(table.pop("run"), refuse, name)


def write(run: Run) -> Iterator[bytes]:
    """Yield the run's lines."""
    return run_lines(run)
