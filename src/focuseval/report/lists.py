"""What every run returned for every topic, as the page reads it: ranked lists beside what was highlighted.

Documents are numbered once for the whole report. The numbers of a topic stand in flat lists, so that a hundred topics
of twenty runs take less than a megabyte.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from focuseval.report.evidence import Evidence, Retrieved

Integers = NDArray[np.int64]

LISTED = 20  # results of every list that a report shows, whatever they are
MOST_LISTED = 60_000  # results in a page, at about 16 bytes each; of larger campaigns fewer of every list are shown
MOST_BELOW = 20_000  # results below those, in relevant documents, at about 30 bytes each


@dataclass(frozen=True, eq=False)
class Lists:
    """Judgements and results by topic: documents by row of the index, or beyond its end for those it lacks."""

    topic: Integers  # of every judged document
    document: Integers
    relevant: NDArray[np.bool_]
    bep: Integers
    """Best entry point, −1 where there is none."""
    span_topic: Integers  # of every highlighted passage
    span_document: Integers
    start: Integers
    end: Integers
    runs: tuple[Retrieved | None, ...]
    """Of every drawn run; None where its results have no known places."""
    size: int  # documents in the index
    lost: tuple[str, ...] = ()  # ids of documents that the index does not have
    answers: tuple[Mapping[int, dict[str, Any]], ...] = ()
    """Of every drawn run, topic → its answer; see `focuseval.report.per_topic`."""

    def document_id(self, evidence: Evidence, row: int) -> str:
        """Return the id of a document."""
        if row >= self.size or evidence.index is None:
            return self.lost[row - self.size]
        return str(evidence.index.ids[row])


def lists_of(evidence: Evidence) -> Lists:
    """Gather what was judged and returned; documents that the index lacks get numbers beyond its end."""
    size = 0 if evidence.index is None else len(evidence.index)
    number: dict[str, int] = {}
    prepared = evidence.prepared
    articles, documents = prepared.gold.articles, prepared.gold.documents
    row = prepared.document_rows[articles.document].astype(np.int64)
    for i in np.flatnonzero(row < 0).tolist():
        name = str(documents[int(articles.document[i])])
        row[i] = size + number.setdefault(name, len(number))
    topic = prepared.topic.astype(np.int64)
    spans, none = evidence.highlights, np.zeros(0, np.int64)
    group, start, end = (none, none, none) if spans is None else (spans.group, spans.start, spans.end)
    order = np.argsort(topic[group], kind="stable")
    here = np.flatnonzero(topic >= 0)
    by_topic = here[np.argsort(topic[here], kind="stable")]
    runs = []
    for run in (seen.retrieved for seen in evidence.observed):
        if run is None or not run.lost:
            runs.append(run)
            continue
        document = run.document.copy()
        document[document < 0] = [size + number.setdefault(name, len(number)) for name in run.lost]
        runs.append(replace(run, document=document))
    return Lists(
        topic=topic[by_topic],
        document=row[by_topic],
        relevant=prepared.relevant[by_topic],
        bep=np.asarray(articles.bep[by_topic], np.int64),
        span_topic=topic[group][order],
        span_document=row[group][order],
        start=start[order],
        end=end[order],
        runs=tuple(runs),
        size=size,
        lost=tuple(number),
        answers=tuple(seen.answers for seen in evidence.observed),
    )


def depth_for(topics: int, runs: int) -> tuple[int, int]:
    """Return how many results of every list fit into a page, and how many below those, in relevant documents.

    >>> depth_for(100, 20), depth_for(500, 24)
    ((20, 10), (5, 1))
    """
    lists = max(1, topics * runs)
    return max(1, min(LISTED, MOST_LISTED // lists)), MOST_BELOW // lists


def topic_view(lists: Lists, topic: int, depth: int | None, below: int = MOST_BELOW) -> dict[str, Any]:
    """Return one topic as plain values, documents by row: the first results of every list, without a depth all.

    ``gold``: document, start, end of every highlighted passage; ``bep``: document and best entry point; ``no``:
    documents judged not relevant that some run returned; ``runs``: for every run the number of its results; document,
    start and length of the first ones; and rank, rank of the article, characters before, document, start and length of
    those further down that lie in relevant documents, at most `below`; if there are more, the last one's rank.
    ``paths``, where a run names elements: the paths of each run's first results. ``answers``, where a run is one of
    answers: each run's.
    """
    low, high = np.searchsorted(lists.topic, [topic, topic + 1])
    first, last = np.searchsorted(lists.span_topic, [topic, topic + 1])
    document, relevant = lists.document[low:high], lists.relevant[low:high]
    entries = low + np.flatnonzero(lists.bep[low:high] >= 0)
    views = [_run_view(run, topic, (depth, below), document[relevant]) for run in lists.runs]
    runs, paths = [view for view, _ in views], [own for _, own in views]
    answers = [own.get(topic) for own in lists.answers]
    returned = {row for run in runs for row in (*run[1][::3], *(run[2][3::6] if len(run) > 2 else ()))}
    return (
        {
            "gold": _flat(lists.span_document[first:last], lists.start[first:last], lists.end[first:last]),
            "bep": _flat(lists.document[entries], lists.bep[entries]),
            "no": [row for row in document[~relevant].tolist() if row in returned],
            "runs": runs,
        }
        | ({"paths": paths} if any(paths) else {})
        | ({"answers": answers} if any(answers) else {})
    )


def _run_view(
    run: Retrieved | None, topic: int, most: tuple[int | None, int], relevant: Integers
) -> tuple[list[Any], list[str | None]]:
    """Return a run's results of a topic as numbers, and the paths of its first ones; a range from first to last."""
    if run is None:
        return [0, []], []
    depth, below = most
    low, high = (int(n) for n in np.searchsorted(run.topic, [topic, topic + 1]))
    own = slice(low, high if depth is None else min(high, low + depth))
    size = run.end - run.start
    view: list[Any] = [high - low, _flat(run.document[own], run.entry[own], size[own])]
    every = own.stop + np.flatnonzero(np.isin(run.document[own.stop : high], relevant))
    rows = every[:below]
    if len(every):
        before = np.cumsum(size[low:high])[rows - low] - size[rows]
        view.append(_flat(run.place[rows], run.rank[rows], before, run.document[rows], run.entry[rows], size[rows]))
    if len(every) > len(rows):
        view.append(int(run.place[rows[-1]]) if len(rows) else own.stop - low)
    if run.path is None:
        return view, []
    last = [None] * (own.stop - low) if run.end_path is None else run.end_path[own].to_pylist()
    return view, [
        f"{path} to {end}" if path and end and end != path else path
        for path, end in zip(run.path[own].to_pylist(), last, strict=True)
    ]


def numbered(views: Sequence[dict[str, Any]]) -> list[int]:
    """Give the documents of topics numbers from 0 on, in place, and return their rows in the order of the numbers."""
    columns = {"gold": (0, 3), "bep": (0, 2), "no": (0, 1)}
    flats = [(view[name], *how) for view in views for name, how in columns.items()]
    flats += [(run[1], 0, 3) for view in views for run in view["runs"]]
    flats += [(run[2], 3, 6) for view in views for run in view["runs"] if len(run) > 2]
    rows: dict[int, int] = {}
    for flat, offset, step in flats:
        flat[offset::step] = [rows.setdefault(row, len(rows)) for row in flat[offset::step]]
    return list(rows)


def _flat(*columns: Integers) -> list[int]:
    """Return columns of numbers as one list, row after row."""
    flat: list[int] = np.stack(columns, axis=1).reshape(-1).tolist()
    return flat
