"""Articles as a heat map: what was highlighted, what every run returned, where a reader should and did enter.

An article is a (topic, document) pair, packed into one key, so that all topics are handled at once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from focuseval.errors import MissingDataError
from focuseval.spans import Spans, pack, union

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from focuseval.match import Prepared
    from focuseval.report.ground import Ground
    from focuseval.report.observe import Retrieved

    Integers = NDArray[np.int64]

DEPTH = 20
"""Articles of a run without relevance are of interest up to this rank."""


@dataclass(frozen=True)
class Articles:
    """Articles that are relevant or were returned, with what each drawn run did in them."""

    topic: Integers
    document: Integers
    """Row in the index."""
    judged: NDArray[np.int64]
    """0 not judged, 1 judged not relevant, 2 relevant."""
    bep: Integers
    """Best entry point, −1 where there is none."""
    highlights: Spans
    """Grouped by row of this table."""
    returned: tuple[Spans, ...]
    """Per drawn run, grouped by row of this table."""
    relevant: Integers
    """Runs × articles: highlighted characters returned."""
    rank: Integers
    """Runs × articles: rank of the article, 0 where it was not returned."""
    entry: Integers
    """Runs × articles: where the first result begins, −1 where there is none."""

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
        return np.array([spans.total(len(self)) for spans in self.returned]).reshape(len(self.returned), len(self))


def articles(ground: Ground, topic: int | None = None, depth: int | None = DEPTH) -> Articles:
    """Return the articles of one counted topic or of all; of those without relevance the first `depth` of every run."""
    prepared = ground.prepared
    found = [_of_topic(seen.retrieved, topic) for seen in ground.observed]
    gold = _gold_keys(prepared, topic, relevant=True)
    kept = [_kept(r, gold, depth) for r in found]
    keys = np.unique(np.concatenate([gold, *(pack(r.topic, r.document)[k] for r, k in zip(found, kept, strict=True))]))
    highlights, bep = _highlights(prepared, keys), _entry_points(prepared, keys)
    returned, relevant, rank, entry = [], [], [], []
    for run, rows in zip(found, kept, strict=True):
        group = np.searchsorted(keys, pack(run.topic[rows], run.document[rows]))
        spans = union(group, run.start[rows], run.end[rows])
        inside = highlights.covered(spans.group, spans.start, spans.end)
        returned.append(spans)
        relevant.append(np.bincount(spans.group, inside, len(keys)).astype(np.int64))
        rank.append(_first(group, run.rank[rows], len(keys), 0))
        entry.append(_first(group, run.entry[rows], len(keys), -1))
    shape = (len(found), len(keys))
    judged = np.isin(keys, _gold_keys(prepared, topic, relevant=False)).astype(np.int64) + np.isin(keys, gold)
    tables = (np.array(table, np.int64).reshape(shape) for table in (relevant, rank, entry))
    return Articles(keys >> 32, keys & 0xFFFFFFFF, judged, bep, highlights, tuple(returned), *tables)


def _of_topic(run: Retrieved | None, topic: int | None) -> Any:
    """Return a run's results, those of one topic where it is named; a run whose places are unknown has none."""
    from focuseval.report.observe import Retrieved  # noqa: PLC0415  only its constructor is needed, here

    if run is None:
        nothing = np.zeros(0, np.int64)
        return Retrieved(nothing, nothing, nothing, nothing, nothing, nothing)
    if topic is None:
        return run
    low, high = np.searchsorted(run.topic, [topic, topic + 1])
    names = ("topic", "document", "start", "end", "entry", "rank")
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


def article_view(table: Articles, row: int, document: str) -> dict[str, Any]:
    """Return one article as plain values; a run without results in it is left out."""
    runs = {
        str(number): {
            "spans": _flat(spans, row),
            "rank": int(table.rank[number, row]),
            "entry": int(table.entry[number, row]),
        }
        for number, spans in enumerate(table.returned)
        if table.rank[number, row]
    }
    return {
        "doc": document,
        "judged": int(table.judged[row]),
        "bep": int(table.bep[row]),
        "gold": _flat(table.highlights, row),
        "runs": runs,
    }


def _flat(spans: Spans, group: int) -> list[int]:
    """Return the spans of one group, starts and ends in turn."""
    low, high = np.searchsorted(spans.group, [group, group + 1])
    flat: list[int] = np.stack([spans.start[low:high], spans.end[low:high]], axis=1).reshape(-1).tolist()
    return flat
