"""From the ground to the heat map of a report: which articles, their spans, their texts, and what is missing."""

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

    from focuseval.report.ground import Ground

NO_HIGHLIGHTS = "The gold highlights no text, so nothing can be called found, missed or wasted: only what was returned."
NO_INDEX = (
    "There is no text to show: the report was made without the collection. Give it with --index (made by "
    "'focuseval index') or --docs to see what was highlighted, found, missed and wasted."
)


def explain(ground: Ground, budget: int, *, served: bool = False) -> tuple[TextView, Mapping[str, dict[str, Any]]]:
    """Return the heat map and the texts that travel with it; a served one names its topics only."""
    runs = tuple(ground.labels[run] for run in ground.drawn)
    a, b = _positions(ground)
    if ground.index is None:
        return TextView(runs, a, b, (), NO_INDEX), {}
    lost, highlighted = _lost(ground), has_highlights(ground)
    if served:
        every = tuple(_topic(ground, topic, []) for topic in range(len(ground.scores.topics)))
        said = "Every article that is relevant or was returned is here: nothing is left out."
        return TextView(runs, a, b, every, said, lost, highlighted, served=True), {}
    table = articles(ground)
    read = reader(ground.index)
    sizes: dict[int, int] = {}

    def cost(document: int) -> int:
        if document not in sizes:
            sizes[document] = len(as_json(read(document)).encode())
        return sizes[document]

    order = ranked(table, None if b is None else (a, b), weights(ground))
    chosen = choose(order, table, ground.index.lengths, cost, budget)
    texts = {view["id"]: view for row in sorted({int(table.document[c]) for c in chosen}) for view in (read(row),)}
    characters = sum(view["length"] for view in texts.values())
    said = left_out(len(chosen), len(table), len(texts), characters)
    return TextView(runs, a, b, tuple(_topics(ground, table, chosen)), said, lost, highlighted), texts


def has_highlights(ground: Ground) -> bool:
    """Whether the gold says, in characters, which text is relevant."""
    try:
        return len(ground.prepared.highlights) > 0
    except MissingDataError:
        return False


def _positions(ground: Ground) -> tuple[int, int | None]:
    """Return where A and B stand among the drawn runs."""
    if ground.pair is None:
        return 0, None
    first, second = ground.pair
    return ground.drawn.index(first), ground.drawn.index(second)


def weights(ground: Ground) -> NDArray[np.float64]:
    """Return how much every topic decides: the difference of A and B, or what a single run lacks."""
    values = ground.values()
    first, second = ground.pair or (0, None)
    told = np.abs(values[first] - values[second]) if second is not None else 1 - values[first]
    return np.asarray(np.nan_to_num(told, nan=0.0))


def _topics(ground: Ground, table: ArticleTable, chosen: Sequence[int]) -> list[dict[str, Any]]:
    """Return the topics that have articles, those in the order in which they explain."""
    found: dict[int, list[int]] = {}
    for row in chosen:
        found.setdefault(int(table.topic[row]), []).append(row)
    ids = ground.index.ids
    return [
        _topic(ground, topic, [article_view(table, row, ids[int(table.document[row])].as_py()) for row in rows])
        for topic, rows in sorted(found.items())
    ]


def _topic(ground: Ground, topic: int, views: list[dict[str, Any]]) -> dict[str, Any]:
    name = ground.scores.topics[topic]
    return {"topic": name, "title": ground.title(name), "articles": views}


def topic_views(ground: Ground, topic: int) -> list[dict[str, Any]]:
    """Return every article of one topic, the most explanatory first: what a server answers."""
    table = articles(ground, topic, depth=None)
    a, b = _positions(ground)
    order = ranked(table, None if b is None else (a, b), weights(ground))
    ids = ground.index.ids
    return [article_view(table, row, ids[int(table.document[row])].as_py()) for row in order]


def _lost(ground: Ground) -> tuple[str, ...]:
    """Say which documents the index does not have, and which runs cannot be placed in the text."""
    said = [] if has_highlights(ground) else [NO_HIGHLIGHTS]
    gone = np.flatnonzero(ground.prepared.document_rows < 0)
    if len(gone):
        names = [ground.gold.documents[int(i)].as_py() for i in gone[:3]]
        said.append(_missing("The gold", len(gone), names))
    for run, seen in zip(ground.drawn, ground.observed, strict=True):
        if seen.why_not:
            said.append(f"{ground.labels[run]} cannot be shown in the text: {seen.why_not}")
        if seen.retrieved is not None and seen.retrieved.lost:
            said.append(_missing(ground.labels[run], len(seen.retrieved.lost), seen.retrieved.lost[:3]))
    return tuple(said)


def _missing(who: str, number: int, names: Sequence[str]) -> str:
    some = ", ".join(names) + (" …" if number > len(names) else "")
    what = "1 document" if number == 1 else f"{number:,} documents"
    return f"{who} names {what} that the index does not have ({some}): not to be shown here."
