"""Gold as rows with the field names that people use: JSON lines, a JSON list, CSV or TSV with a header.

::

    {"question_id": "q1", "question": "…?", "document_id": "a.md", "start_index": 120, "end_index": 180}
    [{"user_input": "…?", "reference_contexts": ["…", "…"]}]                     RAGAS
    [{"input": "…?", "context": ["…", "…"]}]                                     DeepEval
    {"id": "q1", "question": "…?", "evidence": [{"file_name": "a.md", "text": "…", "need": "birthplace"}]}
    query-id<TAB>corpus-id<TAB>score                                             the qrels of BEIR and MTEB

A row is a span, a graded document, or a question with the list of what answers it. Fields are found by the names that
'focuseval formats run-rows' lists; besides these:

====================  ================================================================================================
quote                 ``quote answer content text page_content contents passage chunk``
list of spans         ``spans reference_contexts context evidence references``: texts, or objects with these fields
need                  ``need nugget subtopic hop``: spans with the same name are alternatives (see gold-jsonl);
                      ``<1-hop>`` before a context of RAGAS is its name, not part of it
relevance             ``relevance grade``; ``score`` in a file of three columns
tags                  ``tags``: a list of words
====================  ================================================================================================

A document without span, quote and relevance was judged and found not relevant. Quotes without a document are looked
for in all documents of ``--docs``, word for word and then in normal form; one that several documents hold, or none, is
left out, and counted. A folder of BEIR (``corpus.jsonl``, ``queries.jsonl``, ``qrels/test.tsv``) is a gold by its
qrels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from focuseval.formats.row_judgements import gold_of, judgements_of
from focuseval.formats.rows import rows_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from focuseval.collection.protocol import Collection
    from focuseval.data.gold import Gold
    from focuseval.formats.source import Source


def read(sources: Sequence[Source], documents: Collection | None = None) -> Gold:
    """Return the judgements of one or several files."""
    judged = [
        one for source in sources for row in rows_of(source) for one in judgements_of(row.values, source.at(row.line))
    ]
    return gold_of(judged, documents, sources)
