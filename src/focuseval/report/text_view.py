"""The lists and texts of a report: what each run returned, which text is embedded, what is missing.

Windows around what was highlighted and around the first results are put in order of what they explain; as many are
kept, from the first on, as fit into a bound on bytes. What is left of the bound goes to whole documents, those first in
which the runs differ most. Documents are numbered once for the whole report, and the numbers of a topic stand in flat
lists, so that a hundred topics of twenty runs take less than a megabyte.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from focuseval.collection.index import Collection
from focuseval.collection.rendering import KINDS
from focuseval.data.spans import Spans, union
from focuseval.errors import counted
from focuseval.report.evidence import Evidence, Retrieved
from focuseval.report.texts import as_json, excerpt_view, pictured, reader, shortened, size_of

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Windows = tuple[Integers, Integers, Integers]
"""Pieces of documents, the most wanted first: document, start, end."""

NO_HIGHLIGHTS = "The gold highlights no text: what was returned is marked, but not what was found, missed or wasted."
NO_INDEX = (
    "There is no text to show: the report was made without the collection. Give it with --index (made by "
    "'focuseval index') or --docs to see ranked lists and what was highlighted, found, missed and wasted."
)
BELOW = "Beyond rank {depth}, only results from relevant documents are stored."
LISTS = 800_000  # bytes that lists may take; larger ones take what is beyond from the text
PACKED = 4  # times the bytes that a page may have for texts, at most, that compressed texts hold; tried first
FIRST = 5  # results of every list whose text is embedded with the text around it
AROUND = 160  # characters on either side of what was highlighted or returned
SNIPPET = 160  # characters of a result further down the list
LONGEST = 4_000  # characters of one result or passage; of a longer one the beginning is embedded, or the whole document
PER_PIECE = 90
"""Bytes that a piece takes beside its text, roughly: its places, its blocks, and its share of the document's names."""
LISTED = 20  # results of every list that a report shows, whatever they are
MOST_LISTED = 60_000  # results in a page, at about 16 bytes each; of larger campaigns fewer of every list are shown
MOST_BELOW = 20_000  # results below those, in relevant documents, at about 30 bytes each
_HEADINGS = frozenset(KINDS["heading"].split())


def explain(
    evidence: Evidence, budget: int, *, served: bool = False, pages: int = 0
) -> tuple[dict[str, Any], Mapping[str, dict[str, Any]]]:
    """Return ranked lists of all topics and the texts that are embedded; a served report has none of the latter.

    With the texts come pictures of so many `pages` of PDFs, beyond the budget. Of the lists, ``topics`` is what
    `topic_view` returns, with the numbers of ``documents`` and ``paths``. ``said``: what was left out, or why there is
    no text; ``lost``: sentences on documents that the index does not have. ``highlighted``: whether the gold says which
    text is relevant. ``depth``: results of every list that are shown. ``totals``: for every run characters of the whole
    list and highlighted ones among them, topic by topic, or None. ``budgets``: for every run the characters that
    budgets of words and tokens (``300 words``) pay for, topic by topic.
    """
    runs = tuple(evidence.labels[run] for run in evidence.drawn)
    a, b = evidence.places
    if evidence.index is None:
        empty = dict.fromkeys(("topics", "lost", "documents", "paths", "totals", "budgets"), ())
        about = {"runs": runs, "a": a, "b": b, "said": NO_INDEX, "highlighted": True, "served": False, "depth": 0}
        return about | empty, {}
    lists = lists_of(evidence)
    names = evidence.scores.topics
    depth, below = depth_for(len(names), len(runs))
    views = [topic_view(lists, topic, depth, below) for topic in range(len(names))]
    documents = tuple(lists.document_id(evidence, row) for row in numbered(views))
    paths: dict[str, int] = {}  # which views name by number; −1 is none
    for view in views:
        if "paths" in view:
            view["paths"] = [[paths.setdefault(p, len(paths)) if p else -1 for p in run] for run in view["paths"]]
    texts: Mapping[str, dict[str, Any]] = {}
    text = "Every document that is relevant or was returned is here: nothing is left out."
    if not served:
        taken = max(0, len(as_json([views, list(paths)])) - LISTS)
        texts, text = embed(evidence, evidence.index, lists, max(0, budget - taken), depth)
        if pages:
            texts, pictures = pictured(texts, evidence.index, _on_pages(lists), pages)
            text += pictures
    found = {
        "runs": runs,
        "a": a,
        "b": b,
        "topics": views,
        "said": text,
        "lost": _lost(evidence),
        "highlighted": bool(evidence.highlights),
        "served": served,
        "documents": documents,
        "depth": depth,
        "paths": list(paths),
        "totals": [None if r is None or r.totals is None else [n.tolist() for n in r.totals] for r in lists.runs],
        "budgets": [{} if r is None else {n: ends.tolist() for n, ends in r.budgets.items()} for r in lists.runs],
    }
    return found, texts


