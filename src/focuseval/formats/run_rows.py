"""Runs as rows with the field names that people use: JSON lines, a JSON list, CSV or TSV with a header.

::

    {"query_id": "q1", "document_id": "a.md", "score": 0.83, "page_content": "…", "metadata": {"start_index": 120}}
    [{"user_input": "…?", "retrieved_contexts": ["…", "…"]}]                     RAGAS; before 0.2 ``contexts``
    [{"input": "…?", "retrieval_context": ["…", "…"]}]                           DeepEval
    qid,docid,rank,start,end
    {"q1": {"d7": 12.5, "d3": 11.0}}                                             scores by topic and document (BEIR)

A row is a result, or a question with the list of its results, best first. Fields are found by these names; the first
that is there counts, and two that disagree are refused:

====================  ================================================================================================
topic                 ``topic topic_id query_id qid question_id query-id``; of a question also ``id _id``; else the
                      question itself: ``query question user_input input``
doc                   ``doc document doc_id docid docno document_id corpus-id corpus_id``, else ``source source_id
                      source_file file_path file_name``; also inside ``metadata`` or ``meta``
text                  ``text chunk_text page_content content contents passage chunk``
start, end            ``start start_index start_char start_char_idx begin offset``, ``end end_index end_char
                      end_char_idx``, or a ``length``
rank, score, chunk    ``rank``; ``score similarity``; ``chunk chunk_index split_id``
elements, run         ``path``, ``end_path``; ``run``, the run's name
list of results       ``retrieved_contexts contexts retrieval_context``: texts, or objects with these fields
====================  ================================================================================================

Other fields are left out. Texts without a document are looked for in all documents of ``--docs``, word for word and
then in normal form; one that several documents hold is ambiguous, counted, and covers nothing.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from focuseval.errors import FormatError
from focuseval.formats.frame_rows import columns_of, columns_run
from focuseval.formats.rows import rows_of

if TYPE_CHECKING:
    from focuseval.collection.protocol import Collection
    from focuseval.data.run import Run
    from focuseval.formats.source import Source


def read(source: Source, documents: Collection | None = None) -> Run:
    """Return the run in ranking order."""
    said = columns_of(rows_of(source), source.name)
    names = said.find("run")
    named = [] if names is None else names.drop_null().unique().to_pylist()
    if len(named) > 1:
        raise FormatError(f"expected one run in the file, {named[0]!r}, found {named[1]!r}", at=source.name)
    run = columns_run(said, named[0] if named else source.stem, documents=documents)
    return replace(run, file=source.name, sha256=source.digest())
