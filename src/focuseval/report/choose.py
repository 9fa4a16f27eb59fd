"""Which articles travel in the file: those that explain most, under a bound on bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from focuseval.report.heatmap import ArticleTable

BUDGET = 2_500_000
"""Bytes of text in a report; the graphs' library takes .8 MB of the 5 that a report may have."""
PER_ARTICLE, PER_RUN, PER_SPAN = 80, 75, 20
"""Bytes that an article, each run that returned it, and each span in it take, roughly."""
FIRST = 3
"""Articles that each of the deciding topics shows before any other topic shows its first."""
DECIDING = 5


def explains(table: ArticleTable, pair: tuple[int, int] | None) -> NDArray[np.float64]:
    """Return how much an article explains: text that one run found and the other did not, or missed or wasted.

    Text that only one of A and B found counts in full and text that both missed in half. Wasted text counts in a
    quarter where one wasted it and an eighth where both did, and less the further down it was returned. Without a pair
    everything that the first run missed or wasted counts.
    """
    highlighted, size = table.highlighted.astype(np.float64), table.size
    if not len(size):
        return highlighted
    sides = list(pair or (0, 0))
    found = table.relevant[sides].astype(np.float64)
    wasted = size[sides] - found
    rank = np.where(table.rank[sides] > 0, table.rank[sides], np.inf).min(axis=0)
    burden = np.abs(wasted[0] - wasted[1]) / 4 + wasted.min(axis=0) / 8
    told = np.abs(found[0] - found[1]) + (highlighted - found.max(axis=0)) / 2
    return np.asarray(told + burden / np.log2(1 + rank) + 1e-3)


def ranked(table: ArticleTable, pair: tuple[int, int] | None, weight: NDArray[np.float64]) -> list[int]:
    """Return articles, the most explanatory first.

    First the best of the deciding topics, then the best one of every topic, then all others by what they explain of
    their topic, weighted with how much the topic decides.
    """
    if not len(table):
        return []
    told = explains(table, pair)
    total = np.bincount(table.topic, told, len(weight))
    priority = (weight + 0.02)[table.topic] * told / np.maximum(total, 1e-3)[table.topic]
    place = np.argsort(np.argsort(-weight, kind="stable"))[table.topic]
    by_topic = np.lexsort((-told, table.topic))
    start = np.searchsorted(table.topic[by_topic], np.arange(len(weight)))
    inner = np.empty(len(table), np.int64)
    inner[by_topic] = np.arange(len(table)) - start[table.topic[by_topic]]
    stage = np.where((place < DECIDING) & (inner < FIRST), 0, np.where(inner == 0, 1, 2))
    within = np.where(stage == 0, place, -priority)
    order: list[int] = np.lexsort((inner, within, stage)).tolist()
    return order


def choose(
    order: list[int], table: ArticleTable, lengths: NDArray[np.int64], cost: Callable[[int], int], budget: int = BUDGET
) -> list[int]:
    """Return the articles that fit, in order; one that is too large is passed over, not the end of the list.

    `cost` reads a document and gives its bytes, which are paid for once; `lengths`, characters, are a lower bound that
    spares reading what cannot fit.
    """
    left, chosen = budget, []
    paid: set[int] = set()
    prices = places_cost(table).tolist()
    for row in order:
        document = int(table.document[row])
        if document not in paid and lengths[document] > left:
            continue
        price = prices[row] + (0 if document in paid else cost(document))
        if price <= left:
            left -= price
            paid.add(document)
            chosen.append(row)
        elif left < PER_ARTICLE:
            break
    return chosen


def places_cost(table: ArticleTable) -> NDArray[np.int64]:
    """Return the bytes that every article's spans take in the file, roughly."""
    spans = sum(
        np.bincount(s.group, minlength=len(table)) for s in (table.highlights, *(d.returned for d in table.done))
    )
    return np.asarray(PER_ARTICLE + PER_RUN * (table.rank > 0).sum(axis=0) + PER_SPAN * spans, np.int64)


def left_out(chosen: int, candidates: int, documents: int, characters: int) -> str:
    """Say what the file holds and what it does not."""
    held = f"{chosen:,} articles ({documents:,} documents, {characters:,} characters of text) travel in this file"
    if chosen == candidates:
        return f"All {held}: nothing that was relevant or ranked high was left out."
    return (
        f"{held}: those that explain most of the differences. {candidates - chosen:,} further articles that were "
        "relevant or ranked high are left out; 'focuseval report --serve' shows all of them."
    )
