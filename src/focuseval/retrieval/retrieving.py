"""A run for topics: read their words, score the units of a collection, list them as the task wants them.

`retrieve` makes a run for topics, `search` lists the best units for one query, with a snippet of each. `units` is for
people who bring their own scores: embeddings, a reranker, a language model.

::

    units = fe.units(index, unit="passage:100/50")
    vectors = model.encode(units.texts())
    run = units.run({topic.id: vectors @ model.encode(topic.title) for topic in topics}, task="focused")
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray

from focuseval.collection.chunks import Chunks, span_texts
from focuseval.collection.index import Index
from focuseval.data.highlights import merge
from focuseval.data.remarks import worded
from focuseval.data.run import Run
from focuseval.data.topics import Topic
from focuseval.data.topics.topic import plain_topic
from focuseval.engine.plugins import Plugin, plugin
from focuseval.engine.workers import Workers
from focuseval.engine.workers import given as given_workers
from focuseval.errors import CollectionError, FormatError, Place, UsageError
from focuseval.formats.embedded import open_documents, read_questions
from focuseval.retrieval.fusion import Fusion, Ranked, fused_scores
from focuseval.retrieval.lists import Listed, as_run, ask_segments, best, flat, places, task_list
from focuseval.retrieval.settings import RETRIEVERS, RetrievalSettings, default_unit, settings_for, with_elements
from focuseval.retrieval.store import IndexedWords, Progress, open_words
from focuseval.retrieval.structured import impossible, score_structured
from focuseval.retrieval.terms import Weights, stemmer_version, weights
from focuseval.retrieval.units import Scorer, UnitRanker, UnitSet, occurrences, unit_set
from focuseval.retrieval.vectors import VECTOR_OPTIONS, UnitVectors, VectorSettings, unit_vectors

_SHOWN = 5  # topics and words that a remark names
_TOGETHER = 2
"""Segments of words that are opened together, which is quicker; more are asked one by one, in bounded memory."""


def retrieve(
    index: Index | str | Path | Mapping[str, str],
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
    """Return a run of the collection's elements, documents or passages for topics, by words, by vectors or by both.

    Parameters
    ----------
    index
        The collection, or documents as ``--docs`` takes them; the index of words of an index is kept beside it.
    topics
        A topic file, topics, or a mapping from topic ids to queries.
    scorer
        In place of BM25: a function of three columns (how often a unit holds a term, words of the unit, how many units
        or documents hold the term) that returns what the term adds to each unit's score.
    chunks
        In place of ``unit``: what `focuseval.chunk` cut, or chunks of any other origin.
    jobs
        Processes that read words, the first time, and that search in a collection of many.
    workers
        Other workers in their place, such as those of `focuseval.connected`.
    options
        The fields of `RetrievalSettings`: ``unit``, ``task``, ``tags``, ``min_words``, ``k1``, ``b``, ``mix``, ``idf``,
        ``language``, ``cas``, ``limit``, and ``retriever``: ``bm25``, ``dense`` or ``hybrid``, which fuses the first
        ``depth`` units of both by reciprocal ranks. For these two also those of `VectorSettings`: ``embedder``,
        ``model``, ``query_prefix``, ``passage_prefix``, ``normalise``, ``dimensions``, ``vectors``, ``query_vectors`` …

    >>> from focuseval import open_documents
    >>> run = retrieve(open_documents({"a": "Tides follow the moon.", "b": "Ships sail."}), {"1": "moon tide"})
    >>> run.document.to_pylist(), run.start.tolist(), run.end.tolist()
    (['a'], [0], [21])
    """
    return retrieved(index, topics, Means(scorer, chunks, run_id, jobs, workers, progress), **options).run


class Means(NamedTuple):
    """What `retrieve` is given besides options of retrieval."""

    scorer: Scorer | None = None
    chunks: Chunks | None = None
    run_id: str | None = None
    jobs: int = 1
    workers: Workers | None = None
    progress: Progress | None = None


class MadeRun(NamedTuple):
    """A run, how it was made, and what it cost."""

    run: Run
    settings: str  # the retriever and its parameters, language and stemmer, whatever the unit
    milliseconds: float  # of a question, once words and vectors are there
    vectors: int = 0  # vectors that are stored
    embedded: int = 0  # texts that were embedded now
    tokens: int = 0  # tokens that were embedded now, as far as the embedder counts them
    cut: int = 0  # texts that were too long for the model


def retrieved(index: Any, topics: Any, means: Means, **options: Any) -> MadeRun:
    """Return the run of `retrieve`, and how it was made."""
    scorer, chunks, progress = means.scorer, means.chunks, means.progress
    index = open_documents(index)
    options, by_meaning = split_options(options)
    name = options.get("retriever")
    if added := added_retriever(name):
        options["retriever"] = None
    given = settings_for(index, options, chunks)
    settings = given.resolved()
    if isinstance(topics, str | Path):
        topics = read_questions(topics)
    elif isinstance(topics, Mapping):  # a query that begins with / is NEXI
        topics = [plain_topic(name, query) for name, query in topics.items()]
    asked = tuple(topics)
    if added:
        listed = units(index, chunks=chunks, jobs=means.jobs, **options)
        return _run_of(added, str(name), listed, asked, means.run_id or default_run_id(settings, str(name)))
    if settings.retriever != "bm25":
        by_meaning.check()  # before anything takes time
    words = open_words(index, settings.language, means.jobs, progress, means.workers)
    queries = {topic.id: weights(topic.terms, words.words_of_language) for topic in asked}
    structured = settings.cas != "ignore" and any(topic.query is not None for topic in asked)
    by_segment = words.stored and settings.retriever == "bm25" and not (structured or scorer or chunks)
    ranker, vectors, begin = UnitRanker(words, settings, scorer, chunks), None, perf_counter()
    if by_segment and len(words.segments) > (_TOGETHER if means.workers is None else 0):
        with given_workers(means.jobs, means.workers) as crew:
            found, score, sizes, known = ask_segments(words, settings, queries, crew, progress)
    else:
        if settings.retriever != "bm25":
            vectors = unit_vectors(ranker.units, by_meaning, chunks, progress)
        _, begin = ranker.sums, perf_counter()  # made once, not by the first question
        rows, score, sizes = flat(ranked_lists(ranker, vectors, asked, queries, progress))
        found, known = places(ranker.units, rows), None
    spent = 1000 * (perf_counter() - begin) / max(len(asked), 1)
    unread = {} if given.kind == "element" else {"--tags": given.tags, "--min-words": given.min_words is not None}
    remarks = [f"{name} says nothing of --unit {given.unit} and was ignored" for name in unread if unread[name]]
    remarks += mixed(index, options.get("unit"), chunks)
    remarks += _remarks(words, settings, asked, queries, (sizes, known))
    formula = {"bm25": "own scorer" if scorer else "BM25"}.get(settings.retriever, settings.retriever)
    fused = f" fusion={FUSION.description()}" if formula == "hybrid" else ""
    described = settings.description(formula) + ("" if vectors is None else f"{fused} {vectors.description()}")
    run_id = means.run_id or default_run_id(settings, formula.lower())
    run = as_run(found, score, sizes, task=settings.rules.name, run_id=run_id, description=described)
    run = replace(run, remarks=tuple(map(worded, remarks)))
    how = settings.description(formula, brief=True)
    how += f" stemmer={stemmer_version(settings.language) or 'none'}"
    if vectors is None:
        return MadeRun(run, how, spent)
    made = vectors.made
    numbers = (0, 0, 0) if made is None else (made.asked, made.tokens, made.cut_texts)
    return MadeRun(run, f"{how}{fused} {vectors.settings.description()}", spent, len(vectors.vectors), *numbers)


def _run_of(added: Plugin, name: str, listed: UnitList, asked: Sequence[Topic], run_id: str) -> MadeRun:
    """Return the run of a retriever that another package adds."""
    begin = perf_counter()
    run = added.value(listed, {topic.id: topic.title for topic in asked})
    if not isinstance(run, Run):
        what = f"expected a run of the retriever {name!r}, found {run!r:.80}"
        raise UsageError(f"{added.origin}: {what}; return units.run(scores)")
    spent, how = 1000 * (perf_counter() - begin) / max(len(asked), 1), f"{name} of {added.origin}"
    said = run.attributes.get("description", "own scores").replace("own scores", how, 1)
    return MadeRun(replace(run, run_id=run_id, attributes={**run.attributes, "description": said}), how, spent)


def added_retriever(name: Any) -> Plugin | None:
    """Return the retriever that another package adds under a name: a function of units and questions, as for sweeps."""
    ours = not isinstance(name, str) or name in RETRIEVERS
    return None if ours else plugin("retrievers", name)


FUSION = Fusion()  # how the two rankings of ``hybrid`` become one


def ranked_lists(
    ranker: UnitRanker,
    vectors: UnitVectors | None,
    topics: Sequence[Topic],
    queries: Mapping[str, Weights],
    progress: Progress | None = None,
) -> dict[str, Listed]:
    """Return the lists of topics: by words, by vectors, or by both, where vectors and words are found."""
    settings, units = ranker.settings, ranker.units
    if vectors is None:
        found, rules = {}, settings.rules
        enough = settings.limit if rules.overlap and not (rules.grouped or rules.one_per_article) else 0
        for number, topic in enumerate(topics):
            if progress:
                progress(number, len(topics), "searching")
            if settings.cas != "ignore" and topic.query is not None:
                scored = score_structured(ranker, topic.query)
            else:
                scored = ranker.score(queries[topic.id], enough)
            found[topic.id] = task_list(units, *scored, rules, settings.limit)
        return found
    texts = [topic.title or " ".join(term.text for term in topic.terms) for topic in topics]
    asked = vectors.queries(texts)
    names = [topic.id for topic in topics]
    if settings.retriever == "dense":
        return dict(zip(names, vectors.lists(asked, settings.rules, settings.limit), strict=True))
    near = vectors.nearest(asked, settings.depth)
    lists = {}
    for name, other in zip(names, near, strict=True):
        both = [best(units, *found, settings.depth) for found in (ranker.score(queries[name], settings.depth), other)]
        every, result = np.unique(np.concatenate([unit for unit, _ in both]), return_inverse=True)
        sizes = [len(unit) for unit, _ in both]
        rank = np.concatenate([np.arange(1, size + 1) for size in sizes])
        rows = Ranked(np.repeat([0, 1], sizes), np.zeros(len(rank), np.int64), result, rank, None)
        lists[name] = task_list(units, every, fused_scores(rows, FUSION), settings.rules, settings.limit)
    return lists


def split_options(options: Mapping[str, Any]) -> tuple[dict[str, Any], VectorSettings]:
    """Return the options that say what is retrieved, and those that say where vectors come from."""
    given = {name: options[name] for name in VECTOR_OPTIONS if options.get(name) is not None}
    return {name: value for name, value in options.items() if name not in VECTOR_OPTIONS}, VectorSettings(**given)


def mixed(index: Index, unit: str | None, chunks: Chunks | None = None) -> list[str]:
    """Return a remark on the unit that was chosen, where some documents have inner elements and others do not."""
    inner = with_elements(index)
    if unit is not None or chunks is not None or inner in {0, len(index)}:
        return []
    unit = default_unit(index)
    return [f"{inner:,} of {len(index):,} documents have elements, so that the unit is {unit}; give unit= for another"]


def default_run_id(settings: RetrievalSettings, formula: str = "bm25") -> str:
    """Return the name of a run that has none: how it ranks, what it returns, and for which task."""
    formula = "bm25" if formula == "own scorer" else formula
    return f"{formula}-{settings.unit.replace(':', '-').replace('/', '-')}-{settings.rules.name}"


def _remarks(
    words: IndexedWords,
    settings: RetrievalSettings,
    topics: Sequence[Topic],
    queries: Mapping[str, Weights],
    found: tuple[Mapping[str, int], Collection[str] | None],
) -> list[str]:
    """Return what a reader of the run should know, by how many results there are, and the words that are known."""
    (sizes, known), by_words, tags, cas = found, settings.retriever != "dense", words.tags, settings.cas
    empty = [topic.id for topic in topics if by_words and not queries[topic.id]]
    none = [topic.id for topic in topics if topic.id not in empty and not sizes[topic.id]]
    terms = dict.fromkeys(word for query in queries.values() for term in query for word in term) if by_words else {}
    unknown = [one for one in terms if (not len(words.occurrences(one)) if known is None else one not in known)]
    lost = [topic.id for topic in topics if topic.query is not None and impossible(topic.query, tags, cas)]
    remarks = (
        (lost, "question asks", "questions ask", "for elements that the collection does not have"),
        (empty, "question holds", "questions hold", "nothing to search for"),
        (none, "question finds", "questions find", "nothing"),
        (unknown, "question word (stem) occurs", "question words (stems) occur", "in no document"),
    )
    return [
        f"{len(some):,} {one if len(some) == 1 else many} {what}: {', '.join(some[:_SHOWN])}"
        f"{' …' if len(some) > _SHOWN else ''}"
        for some, one, many, what in remarks
        if some
    ]


def check_topics(
    topics: Iterable[Topic], index: Index | None = None, *, few: int = 5, many: float = 0.5, jobs: int = 1
) -> list[tuple[int | None, list[str]]]:
    """Return, for every topic, how many documents hold a word that it wants (None without an index), and what is wrong.

    What a set under construction is looked through for (Lalmas & Tombros 2007, section 2.2): titles that are there
    already, missing fields, terms that the collection does not have, fewer than `few` documents, more than a share.
    """
    ranker = None
    if index is not None:
        settings = settings_for(index, {"unit": "document"}).resolved()
        ranker = UnitRanker(open_words(index, settings.language, jobs), settings)
    known, checked = dict[str, str](), list[tuple[int | None, list[str]]]()
    for topic in topics:
        title = topic.title or topic.castitle
        said = {"title": title, "description": topic.description, "narrative": topic.narrative}
        found, wrong = None, [f"no {name}" for name, text in said.items() if not text]
        first = known.setdefault(" ".join(title.casefold().split()), topic.id)
        wrong += [f"the title of topic {first}"] if title and first != topic.id else []
        if ranker is not None and index is not None:
            query = weights(topic.terms, ranker.words.words_of_language)
            found = len(ranker.score(query)[0])
            unknown = [word for word in dict.fromkeys(chain(*query)) if not len(ranker.words.occurrences(word))]
            wrong += [f"not in the collection: {', '.join(unknown)}"] if unknown else []
            wrong += [f"fewer than {few} documents"] if found < few else []
            wrong += [f"more than {many:.0%} of the documents"] if found > many * len(index) else []
        checked.append((found, wrong))
    return checked


_WIDTH = 160  # characters of a snippet


@dataclass(frozen=True)
class Hit:
    """One result of a search."""

    document: str
    path: str | None
    """None for passages and plain texts."""
    start: int
    end: int
    """Code points in the document's text."""
    score: float
    snippet: str
    marks: tuple[tuple[int, int], ...]
    """Where the query's words stand in the snippet."""

    def marked(self, before: str = "*", after: str = "*") -> str:
        """Return the snippet with its marks written into it.

        >>> Hit("a", None, 0, 9, 1.0, "The tides", ((4, 9),)).marked()
        'The *tides*'
        """
        text = self.snippet
        for first, end in reversed(self.marks):
            text = f"{text[:first]}{before}{text[first:end]}{after}{text[end:]}"
        return text


