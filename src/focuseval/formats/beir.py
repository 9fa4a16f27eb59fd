"""BEIR and MTEB: a folder of the documents, the questions and which documents are relevant to them.

::

    corpus.jsonl      {"_id": "d1", "title": "", "text": "…"}
    queries.jsonl     {"_id": "q1", "text": "…?"}
    qrels/test.tsv    query-id<TAB>corpus-id<TAB>score

Such a folder is a gold by its qrels (of several files ``test``), with the questions beside them, and ``--docs`` reads
its corpus. Of highlighted text only whole documents can be said, each relevant with 1; titles are empty.
"""

from __future__ import annotations

from collections.abc import Iterator

from focuseval.collection.index import Collection
from focuseval.data.fields import json_line
from focuseval.data.gold import Gold
from focuseval.errors import FormatError, MissingDataError
from focuseval.formats.gold_rows import read

__all__ = ["read", "write"]


def write(gold: Gold, documents: Collection | None = None) -> dict[str, Iterator[bytes]]:
    """Return the files of the folder; the corpus has all documents, not only those that were judged."""
    if documents is None:
        raise MissingDataError(f"{gold.file or 'gold'}: a corpus is written of the documents; give docs= or index=")
    a, names = gold.articles, gold.documents
    rows = documents.find(names)
    if (rows < 0).any():
        unknown = names[int((rows < 0).argmax())].as_py()
        what = f"expected documents of the collection, found {unknown!r}"
        raise FormatError(what, at=gold.file or None, remedy="give the documents of the gold")
    ids = [name.as_py() for name in documents.ids]
    judged = zip(a.topic.tolist(), a.document.tolist(), a.relevance.tolist(), strict=True)
    lines = (f"{gold.topics[topic]}\t{ids[rows[one]]}\t{max(grade, 0)}\n".encode() for topic, one, grade in judged)
    queries = ({"_id": name, "text": gold.queries.get(name, name)} for name in gold.topics)
    corpus = ({"_id": name, "title": "", "text": documents.text(row)} for row, name in enumerate(ids))
    return {
        "corpus.jsonl": map(json_line, corpus),
        "queries.jsonl": map(json_line, queries),
        "qrels/test.tsv": (line for some in ([b"query-id\tcorpus-id\tscore\n"], lines) for line in some),
    }
