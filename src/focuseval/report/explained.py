"""From the evidence to lists and texts of a report: what each run returned, which text is embedded, what is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from focuseval.collection.rendering import KINDS
from focuseval.errors import MissingDataError
from focuseval.report.excerpts import fitting, order_of_documents, wanted, whole_documents
from focuseval.report.lists import Lists, below_for, depth_for, lists_of, numbered, numbered_paths, topic_view
from focuseval.report.report import TextView
from focuseval.report.texts import as_json, excerpt_view, packed, reader, shortened

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from focuseval.collection.protocol import Collection
    from focuseval.data.spans import Spans
    from focuseval.report.evidence import Evidence
    from focuseval.report.observe import Retrieved

NO_HIGHLIGHTS = "The gold highlights no text, so nothing can be called found, missed or wasted: only what was returned."
NO_INDEX = (
    "There is no text to show: the report was made without the collection. Give it with --index (made by "
    "'focuseval index') or --docs to see ranked lists and what was highlighted, found, missed and wasted."
)
BELOW = "Below the listed results those in relevant documents are kept, for what is found and missed; others are not."
AROUND = "the text around highlights and first results"
LISTS = 800_000
"""Bytes that lists may take; larger ones take what is beyond from the text."""
PACKED = 4
"""Times the bytes that a page may have for texts, at most, that compressed texts hold; tried first."""
_HEADINGS = frozenset(KINDS["heading"].split())


def explain(evidence: Evidence, budget: int, *, served: bool = False) -> tuple[TextView, Mapping[str, dict[str, Any]]]:
    """Return lists of results and the texts that are embedded with them; a served report has none of the latter."""
    runs = tuple(evidence.labels[run] for run in evidence.drawn)
    a, b = _positions(evidence)
    if evidence.index is None:
        return TextView(runs, a, b, (), NO_INDEX), {}
    lists = lists_of(evidence)
    names = evidence.scores.topics
    depth = depth_for(len(names), len(runs))
    below = below_for(len(names), len(runs))
    views = [topic_view(lists, topic, depth, below) for topic in range(len(names))]
    documents = [lists.document_id(evidence, row) for row in numbered(views)]
    paths = tuple(numbered_paths(views))
    texts: Mapping[str, dict[str, Any]] = {}
    said = "Every document that is relevant or was returned is here: nothing is left out."
    if not served:
        taken = max(0, len(as_json([views, paths])) - LISTS)
        texts, said = embed(evidence, lists, max(0, budget - taken), depth)
    view = TextView(
        runs, a, b, tuple(views), said, _lost(evidence), has_highlights(evidence), served, tuple(documents), depth,
        paths, **whole_lists(lists.runs),
    )  # fmt: skip
    return view, texts


def whole_lists(runs: Sequence[Retrieved | None]) -> dict[str, Any]:
    """Return what only the engine knows of lists that are embedded in part: their totals, and where budgets end."""
    totals = [None if run is None or run.totals is None else [n.tolist() for n in run.totals] for run in runs]
    budgets = [{} if run is None else {name: ends.tolist() for name, ends in run.budgets.items()} for run in runs]
    return {"totals": tuple(totals), "budgets": tuple(budgets)}


def embed(evidence: Evidence, lists: Lists, budget: int, depth: int) -> tuple[dict[str, dict[str, Any]], str]:
    """Return document → its view for as much text as the budget allows, and a sentence on what is left out."""
    index = evidence.index
    if index is None:
        return {}, NO_INDEX
    weight, (a, b) = weights(evidence), _positions(evidence)
    windows = wanted(lists, weight, (a,) if b is None else (a, b), depth)
    room = float(PACKED * budget)
    while True:
        spans, kept = fitting(windows, index.lengths, int(room))
        texts = _excerpts(index, spans)
        size = size_of(texts)
        if size <= budget:
            break
        room *= 0.97 * budget / size
    order = order_of_documents(lists, weight, depth)
    share = size / max(1, _characters(texts, texts)) or 1
    whole = _whole(evidence, lists, spans, order, int((budget - size) / share))
    while whole and size + size_of(whole) - share * _characters(texts, whole) > budget:
        whole = dict(list(whole.items())[: len(whole) * 4 // 5])
    left = len(windows.document) - kept
    said = left_out(texts | whole, len(whole), left, depth)
    longer = any(run is not None and (run.place > depth).any() for run in lists.runs)
    return texts | whole, f"{said} {BELOW}" if longer else said


def _characters(texts: Mapping[str, dict[str, Any]], of: Iterable[str]) -> int:
    return sum(len(texts[name]["text"]) for name in of if name in texts)


def size_of(texts: Mapping[str, dict[str, Any]]) -> int:
    """Return the bytes that texts take in a page."""
    return sum(map(len, packed(texts)[0]))


def _excerpts(index: Collection, spans: Spans) -> dict[str, dict[str, Any]]:
    rows, first = np.unique(spans.group, return_index=True)
    edges = [*first.tolist(), len(spans)]
    ids = index.ids.take(rows).to_pylist()
    texts = index.texts(rows).to_pylist()
    start, end = spans.start.tolist(), spans.end.tolist()
    made = {}
    for number, (row, name) in enumerate(zip(rows.tolist(), ids, strict=True)):
        own = range(edges[number], edges[number + 1])
        made[name] = excerpt_view(texts[number], [(start[i], end[i]) for i in own], _title(index, row))
    return made


def _title(index: Collection, row: int) -> str:
    """Return a document's first heading, which front matter may stand before; nothing where no element is one."""
    if index.element_bounds[row + 1] - index.element_bounds[row] < 2:
        return ""
    elements = index.elements(row)
    for place, tag in enumerate(elements.tags):
        if tag.lower() in _HEADINGS:
            text = index.text(row)[int(elements.start[place]) : int(elements.end[place])]
            return shortened(" ".join(text.split()))
    return ""


