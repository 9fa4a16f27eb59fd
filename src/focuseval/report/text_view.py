"""The lists and texts of a report: what each run returned, which text is embedded, what is missing.

Windows around what was highlighted and around the first results are put in order of what they explain; as many are
kept, from the first on, as fit into a bound on bytes. What is left of the bound goes to whole documents, those first in
which the runs differ most.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from focuseval.collection.index import Collection
from focuseval.collection.rendering import KINDS
from focuseval.data.spans import Spans, union
from focuseval.errors import counted
from focuseval.report.evidence import Evidence
from focuseval.report.lists import Lists, depth_for, lists_of, numbered, topic_view
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
