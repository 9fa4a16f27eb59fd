"""INEX collections that a user has, in the manner of ir_datasets: documents, topics, hierarchical judgements.

::

    from focuseval.bridges.ir_datasets import inex

    dataset = inex("wiki.idx", topics="topics.xml", gold="assessments/", name="inex/2006")
    for doc in dataset.docs_iter(): ...                  # doc_id, text, elements (path, tag, start, end)
    dataset.docs_store().get("1234").text
    for query in dataset.queries_iter(): ...             # query_id, title, castitle, description, narrative
    for qrel in dataset.qrels_iter(): ...                # query_id, doc_id, relevance, start, end, path …

    dataset = published("harbour.zip", name="harbour")   # what 'focuseval publish' wrote, texts included

With a name the dataset is registered: ``ir_datasets.load("inex/2006")`` and PyTerrier's ``irds:inex/2006`` find it.
Nothing is downloaded: INEX's collections are had from their owners.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from focuseval.assessment.archive import archive_gold
from focuseval.collection.documents import open_documents
from focuseval.collection.index import Collection
from focuseval.collection.store import open_index
from focuseval.data.gold import UNKNOWN, Gold
from focuseval.data.topics import Topic, read_topics
from focuseval.data.topics.topic import plain_topic
from focuseval.errors import MissingDataError
from focuseval.formats import read_gold


class InexElement(NamedTuple):
    """One element of a document; offsets are half-open and count code points of the document's text."""

    path: str
    tag: str
    start: int
    end: int


class InexDoc(NamedTuple):
    """A document: its text without markup, and its elements in document order."""

    doc_id: str
    text: str
    elements: tuple[InexElement, ...]

    def default_text(self) -> str:
        """Return what a retrieval system indexes."""
        return self.text


class InexQuery(NamedTuple):
    """A topic; fields that its year does not have are empty."""

    query_id: str
    title: str
    castitle: str
    description: str
    narrative: str

    def default_text(self) -> str:
        """Return what a retrieval system searches for."""
        return self.title


class InexQrel(NamedTuple):
    """A judged part of a document: a highlighted passage, a graded element, or a document with nothing relevant."""

    query_id: str
    doc_id: str
    relevance: int
    """1 for a highlighted passage, an element's exhaustivity (1 if it has none), 0 for nothing relevant."""
    start: int = UNKNOWN
    end: int = UNKNOWN
    path: str = ""
    exhaustivity: int = UNKNOWN
    specificity: int = UNKNOWN
    size: int = UNKNOWN
    """Characters of an element, and how many of them are highlighted."""
    rsize: int = UNKNOWN
    iteration: str = "0"


QREL_DEFS = {
    0: "judged, nothing relevant",
    1: "a highlighted passage, or an element of exhaustivity 1",
    2: "an element of exhaustivity 2",
    3: "an element of exhaustivity 3",
}


def inex(documents: str | Path, topics: str | Path = "", gold: str | Path = "", name: str = "") -> Any:
    """Return a dataset of ir_datasets; `documents` is an index, a folder or an archive, what is not given is absent."""
    indexed = Path(documents).suffix == ".idx"
    collection = open_index(documents) if indexed else open_documents(Path(documents))
    judged = read_gold(gold, index=collection) if gold else None
    return _dataset(collection, read_topics(topics) if topics else None, judged, name)


def published(path: str | Path, name: str = "") -> Any:
    """Return the dataset of a file that `focuseval publish` wrote with its texts."""
    gold, collection = archive_gold(path)
    if collection is None:
        raise MissingDataError(f"{path}: the documents' texts are not in the file; give them to inex() with its gold")
    return _dataset(collection, [plain_topic(topic, gold.queries.get(topic, "")) for topic in gold.topics], gold, name)


def _dataset(collection: Collection, topics: Iterable[Topic] | None, gold: Gold | None, name: str) -> Any:
    """Return a dataset of ir_datasets with the parts that there are."""
    try:
        theirs: Any = import_module("ir_datasets")
    except ImportError:
        raise MissingDataError("ir_datasets is not installed; python -m pip install ir_datasets") from None

    class Store(theirs.indices.Docstore):  # type: ignore[misc, unused-ignore]  # untyped where it is not installed
        def get_many_iter(self, doc_ids: Iterable[str]) -> Iterator[InexDoc]:
            rows = collection.find(list(doc_ids))
            return documents_in(collection, rows[rows >= 0].tolist())

    more: dict[str, Callable[[], Any]] = {"docs_count": lambda: len(collection), "docs_store": lambda: Store(InexDoc)}
    every = partial(documents_in, collection, range(len(collection)))
    parts = [_part(theirs.formats.BaseDocs, "docs", InexDoc, every, **more)]
    if topics is not None:
        parts.append(_part(theirs.formats.BaseQueries, "queries", InexQuery, partial(queries_in, topics)))
    if gold is not None:
        more = {"qrels_defs": lambda: QREL_DEFS}
        parts.append(_part(theirs.formats.BaseQrels, "qrels", InexQrel, partial(qrels_in, gold), **more))
    dataset = theirs.Dataset(*parts)
    if name:
        theirs.registry.register(name, dataset)
    return dataset


def documents_in(collection: Collection, rows: Iterable[int]) -> Iterator[InexDoc]:
    """Yield documents by their rows."""
    ids = collection.ids.to_pylist()
    for row in rows:
        own = collection.elements(row)
        columns = (own.paths(), own.tags, own.start.tolist(), own.end.tolist())
        yield InexDoc(ids[row], collection.text(row), tuple(map(InexElement, *columns)))


def queries_in(topics: Iterable[Topic]) -> Iterator[InexQuery]:
    """Yield topics as queries."""
    for topic in topics:
        yield InexQuery(topic.id, topic.title, topic.castitle, topic.description, topic.narrative)


def qrels_in(gold: Gold) -> Iterator[InexQrel]:
    """Yield every passage and every judged element, and the documents in which nothing is relevant."""
    names, topics = gold.documents.to_pylist(), gold.topics
    p, e, a = gold.passages, gold.elements, gold.articles
    for topic, document, start, end in zip(*(c.tolist() for c in (p.topic, p.document, p.start, p.end)), strict=True):
        yield InexQrel(topics[topic], names[document], 1, start, end)
    judged = (e.topic, e.document, e.path, e.exhaustivity, e.specificity, e.size, e.rsize)
    for topic, document, path, exhaustive, specific, size, rsize in zip(*(c.tolist() for c in judged), strict=True):
        grade = exhaustive if exhaustive > 0 else int(rsize > 0)
        place = (UNKNOWN, UNKNOWN, path, exhaustive, specific, size, rsize)
        yield InexQrel(topics[topic], names[document], grade, *place)
    for topic, document, relevance in zip(a.topic.tolist(), a.document.tolist(), a.relevance.tolist(), strict=True):
        if relevance <= 0:
            yield InexQrel(topics[topic], names[document], 0)


def _part(base: type, what: str, row: type, rows: Callable[[], Iterator[Any]], **more: Callable[[], Any]) -> Any:
    """Return a part of a dataset: an instance of a class of theirs with what gives its rows, their class, and more."""
    methods: dict[str, Callable[[], Any]] = {f"{what}_iter": rows, f"{what}_cls": lambda: row, **more}
    return type(base.__name__, (base,), {name: staticmethod(method) for name, method in methods.items()})()