def embed(
    evidence: Evidence, index: Collection, lists: Lists, budget: int, depth: int
) -> tuple[dict[str, dict[str, Any]], str]:
    """Return document → its view for as much text as the budget allows, and a sentence on what is left out."""
    values, (first, second) = evidence.values(), evidence.pair or (0, None)
    decides = 1 - values[first] if second is None else np.abs(values[first] - values[second])
    weight = np.nan_to_num(decides, nan=0.0)
    windows = wanted(lists, weight, [place for place in evidence.places if place is not None], depth)
    room = float(PACKED * budget)
    while True:
        spans, kept = fitting(windows, index.lengths, int(room))
        texts = _excerpts(index, spans)
        size = size_of(texts)
        if size <= budget:
            break
        room *= 0.97 * budget / size
    share = size / max(1, sum(len(view["text"]) for view in texts.values())) or 1
    read, whole = reader(index), dict[str, dict[str, Any]]()
    embedded, lengths = spans.total(len(index.lengths)), np.asarray(index.lengths)
    left = int((budget - size) / share)
    for row in order_of_documents(lists, weight, depth):
        if 2 * (lengths[row] - embedded[row]) <= left:  # a document that would take half of what is left is passed over
            price = len(as_json(read(row)).encode()) - int(embedded[row])
            if 2 * price <= left:
                left -= price
                whole[lists.document_id(evidence, row)] = read(row)

    def too_large() -> bool:
        replaced = sum(len(texts[name]["text"]) for name in whole if name in texts)
        return size + size_of(whole) - share * replaced > budget

    while whole and too_large():
        whole = dict(list(whole.items())[: len(whole) * 4 // 5])
    sentence = left_out(texts | whole, len(whole), len(windows[0]) - kept, depth)
    longer = any(run is not None and (run.place > depth).any() for run in lists.runs)
    return texts | whole, f"{sentence} {BELOW.format(depth=depth)}" if longer else sentence


def _excerpts(index: Collection, spans: Spans) -> dict[str, dict[str, Any]]:
    """Return document → its pieces; its title is its first heading, which front matter may stand before."""
    rows, first = np.unique(spans.group, return_index=True)
    edges = [*first.tolist(), len(spans)]
    texts = index.texts(rows).to_pylist()
    start, end = spans.start.tolist(), spans.end.tolist()
    views = {}
    for number, (row, name) in enumerate(zip(rows.tolist(), index.ids.take(rows).to_pylist(), strict=True)):
        title = ""
        if index.element_bounds[row + 1] - index.element_bounds[row] > 1:
            elements = index.elements(row)
            heading = next((n for n, tag in enumerate(elements.tags) if tag.lower() in _HEADINGS), None)
            if heading is not None:
                text = texts[number][int(elements.start[heading]) : int(elements.end[heading])]
                title = shortened(" ".join(text.split()))
        pieces = [(start[i], end[i]) for i in range(edges[number], edges[number + 1])]
        views[name] = excerpt_view(texts[number], pieces, title)
    return views


def left_out(texts: Mapping[str, dict[str, Any]], whole: int, windows: int, depth: int) -> str:
    """Say which text the file holds and what it does not."""
    characters = sum(len(view["text"]) for view in texts.values())
    held = f"{characters:,} characters of {counted(len(texts), 'document')} are embedded in this file"
    first = f"first {depth} results of every list are" if depth > 1 else "first result of every list is"
    some = f": {counted(whole, 'document')} as a whole, of the others the text around highlights and first results"
    sentences = f"The {first} here. {held}{', all of them whole' if whole == len(texts) else some}."
    if windows:
        further = counted(windows, "further result")
        sentences += f" The text of {further} is left out; 'focuseval report --serve' shows it."
    return sentences


def _lost(evidence: Evidence) -> tuple[str, ...]:
    """Say which documents the index does not have, and which runs cannot be placed in the text."""
    lines = [] if evidence.highlights else [NO_HIGHLIGHTS]
    gone = np.flatnonzero(evidence.prepared.document_rows < 0)
    lines += _missing("The gold", (str(evidence.prepared.gold.documents[int(i)]) for i in gone))
    for run, seen in zip(evidence.drawn, evidence.observed, strict=True):
        if seen.why_not:
            lines.append(f"{evidence.labels[run]} cannot be shown in the text: {seen.why_not}")
        if seen.retrieved is not None:
            lines += _missing(evidence.labels[run], seen.retrieved.lost)
    return tuple(lines)


def _missing(who: str, lost: Iterable[str]) -> list[str]:
    names = list(dict.fromkeys(lost))
    if not names:
        return []
    some = ", ".join(names[:3]) + (" …" if len(names) > 3 else "")
    documents = counted(len(names), "document")
    return [f"{who} names {documents} that the index does not have ({some}); they cannot be shown."]


def wanted(lists: Lists, weight: Floats, pair: Sequence[int], depth: int) -> Windows:
    """Return the windows of all topics (document, start, end): highlights, first results of A and B, of other runs.

    Within each kind topics that decide come first; of results the first ranks do. Results below `FIRST` get a snippet.
    """
    parts: list[tuple[NDArray[Any], ...]] = []

    def add(kind: int, order: Floats, around: int, windows: Windows) -> None:
        document, start, end = windows
        last = np.minimum(end, start + LONGEST) + around
        parts.append((np.full(len(order), kind), order, document, np.maximum(start - around, 0), last))

    add(0, -weight[lists.span_topic], AROUND, (lists.span_document, lists.start, lists.end))
    for number, run in enumerate(lists.runs):
        if run is None:
            continue
        later = 0 if number in pair else 1
        order = run.place - weight[run.topic] / 2
        first = np.flatnonzero(run.place <= min(FIRST, depth))
        add(1 + later, order[first], AROUND // 2, (run.document[first], run.start[first], run.end[first]))
        rest = np.flatnonzero((run.place > FIRST) & (run.place <= depth))
        end = np.minimum(run.end, run.start + SNIPPET)
        add(3 + later, order[rest], 0, (run.document[rest], run.start[rest], end[rest]))
    kind, order, document, start, end = (np.concatenate(column) for column in zip(*parts, strict=True))
    place = np.lexsort((order, kind))
    place = place[document[place] < lists.size]
    return document[place], start[place], end[place]


def _on_pages(lists: Lists) -> Windows:
    """Return what is shown on pages: what is highlighted, then the first results of all runs, by their ranks."""
    parts = [(lists.span_document, lists.start, lists.end)]
    runs = [run for run in lists.runs if run is not None]
    parts += [
        tuple(column[run.place == place] for column in (run.document, run.start, run.end))
        for place in range(1, FIRST + 1)
        for run in runs
    ]
    document, start, end = (np.concatenate(column) for column in zip(*parts, strict=True))
    known = document < lists.size
    return document[known], start[known], end[known]


def fitting(windows: Windows, lengths: Integers, budget: int) -> tuple[Spans, int]:
    """Return the union of the first windows that fit into about so many bytes, and how many those are."""
    document, start, end = windows
    end = np.minimum(end, lengths[document])

    def united(number: int) -> Spans:
        return union(document[:number], start[:number], end[:number])

    def too_large(number: int) -> bool:
        spans = united(number)
        return bool(spans.before[-1] + PER_PIECE * len(spans) > budget)

    kept = bisect_left(range(1, len(end) + 1), True, key=too_large)
    return united(kept), kept


def order_of_documents(lists: Lists, weight: Floats, depth: int) -> list[int]:
    """Return the documents that hold highlighted text or a listed result, those of the deciding topics first."""
    relevant = lists.relevant & (lists.document < lists.size)
    documents, weights = [lists.document[relevant]], [weight[lists.topic[relevant]] + 1]
    for run in lists.runs:
        if run is not None:
            rows = np.flatnonzero((run.place <= depth) & (run.document < lists.size))
            documents.append(run.document[rows])
            weights.append(weight[run.topic[rows]] / run.place[rows])
    document, value = np.concatenate(documents), np.concatenate(weights)
    rows, code = np.unique(document, return_inverse=True)
    most = np.zeros(len(rows))
    np.maximum.at(most, code, value)
    order: list[int] = rows[np.argsort(-most, kind="stable")].tolist()
    return order


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
    """Of every drawn run, topic → its answer; see `focuseval.report.evidence.answers_of`."""

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
