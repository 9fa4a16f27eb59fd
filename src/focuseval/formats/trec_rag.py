"""TREC RAG, judgements and runs: graded or ranked segments of documents; ``--docs`` gives the segments.

::

    topic 0 segment grade                                                        judgements, four columns
    2024-105741 0 msmarco_v2.1_doc_16_287012450#4_490828734 2

    topic Q0 segment rank score run                                              a run, six columns
    2024-105741 Q0 msmarco_v2.1_doc_16_287012450#4_490828734 1 0.97 VSM

Where a segment lies stands in the segment files of the collection, one JSON object a line, compressed or not::

    {"docid": "msmarco_v2.1_doc_16_287012450#4_490828734", "segment": "…", "start_char": 2301, "end_char": 3401, …}

The part of an id before ``#`` is the document; ``start_char`` and ``end_char`` count characters, half-open. With
``--docs SEGMENTS`` (a file, or a folder of such files) every segment of grade 1 or above is a highlighted span of its
document; segments overlap, and text that two of them show counts once. Documents judged with lower grades only are
judged and not relevant. Without ``--docs`` segments are graded as whole documents are, as by trec_eval.

Runs are read and ranked as TREC runs are: by **score**, descending. With ``--docs SEGMENTS`` every segment becomes a
span of its document, and several segments of one document are several results. Without it segments are scored as whole
documents are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from focuseval.collection.segments import Segments
from focuseval.data.gold import Gold
from focuseval.data.remarks import Remark
from focuseval.data.run import Run
from focuseval.errors import FormatError, Place
from focuseval.formats import trec
from focuseval.formats.content import Source
from focuseval.formats.judgements import Question, Span, gold_of_questions


def read(sources: Sequence[Source], documents: Any = None) -> Gold:
    """Return the judged segments as spans of their documents; as they are where no segments are given."""
    gold = trec.read_qrels(sources)
    segments = _segments_in(documents, gold.documents, gold.file or sources[0].name)
    return gold if segments is None else place_gold(gold, segments)


def read_run(source: Source, documents: Any = None) -> Run:
    """Return the run of segments as a run of spans; as it is where no segments are given."""
    run = trec.read_run(source)
    segments = _segments_in(documents, run.document, run.file)
    return run if segments is None else place_run(run, segments)


def _segments_in(documents: Any, ids: Any, file: str) -> Segments | None:
    """Return the segments that a collection holds; None where none are needed, because its documents have these ids."""
    if documents is None:
        return None
    segments: Segments | None = getattr(documents, "segments", None)
    if segments is None and len(ids) and (documents.find(ids) < 0).all():
        name = ids[0].as_py()
        remedy = f"if it is a segment of {name.rpartition('#')[0]!r}, give the segment file as the documents"
        raise FormatError(f"expected documents with ids such as {name!r}, found none", at=file, remedy=remedy)
    return segments


def place_gold(gold: Gold, segments: Segments, least: int = 1) -> Gold:
    """Return judged segments as highlighted spans: those with a grade of at least `least` are relevant."""
    a, names = gold.articles, gold.documents.to_pylist()
    rows = segments.find(gold.documents)
    unknown = np.flatnonzero(rows[a.document] < 0)
    if len(unknown):
        first, number = int(unknown[0]), int(np.count_nonzero(rows < 0))
        raise _unknown_segment(names[a.document[first]], number, gold.topics[a.topic[first]], gold.at_article(first))
    documents = segments.document.take(rows).to_pylist()
    start, end = segments.start[rows].tolist(), segments.end[rows].tolist()
    questions = []
    for mine in np.split(np.arange(len(a.topic)), np.flatnonzero(np.diff(a.topic)) + 1):
        codes = a.document[mine].tolist()
        relevant = [code for code, grade in zip(codes, a.relevance[mine].tolist(), strict=True) if grade >= least]
        found = [Span(documents[code], start[code], end[code]) for code in relevant]
        if codes:
            name, at = gold.topics[a.topic[mine[0]]], gold.at_article(int(mine[0]))
            questions.append(Question(gold.queries.get(name, ""), found, at, name, [documents[code] for code in codes]))
    placed = gold_of_questions(questions)
    uneven = Remark("segment lengths", segments.uneven, (f"{len(segments):,}",))
    remarks = (*gold.remarks, *placed.remarks, *([uneven] if segments.uneven else []))
    kept = {name: getattr(gold, name) for name in ("queries", "file", "sha256", "sources")}
    return replace(placed, **kept, remarks=remarks)


def place_run(run: Run, segments: Segments) -> Run:
    """Return a run of segments as a run of spans; the ranking stays, and an unknown segment is refused."""
    rows = segments.find(run.document)
    unknown = np.flatnonzero(rows < 0)
    if len(unknown):
        row = int(unknown[0])
        name, number = run.document[row].as_py(), len(run.document.take(unknown).unique())
        raise _unknown_segment(name, number, run.topics[run.topic[row]], run.at(row))
    document, start, end = segments.document.take(rows), segments.start[rows], segments.end[rows]
    return replace(run, document=document, start=start, end=end, keys=None)


def _unknown_segment(name: str, number: int, topic: str, at: Place) -> FormatError:
    more = f" (and {number - 1:,} more)" if number > 1 else ""
    what = f"expected segments of the segment file, found {name!r} for topic {topic!r}{more}"
    return FormatError(what, at=at, remedy="give a segment file of the same collection that holds all of them")
