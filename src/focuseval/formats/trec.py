"""TREC runs and qrels: whole documents, one a line, in columns separated by blanks or tabs.

A run has six columns::

    topic Q0 document rank score run
    301   Q0 FR940202-2-00150 1 2.7385 VSM

The ranking is by **score**, descending, ties by descending document id, as trec_eval ranks; scores are compared in
single precision, as there. The rank column is kept, and does not decide. A document may occur once in a topic.

Comments at the head of a run that say how it was made, by the schema `ir_metadata <https://www.ir-metadata.org>`_, are
skipped. The format ``ir-metadata`` writes them: YAML whose values are JSON, with what the run and this program know::

    # ir_metadata.start
    # schema version: 0.1
    # tag: "bm25"
    # ...
    # ir_metadata.end

Qrels have four columns, a judgement a line::

    topic 0 document grade
    301 0 FR940202-2-00150 1

The grade is a whole number: 0 not relevant, 1 and above relevant, negative (by TREC's custom) looked at and left
unjudged, which counts as not relevant. A grade of 0.5 is refused rather than cut to 0.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from focuseval.data.gold import Gold
from focuseval.data.run import Run
from focuseval.engine.native import coded, hash64
from focuseval.engine.version import __version__
from focuseval.errors import FormatError
from focuseval.formats.columns import FileTable, Layout, column_array, joined, read_table, run_lines, words
from focuseval.formats.content import Source
from focuseval.formats.judgements import JudgedRows, judged_twice
from focuseval.formats.ranking import by_score_and_document, distinct_keys, lines_taken, moved, topic_codes

RUN = Layout(
    {"topic": "block", "Q0": None, "document": "text", "rank": "rank", "score": "real", "run": "block"},
    least=6,
    remedy="a run with places has 7 or 8 columns, see 'focuseval formats inex-text'",
)
QRELS = Layout({"topic": "block", "iteration": None, "document": "text", "grade": "int"}, least=4)


def read_run(source: Source, name: str | None = None) -> Run:
    """Return the run in trec_eval's order; for a part of a file, `name` is the run's name on the file's first line."""
    table = read_table(source, RUN)
    run_id = one_run_id(table, name)
    topics, topic = topic_codes(table.pop("topic"))
    columns: dict[str, Any] = {"topic": topic, "document": table.pop("document")}
    keys, faults = distinct_keys(topic, columns["document"]), table.faults
    if isinstance(keys, tuple):
        (first, second), found = map(table.at, keys), columns["document"][keys[0]].as_py()
        what = f"expected a document once in a topic, found {found!r} again, first on line {first.line}"
        faults = (*faults, FormatError(what, at=second, remedy="keep one of the two lines"))
    columns["score"] = column_array(table.pop("score"), np.float64)
    columns["rank"] = column_array(table.pop("rank"), np.int32)
    columns["keys"] = None if isinstance(keys, tuple) else keys
    line, order = table.line, by_score_and_document(topic, columns["score"], columns["document"])
    del topic, keys
    if order is not None:  # one column after another, so that the memory of each is free for the next
        for each in tuple(columns):
            columns[each] = moved(columns.pop(each), order)
        line = lines_taken(line, order)
    return Run(run_id, topics, **columns, line=line, file=source.name, sha256=source.digest(), faults=faults)


def one_run_id(table: FileTable, name: str | None = None) -> str:
    """Return the run's name; a file holds one run, whose `name` is given where this is a part of the file."""
    names, code = topic_codes(table.pop("run"))
    name = next(iter(names), "") if name is None else name
    other = next((found for found in names if found != name), None)
    if other is not None:
        row = int(np.argmax(code == names.index(other)))
        what = f"expected one run in the file, {name!r}, found {other!r}"
        raise FormatError(what, at=table.at(row), remedy="split the file by its sixth column")
    return name


write_run = run_lines
read_annotated_run = read_run


def write_annotated_run(run: Run) -> Iterator[bytes]:
    """Yield a run's lines below what is known of how it was made."""
    said = run.attributes.get("description")
    yield "".join(
        f"# {line}\n"
        for line in (
            "ir_metadata.start",
            "schema version: 0.1",
            f"tag: {json.dumps(run.run_id)}",
            *(["actor:", f"  team: {json.dumps(run.participant)}"] if run.participant else []),
            "platform:",
            "  software:",
            f"    libraries: {json.dumps([f'focuseval {__version__}', f'python {platform.python_version()}'])}",
            *(["method:", "  automatic: true", "  retrieval:", f"    - name: {json.dumps(said)}"] if said else []),
            "ir_metadata.end",
        )
    ).encode()
    yield from run_lines(run)


def read_qrels(sources: Sequence[Source]) -> Gold:
    """Return the graded documents of one or several files."""
    tables = [read_table(source, QRELS) for source in sources]
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
    return rows.gold(np.clip(grade, -(2**31), 2**31 - 1), scale="trec")


def write_qrels(gold: Gold) -> Iterator[bytes]:
    """Yield a line for every judged document."""
    yield from joined(
        words("topic", gold.topics, gold.articles.topic),
        "0",
        words("document", gold.documents, gold.articles.document),
        pc.cast(pa.array(gold.articles.relevance), pa.string()),
    )
