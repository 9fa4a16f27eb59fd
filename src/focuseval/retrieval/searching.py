"""One query: the best units with a snippet of each, the query's words marked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from focuseval.data.topics.topic import plain_topic
from focuseval.errors import CollectionError, FormatError, Place
from focuseval.retrieval.query import occurrences, weights
from focuseval.retrieval.results import places
from focuseval.retrieval.retrieving import answer, settings_for
from focuseval.retrieval.score import Scorer, UnitRanker
from focuseval.retrieval.store import open_words
from focuseval.retrieval.structured import impossible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from focuseval.collection.index import Index
    from focuseval.data.topics import Topic
    from focuseval.retrieval.query import Weights
    from focuseval.retrieval.store import IndexedWords, Progress

_WIDTH = 160
"""Characters of a snippet."""


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
        pieces, at = [], 0
        for first, end in self.marks:
            pieces += [self.snippet[at:first], before, self.snippet[first:end], after]
            at = end
        return "".join([*pieces, self.snippet[at:]])


def search(
    index: Index,
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
    settings = settings_for(index, {**options, "limit": results}).resolved()
    words = open_words(index, settings.language, jobs, progress)
    ranker, topic = UnitRanker(words, settings, scorer), plain_topic("query", query, Place("query", 1))
    terms = weights(topic.terms, words.words_of_language)
    _check(ranker, topic, terms)
    rows, scores = answer(ranker, topic, terms)
    found = places(ranker.units, rows)
    paths = [None] * len(rows) if found.path is None else found.path.to_pylist()
    spans = zip(ranker.units.document(rows).tolist(), found.start.tolist(), found.end.tolist(), strict=True)
    marks = _wanted_words(words, terms)
    return tuple(
        Hit(name, path, start, end, score, *_snippet(words, document, start, end, marks))
        for name, path, score, (document, start, end) in zip(
            found.document.to_pylist(), paths, scores.tolist(), spans, strict=True
        )
    )


def _check(ranker: UnitRanker, topic: Topic, terms: Weights) -> None:
    """Refuse a query that cannot find anything."""
    if not any(weight > 0 for weight in terms.values()):
        left = " (stop words are left out; --language none keeps them)" if ranker.settings.language != "none" else ""
        what = f"expected a word to look for, found {topic.title!r}{left}"
        raise FormatError(what, remedy="write a word that is wanted")
    if topic.query is not None and ranker.settings.cas == "strict":
        step = impossible(topic.query, ranker.words.tags)
        if step:
            what = f"expected elements of the collection, found {step}, which it does not have"
            raise CollectionError(what, at="query", remedy="'focuseval stats INDEX' lists its tags, or use --cas vague")


def _wanted_words(words: IndexedWords, terms: Weights) -> list[NDArray[np.int64]]:
    """Return, for every wanted term, the numbers of its words among all words of the collection."""
    wanted = {term: weight for term, weight in terms.items() if weight > 0}
    found = occurrences(wanted, words)
    return [words["word"][(one.first[:, None] + np.arange(one.size)).reshape(-1)] for one in found]


def _snippet(
    words: IndexedWords, document: int, start: int, end: int, marks: Sequence[NDArray[np.int64]]
) -> tuple[str, tuple[tuple[int, int], ...]]:
    """Return the part of a unit's text that shows most of the query's words, and where they stand in it."""
    low, high = words["word_bounds"][document : document + 2]
    first = int(low + np.searchsorted(words["start"][low:high], start))
    last = int(low + np.searchsorted(words["start"][low:high], end))
    inside = [mark[np.searchsorted(mark, first) : np.searchsorted(mark, last)] for mark in marks]
    at = np.unique(np.concatenate([np.zeros(0, np.int64), *inside]))
    if not len(at):
        return _cut(words, document, (start, min(end, start + _WIDTH)), [])
    begin, finish = words["start"][at], words["end"][at]
    ends = np.searchsorted(begin, begin + _WIDTH)
    shown = sum((np.searchsorted(some, at[ends - 1], "right") > np.searchsorted(some, at)) * 100 for some in inside)
    best = int(np.argmax(shown + (ends - np.arange(len(at)))))
    spans = list(zip(begin[best : ends[best]].tolist(), finish[best : ends[best]].tolist(), strict=True))
    lead = max((_WIDTH - (spans[-1][1] - spans[0][0])) // 3, 0)
    left = max(start, spans[0][0] - lead)
    return _cut(words, document, (left, min(end, max(left + _WIDTH, spans[-1][1]))), spans)


def _cut(
    words: IndexedWords, document: int, part: tuple[int, int], spans: Sequence[tuple[int, int]]
) -> tuple[str, tuple[tuple[int, int], ...]]:
    """Return a part of a text as one line of whole words, white space as single blanks, and where spans lie in it."""
    low, high = words["word_bounds"][document : document + 2]
    begins, ends = words["start"][low:high], words["end"][low:high]
    known = np.flatnonzero((begins >= part[0]) & (ends <= part[1]))
    left, right = (int(begins[known[0]]), int(ends[known].max())) if len(known) else part
    text = words.index.text(document)
    pieces: list[str] = []
    marks: list[tuple[int, int]] = []
    size, at = 0, left
    for first, end in _merged(spans):
        before, word = _blanks(text[at:first]), text[first:end]
        pieces += [before, word]
        marks.append((size + len(before), size + len(before) + len(word)))
        size, at = size + len(before) + len(word), end
    return "".join([*pieces, _blanks(text[at:right])]), tuple(marks)


def _merged(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Join spans that touch or overlap, as pairs of characters do."""
    found: list[tuple[int, int]] = []
    for first, end in spans:
        if found and first <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((first, end))
    return found


def _blanks(text: str) -> str:
    """Write any white space as one blank; those at the ends stay."""
    inner = " ".join(text.split())
    return (" " if text[:1].isspace() else "") + inner + (" " if inner and text[-1:].isspace() else "")