def search(
    index: Index | str | Path | Mapping[str, str],
    query: str,
    *,
    results: int = 10,
    scorer: Scorer | None = None,
    jobs: int = 1,
    progress: Progress | None = None,
    **options: Any,
) -> tuple[Hit, ...]:
    """Return the best results of a collection for one query; the options are those of `retrieve`.

    A query that begins with ``/`` is NEXI, read as ``cas`` says.

    >>> from focuseval import open_documents
    >>> [hit] = search(open_documents({"a": "Tides follow the moon.", "b": "Ships sail."}), "tide")
    >>> hit.document, hit.marked()
    ('a', '*Tides* follow the moon')
    """
    index = open_documents(index)
    options, by_meaning = split_options(options)
    settings = settings_for(index, {**options, "limit": results}).resolved()
    words = open_words(index, settings.language, jobs, progress)
    ranker, topic = UnitRanker(words, settings, scorer), plain_topic("query", query, Place("query", 1))
    terms = weights(topic.terms, words.words_of_language)
    if settings.retriever == "bm25" and not any(weight > 0 for weight in terms.values()):
        left = ' (stop words are left out; language="none" keeps them)' if settings.language != "none" else ""
        what = f"expected a word to look for, found {topic.title!r}{left}"
        raise FormatError(what, remedy="write a word that is wanted")
    if topic.query is not None and (step := impossible(topic.query, words.tags, settings.cas)):
        what = f"expected elements of the collection, found {step}, which it does not have"
        raise CollectionError(what, at="query", remedy="'focuseval stats INDEX' lists its tags, or use cas=\"vague\"")
    vectors = None if settings.retriever == "bm25" else unit_vectors(ranker.units, by_meaning, None, progress)
    rows, scores = ranked_lists(ranker, vectors, [topic], {topic.id: terms})[topic.id]
    found = places(ranker.units, rows)
    spans = zip(ranker.units.document(rows).tolist(), found.start.tolist(), found.end.tolist(), strict=True)
    wanted = occurrences({term: weight for term, weight in terms.items() if weight > 0}, words)
    marks = [words["word"][(one.first[:, None] + np.arange(len(one.term))).reshape(-1)] for one in wanted]
    return tuple(
        Hit(name, path, start, end, score, *_snippet(words, document, start, end, marks))
        for name, path, score, (document, start, end) in zip(
            found.document.to_pylist(), found.path.to_pylist(), scores.tolist(), spans, strict=True
        )
    )