def _whole(evidence: Evidence, lists: Lists, spans: Spans, order: list[int], budget: int) -> dict[str, dict[str, Any]]:
    """Return the documents that fit as a whole, those first that explain most."""
    index = evidence.index
    read = reader(index)
    sizes: dict[int, int] = {}

    def cost(row: int) -> int:
        return sizes.setdefault(row, len(as_json(read(row)).encode()))

    lengths = np.zeros(0, np.int64) if index is None else np.asarray(index.lengths)
    chosen = whole_documents(order, spans.total(len(lengths)), lengths, cost, budget)
    return {lists.document_id(evidence, row): read(row) for row in chosen}


def left_out(texts: Mapping[str, dict[str, Any]], whole: int, windows: int, depth: int) -> str:
    """Say which text the file holds and what it does not."""
    characters = sum(len(view["text"]) for view in texts.values())
    held = f"{characters:,} characters of {_documents(len(texts))} are embedded in this file"
    lists = f"The first {depth} results of every list are here." if depth > 1 else "The first result of every list is."
    rest = ", all of them whole" if whole == len(texts) else f": {_documents(whole)} as a whole, of the others {AROUND}"
    said = f"{lists} {held}{rest}."
    if windows:
        said += f" The text of {windows:,} further results is left out; 'focuseval report --serve' shows it."
    return said


def _documents(number: int) -> str:
    return "1 document" if number == 1 else f"{number:,} documents"


def has_highlights(evidence: Evidence) -> bool:
    """Whether the gold says, in characters, which text is relevant."""
    try:
        return len(evidence.prepared.highlights) > 0
    except MissingDataError:
        return False


def _positions(evidence: Evidence) -> tuple[int, int | None]:
    """Return where A and B stand among the drawn runs."""
    if evidence.pair is None:
        return 0, None
    first, second = evidence.pair
    return evidence.drawn.index(first), evidence.drawn.index(second)


def weights(evidence: Evidence) -> NDArray[np.float64]:
    """Return how much every topic decides: the difference of A and B, or what a single run lacks."""
    values = evidence.values()
    first, second = evidence.pair or (0, None)
    told = np.abs(values[first] - values[second]) if second is not None else 1 - values[first]
    return np.asarray(np.nan_to_num(told, nan=0.0))


def complete_topic(evidence: Evidence, lists: Lists, topic: int) -> dict[str, Any]:
    """Return one topic with all results of every list, and the ids of its documents: what a server answers."""
    view = topic_view(lists, topic, None)
    return {"topic": view, "documents": [lists.document_id(evidence, row) for row in numbered([view])]}


def _lost(evidence: Evidence) -> tuple[str, ...]:
    """Say which documents the index does not have, and which runs cannot be placed in the text."""
    said = [] if has_highlights(evidence) else [NO_HIGHLIGHTS]
    gone = np.flatnonzero(evidence.prepared.document_rows < 0)
    said += _missing("The gold", (str(evidence.gold.documents[int(i)]) for i in gone))
    for run, seen in zip(evidence.drawn, evidence.observed, strict=True):
        if seen.why_not:
            said.append(f"{evidence.labels[run]} cannot be shown in the text: {seen.why_not}")
        if seen.retrieved is not None:
            said += _missing(evidence.labels[run], seen.retrieved.lost)
    return tuple(said)


def _missing(who: str, lost: Iterable[str]) -> Sequence[str]:
    names = list(dict.fromkeys(lost))
    if not names:
        return []
    some = ", ".join(names[:3]) + (" …" if len(names) > 3 else "")
    return [f"{who} names {_documents(len(names))} that the index does not have ({some}): not to be shown here."]
