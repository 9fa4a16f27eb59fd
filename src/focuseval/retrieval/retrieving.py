"""A run for topics: read their words, score the units of a collection, list them as the task wants them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from focuseval.data.topics.topic import plain_topic
from focuseval.errors import UsageError, counted, did_you_mean
from focuseval.formats.embedded import read_questions
from focuseval.retrieval.lists import task_list
from focuseval.retrieval.query import Weights, weights
from focuseval.retrieval.results import as_run
from focuseval.retrieval.score import Scorer, UnitRanker
from focuseval.retrieval.settings import RetrievalSettings, asked_unit, default_unit
from focuseval.retrieval.store import open_words
from focuseval.retrieval.structured import impossible, score_structured

if TYPE_CHECKING:
    from collections.abc import Sequence

    from focuseval.collection.chunks import Chunks
    from focuseval.collection.index import Index
    from focuseval.data.run import Run
    from focuseval.data.topics import Topic
    from focuseval.engine.workers import Workers
    from focuseval.retrieval.lists import Listed
    from focuseval.retrieval.store import Progress

_SHOWN = 5
"""Topics and words that a remark names."""


def retrieve(
    index: Index,
    topics: str | Path | Iterable[Topic] | Mapping[str, str],
    *,
    scorer: Scorer | None = None,
    chunks: Chunks | None = None,
    run_id: str | None = None,
    jobs: int = 1,
    workers: Workers | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> Run:
    """Return a run of the collection's elements, documents or passages for topics, ranked by BM25.

    Parameters
    ----------
    index
        The collection; its index of words is made the first time and kept beside it.
    topics
        A topic file, topics, or a mapping from topic ids to queries.
    scorer
        In place of BM25: a function of three columns (how often a unit holds a term, words of the unit, how many units
        or documents hold the term) that returns what the term adds to each unit's score.
    chunks
        In place of ``unit``: what `focuseval.chunk` cut, or chunks of any other origin.
    jobs
        Processes that read words, the first time.
    workers
        Other workers in their place, such as those of `focuseval.connected`.
    options
        The fields of `RetrievalSettings`: ``unit``, ``task``, ``tags``, ``min_words``, ``k1``, ``b``, ``mix``, ``idf``,
        ``language``, ``cas``, ``limit``.

    >>> from focuseval import open_documents
    >>> run = retrieve(open_documents({"a": "Tides follow the moon.", "b": "Ships sail."}), {"1": "moon tide"})
    >>> run.document.to_pylist(), run.start.tolist(), run.end.tolist()
    (['a'], [0], [21])
    """
    given = settings_for(index, {**options, "unit": asked_unit(options.get("unit"), chunks)})
    settings = given.resolved()
    asked = as_topics(topics)
    words = open_words(index, settings.language, jobs, progress, workers)
    ranker = UnitRanker(words, settings, scorer, chunks)
    queries = {topic.id: weights(topic.terms, words.words_of_language) for topic in asked}
    lists = {topic.id: answer(ranker, topic, queries[topic.id]) for topic in asked}
    remarks = [*_ignored(given), *_remarks(ranker, asked, queries, lists)]
    described = settings.description("own scorer" if scorer else "BM25")
    run = as_run(ranker.units, lists, settings, run_id or default_run_id(settings), described)
    return replace(run, remarks=tuple(remarks))


def answer(ranker: UnitRanker, topic: Topic, query: Weights) -> Listed:
    """Return a topic's list; a structured title is read as the settings say."""
    settings = ranker.settings
    if settings.cas != "ignore" and topic.query is not None:
        found = score_structured(ranker, topic.query)
    else:
        found = ranker.score(query)
    return task_list(ranker.units, *found, settings.rules, settings.limit)


def settings_for(index: Index, options: Mapping[str, Any]) -> RetrievalSettings:
    """Return settings from options by name; None is an option that was not given."""
    known = RetrievalSettings.__dataclass_fields__
    for name in options:
        if name not in known:
            remedy = did_you_mean(name, known, f"there are {', '.join(known)}")
            raise UsageError(f"expected an option of retrieval, found {name!r}; {remedy}")
    given = {name: value for name, value in options.items() if value is not None}
    if isinstance(given.get("tags"), str):
        given["tags"] = given["tags"].split(",")
    given["tags"] = tuple(given.get("tags", ()))
    return RetrievalSettings(**{"unit": default_unit(index), **given})


def as_topics(topics: str | Path | Iterable[Topic] | Mapping[str, str]) -> Sequence[Topic]:
    """Return topics from a file, from a mapping of queries, or as they are; a query that begins with / is NEXI."""
    if isinstance(topics, str | Path):
        return read_questions(topics)
    if isinstance(topics, Mapping):
        return [plain_topic(name, query) for name, query in topics.items()]
    return tuple(topics)


def default_run_id(settings: RetrievalSettings, formula: str = "bm25") -> str:
    """Return the name of a run that has none: what it returns, and for which task."""
    return f"{formula}-{settings.unit.replace(':', '-').replace('/', '-')}-{settings.rules.name}"


def _ignored(settings: RetrievalSettings) -> list[str]:
    return [f"{name} says nothing of --unit {settings.unit} and was ignored" for name in settings.ignored]


def _remarks(
    ranker: UnitRanker, topics: Sequence[Topic], queries: Mapping[str, Weights], lists: Mapping[str, Listed]
) -> list[str]:
    """Return what a reader of the run should know: topics without words or results, words that nobody wrote."""
    empty = [topic.id for topic in topics if not queries[topic.id]]
    none = [topic.id for topic in topics if queries[topic.id] and not len(lists[topic.id][0])]
    terms = dict.fromkeys(word for query in queries.values() for term in query for word in term)
    unknown = [term for term in terms if not len(ranker.words.occurrences(term))]
    lost = [topic.id for topic in topics if _impossible(ranker, topic)]
    remarks = (
        (lost, "topic", "asking for elements that the collection does not have"),
        (empty, "topic", "without a word to look for"),
        (none, "topic", "without a result"),
        (unknown, "term", "of the topics that the collection does not have"),
    )
    return [f"{counted(len(some), one)} {what}: {_some(some)}" for some, one, what in remarks if some]


def _impossible(ranker: UnitRanker, topic: Topic) -> str | None:
    """Return what a structured topic asks for in vain; None where its structure is not read."""
    if ranker.settings.cas != "strict" or topic.query is None:
        return None
    return impossible(topic.query, ranker.words.tags)


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:_SHOWN]) + (" …" if len(names) > _SHOWN else "")
