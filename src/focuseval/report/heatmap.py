"""Articles as a heat map: what was highlighted, what every run returned, where a reader should and did enter.

An article is a (topic, document) pair, packed into one key, so that all topics are handled at once.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from focuseval.errors import MissingDataError
from focuseval.spans import Spans, pack, union
from focuseval.values import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from focuseval.match import Prepared
    from focuseval.report.evidence import Evidence
    from focuseval.report.observe import Retrieved

    Integers = NDArray[np.int64]

MOST_MARKED = 12
"""Results of a run in one article whose ranks are shown at their beginnings."""
DEPTH = 20
"""Articles of a run without relevance are of interest up to this rank."""


@dataclass(frozen=True, eq=False)
class Done:
    """What one run did in every article."""

    returned: Spans
    """Its text, grouped by article."""
    relevant: Integers
    """Highlighted characters returned."""
    rank: Integers
    """Rank of the article, 0 where it was not returned."""
    entry: Integers
    """Where the first result begins, −1 where there is none."""
    group: Integers
    """Of every result its article; results of an article in rank order."""
    start: Integers
    place: Integers
    """Rank of the result."""

    def begins(self, article: int) -> NDArray[np.int64]:
        """Return start and rank of every result in one article."""
        low, high = np.searchsorted(self.group, [article, article + 1])
        return np.stack([self.start[low:high], self.place[low:high]], axis=1)


@dataclass(frozen=True, eq=False)
class ArticleTable:
    """Articles that are relevant or were returned, with what each drawn run did in them."""

    topic: Integers
    document: Integers
    """Row in the index."""
    judged: Integers
    """0 not judged, 1 judged not relevant, 2 relevant."""
    bep: Integers
    """Best entry point, −1 where there is none."""
    highlights: Spans
    """Grouped by row of this table."""
    done: tuple[Done, ...]
    """Per drawn run."""

    def __len__(self) -> int:
        """Return the number of articles."""
        return len(self.topic)

    @property
    def highlighted(self) -> Integers:
        """For every article, its highlighted characters."""
        return self.highlights.total(len(self))

    @property
    def size(self) -> Integers:
        """Runs × articles: characters returned, each once."""
        return self._table([done.returned.total(len(self)) for done in self.done])

    @property
    def relevant(self) -> Integers:
        """Runs × articles: highlighted characters returned."""
        return self._table([done.relevant for done in self.done])

    @property
    def rank(self) -> Integers:
        """Runs × articles: rank of the article, 0 where it was not returned."""
        return self._table([done.rank for done in self.done])

    def _table(self, rows: list[Integers]) -> Integers:
        return np.array(rows, np.int64).reshape(len(self.done), len(self))


def articles(evidence: Evidence, topic: int | None = None, depth: int | None = DEPTH) -> ArticleTable:
    """Return the articles of one counted topic or of all; of those without relevance the first `depth` of every run."""
    prepared = evidence.prepared
    found = [_of_topic(seen.retrieved, topic) for seen in evidence.observed]
    gold = _gold_keys(prepared, topic, relevant=True)
    kept = [_kept(r, gold, depth) for r in found]
    keys = np.unique(np.concatenate([gold, *(pack(r.topic, r.document)[k] for r, k in zip(found, kept, strict=True))]))
    highlights = _highlights(prepared, keys)
    return ArticleTable(
        topic=keys >> 32,
        document=keys & 0xFFFFFFFF,
        judged=np.isin(keys, _gold_keys(prepared, topic, relevant=False)).astype(np.int64) + np.isin(keys, gold),
        bep=_entry_points(prepared, keys),
        highlights=highlights,
        done=tuple(_done(run, rows, keys, highlights) for run, rows in zip(found, kept, strict=True)),
    )


def _done(run: Retrieved, rows: Integers, keys: Integers, highlights: Spans) -> Done:
    """Sum up what a run did in the articles with these keys."""
    group = np.searchsorted(keys, pack(run.topic[rows], run.document[rows]))
    spans = union(group, run.start[rows], run.end[rows])
    inside = highlights.covered(spans.group, spans.start, spans.end)
    order = np.argsort(group, kind="stable")
    return Done(
        returned=spans,
        relevant=np.bincount(spans.group, inside, len(keys)).astype(np.int64),
        rank=_first(group, run.rank[rows], len(keys), 0),
        entry=_first(group, run.entry[rows], len(keys), -1),
        group=group[order],
        start=run.start[rows][order],
        place=run.place[rows][order],
    )


def _of_topic(run: Retrieved | None, topic: int | None) -> Any:
    """Return a run's results, those of one topic where it is named; a run whose places are unknown has none."""
    from focuseval.report.observe import Retrieved  # noqa: PLC0415  only its constructor is needed, here

    if run is None:
        nothing = np.zeros(0, np.int64)
        return Retrieved(nothing, nothing, nothing, nothing, nothing, nothing, nothing)
    if topic is None:
        return run
    low, high = np.searchsorted(run.topic, [topic, topic + 1])
    names = ("topic", "document", "start", "end", "entry", "rank", "place")
    return replace(run, **{name: getattr(run, name)[low:high] for name in names})