def _snippet(
    words: IndexedWords, document: int, start: int, end: int, marks: Sequence[NDArray[np.int64]]
) -> tuple[str, tuple[tuple[int, int], ...]]:
    """Return a line of a unit's text that shows most of the query's words, in whole words, and where they stand."""
    low, high = words["word_bounds"][document : document + 2]
    begins, ends = words["start"][low:high], words["end"][low:high]
    first, last = (int(low + np.searchsorted(begins, edge)) for edge in (start, end))
    inside = [mark[np.searchsorted(mark, first) : np.searchsorted(mark, last)] for mark in marks]
    at = np.unique(np.concatenate([np.zeros(0, np.int64), *inside]))
    spans, left, right = list[tuple[int, int]](), start, min(end, start + _WIDTH)
    if len(at):
        begin, finish = words["start"][at], words["end"][at]
        stops = np.searchsorted(begin, begin + _WIDTH)
        shown = sum(
            (np.searchsorted(some, at[stops - 1], "right") > np.searchsorted(some, at)) * 100 for some in inside
        )
        best = int(np.argmax(shown + (stops - np.arange(len(at)))))
        spans = list(zip(begin[best : stops[best]].tolist(), finish[best : stops[best]].tolist(), strict=True))
        left = max(start, spans[0][0] - max((_WIDTH - (spans[-1][1] - spans[0][0])) // 3, 0))
        right = min(end, max(left + _WIDTH, spans[-1][1]))
    whole = np.flatnonzero((begins >= left) & (ends <= right))
    if len(whole):
        left, right = int(begins[whole[0]]), int(ends[whole].max())
    text = words.index.text(document)[left:right]
    # spans touch or overlap where words are pairs of characters; no word holds a blank
    shown_at = ((len(_blanks(text[: begin - left])), finish - begin) for begin, finish in merge(spans))
    return _blanks(text), tuple((at, at + size) for at, size in shown_at)


def _blanks(text: str) -> str:
    """Write any white space as one blank; those at the ends stay."""
    inner = " ".join(text.split())
    return (" " if text[:1].isspace() else "") + inner + (" " if inner and text[-1:].isspace() else "")


@dataclass(frozen=True, eq=False)
class UnitList:
    """All units of a collection that may be returned, in its order; every column has an entry for each."""

    document: pa.Array
    """Ids of the documents."""
    path: pa.Array | None
    """Paths of elements; None where all are passages or plain texts."""
    start: NDArray[np.int64]
    """First code points in the documents."""
    end: NDArray[np.int64]
    """Past the last code points."""
    words: NDArray[np.int64]
    """How many words count in each."""
    source: UnitSet
    rows: NDArray[np.int64]
    """The units' numbers in the source."""
    settings: RetrievalSettings

    def __len__(self) -> int:
        return len(self.rows)

    def texts(self) -> list[str]:
        """Return the texts of all units."""
        index, document = self.source.words.index, self.source.document(self.rows)
        return list(span_texts(index, document, self.start, self.end))

    def run(self, scores: Mapping[str, ArrayLike], run_id: str | None = None, **options: Any) -> Run:
        """Return a run from scores: for every topic a number for each unit, NaN where it must not be returned.

        Parameters
        ----------
        scores
            By topic id. The best units are listed as the task wants them, whatever the scores' signs.
        options
            ``task`` and ``limit``.

        >>> from focuseval import open_documents
        >>> every = units(open_documents({"a": "Tides.", "b": "Ships."}), unit="document")
        >>> every.run({"1": [0.2, 0.9]}).document.to_pylist()
        ['b', 'a']
        """
        settings = replace(self.settings, **options).resolved()
        lists = {}
        for topic, given in scores.items():
            score = np.asarray(given, np.float64)
            if score.shape != (len(self),):
                what = f"expected {len(self):,} scores for topic {topic!r}, found an array of shape {score.shape}"
                raise FormatError(what, remedy="give one for each unit, in their order")
            there = ~np.isnan(score)
            lists[topic] = task_list(self.source, self.rows[there], score[there], settings.rules, settings.limit)
        task, run_id = settings.rules.name, run_id or default_run_id(settings, "own")
        described = f"own scores {settings.unit} task={task} limit={settings.limit}"
        rows, score, sizes = flat(lists)
        return as_run(places(self.source, rows), score, sizes, task=task, run_id=run_id, description=described)


def units(
    index: Index, unit: str | None = None, *, chunks: Chunks | None = None, jobs: int = 1, **options: Any
) -> UnitList:
    """Return the units of a collection: elements, documents, passages or chunks, each with its place and text.

    The options are those of `retrieve` that say what may be returned: ``tags``, ``min_words``, ``language``.
    """
    settings = settings_for(index, {"unit": unit, **options}, chunks).resolved()
    words = open_words(index, settings.language, jobs)
    source = unit_set(words, settings, chunks)
    rows = np.flatnonzero(source.returnable)
    at, length = places(source, rows), source.length[rows].astype(np.int64)
    own = replace(settings, task=options.get("task"))
    return UnitList(at.document, at.paths, at.start, at.end, length, source, rows, own)
