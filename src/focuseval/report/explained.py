"""From the evidence to the heat map of a report: which articles, their spans, their texts, and what is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from focuseval.errors import MissingDataError
from focuseval.report.choose import choose, left_out, ranked
from focuseval.report.heatmap import ArticleTable, article_view, articles
from focuseval.report.report import TextView
from focuseval.report.texts import as_json, reader

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from focuseval.report.evidence import Evidence

NO_HIGHLIGHTS = "The gold highlights no text, so nothing can be called found, missed or wasted: only what was returned."
NO_INDEX = (
    "There is no text to show: the report was made without the collection. Give it with --index (made by "
    "'focuseval index') or --docs to see what was highlighted, found, missed and wasted."
)


def explain(evidence: Evidence, budget: int, *, served: bool = False) -> tuple[TextView, Mapping[str, dict[str, Any]]]:
    """Return the heat map and the texts that travel with it; a served one names its topics only."""
    runs = tuple(evidence.labels[run] for run in evidence.drawn)
    a, b = _positions(evidence)
    if evidence.index is None:
        return TextView(runs, a, b, (), NO_INDEX), {}
    lost, highlighted = _lost(evidence), has_highlights(evidence)
    if served:
        every = tuple(_topic(evidence, topic, []) for topic in range(len(evidence.scores.topics)))
        said = "Every article that is relevant or was returned is here: nothing is left out."
        return TextView(runs, a, b, every, said, lost, highlighted, served=True), {}
    table = articles(evidence)
    read = reader(evidence.index)
    sizes: dict[int, int] = {}

    def cost(document: int) -> int:
        if document not in sizes:
            sizes[document] = len(as_json(read(document)).encode())
        return sizes[document]

    order = ranked(table, None if b is None else (a, b), weights(evidence))
    chosen = choose(order, table, evidence.index.lengths, cost, budget)
    texts = {view["id"]: view for row in sorted({int(table.document[c]) for c in chosen}) for view in (read(row),)}
    characters = sum(view["length"] for view in texts.values())
    said = left_out(len(chosen), len(table), len(texts), characters)
    return TextView(runs, a, b, tuple(_topics(evidence, table, chosen)), said, lost, highlighted), texts


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


def _topics(evidence: Evidence, table: ArticleTable, chosen: Sequence[int]) -> list[dict[str, Any]]:
    """Return the topics that have articles, those in the order in which they explain."""
    found: dict[int, list[int]] = {}
    for row in chosen:
        found.setdefault(int(table.topic[row]), []).append(row)
    return [
        _topic(evidence, topic, [article_view(table, row, _document(evidence, table, row)) for row in rows])
        for topic, rows in sorted(found.items())
    ]


def _topic(evidence: Evidence, topic: int, views: list[dict[str, Any]]) -> dict[str, Any]:
    name = evidence.scores.topics[topic]
    return {"topic": name, "title": evidence.title(name), "articles": views}


def topic_views(evidence: Evidence, topic: int) -> list[dict[str, Any]]:
    """Return every article of one topic, the most explanatory first: what a server answers."""
    table = articles(evidence, topic, depth=None)
    a, b = _positions(evidence)
    order = ranked(table, None if b is None else (a, b), weights(evidence))
    return [article_view(table, row, _document(evidence, table, row)) for row in order]


def _document(evidence: Evidence, table: ArticleTable, row: int) -> str:
    """Return the id of an article's document."""
    return "" if evidence.index is None else str(evidence.index.ids[int(table.document[row])])


def _lost(evidence: Evidence) -> tuple[str, ...]:
    """Say which documents the index does not have, and which runs cannot be placed in the text."""
    said = [] if has_highlights(evidence) else [NO_HIGHLIGHTS]
    gone = np.flatnonzero(evidence.prepared.document_rows < 0)
    if len(gone):
        names = [evidence.gold.documents[int(i)].as_py() for i in gone[:3]]
        said.append(_missing("The gold", len(gone), names))
    for run, seen in zip(evidence.drawn, evidence.observed, strict=True):
        if seen.why_not:
            said.append(f"{evidence.labels[run]} cannot be shown in the text: {seen.why_not}")
        if seen.retrieved is not None and seen.retrieved.lost:
            said.append(_missing(evidence.labels[run], len(seen.retrieved.lost), seen.retrieved.lost[:3]))
    return tuple(said)


def _missing(who: str, number: int, names: Sequence[str]) -> str:
    some = ", ".join(names) + (" …" if number > len(names) else "")
    what = "1 document" if number == 1 else f"{number:,} documents"
    return f"{who} names {what} that the index does not have ({some}): not to be shown here."
