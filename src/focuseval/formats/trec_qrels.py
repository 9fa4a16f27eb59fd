"""TREC qrels: whole documents and their grades, one judgement a line, four columns.

::

    topic 0 document grade
    301 0 FR940202-2-00150 1

The grade is a whole number: 0 not relevant, 1 and above relevant, negative (by TREC's custom) looked at and left
unjudged, which counts as not relevant. A grade of 0.5 is refused rather than cut to 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from focuseval.data.gold import UNKNOWN
from focuseval.engine.native import coded, hash64
from focuseval.formats.columns import Layout
from focuseval.formats.judgements import JudgedRows, judged_twice, no_marks
from focuseval.formats.ranking import distinct_keys, topic_codes
from focuseval.formats.table import column_array, joined, read_table, words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from focuseval.data.gold import Gold
    from focuseval.formats.source import Source

LAYOUT = Layout({"topic": "block", "iteration": None, "document": "text", "grade": "int"}, least=4)


def read(sources: Sequence[Source]) -> Gold:
    """Return the graded documents of one or several files."""
    tables = [read_table(source, LAYOUT) for source in sources]
    columns = []
    for name in ("topic", "document", "grade"):
        chunks = [chunk for table in tables for chunk in table[name].chunks]
        columns.append(pa.chunked_array(chunks) if chunks else tables[0][name])
    topics, topic = topic_codes(columns[0])
    grade = column_array(columns[2], np.int64)
    source = np.repeat(np.arange(len(tables), dtype=np.int32), [len(table["topic"]) for table in tables])
    line = np.concatenate([np.arange(1, len(t["topic"]) + 1) if t.line is None else t.line for t in tables])
    keys = distinct_keys(topic, columns[1])
    if isinstance(keys, tuple):
        first, second = (sources[int(source[row])].at(int(line[row])) for row in keys)
        raise judged_twice(columns[1][keys[0]].as_py(), topics[topic[keys[0]]], first, second)
    document, documents = coded(columns[1], hash64(columns[1]) if keys is None else keys)
    rows = JudgedRows(sources, source, line, topic, topics, document, documents)
    unknown = np.full(len(topic), UNKNOWN, np.int64)
    grades = np.clip(grade, -(2**31), 2**31 - 1)
    return rows.gold(grades, {"length": unknown, "rsize": unknown, "bep": unknown}, no_marks(), scale="trec")


def write(gold: Gold) -> Iterator[bytes]:
    """Yield a line for every judged document."""
    yield from joined(
        words("topic", gold.topics, gold.articles.topic),
        "0",
        words("document", gold.documents, gold.articles.document),
        pc.cast(pa.array(gold.articles.relevance), pa.string()),
    )