def _kept(run: Retrieved, gold: Integers, depth: int | None) -> Integers:
    known = run.document >= 0
    near = known if depth is None else known & (run.rank <= depth)
    return np.flatnonzero(near | (known & np.isin(pack(run.topic, np.maximum(run.document, 0)), gold)))


def _gold_keys(prepared: Prepared, topic: int | None, *, relevant: bool) -> Integers:
    """Return the keys of the judged articles that the index has."""
    row = prepared.document_rows[prepared.gold.articles.document].astype(np.int64)
    kept = (prepared.topic >= 0) & (row >= 0) & (prepared.relevant if relevant else True)
    if topic is not None:
        kept &= prepared.topic == topic
    return np.unique(pack(prepared.topic[kept], row[kept]))


def _highlights(prepared: Prepared, keys: Integers) -> Spans:
    """Return the highlighted text of the articles with these keys; none where the gold has no text."""
    try:
        spans = prepared.highlights
    except MissingDataError:
        return union([], [], [])
    articles = prepared.gold.articles
    row = prepared.document_rows[articles.document[spans.group]].astype(np.int64)
    key = pack(prepared.topic[spans.group], np.maximum(row, 0))
    here = (row >= 0) & np.isin(key, keys)
    return union(np.searchsorted(keys, key[here]), spans.start[here], spans.end[here])


def _entry_points(prepared: Prepared, keys: Integers) -> Integers:
    judged = prepared.gold.articles
    row = prepared.document_rows[judged.document].astype(np.int64)
    kept = np.flatnonzero((prepared.topic >= 0) & (row >= 0) & (judged.bep >= 0))
    key = pack(prepared.topic[kept], row[kept])
    here = np.isin(key, keys)
    bep = np.full(len(keys), -1, np.int64)
    bep[np.searchsorted(keys, key[here])] = judged.bep[kept][here]
    return bep


def _first(group: Integers, values: Integers, groups: int, missing: int) -> Integers:
    """Return every group's first value."""
    found = np.full(groups, missing, np.int64)
    found[group[::-1]] = values[::-1]  # of several assignments the last one, which is the first row, stays
    return found


def article_view(table: ArticleTable, row: int, document: str) -> dict[str, Any]:
    """Return one article as plain values; a run without results in it is left out."""
    runs = {str(number): _run_view(done, row) for number, done in enumerate(table.done) if done.rank[row]}
    return {
        "doc": document,
        "judged": int(table.judged[row]),
        "bep": int(table.bep[row]),
        "gold": _flat(table.highlights, row),
        "runs": runs,
    }


def _run_view(done: Done, row: int) -> dict[str, Any]:
    begins = done.begins(row)
    return {
        "spans": _flat(done.returned, row),
        "rank": int(done.rank[row]),
        "entry": int(done.entry[row]),
        "results": len(begins),
        "begins": begins[:MOST_MARKED].reshape(-1).tolist(),
    }


def _flat(spans: Spans, group: int) -> list[int]:
    """Return the spans of one group, starts and ends in turn."""
    low, high = np.searchsorted(spans.group, [group, group + 1])
    flat: list[int] = np.stack([spans.start[low:high], spans.end[low:high]], axis=1).reshape(-1).tolist()
    return flat
